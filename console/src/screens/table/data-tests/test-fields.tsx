// The fields of a new data test, by its type.

import { type Filled, MEASURES, TEST_TYPES, type TestField, type TestType } from '../../../facts/data-tests.ts'
import { useLoad } from '../../../load.tsx'
import { Field } from '../../../parts/field.tsx'
import { TextField } from '../../../parts/text-field.tsx'
import { TextList } from '../../../parts/text-list.tsx'

interface FieldsProps {
  readonly type: TestType
  readonly columns: readonly string[]
  readonly filled: Filled
  readonly onFill: (name: string, value: Filled[string]) => void
}

export const TestFields = ({ type, filled, ...given }: FieldsProps) =>
  TEST_TYPES[type].fields.map((field: TestField) => (
    <OneField key={field.name} field={field} value={filled[field.name] ?? ''} {...given} />
  ))

interface OneProps extends Pick<FieldsProps, 'columns' | 'onFill'> {
  readonly field: TestField
  readonly value: Filled[string]
}

function OneField({ field: { name, label, kind, hint }, value, columns, onFill }: OneProps) {
  const text = typeof value === 'string' ? value : ''
  const set = (next: Filled[string]) => onFill(name, next)
  if (kind === 'columns' || kind === 'values')
    return (
      <Field label={label} hint={hint}>
        {(id) => (
          <TextList
            id={id}
            values={typeof value === 'string' ? [] : value}
            {...(kind === 'columns' && { options: columns })}
            onChange={set}
          />
        )}
      </Field>
    )
  if (kind === 'column' || kind === 'measure')
    return (
      <Field label={label} hint={hint}>
        {(id) => (
          <select className="input" id={id} value={text} onChange={(event) => set(event.target.value)}>
            <option value="">choose</option>
            {(kind === 'column' ? columns : MEASURES).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      </Field>
    )
  if (kind === 'sql' || kind === 'json')
    return (
      <Field label={label} hint={hint}>
        {(id) => (
          <textarea
            className="input code"
            id={id}
            rows={4}
            spellCheck={false}
            value={text}
            onChange={(event) => set(event.target.value)}
          />
        )}
      </Field>
    )
  if (kind === 'table') return <TableField label={label} value={text} onChange={set} />
  return <TextField label={label} hint={hint} value={text} onChange={set} />
}

function TableField({ label, value, onChange }: { label: string; value: string; onChange: (next: string) => void }) {
  const { data = [] } = useLoad('tables.list', { query: {} })
  return <TextField label={label} value={value} options={data.map(({ id }) => id)} onChange={onChange} />
}
