import { CopyButton } from './copy.tsx'
import './parts.css'

/** What an action does, as commands to copy; folded until it is opened. */
export const Commands = ({ title, commands }: { title: string; commands: readonly string[] }) => (
  <details className="fine commands">
    <summary>{title}</summary>
    {commands.map((command) => (
      <div key={command} className="stack-2">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <pre className="code sunken" tabIndex={0}>
          {command}
        </pre>
        <CopyButton text={command} />
      </div>
    ))}
  </details>
)
