// Where a table comes from and who depends on it, as far as runs, mappings and SQL tell.

import { Link } from '@tanstack/react-router'
import type { Lineage } from '../../../client/src/operations.ts'
import { moment, plural } from '../format.ts'
import { Lines, Loaded, useLoad } from '../load.tsx'
import { Icon } from '../parts/icon.tsx'
import { Status } from '../parts/status.tsx'
import { useNames } from './names.ts'

type Node = Lineage['nodes'][number]
type Edge = Lineage['edges'][number]

const DEPTH = 4

export function TableLineage({ tableId }: { tableId: string }) {
  return (
    <div className="columns even">
      <Side tableId={tableId} direction="upstream" title="Comes from" empty="Nothing that runs here writes this table." />
      <Side tableId={tableId} direction="downstream" title="Goes to" empty="Nothing here reads this table." />
    </div>
  )
}

interface SideProps {
  readonly tableId: string
  readonly direction: 'upstream' | 'downstream'
  readonly title: string
  readonly empty: string
}

function Side({ tableId, direction, title, empty }: SideProps) {
  const query = useLoad('lineage.graph', { query: { tableId, direction, depth: DEPTH } })
  return (
    <section className="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {query.data && !query.data.isComplete ? (
          <span className="xs mute push">{plural(DEPTH, 'step')} are shown; there is more.</span>
        ) : null}
      </header>
      <Loaded query={query} skeleton={<Lines />}>
        {(graph) => {
          const steps = stepsOf(graph, tableId, direction)
          if (steps.length === 0) return <p className="in mute">{empty}</p>
          return (
            <ul className="list">
              {steps.map(({ node, edge, depth }) => (
                <li key={node.id} style={{ paddingInlineStart: `${12 + (depth - 1) * 20}px` }}>
                  <Icon name={node.kind === 'table' ? 'table' : 'plug'} />
                  <Place node={node} />
                  <span className="push row xs mute nowrap">
                    {node.freshness?.state === 'late' ? <Status status="late" /> : null}
                    {edge.time ? moment(edge.time) : edge.kind}
                  </span>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </section>
  )
}

function Place({ node: { tableId, componentId, configurationId, name } }: { node: Node }) {
  const nameOf = useNames()
  if (tableId !== undefined)
    return (
      <Link className="clip" to="/storage/$tableId" params={{ tableId }} search={{ tab: 'lineage' }}>
        {tableId}
      </Link>
    )
  if (componentId === undefined || configurationId === undefined) return <span className="clip">{name}</span>
  return (
    <Link className="clip med" to="/components/$componentId/$configurationId" params={{ componentId, configurationId }}>
      {name ?? nameOf(componentId, configurationId)}
    </Link>
  )
}

interface Step {
  readonly node: Node
  /** The edge that leads to it. */
  readonly edge: Edge
  readonly depth: number
}

/** Every node once, below the first that leads to it. */
function stepsOf({ nodes, edges }: Lineage, tableId: string, direction: SideProps['direction']): readonly Step[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const [near, far] = direction === 'upstream' ? (['to', 'from'] as const) : (['from', 'to'] as const)
  const start = nodes.find((node) => node.tableId === tableId)
  const seen = new Set([start?.id])
  const steps: Step[] = []
  const walk = (id: string, depth: number): void => {
    for (const edge of edges.filter((one) => one[near] === id)) {
      const node = byId.get(edge[far])
      if (!node || seen.has(node.id)) continue
      seen.add(node.id)
      steps.push({ node, edge, depth })
      walk(node.id, depth + 1)
    }
  }
  if (start) walk(start.id, 1)
  return steps
}
