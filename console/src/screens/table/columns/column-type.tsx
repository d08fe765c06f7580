// Another type of a column: which values would not fit is counted by the stack before anything changes.

import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { DryRun, Table } from '../../../../../client/src/operations.ts'
import { finishStorageJob } from '../../../facts/storage-job.ts'
import { plural } from '../../../format.ts'
import { Form } from '../../../parts/form.tsx'
import { Label } from '../../../parts/guide.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { api } from '../../../session.ts'

export const TYPES = ['STRING', 'INTEGER', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP']
const WITH_LENGTH: Readonly<Record<string, string>> = { STRING: 'any', NUMERIC: '38,9' }

interface Props {
  readonly table: Table
  readonly column: string
  /** The base type it has now; a table without types holds text. */
  readonly present: string
  readonly onDone: (sentence: string) => Promise<void>
}

export function ColumnType({ table, column, present, onDone }: Props) {
  const id = useId()
  const [type, setType] = useState(present)
  const [length, setLength] = useState('')
  const path = { tableId: table.id, column }
  const body = { type, ...(length.trim() === '' || !WITH_LENGTH[type] ? {} : { length: length.trim() }) }
  // Values that do not fit are shown instead of refused; the change itself refuses what was not there when it was looked at.
  const look = useMutation({
    mutationFn: () => api.dryRun('tables.changeColumnType', { path, body: { ...body, invalidValues: 'null' } }),
  })
  const change = useMutation({
    mutationFn: async (invalidValues: 'refuse' | 'null') =>
      finishStorageJob(await api.call('tables.changeColumnType', { path, body: { ...body, invalidValues } })),
    onSuccess: () => onDone(`${column} is ${type} now.`),
  })
  const edit = (set: (value: string) => void) => (event: { readonly target: { readonly value: string } }) => {
    set(event.target.value)
    look.reset()
    change.reset()
  }
  const error = look.error ?? change.error
  return (
    <Form className="form stack-3" onSubmit={() => look.mutate()}>
      <div className="flex-row wrap align-end">
        <div className="field">
          <Label htmlFor={`${id}-type`}>Type of {column}</Label>
          <select className="input" id={`${id}-type`} value={type} onChange={edit(setType)}>
            {TYPES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </div>
        {WITH_LENGTH[type] ? (
          <div className="field">
            <Label htmlFor={`${id}-length`}>Length of the new type</Label>
            <input
              className="input"
              id={`${id}-length`}
              placeholder={WITH_LENGTH[type]}
              value={length}
              onChange={edit(setLength)}
            />
          </div>
        ) : null}
        <button type="submit" className="button" disabled={(type === present && length.trim() === '') || look.isPending}>
          {look.isPending ? 'Checking every value' : 'Check the values'}
        </button>
      </div>
      {error ? <Problem error={error} /> : null}
      {look.data && !error ? (
        <Fit table={table} column={column} type={type} plan={look.data} isPending={change.isPending} onChange={change.mutate} />
      ) : null}
    </Form>
  )
}

interface FitProps {
  readonly table: Table
  readonly column: string
  readonly type: string
  readonly plan: DryRun
  readonly isPending: boolean
  readonly onChange: (invalidValues: 'refuse' | 'null') => void
}

function Fit({ table, column, type, plan, isPending, onChange }: FitProps) {
  const { invalidRows, invalidExamples } = plan.results as { invalidRows: number; invalidExamples: readonly string[] } // as the change answers
  const rows = plural(plan.rows?.after ?? 0, 'row')
  return (
    <div className={invalidRows > 0 ? 'note warn' : 'note running'} role="status">
      <Icon name={invalidRows > 0 ? 'st-warn' : 'eye'} />
      <div className="grow stack-2">
        <p>
          {invalidRows > 0
            ? `${plural(invalidRows, 'value')} in ${rows} would be lost: ${invalidExamples.map((one) => `“${one}”`).join(', ')}${invalidRows > invalidExamples.length ? ' and others' : ''}.`
            : `Every value can be converted: ${rows} would be rewritten with ${column} as ${type}.`}{' '}
          Loads of the table wait meanwhile.
          {table.isTyped
            ? ''
            : ' The table will have types: later loads are checked against them, and empty values of this column become null.'}
          {plan.configurations.length > 0 ? ` Used by ${plan.configurations.map(({ name }) => name).join(', ')}.` : ''}
        </p>
        <div>
          <button
            type="button"
            className={invalidRows > 0 ? 'button danger' : 'button primary'}
            disabled={isPending}
            onClick={() => onChange(invalidRows > 0 ? 'null' : 'refuse')}
          >
            {isPending
              ? 'Writing the rows'
              : invalidRows > 0
                ? `Change ${column} to ${type}, and ${plural(invalidRows, 'value')} to null`
                : `Change ${column} to ${type}`}
          </button>
        </div>
      </div>
    </div>
  )
}
