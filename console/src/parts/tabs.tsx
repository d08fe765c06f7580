import { Link } from '@tanstack/react-router'
import './parts.css'

export interface Tab {
  readonly id: string
  readonly name: string
  readonly count?: number | undefined
}

/** The tabs of a screen; the chosen one is in the address. One that does not exist shows the first. */
export const Tabs = ({ tabs, current, label }: { tabs: readonly Tab[]; current: string; label: string }) => (
  <nav className="tabs" aria-label={label}>
    {tabs.map(({ id, name, count }) => (
      <Link
        key={id}
        to="."
        search={(before: Record<string, unknown>) => ({ ...before, tab: id })}
        aria-current={id === shownTab(tabs, current) ? 'page' : undefined}
      >
        {name}
        {count === undefined ? null : <span className="tab-count tabular">{count}</span>}
      </Link>
    ))}
  </nav>
)

const shownTab = (tabs: readonly Tab[], current: string): string | undefined =>
  current === '' || tabs.some(({ id }) => id === current) ? current : tabs[0]?.id
