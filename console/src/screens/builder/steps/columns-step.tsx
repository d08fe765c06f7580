import { CONFIG, type Column, columnOf, tableOf, textAt, withColumn, withColumns } from '../../../builder/extractor-document.ts'
import { isRecord, parsed, valueIn } from '../../../document/json-text.ts'
import { NameInput } from '../../../editor/schema-form.tsx'
import { Field } from '../../../parts/field.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { useSuggestions } from './from-answer.tsx'
import { edit, type StepProps } from './step.ts'
import '../builder.css'

export function ColumnsStep({ root, current, index, document, effective, walk }: StepProps) {
  const suggest = useSuggestions(effective, index)
  const path = [...CONFIG, 'mappings', tableOf(document, index)]
  const owner = valueIn(parsed(root.draft.text), path) === undefined ? current : root
  const mapping = valueIn(parsed(owner.draft.text), path)
  const entries = Object.entries(isRecord(mapping) ? mapping : {})
  const found = walk?.steps.flatMap(({ tables }) => tables ?? [])[0]?.columns ?? []
  const put = (source: string, column: Column) => owner.draft.edit(withColumn(owner.draft.text, [...path, source], column))
  return (
    <>
      <p className="mute">
        {entries.length === 0
          ? `All columns are loaded as they are${found.length > 0 ? `: ${found.join(', ')}` : ''}. A mapping chooses and names them.`
          : 'Only these columns are loaded.'}
      </p>
      <div className="flex-row wrap">
        <button
          type="button"
          className="button small"
          disabled={suggest.isPending}
          onClick={() =>
            suggest.mutate(undefined, {
              onSuccess: ({ mapping: suggested }) =>
                suggested ? owner.draft.edit(withColumns(owner.draft.text, path, suggested)) : undefined,
            })
          }
        >
          <Icon name="wand" size="small" />
          <span>Map the columns of a real answer</span>
        </button>
        {entries.length > 0 ? (
          <button type="button" className="button small" onClick={() => edit(owner, [[path, undefined]])}>
            Load all columns as they are
          </button>
        ) : null}
      </div>
      <Field label="Another value of the item" hint="A path such as address.city. Enter adds it as a column.">
        {(id) => (
          <NameInput
            key={entries.length}
            id={id}
            placeholder="address.city"
            value=""
            onDone={(source) =>
              source && !entries.some(([known]) => known === source)
                ? put(source, { destination: source.replace(/[^A-Za-z0-9]+/g, '_'), isKey: false })
                : undefined
            }
          />
        )}
      </Field>
      {suggest.error ? <Problem error={suggest.error} /> : null}
      {entries.length > 0 ? (
        <table className="data-table columns-table">
          <thead>
            <tr>
              <th>In the item</th>
              <th>Column</th>
              <th>Key</th>
              <th>
                <span className="visually-hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.map(([source, entry]) => {
              const column = columnOf(entry)
              return (
                <tr key={source}>
                  <td className="mono">{source}</td>
                  <td>
                    {column ? (
                      <input
                        className="input mono"
                        aria-label={`Column of ${source}`}
                        value={column.destination}
                        onChange={(event) => put(source, { ...column, destination: event.target.value })}
                      />
                    ) : (
                      <span className="mute">table {textAt(entry, ['destination'])}</span>
                    )}
                  </td>
                  <td>
                    {column ? (
                      <input
                        type="checkbox"
                        aria-label={`${source} is part of the key`}
                        checked={column.isKey}
                        onChange={() => put(source, { ...column, isKey: !column.isKey })}
                      />
                    ) : null}
                  </td>
                  <td>
                    <button
                      type="button"
                      className="button icon ghost small"
                      aria-label={`Leave ${source} out`}
                      onClick={() => edit(owner, [[[...path, source], undefined]])}
                    >
                      <Icon name="x" size="small" />
                    </button>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      ) : null}
    </>
  )
}
