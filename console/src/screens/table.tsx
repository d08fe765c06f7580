// A table: how many rows, how fresh; then its data, schema, history, snapshots and the ways to use it.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { Table } from '../../../client/src/operations.ts'
import { bytes, count, moment, plural } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../parts/problem.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { api } from '../session.ts'
import { Page } from '../shell/page.tsx'
import { toast } from '../shell/toast.tsx'
import { finishStorageJob } from '../storage-job.ts'
import { bucketOf, tableNameOf } from '../table-id.ts'
import { DataAccess } from './table-access.tsx'
import { TableData } from './table-data.tsx'
import { ExportButton } from './table-export.tsx'
import { TableHistory } from './table-history.tsx'
import { TableLineage } from './table-lineage.tsx'
import { TableProfile } from './table-profile.tsx'

const route = getRouteApi('/storage/$tableId')

interface ColumnDefinition {
  readonly name: string
  readonly basetype?: string
  readonly definition: { readonly type?: string; readonly nullable?: boolean; readonly length?: string }
}

export function TableScreen() {
  const { tableId } = route.useParams()
  const { tab = 'data' } = route.useSearch()
  const query = useLoad('tables.get', { path: { tableId } })
  const table = query.data
  const name = tableNameOf(tableId)
  const bucket = bucketOf(tableId)
  return (
    <Page
      title={name}
      crumbs={[{ name: 'Storage', to: '/storage' }, { name: bucket, to: '/storage', search: { q: bucket } }, { name }]}
      above={
        <>
          <span className="id">{tableId}</span>
          <CopyButton text={tableId} label="Copy id" />
        </>
      }
      say={table ? sentenceOf(table) : name}
      sub={
        table
          ? `${plural(table.columns?.length ?? 0, 'column')}, ${bytes(table.dataSizeBytes ?? 0)}${table.isAlias ? ', an alias' : ''}`
          : undefined
      }
      actions={
        table ? (
          <>
            <ExportButton table={table} />
            {table.isAlias ? null : <LoadButton tableId={tableId} />}
          </>
        ) : undefined
      }
    >
      <Tabs
        label="Parts of the table"
        current={tab}
        tabs={[
          { id: 'data', name: 'Data' },
          { id: 'schema', name: 'Schema', count: table?.columns?.length },
          { id: 'profile', name: 'Profile' },
          { id: 'history', name: 'History' },
          { id: 'snapshots', name: 'Snapshots' },
          { id: 'lineage', name: 'Lineage' },
          { id: 'use', name: 'Use this data' },
        ]}
      />
      <div className="tab-body">
        <Loaded query={query}>
          {(data) => {
            if (tab === 'schema') return <Schema table={data} />
            if (tab === 'profile') return <TableProfile table={data} />
            if (tab === 'history') return <TableHistory tableId={tableId} />
            if (tab === 'snapshots') return <Snapshots tableId={tableId} />
            if (tab === 'lineage') return <TableLineage tableId={tableId} />
            if (tab === 'use') return <DataAccess table={data} />
            return <TableData table={data} />
          }}
        </Loaded>
      </div>
    </Page>
  )
}

function sentenceOf({ rowsCount, lastImportDate, displayName }: Table): string {
  const rows = rowsCount === null ? displayName : plural(rowsCount, 'row')
  return lastImportDate === null ? `${rows}, never loaded.` : `${rows}, last loaded ${moment(lastImportDate)}.`
}

const LoadButton = ({ tableId }: { tableId: string }) => (
  <Link className="btn pri" to="/upload" search={{ table: tableId }}>
    <Icon name="upload" />
    <span>Load data</span>
  </Link>
)

function Schema({ table }: { table: Table }) {
  const { columns = [] } = (table.definition ?? {}) as { columns?: readonly ColumnDefinition[] } // `definition` is described loosely
  const shown = columns.length > 0 ? columns : (table.columns ?? []).map((name) => ({ name, definition: {} }) as ColumnDefinition)
  return (
    <section className="card" aria-label="Columns">
      <Scroll label="Columns">
        <table className="t">
          <thead>
            <tr>
              <th>Column</th>
              <th>Type</th>
              <th>Null</th>
              <th>Key</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, basetype, definition }) => (
              <tr key={name}>
                <td className="med">{name}</td>
                <td>
                  {table.isTyped ? (
                    <span className="id">
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
                    <span className="tag">
                      <Icon name="key" size="sm" />
                      key
                    </span>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

interface Snapshot {
  readonly id: string
  readonly createdTime: string
  readonly description: string | null
  readonly rowsCount: number | null
  readonly dataSizeBytes: number
  readonly creatorToken: { readonly description: string }
}

function Snapshots({ tableId }: { tableId: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const list = useLoad('tables.listSnapshots', { path: { tableId }, query: {} })
  const reload = () => queries.invalidateQueries({ queryKey: ['tables.listSnapshots'] })
  const create = useMutation({
    mutationFn: async () =>
      finishStorageJob(await api.call('tables.createSnapshot', { path: { tableId }, body: { description: '' } })),
    onSuccess: async () => {
      await reload()
      toast('Snapshot made.')
    },
  })
  const restore = useMutation({
    mutationFn: async ({ id }: Snapshot) => {
      const name = `${tableNameOf(tableId)}_${id}`
      await finishStorageJob(
        await api.call('tables.createAsync', { path: { bucketId: bucketOf(tableId) }, body: { name, snapshotId: id } }),
      )
      return `${bucketOf(tableId)}.${name}`
    },
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['tables.list'] })
      toast(`The table as it was is ${made}.`)
      void navigate({ to: '/storage/$tableId', params: { tableId: made }, search: {} })
    },
  })
  return (
    <section className="card" aria-labelledby="snapshots">
      <header>
        <h2 id="snapshots">Snapshots</h2>
        <button type="button" className="btn sm push" disabled={create.isPending} onClick={() => create.mutate()}>
          <Icon name="camera" size="sm" />
          <span>Make a snapshot</span>
        </button>
      </header>
      {[create, restore].map(({ error }, index) =>
        error ? <Problem key={index === 0 ? 'create' : 'restore'} error={error} /> : null,
      )}
      <Loaded query={list} skeleton={<Lines />}>
        {(data) => {
          const snapshots = data as readonly Snapshot[] // described loosely
          if (snapshots.length === 0)
            return (
              <div className="empty">
                <p className="md soft">
                  A snapshot keeps the table as it is now. It costs no space until the table changes, and a new table can be made
                  from it at any time.
                </p>
              </div>
            )
          return (
            <Scroll label="Snapshots">
              <table className="t">
                <thead>
                  <tr>
                    <th>Made</th>
                    <th>By</th>
                    <th className="num">Rows</th>
                    <th className="num">Size</th>
                    <th>Id</th>
                    <th>
                      <span className="vh">Restore</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {snapshots.map((one) => (
                    <tr key={one.id}>
                      <td>{moment(one.createdTime)}</td>
                      <td className="mute">{one.creatorToken?.description}</td>
                      <td className="num">{count(one.rowsCount ?? 0)}</td>
                      <td className="num">{bytes(one.dataSizeBytes)}</td>
                      <td className="id">{one.id}</td>
                      <td>
                        <button type="button" className="btn sm" disabled={restore.isPending} onClick={() => restore.mutate(one)}>
                          Make a table of it
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )
        }}
      </Loaded>
    </section>
  )
}
