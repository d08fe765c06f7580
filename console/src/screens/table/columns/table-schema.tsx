// The columns of a table, changed in place. The stack reports what a change would do before it is applied.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { DryRun, Table } from '../../../../../client/src/operations.ts'
import { finishStorageJob } from '../../../facts/storage-job.ts'
import { bucketOf } from '../../../facts/table-id.ts'
import { plural, timeOfDay } from '../../../format.ts'
import { useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { Form } from '../../../parts/form.tsx'
import { Label } from '../../../parts/guide.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { ListTable } from '../../../parts/list-table.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { api } from '../../../session.ts'
import { toast } from '../../../shell/toast.tsx'
import { InPlace } from '../../../views/in-place.tsx'
import { ColumnType, TYPES } from './column-type.tsx'
import '../table.css'

interface Column {
  readonly name: string
  readonly basetype?: string
  readonly definition: {
    readonly type?: string
    readonly nullable?: boolean
    readonly length?: string
    readonly default?: string
  }
}

function columnsOf(table: Table): readonly Column[] {
  const { columns = [] } = (table.definition ?? {}) as { columns?: readonly Column[] } // described loosely
  // The definition is sorted by name; people read columns in the order of the table.
  const byName = new Map(columns.map((column) => [column.name, column]))
  return (table.columns ?? []).map((name) => byName.get(name) ?? { name, definition: {} })
}

interface Metadata {
  readonly key: string
  readonly value: string
}

const descriptionOf = (table: Table, column: string): string =>
  ((table.columnMetadata?.[column] ?? []) as readonly Metadata[]).findLast(({ key }) => key === 'KBC.description')?.value ?? ''

interface Done {
  readonly sentence: string
  readonly undo?: (() => Promise<unknown>) | undefined
}

/** Changes reload the table; the sentence is shown when they are done. */
function useChange<T>(change: (input: T) => Promise<string | Done>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: async (done) => {
      await queries.invalidateQueries()
      const { sentence, undo }: Done = typeof done === 'string' ? { sentence: done } : done
      toast(sentence, undo && (() => undo().then(() => queries.invalidateQueries())))
    },
  })
}

export function TableSchema({ table }: { table: Table }) {
  const [open, setOpen] = useState<string>()
  return (
    <div className="columns">
      <section className="card" aria-label="Columns">
        <ListTable label="Columns" columns={['Column', 'Type', 'Null', 'Key', 'Description', { hidden: 'Change' }]}>
          {columnsOf(table).map((column) => (
            <ColumnRows
              key={column.name}
              table={table}
              column={column}
              isOpen={open === column.name}
              onToggle={() => setOpen(open === column.name ? undefined : column.name)}
            />
          ))}
        </ListTable>
      </section>
      {table.isAlias ? (
        <p className="mute">An alias shows the columns of its source.</p>
      ) : (
        <div className="stack-4">
          <NewColumn table={table} />
          <Key key={table.primaryKey.join()} table={table} />
        </div>
      )}
    </div>
  )
}

interface RowProps {
  readonly table: Table
  readonly column: Column
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function ColumnRows({ table, column, isOpen, onToggle }: RowProps) {
  const queries = useQueryClient()
  const { name, basetype, definition } = column
  return (
    <>
      <tr>
        <td className="medium">{name}</td>
        <td>
          {table.isTyped ? (
            <span className="identifier">
              {definition.type ?? basetype}
              {definition.length ? `(${definition.length})` : ''}
            </span>
          ) : (
            <span className="mute">text</span>
          )}
        </td>
        <td className="mute">{table.isTyped ? (definition.nullable ? 'allowed' : 'not allowed') : 'empty text'}</td>
        <td>
          {table.primaryKey.includes(name) ? (
            <span className="tag-label">
              <Icon name="key" size="small" />
              key
            </span>
          ) : null}
        </td>
        <td className="soft">
          {table.isAlias ? (
            descriptionOf(table, name)
          ) : (
            <InPlace
              label={`Description of ${name}`}
              value={descriptionOf(table, name)}
              needs="tables.changeColumn"
              save={async (description) => {
                const path = { tableId: table.id, column: name }
                await finishStorageJob(await api.call('tables.changeColumn', { path, body: { description } }))
                await queries.invalidateQueries()
              }}
            />
          )}
        </td>
        <td>
          {table.isAlias ? null : (
            <ActButton
              needs="tables.changeColumn"
              className="button small"
              aria-expanded={isOpen}
              aria-label={`Change ${name}`}
              onClick={onToggle}
            >
              {isOpen ? 'Close' : 'Change'}
            </ActButton>
          )}
        </td>
      </tr>
      {isOpen ? (
        <tr className="edit-row">
          <td colSpan={6}>
            <ColumnForm table={table} column={column} onDone={onToggle} />
            <ColumnType
              table={table}
              column={name}
              present={table.isTyped ? (basetype ?? 'STRING') : 'STRING'}
              onDone={async (sentence) => {
                onToggle()
                await queries.invalidateQueries()
                toast(`${sentence} The table as it was can be created from the time travel of its snapshots.`)
              }}
            />
          </td>
        </tr>
      ) : null}
    </>
  )
}

/** The requested changes; members that stay are left out. */
type Change = Readonly<Record<string, unknown>>

function ColumnForm({ table, column, onDone }: { table: Table; column: Column; onDone: () => void }) {
  const { name, definition } = column
  const [called, setCalled] = useState(name)
  const [description, setDescription] = useState(() => descriptionOf(table, name))
  const [length, setLength] = useState(definition.length ?? '')
  const [nullable, setNullable] = useState(definition.nullable ?? true)
  const [standard, setStandard] = useState(definition.default ?? '')
  const change: Change = {
    ...(called === name ? {} : { name: called }),
    ...(description === descriptionOf(table, name) ? {} : { description }),
    ...(length === (definition.length ?? '') || !table.isTyped ? {} : { length }),
    ...(nullable === (definition.nullable ?? true) || !table.isTyped ? {} : { nullable }),
    ...(standard === (definition.default ?? '') || !table.isTyped ? {} : { default: standard === '' ? null : standard }),
  }
  const path = { tableId: table.id, column: name }
  const look = useMutation({
    mutationFn: (what: Change | 'delete') =>
      what === 'delete' ? api.dryRun('tables.deleteColumn', { path }) : api.dryRun('tables.changeColumn', { path, body: what }),
  })
  /** A length may only grow, so a change of it stays. */
  const before: Change = {
    name,
    description: descriptionOf(table, name),
    ...('nullable' in change ? { nullable: definition.nullable ?? true } : {}),
    ...('default' in change ? { default: definition.default ?? null } : {}),
  }
  const save = useChange(async (body: Change) => {
    const { results } = await finishStorageJob(await api.call('tables.changeColumn', { path, body }))
    const { name: column = name } = results as { readonly name?: string } // of a renamed column, by the rules for names
    onDone()
    const back = { path: { tableId: table.id, column }, body: before }
    const undo = async () => finishStorageJob(await api.call('tables.changeColumn', back))
    return {
      sentence: column === name ? `${name} is changed.` : `${name} is called ${column} now.`,
      undo: 'length' in body ? undefined : undo,
    }
  })
  const remove = useChange(async (before: string) => {
    await finishStorageJob(await api.call('tables.deleteColumn', { path }))
    onDone()
    return `${name} is deleted. The table as it was before ${before} can be created from the time travel of its snapshots.`
  })
  const error = look.error ?? save.error ?? remove.error
  const isDeletion = look.variables === 'delete'
  return (
    <Form className="form stack-3" onSubmit={() => look.mutate(change)}>
      <div className="field">
        <Label htmlFor={`name-${name}`}>Name</Label>
        <input
          className="input mono"
          id={`name-${name}`}
          required
          value={called}
          onChange={(event) => setCalled(event.target.value)}
        />
        <span className="hint">Aliases follow. Configurations and queries that use the old name have to be changed.</span>
      </div>
      <div className="field">
        <Label htmlFor={`description-${name}`}>Description</Label>
        <input
          className="input"
          id={`description-${name}`}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </div>
      {table.isTyped ? (
        <div className="pair">
          <div className="field">
            <Label htmlFor={`length-${name}`}>Length</Label>
            <input className="input" id={`length-${name}`} value={length} onChange={(event) => setLength(event.target.value)} />
          </div>
          <div className="field">
            <Label htmlFor={`default-${name}`}>Default</Label>
            <input
              className="input"
              id={`default-${name}`}
              value={standard}
              onChange={(event) => setStandard(event.target.value)}
            />
          </div>
          <label className="check-line">
            <input type="checkbox" checked={nullable} onChange={(event) => setNullable(event.target.checked)} />
            Null is allowed
          </label>
        </div>
      ) : null}
      {error ? <Problem error={error} /> : null}
      {look.data && !error ? (
        <Planned name={name} plan={look.data} isDeletion={isDeletion}>
          {isDeletion ? (
            <ActButton
              needs="tables.deleteColumn"
              className="button danger"
              disabled={remove.isPending}
              onClick={() => remove.mutate(timeOfDay(new Date().toISOString()))}
            >
              Delete {name}
            </ActButton>
          ) : (
            <ActButton
              needs="tables.changeColumn"
              className="button primary"
              disabled={save.isPending}
              onClick={() => save.mutate(change)}
            >
              Change {name}
            </ActButton>
          )}
        </Planned>
      ) : null}
      <div className="flex-row wrap">
        <button type="submit" className="button" disabled={look.isPending || Object.keys(change).length === 0}>
          See what the change would do
        </button>
        <ActButton
          needs="tables.deleteColumn"
          className="button ghost push"
          disabled={look.isPending}
          onClick={() => look.mutate('delete')}
        >
          See what deleting it would do
        </ActButton>
      </div>
    </Form>
  )
}

interface PlannedProps {
  readonly name: string
  readonly plan: DryRun
  readonly isDeletion: boolean
  readonly children: React.ReactNode
}

function Planned({ name, plan, isDeletion, children }: PlannedProps) {
  const others = plan.tables.filter((id) => id !== plan.tableId)
  return (
    <div className="note running" role="status">
      <Icon name="eye" />
      <div className="grow stack-2">
        <p>
          {isDeletion ? `${name} would be deleted from ${plural(plan.rows?.after ?? 0, 'row')}.` : 'Every row allows the change.'}
          {others.length > 0 ? ` It also changes ${others.join(', ')}.` : ''}
          {plan.configurations.length > 0
            ? ` Used by ${plan.configurations.map(({ name: one }) => one).join(', ')}.`
            : ' No configuration names the table.'}
        </p>
        <div>{children}</div>
      </div>
    </div>
  )
}

function NewColumn({ table }: { table: Table }) {
  const [name, setName] = useState('')
  const [type, setType] = useState('STRING')
  const add = useChange(async () => {
    const path = { tableId: table.id }
    const body = { name, ...(table.isTyped ? { basetype: type } : {}) }
    await finishStorageJob(await api.call('tables.addColumn', { path, body }))
    setName('')
    return `${name} is added.`
  })
  return (
    <section className="card" aria-labelledby="new-column">
      <header>
        <h2 id="new-column">New column</h2>
      </header>
      <Form onSubmit={() => add.mutate(undefined)}>
        <div className="field">
          <Label htmlFor="column-name">Name</Label>
          <input className="input" id="column-name" required value={name} onChange={(event) => setName(event.target.value)} />
          <span className="hint">
            {plural(table.rowsCount ?? 0, 'row')} get {table.isTyped ? 'null' : 'the empty text'} in it.
          </span>
        </div>
        {table.isTyped ? (
          <div className="field">
            <Label htmlFor="column-type">Type</Label>
            <select className="input" id="column-type" value={type} onChange={(event) => setType(event.target.value)}>
              {TYPES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </div>
        ) : null}
        {add.error ? <Problem error={add.error} /> : null}
        <ActButton needs="tables.addColumn" type="submit" className="button" disabled={add.isPending || name.trim() === ''}>
          Add the column
        </ActButton>
      </Form>
    </section>
  )
}

function Key({ table }: { table: Table }) {
  const [chosen, setChosen] = useState<readonly string[]>(table.primaryKey)
  const profile = useKeyCheck(table, chosen)
  const isSame = chosen.join() === table.primaryKey.join()
  const set = useChange(async () => {
    const path = { tableId: table.id }
    if (table.primaryKey.length > 0) await finishStorageJob(await api.call('tables.deletePrimaryKey', { path }))
    if (chosen.length > 0) await finishStorageJob(await api.call('tables.addPrimaryKey', { path, body: { columns: chosen } }))
    return chosen.length > 0 ? `The key is ${chosen.join(', ')}.` : 'The table has no key.'
  })
  return (
    <section className="card" aria-labelledby="key">
      <header>
        <h2 id="key">Primary key</h2>
      </header>
      <Form onSubmit={() => set.mutate(undefined)}>
        <fieldset className="plain stack-2">
          <legend className="label">Columns of the key, in order</legend>
          <div className="flex-row wrap gap-3">
            {(table.columns ?? []).map((name) => (
              <label key={name} className="check-line">
                <input
                  type="checkbox"
                  checked={chosen.includes(name)}
                  onChange={() => setChosen(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name])}
                />
                {name}
              </label>
            ))}
          </div>
        </fieldset>
        <p className="hint" role="status">
          {profile}
        </p>
        {set.error ? <Problem error={set.error} /> : null}
        <ActButton needs="tables.addPrimaryKey" type="submit" className="button" disabled={set.isPending || isSame}>
          Set the key
        </ActButton>
      </Form>
    </section>
  )
}

/** Whether the chosen columns can be a key, as far as the rows show without a change. */
function useKeyCheck(table: Table, chosen: readonly string[]): string {
  const isNew = chosen.length > 0 && chosen.join() !== table.primaryKey.join()
  const sql = `select count(*) - count(distinct (${chosen.map(quoted).join(', ')})) as twice from ${quoted(bucketOf(table.id))}.${quoted(table.name)}`
  const { data, error } = useLoad('sql.query', { body: { sql } }, { enabled: isNew })
  if (chosen.length === 0) return 'Without a key every load adds all its rows.'
  if (!isNew) return `Rows with the same ${chosen.join(', ')} replace each other.`
  if (error) return error.message
  if (!data) return 'Counting rows with the same values.'
  const twice = Number((data as { rows: readonly (readonly unknown[])[] }).rows[0]?.[0]) // described loosely
  return twice === 0
    ? 'All rows are different in it: it can be the key.'
    : `${plural(twice, 'row')} would be there twice: the key will be refused.`
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
