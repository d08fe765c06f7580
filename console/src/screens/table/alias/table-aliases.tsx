// Aliases: a table shown under another name, whole or in part. Here they are created from a table, and an alias is changed.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import type { Table } from '../../../../../client/src/operations.ts'
import { finishStorageJob } from '../../../facts/storage-job.ts'
import { useBuckets } from '../../../facts/storage-names.ts'
import { bucketOf } from '../../../facts/table-id.ts'
import { useLoad } from '../../../load.tsx'
import { ActButton } from '../../../parts/act-button.tsx'
import { DialogEnd } from '../../../parts/dialog-end.tsx'
import { Dialog } from '../../../parts/drawer.tsx'
import { Form } from '../../../parts/form.tsx'
import { Label } from '../../../parts/guide.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { Suggestions } from '../../../parts/suggestions.tsx'
import { api } from '../../../session.ts'
import { toast } from '../../../shell/toast.tsx'

interface AliasFilter {
  readonly column: string
  readonly operator: string
  readonly values: readonly string[]
}

/** Answers have more members of aliases than their schema. */
interface AliasTable extends Table {
  readonly isAliasable?: boolean
  readonly aliasColumnsAutoSync?: boolean
  readonly aliasFilter?: AliasFilter
  readonly sourceTable?: { readonly id: string }
}

/** What the rows of an alias have in common; without a column it shows all. */
interface Chosen {
  readonly column: string
  readonly operator: string
  /** One value a line: values may have commas. */
  readonly values: string
}

const NO_FILTER: Chosen = { column: '', operator: 'eq', values: '' }

const chosenOf = (filter: AliasFilter | undefined): Chosen =>
  filter ? { column: filter.column, operator: filter.operator, values: filter.values.join('\n') } : NO_FILTER

const filterOf = ({ column, operator, values }: Chosen): AliasFilter | undefined =>
  column === '' ? undefined : { column, operator, values: values.split('\n') }

function FilterFields({
  columns,
  chosen,
  onChange,
}: {
  columns: readonly string[]
  chosen: Chosen
  onChange: (chosen: Chosen) => void
}) {
  const ids = [useId(), useId(), useId()] as const
  return (
    <>
      <div className="two-fields">
        <div className="field">
          <Label htmlFor={ids[0]}>Rows</Label>
          <select
            className="input"
            id={ids[0]}
            value={chosen.column}
            onChange={(event) => onChange({ ...chosen, column: event.target.value })}
          >
            <option value="">all rows</option>
            {columns.map((name) => (
              <option key={name} value={name}>{`where ${name}`}</option>
            ))}
          </select>
        </div>
        {chosen.column === '' ? null : (
          <div className="field">
            <Label htmlFor={ids[1]}>Comparison</Label>
            <select
              className="input"
              id={ids[1]}
              value={chosen.operator}
              onChange={(event) => onChange({ ...chosen, operator: event.target.value })}
            >
              <option value="eq">is one of</option>
              <option value="ne">is none of</option>
            </select>
          </div>
        )}
      </div>
      {chosen.column === '' ? null : (
        <div className="field">
          <Label htmlFor={ids[2]}>Values, one in each line</Label>
          <textarea
            className="input mono"
            id={ids[2]}
            rows={3}
            value={chosen.values}
            onChange={(event) => onChange({ ...chosen, values: event.target.value })}
          />
        </div>
      )}
    </>
  )
}

/** The aliases of a table, and a new one. */
export function TableAliases({ table }: { table: Table }) {
  const [isOpen, setOpen] = useState(false)
  const aliases = useLoad('lineage.usedBy', { path: { tableId: table.id } }).data?.aliases ?? []
  const { isAliasable = true }: AliasTable = table
  return (
    <section className="card" aria-labelledby="aliases">
      <header>
        <h2 id="aliases">Aliases</h2>
      </header>
      <div className="inset stack-3">
        <p className="soft">
          An alias shows this table in another bucket, whole or in part: tokens can read it without the table.
        </p>
        {aliases.map((id) => (
          <Link key={id} className="identifier" to="/storage/$tableId" params={{ tableId: id }}>
            {id}
          </Link>
        ))}
        <div className="flex-row">
          <ActButton
            needs="tables.createAlias"
            className="button"
            disabled={!isAliasable}
            title={
              isAliasable ? undefined : 'An alias with a filter or columns of its own has no aliases: create one of its table.'
            }
            onClick={() => setOpen(true)}
          >
            New alias
          </ActButton>
        </div>
      </div>
      {isOpen ? <NewAlias table={table} onClose={() => setOpen(false)} /> : null}
    </section>
  )
}

function NewAlias({ table, onClose }: { table: Table; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const ids = [useId(), useId()] as const
  const all = table.columns ?? []
  const [bucketId, setBucketId] = useState(() => bucketOf(table.id))
  const buckets = useBuckets(bucketId)
  const [name, setName] = useState(`${table.name}-alias`)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [chosen, setChosen] = useState(NO_FILTER)
  const create = useMutation({
    mutationFn: () => {
      const shown = hidden.size === 0 ? undefined : all.filter((column) => !hidden.has(column))
      const filter = filterOf(chosen)
      const body = {
        sourceTable: table.id,
        name,
        ...(shown ? { aliasColumns: shown } : {}),
        ...(filter ? { aliasFilter: filter } : {}),
      }
      return api.call('tables.createAlias', { path: { bucketId }, body })
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries()
      await navigate({ to: '/storage/$tableId', params: { tableId: id } })
      toast(`${id} shows ${table.id}.`, async () => {
        await navigate({ to: '/storage/$tableId', params: { tableId: table.id }, search: { tab: 'manage' } })
        await api.call('tables.delete', { path: { tableId: id } })
        queries.removeQueries({ queryKey: ['tables.get', { path: { tableId: id } }] })
        await queries.invalidateQueries()
      })
    },
  })
  const toggle = (column: string) => {
    const after = new Set(hidden)
    if (!after.delete(column)) after.add(column)
    setHidden(after)
  }
  return (
    <Dialog title={`New alias of ${table.id}`} onClose={onClose}>
      <Form onSubmit={() => create.mutate()}>
        <div className="two-fields">
          <div className="field">
            <Label htmlFor={ids[0]}>Bucket</Label>
            <input
              className="input mono"
              id={ids[0]}
              list={`${ids[0]}-buckets`}
              required
              value={bucketId}
              onChange={(event) => setBucketId(event.target.value)}
            />
            <Suggestions id={`${ids[0]}-buckets`} values={buckets.filter(({ isLinked }) => !isLinked).map(({ id }) => id)} />
          </div>
          <div className="field">
            <Label htmlFor={ids[1]}>Name</Label>
            <input className="input mono" id={ids[1]} required value={name} onChange={(event) => setName(event.target.value)} />
          </div>
        </div>
        <FilterFields columns={all} chosen={chosen} onChange={setChosen} />
        <ColumnBoxes all={all} isShown={(column) => !hidden.has(column)} onToggle={toggle}>
          <span className="hint">
            {hidden.size === 0
              ? 'Columns that the table gets later are shown, too.'
              : 'Only these, also when the table gets more.'}
          </span>
        </ColumnBoxes>
        <DialogEnd error={create.error} isPending={create.isPending || hidden.size === all.length} onClose={onClose}>
          Create the alias
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

interface Shown {
  readonly chosen: Chosen
  /** All columns, also those that the table gets later. */
  readonly isSynced: boolean
  readonly columns: readonly string[]
}

/** What an alias shows: which rows and columns of its table. Tables of linked buckets are aliases that show everything. */
export const AliasShows = ({ table }: { table: Table }) => {
  const { aliasFilter, aliasColumnsAutoSync, sourceTable }: AliasTable = table
  const source = useLoad('tables.get', sourceTable && { path: { tableId: sourceTable.id } }, {
    enabled: aliasColumnsAutoSync !== undefined,
  })
  if (aliasColumnsAutoSync === undefined || !source.data) return null
  const shown = { chosen: chosenOf(aliasFilter), isSynced: aliasColumnsAutoSync, columns: table.columns ?? [] }
  return <ShownForm key={JSON.stringify(shown)} tableId={table.id} source={source.data} before={shown} />
}

function ShownForm({ tableId, source, before }: { tableId: string; source: Table; before: Shown }) {
  const queries = useQueryClient()
  const [after, setAfter] = useState(before)
  const all = source.columns ?? []
  const path = { tableId }
  const write = async (from: Shown, to: Shown) => {
    const filter = filterOf(to.chosen)
    if (JSON.stringify(filterOf(from.chosen)) !== JSON.stringify(filter)) {
      if (filter) await api.call('tables.setAliasFilter', { path, body: filter })
      else await api.call('tables.deleteAliasFilter', { path })
    }
    if (from.isSynced !== to.isSynced)
      await api.call(to.isSynced ? 'tables.enableAliasSync' : 'tables.disableAliasSync', { path })
    if (!to.isSynced) {
      const shown = from.isSynced ? all : from.columns
      for (const name of to.columns.filter((one) => !shown.includes(one)))
        await finishStorageJob(await api.call('tables.addColumn', { path, body: { name } }))
      for (const column of shown.filter((one) => !to.columns.includes(one)))
        await finishStorageJob(await api.call('tables.deleteColumn', { path: { tableId, column } }))
    }
    await queries.invalidateQueries()
  }
  const save = useMutation({
    mutationFn: () => write(before, after).then(() => before), // of now: when it is done, this is drawn with what was saved
    onSuccess: (was) => toast('The alias is changed.', () => write(after, was)),
  })
  const toggle = (column: string) => {
    const columns = all.filter((one) => (one === column) !== after.columns.includes(one))
    setAfter({ ...after, isSynced: false, columns })
  }
  return (
    <section className="card" aria-labelledby="alias-shows">
      <header>
        <h2 id="alias-shows">What the alias shows</h2>
      </header>
      <Form onSubmit={() => save.mutate()}>
        <p>
          Rows of{' '}
          <Link className="identifier" to="/storage/$tableId" params={{ tableId: source.id }}>
            {source.id}
          </Link>
        </p>
        <FilterFields columns={all} chosen={after.chosen} onChange={(chosen) => setAfter({ ...after, chosen })} />
        <ColumnBoxes all={all} isShown={(column) => after.columns.includes(column)} onToggle={toggle}>
          <label className="check-line">
            <input
              type="checkbox"
              checked={after.isSynced}
              onChange={({ target }) =>
                setAfter({ ...after, isSynced: target.checked, columns: target.checked ? all : after.columns })
              }
            />
            All, also those that the table gets later
          </label>
        </ColumnBoxes>
        {save.error ? <Problem error={save.error} /> : null}
        <ActButton
          type="submit"
          needs="tables.setAliasFilter"
          className="button"
          disabled={save.isPending || after.columns.length === 0 || JSON.stringify(before) === JSON.stringify(after)}
        >
          Change the alias
        </ActButton>
      </Form>
    </section>
  )
}

function ColumnBoxes({
  all,
  isShown,
  onToggle,
  children,
}: {
  all: readonly string[]
  isShown: (column: string) => boolean
  onToggle: (column: string) => void
  children: ReactNode
}) {
  return (
    <fieldset className="plain stack-2">
      <legend className="label">Columns</legend>
      <div className="flex-row wrap gap-3">
        {all.map((column) => (
          <label key={column} className="check-line">
            <input type="checkbox" checked={isShown(column)} onChange={() => onToggle(column)} />
            {column}
          </label>
        ))}
      </div>
      {children}
    </fieldset>
  )
}
