import { useId } from 'react'
import { CONFIG, SINCE_FORMATS, sinceOf, tableOf, withSince } from '../../../builder/extractor-document.ts'
import { valueIn } from '../../../document/json-text.ts'
import { NameInput } from '../../../editor/schema-form.tsx'
import { Label } from '../../../parts/guide.tsx'
import { FromAnswer } from './from-answer.tsx'
import { edit, type StepProps } from './step.ts'

/** What identifies rows and when they changed, from a real answer. */
function NewSuggestion({ root, index, effective, document }: StepProps) {
  const apply = (key: unknown) =>
    edit(root, [
      [[...CONFIG, 'primaryKey', tableOf(document, index)], key],
      [[...CONFIG, 'incrementalOutput'], true],
    ])
  return (
    <FromAnswer
      effective={effective}
      index={index}
      reasons={({ primaryKey, incremental }) => [primaryKey.reason, incremental.reason]}
      use={({ primaryKey }) => (Array.isArray(primaryKey.value) ? () => apply(primaryKey.value) : undefined)}
    />
  )
}

export function NewStep(props: StepProps) {
  const { root, current, index, document } = props
  const ids = [useId(), useId(), useId(), useId()] as const
  const since = sinceOf(document, index)
  const isIncremental = valueIn(document, [...CONFIG, 'incrementalOutput']) === true
  const table = tableOf(document, index)
  const keyPath = [...CONFIG, 'primaryKey', table]
  const key = valueIn(document, keyPath)
  const keyText = Array.isArray(key) ? key.join(', ') : typeof key === 'string' ? key : ''
  const setSince = (name: string, format: string) => current.draft.edit(withSince(current.draft.text, index, { name, format }))
  return (
    <>
      <NewSuggestion {...props} />
      <div className="field">
        <Label htmlFor={ids[0]}>When the table already exists</Label>
        <select
          className="input"
          id={ids[0]}
          value={isIncremental ? 'add' : 'replace'}
          onChange={(event) => edit(root, [[[...CONFIG, 'incrementalOutput'], event.target.value === 'add' ? true : undefined]])}
        >
          <option value="replace">load it anew</option>
          <option value="add">add the rows, replace those with the same key</option>
        </select>
      </div>
      <div className="field">
        <Label htmlFor={ids[1]}>Key of {table || 'the table'}</Label>
        <input
          className="input mono"
          id={ids[1]}
          placeholder="id"
          key={keyText === '' ? 'none' : 'some'}
          defaultValue={keyText}
          onChange={(event) => {
            const columns = event.target.value
              .split(',')
              .map((part) => part.trim())
              .filter((part) => part !== '')
            edit(root, [[keyPath, columns.length === 0 ? undefined : columns]])
          }}
        />
        <span className="hint">
          {keyText || !isIncremental
            ? 'Columns that identify a row.'
            : 'Without a key rows are only added, also those that already exist.'}
        </span>
      </div>
      <div className="two-fields">
        <div className="field">
          <Label htmlFor={ids[2]}>Send the start of the last good run as</Label>
          <NameInput
            key={since?.name ?? ''}
            id={ids[2]}
            placeholder="not sent"
            value={since?.name ?? ''}
            onDone={(name) => setSince(name, since?.format ?? 'date')}
          />
        </div>
        <div className="field">
          <Label htmlFor={ids[3]}>Written</Label>
          <select
            className="input"
            id={ids[3]}
            disabled={!since}
            value={since?.format ?? 'date'}
            onChange={(event) => setSince(since?.name ?? '', event.target.value)}
          >
            {SINCE_FORMATS.map(({ id, name, note }) => (
              <option key={id} value={id}>
                {name}, {note}
              </option>
            ))}
          </select>
        </div>
      </div>
    </>
  )
}
