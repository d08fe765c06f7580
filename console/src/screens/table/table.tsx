// A table: how many rows, how fresh; then its data, schema, history, snapshots and the ways to use it.

import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Table } from '../../../../client/src/operations.ts'
import { finishStorageJob } from '../../facts/storage-job.ts'
import { bucketOf, tableNameOf } from '../../facts/table-id.ts'
import { bytes, plural } from '../../format.ts'
import { Loaded, Together, useLoad } from '../../load.tsx'
import { ActLink } from '../../parts/act-link.tsx'
import { CopyButton } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { InPlace } from '../../views/in-place.tsx'
import { TableSchema } from './columns/table-schema.tsx'
import { TableTests } from './data-tests/table-tests.tsx'
import { FavouriteButton } from './notes/favourite.tsx'
import { HistorySwitch } from './notes/history-switch.tsx'
import { TableComments } from './notes/table-comments.tsx'
import { TableTriggers } from './notes/table-triggers.tsx'
import { DataAccess } from './table-access.tsx'
import { TableData } from './table-data.tsx'
import { ExportButton } from './table-export.tsx'
import { FreshnessCard, FreshnessMark, TableSentence, useFreshness } from './table-freshness.tsx'
import { TableHistory } from './table-history.tsx'
import { LineageCard, TableLineage } from './table-lineage.tsx'
import { descriptionOf, ownerOf, TableManage } from './table-manage.tsx'
import { TableProfile } from './table-profile.tsx'
import { TableSnapshots } from './table-snapshots.tsx'

const route = getRouteApi('/storage/$tableId')

export function TableScreen() {
  const { tableId } = route.useParams()
  const { tab = 'data' } = route.useSearch()
  const query = useLoad('tables.get', { path: { tableId } })
  const table = query.data
  const freshness = useFreshness(tableId).data
  const name = table?.displayName ?? tableNameOf(tableId)
  const bucket = bucketOf(tableId)
  return (
    <Page
      title={name}
      isLoading={query.isPending}
      about={{ bucketId: bucket }}
      crumbs={[{ name: 'Storage', to: '/storage' }, { name: bucket, to: `/buckets/${bucket}` }, { name }]}
      above={
        <>
          {freshness ? <FreshnessMark freshness={freshness} /> : null}
          <span className="identifier">{tableId}</span>
          <CopyButton text={tableId} label="Copy id" />
          <FavouriteButton tableId={tableId} />
        </>
      }
      say={table ? <TableSentence table={table} freshness={freshness} /> : name}
      sub={
        table ? (
          <>
            <span className="block">
              <Description table={table} />
            </span>
            <span className="block">
              {[
                ownerOf(table) === '' ? '' : `Ask ${ownerOf(table)}`,
                `${plural(table.columns?.length ?? 0, 'column')}, ${bytes(table.dataSizeBytes ?? 0)}${table.isAlias ? ', an alias' : ''}`,
              ]
                .filter((part) => part !== '')
                .join(' · ')}
            </span>
          </>
        ) : undefined
      }
      actions={
        table ? (
          <>
            <ExportButton table={table} />
            {table.isAlias ? null : <LoadButton tableId={tableId} />}
            <QueryButton tableId={tableId} />
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
          { id: 'tests', name: 'Tests' },
          { id: 'history', name: 'History' },
          { id: 'snapshots', name: 'Snapshots' },
          { id: 'lineage', name: 'Lineage' },
          { id: 'comments', name: 'Comments' },
          { id: 'triggers', name: 'Triggers' },
          { id: 'use', name: 'Use this data' },
          { id: 'manage', name: 'Manage' },
        ]}
      />
      <div className="tab-body">
        <Loaded query={query}>
          {(data) => {
            if (tab === 'schema') return <TableSchema table={data} />
            if (tab === 'profile') return <TableProfile table={data} />
            if (tab === 'tests')
              return (
                <Together>
                  <TableTests table={data} />
                </Together>
              )
            if (tab === 'history') return <History table={data} />
            if (tab === 'comments') return <TableComments tableId={tableId} />
            if (tab === 'triggers') return <TableTriggers tableId={tableId} />
            if (tab === 'snapshots') return <TableSnapshots table={data} />
            if (tab === 'lineage') return <TableLineage tableId={tableId} />
            if (tab === 'use') return <DataAccess table={data} />
            if (tab === 'manage') return <TableManage table={data} />
            return <Overview table={data} />
          }}
        </Loaded>
      </div>
    </Page>
  )
}

/** What the table is, in the words of people; changed where it stands. */
function Description({ table }: { table: Table }) {
  const queries = useQueryClient()
  const value = descriptionOf(table)
  return (
    <InPlace
      label="Description of the table"
      value={value}
      {...(value === '' && { shown: <span className="mute">No description</span> })}
      needs="tables.changeDefinition"
      save={async (next) => {
        const body = { description: next === '' ? null : next }
        await finishStorageJob(await api.call('tables.changeDefinition', { path: { tableId: table.id }, body }))
        await queries.invalidateQueries()
      }}
    />
  )
}

/** What was done to the table, and whether every version of its rows is kept. */
const History = ({ table }: { table: Table }) => (
  <div className="columns">
    <TableHistory tableId={table.id} />
    <HistorySwitch table={table} />
  </div>
)

/** The rows, and beside them how to use them, how fresh they are and where they come from. */
const Overview = ({ table }: { table: Table }) => (
  <div className="columns">
    <TableData table={table} />
    <div className="stack-4">
      <DataAccess table={table} />
      <FreshnessCard table={table} />
      <LineageCard tableId={table.id} />
    </div>
  </div>
)

const LoadButton = ({ tableId }: { tableId: string }) => (
  <ActLink needs="tables.createAsync" className="button" to="/upload" search={{ table: tableId }}>
    <Icon name="upload" />
    <span>Load data</span>
  </ActLink>
)

const QueryButton = ({ tableId }: { tableId: string }) => (
  <Link className="button primary" to="/sql" search={{ table: tableId }}>
    <Icon name="sql" />
    <span>Query</span>
  </Link>
)
