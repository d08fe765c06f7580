// One row as a form. The key finds the row, so it can only be typed for a new one.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Table } from '../../../../../client/src/operations.ts'
import { Loaded } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { Field } from '../../../parts/field.tsx'
import { Form } from '../../../parts/form.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { toast } from '../../../shell/toast.tsx'
import { addRow, changeRow, deleteRow, type Row, readRow } from './row-edit.ts'

interface ColumnRule {
  readonly name: string
  readonly basetype?: string
  readonly definition?: { readonly type?: string; readonly nullable?: boolean }
}

const rulesOf = (table: Table): ReadonlyMap<string, ColumnRule> =>
  new Map(((table.definition ?? {}) as { columns?: readonly ColumnRule[] }).columns?.map((one) => [one.name, one])) // described loosely

interface RowDrawerProps {
  readonly table: Table
  /** The key of the row; undefined: a new one. */
  readonly row: Row | undefined
  /** Gets the focus. */
  readonly column: string | undefined
  readonly onClose: () => void
}

export function RowDrawer({ table, row, column, onClose }: RowDrawerProps) {
  const [openedAt] = useState(() => performance.now())
  const query = useQuery({
    queryKey: ['row', table.id, row, openedAt], // as it is when it is opened, not as it was the last time
    queryFn: async () => {
      if (!row) return Object.fromEntries((table.columns ?? []).map((name) => [name, '']))
      const found = await readRow(table, row)
      if (!found) throw new Error('The row does not exist any more.')
      return found
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY, // what is typed must not be replaced by a row that was changed meanwhile
  })
  return (
    <Drawer title={row ? `Row ${table.primaryKey.map((name) => row[name]).join(', ')}` : 'New row'} onClose={onClose}>
      <Loaded query={query}>
        {(before) => <RowForm table={table} before={before} isNew={!row} column={column} onClose={onClose} />}
      </Loaded>
    </Drawer>
  )
}

interface RowFormProps {
  readonly table: Table
  readonly before: Row
  readonly isNew: boolean
  readonly column: string | undefined
  readonly onClose: () => void
}

function RowForm({ table, before, isNew, column, onClose }: RowFormProps) {
  const queries = useQueryClient()
  const [row, setRow] = useState(before)
  const rules = rulesOf(table)
  /** All that is shown but this row, which may not exist any more. */
  const refresh = () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'row' })
  const edit = useMutation({
    mutationFn: async (isDeletion: boolean) => {
      const undo = isDeletion
        ? await deleteRow(table, before)
        : await (isNew ? addRow(table, row) : changeRow(table, before, row))
      await refresh()
      return { undo, done: isDeletion ? 'The row is deleted.' : isNew ? 'The row is added.' : 'The row is saved.' }
    },
    onSuccess: ({ undo, done }) => {
      onClose()
      toast(done, async () => {
        await undo()
        await refresh()
      })
    },
  })
  const isChanged = Object.keys(before).some((name) => row[name] !== before[name])
  return (
    <Form className="form" onSubmit={() => edit.mutate(false)}>
      {(table.columns ?? []).map((name) => {
        const isKey = table.primaryKey.includes(name)
        const rule = rules.get(name)
        const type = table.isTyped ? (rule?.definition?.type ?? rule?.basetype ?? '') : ''
        const mayBeNull = table.isTyped && !isKey && rule?.definition?.nullable !== false
        const value = row[name] ?? null
        const hint = [isKey ? (isNew ? 'key' : 'key, finds the row and cannot change') : '', type].filter((part) => part !== '')
        return (
          <Field key={name} label={name} hint={hint.length > 0 ? hint.join(', ') : undefined}>
            {(id) => (
              <div className="flex-row">
                <RowInput
                  id={id}
                  value={value}
                  isFixed={isKey && !isNew}
                  isFirst={name === column}
                  onChange={(text) => setRow({ ...row, [name]: text })}
                />
                {mayBeNull ? (
                  <label className="check-line">
                    <input
                      type="checkbox"
                      aria-label={`${name} is null`}
                      checked={value === null}
                      onChange={({ target }) => setRow({ ...row, [name]: target.checked ? null : '' })}
                    />
                    null
                  </label>
                ) : null}
              </div>
            )}
          </Field>
        )
      })}
      {edit.error ? <Problem error={edit.error} /> : null}
      <div className="flex-row wrap">
        <ActButton
          needs="tables.importAsync"
          type="submit"
          className="button primary"
          disabled={edit.isPending || (!isNew && !isChanged)}
        >
          {edit.isPending ? 'Loading the row' : isNew ? 'Add the row' : 'Save the row'}
        </ActButton>
        {isNew ? null : (
          <ActButton
            needs="tables.deleteRows"
            className="button danger push"
            disabled={edit.isPending}
            onClick={() => edit.mutate(true)}
          >
            Delete the row
          </ActButton>
        )}
      </div>
      <p className="hint">Each edit is a load of the table: data tests check it, it is in the history, and it can be undone.</p>
    </Form>
  )
}

interface RowInputProps {
  readonly id: string
  readonly value: string | null
  readonly isFixed: boolean
  readonly isFirst: boolean
  readonly onChange: (text: string) => void
}

/** Several lines only where there are some: a field keeps one line, and Enter saves. */
function RowInput({ id, value, isFixed, isFirst, onChange }: RowInputProps) {
  const shared = {
    id,
    className: 'input mono grow',
    value: value ?? '',
    disabled: isFixed || value === null,
    autoFocus: isFirst,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  }
  return value?.includes('\n') ? <textarea {...shared} rows={4} /> : <input {...shared} />
}
