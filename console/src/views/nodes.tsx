// The nodes of the stack: which live, what they run, how much they carry.

import type { StackNode } from '../../../client/src/operations.ts'
import { bytes, count, moment, plural, sinceSeconds, took } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { ListTable } from '../parts/list-table.tsx'
import { Status } from '../parts/status.tsx'

/** Nodes report their state every few seconds, without a live change. */
const AGAIN_MS = 10_000

const STATES: Readonly<Record<string, string>> = { working: 'success', draining: 'terminating', silent: 'error' }

export function Nodes() {
  const query = useLoad('operations.nodes', {}, { again: () => AGAIN_MS })
  return (
    <section className="card" aria-labelledby="nodes">
      <header>
        <h2 id="nodes">Nodes</h2>
        {query.data ? <span className="fine mute">{plural(query.data.length, 'node')}</span> : null}
      </header>
      <Loaded query={query} skeleton={<Lines count={2} />}>
        {(nodes) => (
          <ListTable
            label="Nodes of the stack"
            columns={[
              'State',
              'Node',
              'Roles',
              { num: 'Jobs' },
              { num: 'Loads' },
              { num: 'Memory' },
              { num: 'CPU load' },
              'Version',
              'Seen',
            ]}
          >
            {nodes.map((node) => (
              <NodeRow key={node.id} node={node} />
            ))}
          </ListTable>
        )}
      </Loaded>
    </section>
  )
}

const NodeRow = ({ node: { name, state, roles, labels, load, version, startedAt, lastSeenAt } }: { node: StackNode }) => (
  <tr>
    <td>
      <Status status={STATES[state] ?? state} text={state} />
    </td>
    <td className="medium">{name}</td>
    <td>{[...roles, ...labels].join(', ')}</td>
    <td className="numeric">
      {count(load.jobs)} of {count(load.slots)}
    </td>
    <td className="numeric">{count(load.storageJobs)}</td>
    <td className="numeric nowrap">{bytes(load.memoryBytes)}</td>
    <td className="numeric">{load.loadAverage.toFixed(2)}</td>
    <td className="identifier">{version}</td>
    <td className="nowrap" title={`Started ${moment(startedAt)}`}>
      {took(Math.max(0, sinceSeconds(lastSeenAt)))} ago
    </td>
  </tr>
)
