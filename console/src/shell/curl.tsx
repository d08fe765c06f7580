// What this page asked the stack for, as commands: every active query is an operation of the client.

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Input, type OperationName, requestOf } from '../../../client/src/client.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Drawer } from '../parts/drawer.tsx'
import { Icon } from '../parts/icon.tsx'
import { useKey } from '../use-key.ts'

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export function curlOf<O extends OperationName>(operation: O, input: Input<O>): string {
  const { method, address, body } = requestOf(operation, input)
  const parts = ['curl --fail-with-body', '-H "X-StorageApi-Token: $MILLRACE_TOKEN"']
  if (method !== 'GET') parts.push(`-X ${method}`)
  if (body !== undefined) parts.push(`--json ${quote(body)}`)
  return [...parts, quote(`${location.origin}${address}`)].join(' \\\n  ')
}

function useCommands(isOpen: boolean): readonly { operation: string; command: string }[] {
  const cache = useQueryClient().getQueryCache()
  if (!isOpen) return []
  return cache.findAll({ type: 'active' }).map(({ queryKey }) => {
    const [operation, input] = queryKey as [OperationName, Input<OperationName>] // as useLoad makes them
    return { operation, command: curlOf(operation, input) }
  })
}

export function CurlButton() {
  const [isOpen, setOpen] = useState(false)
  const commands = useCommands(isOpen)
  useKey('c', 'This page as curl', () => setOpen(true))
  return (
    <>
      <button
        type="button"
        className="btn icon ghost"
        aria-label="This page as curl"
        title="This page as curl (C)"
        onClick={() => setOpen(true)}
      >
        <Icon name="code" />
      </button>
      {isOpen ? (
        <Drawer title="This page as curl" onClose={() => setOpen(false)}>
          <p className="soft">
            Nothing here is hidden from scripts. Put a token into <span className="id">MILLRACE_TOKEN</span> and these commands
            answer what this page shows.
          </p>
          {commands.map(({ operation, command }) => (
            <section key={command} className="stack2" aria-label={operation}>
              <div className="row">
                <span className="id">{operation}</span>
                <span className="push">
                  <CopyButton text={command} />
                </span>
              </div>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
              <pre className="code sunken" tabIndex={0}>
                {command}
              </pre>
            </section>
          ))}
        </Drawer>
      ) : null}
    </>
  )
}
