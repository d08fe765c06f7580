// The difference of two states of a configuration with its rows, by value or as text: of versions, of branches, of merge requests.

import { Suspense, useMemo, useState } from 'react'
import { type Change, differencesBetween } from '../document/changes.ts'
import { isBelowSecret, pathText } from '../document/json-text.ts'
import { LazyTextDifference } from '../editor/lazy.ts'
import { plural } from '../format.ts'
import { Lines } from '../load.tsx'
import './views.css'

export interface Snapshot {
  readonly name: string
  readonly description?: string
  readonly isDisabled: boolean
  readonly configuration: unknown
  readonly rows: readonly {
    readonly id: string
    readonly name: string
    readonly description?: string
    readonly isDisabled: boolean
    readonly configuration: unknown
  }[]
}

/** One document of a version: settings, root, then the rows by name. */
const documentOf = (version: Snapshot | null): Readonly<Record<string, unknown>> =>
  version === null
    ? {}
    : {
        name: version.name,
        description: version.description ?? '',
        isDisabled: version.isDisabled,
        root: version.configuration,
        rows: Object.fromEntries(
          (version.rows ?? []).map((row, _, all) => [
            all.filter(({ name }) => name === row.name).length === 1 && row.name ? row.name : `${row.name} ${row.id}`.trim(),
            { description: row.description ?? '', isDisabled: row.isDisabled, configuration: row.configuration },
          ]),
        ),
      }

export function useDifferenceView() {
  const [isText, setText] = useState(false)
  const choice = (
    <fieldset className="segments small push" aria-label="How to show the difference">
      <button type="button" aria-pressed={!isText} onClick={() => setText(false)}>
        By value
      </button>
      <button type="button" aria-pressed={isText} onClick={() => setText(true)}>
        As text
      </button>
    </fieldset>
  )
  return { isText, choice }
}

/** `null` is a configuration that was not there. */
export function SnapshotDifference({
  before,
  after,
  isText,
  note = '',
}: {
  before: Snapshot | null
  after: Snapshot | null
  isText: boolean
  note?: string
}) {
  const [one, other] = useMemo(() => [documentOf(before), documentOf(after)], [before, after])
  const changes = useMemo(() => differencesBetween(one, other), [one, other])
  if (changes.length === 0) return <p className="inset mute">No differences.</p>
  if (!isText) return <Changes changes={changes} note={note} />
  return (
    <Suspense fallback={<Lines count={8} />}>
      <LazyTextDifference before={JSON.stringify(one, null, 2)} after={JSON.stringify(other, null, 2)} />
    </Suspense>
  )
}

const SHOWN = 200

const Changes = ({ changes, note }: { changes: readonly Change[]; note: string }) => (
  <div className="inset stack-3">
    <p className="mute">
      {plural(changes.length, 'value')} differ{changes.length === 1 ? 's' : ''}. {note}
    </p>
    {changes.slice(0, SHOWN).map(({ path, before, after }) => (
      <div key={`${pathText(path)} ${before === undefined}`}>
        <p className="identifier">{pathText(path)}</p>
        <pre className="code sunken wrap">
          {before === undefined ? null : <span className="line-removed diff-line">− {shown(path, before)}</span>}
          {after === undefined ? null : <span className="line-added diff-line">+ {shown(path, after)}</span>}
        </pre>
      </div>
    ))}
    {changes.length > SHOWN ? <p className="mute">{plural(changes.length - SHOWN, 'more value')}: see them as text.</p> : null}
  </div>
)

function shown(path: Change['path'], value: unknown): string {
  if (isBelowSecret(path)) return '••••••'
  const line = JSON.stringify(value)
  return line.length > 80 ? JSON.stringify(value, null, 2) : line
}
