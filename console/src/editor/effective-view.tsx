// What will really run: the root and the row merged, each value with its origin.

import { useState } from 'react'
import { effectiveConfiguration } from '../../../contract/effective-configuration.ts'
import { editAll, type Path, parsed, pretty } from '../document/json-text.ts'
import { defaultsOf, type Schema } from '../document/schema.ts'
import './editor.css'

interface Line {
  readonly key: string
  readonly text: string
  readonly pointer: string | undefined
}

export interface Side {
  readonly root: string
  readonly row: string | undefined
}

export type Origin = 'root' | 'row' | 'vault' | 'variable' | 'default'

const MARKS: Readonly<Record<Origin, string>> = {
  root: 'from-root',
  row: 'from-row',
  vault: 'from-variable',
  variable: 'from-variable',
  default: 'from-default',
}
/** Each default is one more reading of the text; a document of this size has its own values. */
const MAX_CHARACTERS = 100_000

interface EffectiveViewProps {
  readonly draft: Side
  readonly saved: Side
  readonly rowName: string | undefined
  readonly schema: Schema | undefined
  /** Opens the place that a value comes from. */
  readonly onOpen: (origin: Origin) => void
}

export function EffectiveView({ draft, saved, rowName, schema, onOpen }: EffectiveViewProps) {
  const [isSaved, setSaved] = useState(false)
  const isReadable = parsed(draft.root) !== undefined && (draft.row === undefined || parsed(draft.row) !== undefined)
  const shown = isSaved ? saved : draft
  const before = withDefaults(saved, schema)
  const now = isReadable ? withDefaults(shown, schema) : before
  const savedLines = new Map(linesOf(before.text).map(({ pointer, text }) => [pointer, text]))
  const lines = linesOf(now.text)
  return (
    <>
      <div className="pane-header">
        <h2 className="heading clip">{rowName === undefined ? 'What will run' : `Effective for row ${rowName}`}</h2>
        <span className="push" />
        <fieldset className="segments small" aria-label="Which state">
          <button type="button" aria-pressed={!isSaved} onClick={() => setSaved(false)}>
            With changes
          </button>
          <button type="button" aria-pressed={isSaved} onClick={() => setSaved(true)}>
            As saved
          </button>
        </fieldset>
      </div>
      <div className="origin-legend">
        <span>
          <i className="from-root" />
          root
        </span>
        {rowName === undefined ? null : (
          <span>
            <i className="from-row" />
            row {rowName}
          </span>
        )}
        <span>
          <i className="from-variable" />
          vault or variable
        </span>
        <span>
          <i className="from-default" />
          default of the component
        </span>
      </div>
      {isReadable ? null : <p className="inset mute">As saved: the JSON cannot be read yet.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className="effective" aria-label="Effective configuration" tabIndex={0}>
        {lines.map(({ key, text, pointer }) => {
          const side = pointer === undefined ? undefined : originOf(pointer, now.origins)
          const origin = side && /\{\{/.test(text) ? (/\{\{\s*vault\./.test(text) ? 'vault' : 'variable') : side
          const isNew = pointer !== undefined && savedLines.get(pointer)?.replace(/,$/, '') !== text.replace(/,$/, '')
          return (
            <div key={key} className={isNew && !isSaved ? 'unsaved' : undefined}>
              <span>
                <Coloured text={text} />
              </span>
              <span className="origin">
                {origin === 'default' ? (
                  <>
                    <i className={MARKS.default} />
                    default
                  </>
                ) : origin ? (
                  <button type="button" title="Go to where it comes from" onClick={() => onOpen(origin)}>
                    <i className={MARKS[origin]} />
                    {origin}
                    {isNew && !isSaved ? ', new' : ''}
                  </button>
                ) : null}
              </span>
            </div>
          )
        })}
      </section>
    </>
  )
}

interface Effective {
  readonly text: string
  readonly origins: Readonly<Record<string, Origin>>
}

/** Root and row, and what the component takes where neither has a value. */
function withDefaults({ root, row }: Side, schema: Schema | undefined): Effective {
  const merged = effectiveConfiguration(root, row)
  if (!schema || merged.text.length > MAX_CHARACTERS) return merged
  const defaults = defaultsOf(parsed(merged.text), schema, { root: schema })
  return {
    text: editAll(merged.text, defaults),
    origins: { ...merged.origins, ...Object.fromEntries(defaults.map(([path]) => [pointerOf(path), 'default' as const])) },
  }
}

const pointerOf = (path: Path): string => path.map((key) => `/${escaped(String(key))}`).join('')

/** The origin of a value, or of the list that it stands in. */
function originOf(pointer: string, origins: Readonly<Record<string, Origin>>): Origin | undefined {
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
      {name ? <span className={isSecret ? 'code-secret' : 'code-key'}>{name}</span> : null}
      {colon}
      {isSecret ? (
        <span className="secret">••••••</span>
      ) : (
        <span className={value.startsWith('"') ? 'code-string' : /^[-\dtfn]/.test(value) ? 'code-number' : ''}>{value}</span>
      )}
      {comma}
    </>
  )
}
