// The requests of this page and the actions on it, as commands: every query and every action is an operation of the client.

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type AnyInput, type OperationName, requestOf } from '../../../client/src/client.ts'
import { ROUTES } from '../../../client/src/operations.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Drawer } from '../parts/drawer.tsx'
import { Icon } from '../parts/icon.tsx'
import { actions, branchId, type SentFile } from '../session.ts'
import { useKey } from '../use-key.ts'
import './shell.css'

export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export function curlOf(operation: OperationName, input: AnyInput, branch = branchId(), file?: SentFile): string {
  const { method, address, body } = requestOf(operation, input, branch)
  const parts = ['curl --fail-with-body', '-H "X-StorageApi-Token: $MILLRACE_TOKEN"']
  if (method !== 'GET') parts.push(`-X ${method}`)
  if (file?.fields)
    parts.push(...[...file.fields, ['data', `@${file.name}`]].map(([name, value]) => `-F ${shellQuoted(`${name}=${value}`)}`))
  else if (file) parts.push("-H 'Content-Type: application/octet-stream'", `--data-binary ${shellQuoted(`@${file.name}`)}`)
  if (body !== undefined) parts.push(`--json ${shellQuoted(body)}`)
  return [...parts, shellQuoted(`${location.origin}${address}`)].join(' \\\n  ')
}

/** The same with the command line of Millrace. */
export function cliOf(operation: OperationName, input: AnyInput, branch = branchId(), file?: SentFile): string {
  const { method, address, body } = requestOf(operation, input, branch)
  const fields = (file?.fields ?? []).map(([name, value]) => ` --field ${shellQuoted(`${name}=${value}`)}`).join('')
  const sent = file ? ` --file ${shellQuoted(file.name)}${fields}` : body === undefined ? '' : ` --data ${shellQuoted(body)}`
  return `npx millrace api ${method} ${shellQuoted(address)}${sent}`
}

interface Command {
  readonly operation: string
  readonly command: string
  readonly cli: string
}

function useCommands(isOpen: boolean): readonly Command[] {
  const cache = useQueryClient().getQueryCache()
  if (!isOpen) return []
  return cache
    .findAll({ type: 'active', predicate: ({ queryKey }) => String(queryKey[0]) in ROUTES })
    .map(({ queryKey }) => {
      const [operation, input] = queryKey as [OperationName, AnyInput] // as useLoad makes them
      return { operation, command: curlOf(operation, input), cli: cliOf(operation, input) }
    })
    .toReversed() // requests of the screen itself come before those of every screen
}

export function CurlButton() {
  const [isOpen, setOpen] = useState(false)
  const commands = useCommands(isOpen)
  const [isCli, setCli] = useState(false)
  const done = actions()
  useKey('c', 'This page as curl', () => setOpen(true))
  return (
    <>
      <button
        type="button"
        className="button icon ghost"
        aria-label="This page as curl"
        title="This page as curl (C)"
        onClick={() => setOpen(true)}
      >
        <Icon name="code" />
      </button>
      {isOpen ? (
        <Drawer title="This page as curl" onClose={() => setOpen(false)}>
          <p className="soft">
            Nothing here is hidden from scripts. Put a token into <span className="identifier">MILLRACE_TOKEN</span> and these
            commands answer what this page shows.
          </p>
          <fieldset className="segments small" aria-label="As">
            <button type="button" aria-pressed={!isCli} onClick={() => setCli(false)}>
              curl
            </button>
            <button type="button" aria-pressed={isCli} onClick={() => setCli(true)}>
              Command line
            </button>
          </fieldset>
          {commands.map((one) => (
            <CommandText key={one.command} operation={one.operation} text={isCli ? one.cli : one.command} />
          ))}
          {done.length > 0 ? <h3 className="heading">What you did in this tab, the newest first</h3> : null}
          {done.map(({ key, operation, input, branch, file }) => (
            <CommandText key={key} operation={operation} text={(isCli ? cliOf : curlOf)(operation, input, branch, file)} />
          ))}
        </Drawer>
      ) : null}
    </>
  )
}

const CommandText = ({ operation, text }: { operation: string; text: string }) => (
  <article className="stack-2" aria-label={operation}>
    <div className="flex-row">
      <span className="identifier">{operation}</span>
      <span className="push">
        <CopyButton text={text} />
      </span>
    </div>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
    <pre className="code sunken" tabIndex={0}>
      {text}
    </pre>
  </article>
)
