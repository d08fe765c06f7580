// Earlier states of a table: snapshots and points in time. Compared with now, restored, or copied to a table of their own.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Table } from '../../../../client/src/operations.ts'
import { finishStorageJob } from '../../facts/storage-job.ts'
import { bucketOf, tableNameOf } from '../../facts/table-id.ts'
import { bytes, count, fieldTime, moment, plural, timeOfField } from '../../format.ts'
import { Teach } from '../../listing.tsx'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { PastTime } from '../../parts/past-time.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { CHANGES } from './table-history.tsx'
import './table.css'

interface Snapshot {
  readonly id: string
  readonly createdTime: string
  readonly description: string
  readonly rowsCount: number
  readonly dataSizeBytes: number
  readonly creatorToken: { readonly description: string }
}

/** Which rows come back. */
type Earlier = { readonly snapshotId: string } | { readonly timestamp: string }

export function TableSnapshots({ table }: { table: Table }) {
  return (
    <div className="columns">
      <Kept table={table} />
      <TimeTravel table={table} />
    </div>
  )
}

/** Puts rows back, and can undo it: the state before is a moment like any other. */
function useRestore(tableId: string) {
  const queries = useQueryClient()
  const restore = async (from: Earlier) => {
    await finishStorageJob(await api.call('tables.restore', { path: { tableId }, body: from }))
    await queries.invalidateQueries()
  }
  return useMutation({
    mutationFn: async (from: Earlier) => {
      const before = new Date().toISOString()
      await restore(from)
      return before
    },
    onSuccess: (before) => toast('The rows are back.', () => restore({ timestamp: before })),
  })
}

/** Makes a table of an earlier state, beside the present one. */
function useMakeTable(tableId: string) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async ({ from, suffix }: { readonly from: Earlier; readonly suffix: string }) => {
      const name = `${tableNameOf(tableId)}_${suffix}`
      const source = 'snapshotId' in from ? from : { sourceTableId: tableId, timestamp: from.timestamp }
      await finishStorageJob(
        await api.call('tables.createAsync', { path: { bucketId: bucketOf(tableId) }, body: { name, ...source } }),
      )
      return `${bucketOf(tableId)}.${name}`
    },
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['tables.list'] })
      toast(`The table as it was is ${made}.`)
      void navigate({ to: '/storage/$tableId', params: { tableId: made }, search: {} })
    },
  })
}

function Kept({ table }: { table: Table }) {
  const tableId = table.id
  const queries = useQueryClient()
  const [description, setDescription] = useState('')
  const [compared, setCompared] = useState<Snapshot>()
  const list = useLoad('tables.listSnapshots', { path: { tableId }, query: {} })
  const create = useMutation({
    mutationFn: async () =>
      finishStorageJob(await api.call('tables.createSnapshot', { path: { tableId }, body: { description } })),
    onSuccess: async () => {
      setDescription('')
      await queries.invalidateQueries({ queryKey: ['tables.listSnapshots'] })
      toast('Snapshot created.')
    },
  })
  const remove = async (snapshotId: string) => {
    await finishStorageJob(await api.call('snapshots.delete', { path: { snapshotId } }))
    await queries.invalidateQueries({ queryKey: ['tables.listSnapshots'] })
    toast('The snapshot is deleted.')
  }
  return (
    <section className="card" aria-labelledby="snapshots">
      <header className="wrap">
        <h2 id="snapshots">Snapshots</h2>
        <Form className="flex-row push" onSubmit={() => create.mutate()}>
          <input
            className="input small"
            aria-label="What the snapshot is for"
            placeholder="what it is for"
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
          <ActButton needs="tables.createSnapshot" type="submit" className="button small" disabled={create.isPending}>
            <Icon name="camera" size="small" />
            <span>Create a snapshot</span>
          </ActButton>
        </Form>
      </header>
      {create.error ? <Problem error={create.error} /> : null}
      <Loaded query={list} skeleton={<Lines />}>
        {(data) => {
          const snapshots = data as readonly Snapshot[] // described loosely
          if (snapshots.length === 0)
            return (
              <Teach>
                A snapshot keeps the table as it is now, for as long as you want. Its rows can be put back, or become a table of
                their own.
              </Teach>
            )
          return (
            <ListTable
              label="Snapshots"
              columns={['Created', 'For', { num: 'Rows' }, { num: 'Size' }, 'By', { hidden: 'Compare' }]}
            >
              {snapshots.map((one) => (
                <tr key={one.id}>
                  <td className="nowrap">{moment(one.createdTime)}</td>
                  <td>{one.description || <i className="null">no words</i>}</td>
                  <td className="numeric">{count(one.rowsCount)}</td>
                  <td className="numeric">{bytes(one.dataSizeBytes)}</td>
                  <td className="mute">{one.creatorToken.description}</td>
                  <td>
                    <span className="flex-row">
                      <button type="button" className="button small" onClick={() => setCompared(one)}>
                        Compare and restore
                      </button>
                      <ConfirmButton
                        label="Delete"
                        name={`snapshot of ${moment(one.createdTime)}`}
                        ariaLabel={`Delete the snapshot of ${moment(one.createdTime)}`}
                        needs="snapshots.delete"
                        effect={
                          <p>
                            The state with {plural(one.rowsCount, 'row')} can no longer be restored, except by the time travel of
                            the last days. The table stays as it is.
                          </p>
                        }
                        act={() => remove(one.id)}
                      />
                    </span>
                  </td>
                </tr>
              ))}
            </ListTable>
          )
        }}
      </Loaded>
      {compared ? <Compared table={table} snapshot={compared} onClose={() => setCompared(undefined)} /> : null}
    </section>
  )
}

interface SnapshotDetail {
  readonly table: { readonly columns: readonly string[]; readonly primaryKey: readonly string[] }
}

function Compared({ table, snapshot, onClose }: { table: Table; snapshot: Snapshot; onClose: () => void }) {
  const query = useLoad('snapshots.get', { path: { snapshotId: snapshot.id } })
  return (
    <Drawer title={`As it was ${moment(snapshot.createdTime)}`} onClose={onClose}>
      <Loaded query={query}>
        {(data) => {
          const then = (data as SnapshotDetail).table // described loosely
          const rows: readonly (readonly [string, string, string])[] = [
            ['Rows', count(snapshot.rowsCount), count(table.rowsCount ?? 0)],
            ['Size', bytes(snapshot.dataSizeBytes), bytes(table.dataSizeBytes ?? 0)],
            ['Columns', String(then.columns.length), String(table.columns?.length ?? 0)],
            ['Key', then.primaryKey.join(', ') || 'none', table.primaryKey.join(', ') || 'none'],
          ]
          const gone = then.columns.filter((name) => !table.columns?.includes(name))
          const added = table.columns?.filter((name) => !then.columns.includes(name)) ?? []
          return (
            <>
              <table className="data-table">
                <thead>
                  <tr>
                    <th>What</th>
                    <th className="numeric">then</th>
                    <th className="numeric">now</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map(([name, before, now]) => (
                    <tr key={name}>
                      <td>{name}</td>
                      <td className="numeric">{before}</td>
                      <td className={`numeric ${before === now ? 'mute' : 'strong'}`}>{now}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {gone.length > 0 ? <p>Columns deleted since: {gone.join(', ')}.</p> : null}
              {added.length > 0 ? <p>Columns that came since: {added.join(', ')}.</p> : null}
              <RestoreActions table={table} from={{ snapshotId: snapshot.id }} suffix={snapshot.id} onDone={onClose} />
            </>
          )
        }}
      </Loaded>
    </Drawer>
  )
}

interface RestoreProps {
  readonly table: Table
  readonly from: Earlier
  /** Of the name of a table made of it. */
  readonly suffix: string
  readonly onDone?: () => void
}

/** What putting the rows back would do, worked out by the stack without doing it, and the two ways to use them. */
function RestoreActions({ table, from, suffix, onDone }: RestoreProps) {
  const dryRun = useLoad('tables.restore', { path: { tableId: table.id }, query: { dryRun: true }, body: from })
  const restore = useRestore(table.id)
  const make = useMakeTable(table.id)
  const planned = dryRun.data as { readonly rows?: { readonly before: number; readonly after: number } } | undefined // a dry run
  const error = restore.error ?? make.error ?? dryRun.error
  return (
    <>
      {planned?.rows ? (
        <p className="body-text" role="status">
          {planned.rows.before === planned.rows.after
            ? `The table keeps ${plural(planned.rows.after, 'row')}; their values become those of then.`
            : `The table would have ${plural(planned.rows.after, 'row')} instead of ${count(planned.rows.before)}.`}{' '}
          The rows of now stay reachable by their time.
        </p>
      ) : null}
      {error ? <Problem error={error} /> : null}
      <div className="flex-row wrap">
        <ActButton
          needs="tables.restore"
          className="button primary"
          disabled={restore.isPending || dryRun.error !== null}
          onClick={() => restore.mutate(from, { onSuccess: () => onDone?.() })}
        >
          <Icon name="history" />
          <span>Put these rows back</span>
        </ActButton>
        <ActButton
          needs="tables.createAsync"
          className="button"
          disabled={make.isPending}
          onClick={() => make.mutate({ from, suffix }, { onSuccess: () => onDone?.() })}
        >
          Create a table from it
        </ActButton>
      </div>
    </>
  )
}

const LISTED = 20
const CHANGES_NOTHING = /Started$|Exported$|SnapshotCreated$|Created$|MetadataSet$|Late$/

interface TableEvent {
  readonly id: number
  readonly event: string
  readonly message: string
  readonly created: string
}

function TimeTravel({ table }: { table: Table }) {
  const [at, setAt] = useState('')
  const events = useLoad('tables.events', { path: { tableId: table.id }, query: { limit: LISTED, q: CHANGES } })
  const changes = ((events.data ?? []) as readonly TableEvent[]).filter(({ event }) => !CHANGES_NOTHING.test(event)) // described loosely
  const time = at === '' ? undefined : timeOfField(at)
  return (
    <section className="card" aria-labelledby="travel">
      <header>
        <h2 id="travel">Time travel</h2>
      </header>
      <div className="inset stack-4">
        <PastTime
          label="The table as it was at"
          hint="States are kept for some days, even without a snapshot."
          value={at}
          onChange={setAt}
        />
        <ul className="list moments">
          {changes.map(({ id, message, created }) => (
            <li key={id}>
              <button type="button" className="link grow" onClick={() => setAt(fieldTime(new Date(Date.parse(created) - 1000)))}>
                Before {moment(created)}
                <span className="fine mute block clip">{message}</span>
              </button>
            </li>
          ))}
        </ul>
        {time ? (
          <RestoreActions
            key={at}
            table={table}
            from={{ timestamp: time.toISOString() }}
            suffix={time.toISOString().replace(/\D/g, '').slice(0, 14)}
          />
        ) : null}
      </div>
    </section>
  )
}
