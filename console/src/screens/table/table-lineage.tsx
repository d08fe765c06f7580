// Where a table comes from and who depends on it, as far as runs, mappings and SQL show: a graph, and each use of it.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Answer } from '../../../../client/src/client.ts'
import { behindText, type Delivery } from '../../facts/deliveries.ts'
import { useNames } from '../../facts/names.ts'
import { moment } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { AssetGraph } from '../../views/asset-graph.tsx'

type UsedBy = Answer<'lineage.usedBy'>
type User = UsedBy['readBy'][number]

const useUsers = (tableId: string) => useLoad('lineage.usedBy', { path: { tableId } })

export const TableLineage = ({ tableId }: { tableId: string }) => (
  <div className="stack-4">
    <AssetGraph tableId={tableId} />
    <Users tableId={tableId} />
  </div>
)

function Users({ tableId }: { tableId: string }) {
  const query = useUsers(tableId)
  const { data: deliveries = [] } = useLoad('lineage.deliveries', {})
  return (
    <section className="card" aria-labelledby="used-by">
      <header>
        <h2 id="used-by">Used by</h2>
      </header>
      <Loaded query={query} skeleton={<Lines />}>
        {(uses) => {
          const users = [...uses.writtenBy.map((user) => ({ user, what: 'writes it' })), ...readersOf(uses)]
          if (users.length + uses.aliases.length === 0)
            return <p className="inset mute">No configuration reads or writes this table, and no table shows it.</p>
          return (
            <ListTable label="Uses of the table" columns={['Configuration or table', 'What', 'Row', 'Last job', 'When']}>
              {users.map(({ user, what }) => (
                <tr key={`${what} ${user.componentId} ${user.configurationId} ${user.rowId}`}>
                  <td>
                    <UserLink user={user} />
                  </td>
                  <td>
                    {what}
                    <Behind deliveries={deliveries} tableId={tableId} user={user} />
                  </td>
                  <td className="identifier">{user.rowId}</td>
                  <td>{user.lastJobId === null ? 'no successful run yet' : <JobOf jobId={user.lastJobId} />}</td>
                  <td className="nowrap">{user.lastTime === null ? '' : moment(user.lastTime)}</td>
                </tr>
              ))}
              {uses.aliases.map((id) => (
                <tr key={id}>
                  <td>
                    <TableLink tableId={id} />
                  </td>
                  <td>shows it as an alias</td>
                  <td />
                  <td />
                  <td />
                </tr>
              ))}
            </ListTable>
          )
        }}
      </Loaded>
    </section>
  )
}

/** How far the target of a writer is behind. */
function Behind({ deliveries, tableId, user }: { deliveries: readonly Delivery[]; tableId: string; user: User }) {
  const own = deliveries.find(
    (one) =>
      one.tableId === tableId &&
      one.componentId === user.componentId &&
      one.configurationId === user.configurationId &&
      one.rowId === user.rowId,
  )
  return own ? <div className="fine mute">delivers it, {behindText(own)}</div> : null
}

const readersOf = ({ readBy }: UsedBy) => readBy.map((user) => ({ user, what: 'reads it' }))

function UserLink({ user: { componentId, configurationId, name } }: { user: User }) {
  const nameOf = useNames()
  return (
    <Link className="medium clip" to="/components/$componentId/$configurationId" params={{ componentId, configurationId }}>
      {name ?? nameOf(componentId, configurationId)}
    </Link>
  )
}

const TableLink = ({ tableId }: { tableId: string }) => (
  <Link className="medium clip" to="/storage/$tableId" params={{ tableId }} search={{ tab: 'lineage' }}>
    {tableId}
  </Link>
)

const JobOf = ({ jobId }: { jobId: string }) => (
  <Link to="/jobs/$jobId" params={{ jobId }}>
    {jobId}
  </Link>
)

/** The nearest neighbours, beside the rows of the table. */
export function LineageCard({ tableId }: { tableId: string }) {
  const query = useUsers(tableId)
  return (
    <section className="card" aria-labelledby="near">
      <header>
        <h2 id="near">Lineage</h2>
        <Link className="fine push" to="/storage/$tableId" params={{ tableId }} search={{ tab: 'lineage' }}>
          Whole graph
        </Link>
      </header>
      <Loaded query={query} skeleton={<Lines count={2} />}>
        {({ writtenBy, readBy, aliases }) => (
          <dl className="pairs inset">
            <dt>From</dt>
            <dd>
              <Names none="uploads and scripts only" of={usersOnce(writtenBy)} />
            </dd>
            <dt>To</dt>
            <dd>
              <Names
                none="nothing here reads it"
                of={[
                  ...usersOnce(readBy),
                  ...aliases.map((id) => ({ key: id, icon: 'table' as const, link: <TableLink tableId={id} /> })),
                ]}
              />
            </dd>
          </dl>
        )}
      </Loaded>
    </section>
  )
}

interface Neighbour {
  readonly key: string
  readonly icon: 'plug' | 'table'
  readonly link: ReactNode
}

/** A configuration once, however many of its rows use the table. */
const usersOnce = (users: readonly User[]): readonly Neighbour[] =>
  [...new Map(users.map((user) => [`${user.componentId} ${user.configurationId}`, user]))].map(([key, user]) => ({
    key,
    icon: 'plug',
    link: <UserLink user={user} />,
  }))

const Names = ({ of, none }: { of: readonly Neighbour[]; none: string }) =>
  of.length === 0 ? (
    <span className="mute">{none}</span>
  ) : (
    <ul className="stack-2">
      {of.map(({ key, icon, link }) => (
        <li key={key} className="flex-row">
          <Icon name={icon} size="small" />
          {link}
        </li>
      ))}
    </ul>
  )
