// What a deletion would take along, worked out by the stack without doing it: the rows, the aliases, and who uses them.

import { Link } from '@tanstack/react-router'
import type { DryRun } from '../../../client/src/operations.ts'
import { moment, plural } from '../format.ts'
import { Lines, Loaded, type Loading } from '../load.tsx'

const SHOWN = 10

/** `query` is the deletion itself, as a dry run. */
export const DeletionEffect = ({ query }: { query: Loading<unknown> }) => (
  <Loaded query={query} skeleton={<Lines count={2} />}>
    {(answer) => <Effect plan={answer as DryRun} />}
  </Loaded>
)

function Effect({ plan: { rows, tables, tableId, configurations, nextRuns } }: { plan: DryRun }) {
  const others = tables.filter((id) => id !== tableId)
  const users = [...new Map(configurations.map((one) => [`${one.componentId} ${one.configurationId}`, one])).values()]
  return (
    <>
      {rows && rows.before > 0 ? <p>{plural(rows.before, 'row')} will be deleted, with their earlier states.</p> : null}
      {others.length > 0 ? (
        <p>
          {plural(others.length, tableId === null ? 'table' : 'alias', tableId === null ? 'tables' : 'aliases')} will be deleted:{' '}
          <span className="mono">{listed(others)}</span>.
        </p>
      ) : null}
      {users.length > 0 ? (
        <p>
          {users.length === 1
            ? 'A configuration names it and will fail: '
            : `${users.length} configurations name it and will fail: `}
          {users.slice(0, SHOWN).map(({ componentId, configurationId, name }, index) => (
            <span key={`${componentId} ${configurationId}`}>
              {index > 0 ? ', ' : ''}
              <Link to="/components/$componentId/$configurationId" params={{ componentId, configurationId }}>
                {name}
              </Link>
            </span>
          ))}
          {users.length > SHOWN ? ' and others' : ''}.
          {nextRuns[0] ? ` The next of them runs ${moment(nextRuns[0].executionTime)}.` : ''}
        </p>
      ) : (
        <p>No configuration of the project names it.</p>
      )}
    </>
  )
}

const listed = (all: readonly string[]): string =>
  `${all.slice(0, SHOWN).join(', ')}${all.length > SHOWN ? ` and ${all.length - SHOWN} more` : ''}`
