// Where the nodes of the asset graph lie: configurations in even columns, tables in odd ones, each right of what it comes from.

import type { Lineage } from '../../../client/src/operations.ts'
import { bucketOf } from '../facts/table-id.ts'

export type AssetNode = Lineage['nodes'][number] & {
  /** Tables of a folded bucket. */
  readonly tables?: readonly AssetNode[]
}
export type AssetEdge = Lineage['edges'][number]

export interface Assets {
  readonly nodes: readonly AssetNode[]
  readonly edges: readonly AssetEdge[]
}

export interface PlacedNode {
  readonly node: AssetNode
  readonly column: number
  readonly row: number
}

/** More nodes than this are folded by bucket. */
const MOST_NODES = 48
/** Rounds of ordering; more change nothing that people see. */
const ROUNDS = 4

/** Tables of one bucket as one node, when there are too many to look at. */
export function fold({ nodes, edges }: Assets, most = MOST_NODES): Assets {
  if (nodes.length <= most) return { nodes, edges }
  const idOf = new Map(nodes.map((node) => [node.id, node.tableId === undefined ? node.id : `bucket:${bucketOf(node.tableId)}`]))
  const folded = [...Map.groupBy(nodes, ({ id }) => idOf.get(id)!)].map(([id, members]): AssetNode => {
    const [first] = members
    if (members.length === 1 || first!.tableId === undefined) return { ...first!, id }
    return { id, kind: 'bucket', name: bucketOf(first!.tableId), tables: members }
  })
  const moved = edges.map((edge) => ({ ...edge, from: idOf.get(edge.from)!, to: idOf.get(edge.to)! }))
  return { nodes: folded, edges: [...new Map(moved.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()] }
}

export function layOut({ nodes, edges }: Assets): readonly PlacedNode[] {
  const columns = columnsOf(nodes, edges)
  const byColumn = Map.groupBy(nodes, ({ id }) => columns.get(id)!)
  const rows = new Map<string, number>()
  for (const list of byColumn.values()) for (const [row, { id }] of list.entries()) rows.set(id, row)
  const order = [...byColumn.keys()].toSorted((a, b) => a - b)
  for (let round = 0; round < ROUNDS; round++)
    for (const column of round % 2 === 0 ? order : order.toReversed()) {
      const near = round % 2 === 0 ? neighboursOf(edges, 'to', 'from') : neighboursOf(edges, 'from', 'to')
      const middle = new Map(byColumn.get(column)!.map(({ id }) => [id, mean(near.get(id) ?? [], rows) ?? rows.get(id)!]))
      const sorted = byColumn.get(column)!.toSorted((a, b) => middle.get(a.id)! - middle.get(b.id)!)
      byColumn.set(column, sorted)
      for (const [row, { id }] of sorted.entries()) rows.set(id, row)
    }
  return nodes.map((node) => ({ node, column: columns.get(node.id)!, row: rows.get(node.id)! }))
}

/** The longest way that leads to a node. Where data goes in a circle, the edge that closes it does not count. */
function columnsOf(nodes: readonly AssetNode[], edges: readonly AssetEdge[]): ReadonlyMap<string, number> {
  const before = neighboursOf(edges, 'to', 'from')
  const first = new Map(nodes.map(({ id, kind }) => [id, kind === 'configuration' ? 0 : 1]))
  const found = new Map<string, number>()
  const open = new Set<string>()
  const columnOf = (id: string): number => {
    const known = found.get(id)
    if (known !== undefined) return known
    open.add(id)
    const ways = (before.get(id) ?? [])
      .filter((other) => first.has(other) && !open.has(other))
      .map((other) => columnOf(other) + 1)
    open.delete(id)
    const column = Math.max(first.get(id)!, ...ways)
    found.set(id, column)
    return column
  }
  for (const { id } of nodes) columnOf(id)
  return found
}

function neighboursOf(
  edges: readonly AssetEdge[],
  of: 'from' | 'to',
  near: 'from' | 'to',
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const edge of edges) {
    const list = found.get(edge[of])
    if (list) list.push(edge[near])
    else found.set(edge[of], [edge[near]])
  }
  return found
}

function mean(ids: readonly string[], rows: ReadonlyMap<string, number>): number | undefined {
  const known = ids.map((id) => rows.get(id)).filter((row) => row !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, row) => sum + row, 0) / known.length
}
