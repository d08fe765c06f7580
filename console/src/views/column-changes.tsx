// Changes of the columns of a source database: what becomes of each, and which configurations use it.

import { Link } from '@tanstack/react-router'
import type { ColumnChanges, ColumnUser } from '../facts/column-changes.ts'
import { plural } from '../format.ts'

const WORDS = { added: 'New', dropped: 'Dropped', type: 'Another type' } as const

export const ColumnChangesTable = ({ changes: { table, changes } }: { changes: ColumnChanges }) => (
  <table className="data-table">
    <caption className="visually-hidden">Columns of {table} that have changed in the source</caption>
    <thead>
      <tr>
        <th scope="col">Column</th>
        <th scope="col">Change</th>
        <th scope="col">In the source</th>
        <th scope="col">In the table</th>
        <th scope="col">After the run</th>
        <th scope="col">Used by</th>
      </tr>
    </thead>
    <tbody>
      {changes.map(({ column, change, source, table: own, becomes, sentence, usedBy }) => (
        <tr key={column} title={sentence}>
          <td className="mono strong">{column}</td>
          <td>{WORDS[change]}</td>
          <td className="mono">{source ?? 'none'}</td>
          <td className="mono">{own ?? 'none'}</td>
          <td className="mono">{becomes ?? 'not read'}</td>
          <td>
            {usedBy.length === 0 ? <span className="mute">no configuration</span> : null}
            {usedBy.map((user) => (
              <div key={`${user.componentId} ${user.configurationId} ${user.rowId}`}>
                <User user={user} />
              </div>
            ))}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const User = ({ user: { componentId, configurationId, name, columns } }: { user: ColumnUser }) => (
  <>
    <Link to="/components/$componentId/$configurationId" params={{ componentId, configurationId }}>
      {name ?? `${componentId} ${configurationId}`}
    </Link>{' '}
    <span className="fine mute">{columns.length > 0 ? `computes ${columns.join(', ')}` : 'reads the table'}</span>
  </>
)

/** After a run. */
export const ColumnChangesCard = ({ list }: { list: readonly ColumnChanges[] }) =>
  list.map((changes) => (
    <section key={changes.table} className="card" aria-label={`Changed columns of ${changes.table}`}>
      <header>
        <h2>Columns of the source have changed</h2>
        <span className="mute fine push">
          {plural(changes.changes.length, 'column')}
          {changes.stops ? ', the run has stopped' : ''}
        </span>
      </header>
      <p className="inset">
        <Link to="/storage/$tableId" params={{ tableId: changes.table }}>
          {changes.table}
        </Link>
      </p>
      <ColumnChangesTable changes={changes} />
    </section>
  ))
