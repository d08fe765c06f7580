// What will really run: the root and the row put together, each value with its origin.

import { useState } from 'react'
import { effectiveConfiguration } from '../../../contract/effective-configuration.ts'
import { parsed, pretty } from '../document/json-text.ts'

interface Line {
  readonly key: string
  readonly text: string
  readonly pointer: string | undefined
}

export interface Side {
  readonly root: string
  readonly row: string | undefined
}

const MARKS = { root: 'g1', row: 'g2', vault: 'g3' } as const

export function EffectiveView({ draft, saved, rowName }: { draft: Side; saved: Side; rowName: string | undefined }) {
  const [isSaved, setSaved] = useState(false)
  const isReadable = parsed(draft.root) !== undefined && (draft.row === undefined || parsed(draft.row) !== undefined)
  const shown = isSaved ? saved : draft
  const before = effectiveConfiguration(saved.root, saved.row)
  const now = isReadable ? effectiveConfiguration(shown.root, shown.row) : before
  const savedLines = new Map(linesOf(before.text).map(({ pointer, text }) => [pointer, text]))
  const lines = linesOf(now.text)
  return (
    <>
      <div className="pane-h">
        <h2 className="h clip">{rowName === undefined ? 'What will run' : `Effective for row ${rowName}`}</h2>
        <span className="push" />
        <fieldset className="seg sm" aria-label="Which state">
          <button type="button" aria-pressed={!isSaved} onClick={() => setSaved(false)}>
            With changes
          </button>
          <button type="button" aria-pressed={isSaved} onClick={() => setSaved(true)}>
            As saved
          </button>
        </fieldset>
      </div>
      <div className="leg">
        <span>
          <i className="g1" />
          root
        </span>
        {rowName === undefined ? null : (
          <span>
            <i className="g2" />
            row {rowName}
          </span>
        )}
        <span>
          <i className="g3" />
          variable
        </span>
      </div>
      {isReadable ? null : <p className="in mute">As saved: the JSON cannot be read yet.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className="eff" aria-label="Effective configuration" tabIndex={0}>
        {lines.map(({ key, text, pointer }) => {
          const side = pointer === undefined ? undefined : originOf(pointer, now.origins)
          const origin = side && /\{\{\s*vault\./.test(text) ? 'vault' : side
          const isNew = pointer !== undefined && savedLines.get(pointer)?.replace(/,$/, '') !== text.replace(/,$/, '')
          return (
            <div key={key} className={isNew && !isSaved ? 'new' : undefined}>
              <span>
                <Coloured text={text} />
              </span>
              <span className="o">
                {origin ? (
                  <>
                    <i className={MARKS[origin]} />
                    {origin}
                    {isNew && !isSaved ? ', new' : ''}
                  </>
                ) : null}
              </span>
            </div>
          )
        })}
      </section>
    </>
  )
}

/** The origin of a value, or of the list that it stands in. */
function originOf(pointer: string, origins: Readonly<Record<string, 'root' | 'row'>>): 'root' | 'row' | undefined {
  for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/')))
    if (origins[place]) return origins[place]
  return undefined
}

/** Lines of the formatted text; each that holds a value carries its pointer. */
function linesOf(text: string): readonly Line[] {
  const path: { name: string; next: number }[] = []
  return pretty(text)
    .split('\n')
    .map((line, index) => {
      const body = line.trim()
      if (/^[\]}]/.test(body)) {
        path.pop()
        return { key: `${index}`, text: line, pointer: undefined }
      }
      const parent = path.at(-1)
      const named = body.match(/^"((?:[^"\\]|\\.)*)":/)
      const name = named ? (JSON.parse(`"${named[1]}"`) as string) : String(parent?.next ?? 0)
      if (parent && !named) parent.next++
      const pointer = `${path
        .slice(1)
        .map((one) => `/${escaped(one.name)}`)
        .join('')}${path.length === 0 ? '' : `/${escaped(name)}`}`
      if (/[[{]$/.test(body)) {
        path.push({ name, next: 0 })
        return { key: `${index}`, text: line, pointer: undefined }
      }
      return { key: `${index}`, text: line, pointer }
    })
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** A line of JSON with its colours; secrets are six dots. */
export function Coloured({ text }: { text: string }) {
  const parts = text.match(/^(\s*)("(?:[^"\\]|\\.)*")?(:\s*)?(.*?)(,?)$/)
  if (!parts) return text
  const [, indent = '', first = '', colon = '', rest = '', comma = ''] = parts
  const name = colon ? first : ''
  const value = colon ? rest : first + rest
  const isSecret = name.startsWith('"#') && value.startsWith('"')
  return (
    <>
      {indent}
      {name ? <span className={isSecret ? 'x' : 'k'}>{name}</span> : null}
      {colon}
      {isSecret ? (
        <span className="secret">••••••</span>
      ) : (
        <span className={value.startsWith('"') ? 's' : /^[-\dtfn]/.test(value) ? 'n' : ''}>{value}</span>
      )}
      {comma}
    </>
  )
}
