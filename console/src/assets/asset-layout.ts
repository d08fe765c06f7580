// Where the nodes of the asset graph lie: flows first, then configurations in even columns and tables in odd ones, each right of what it
// comes from. A line over several columns has a place of its own in each of them, so that it passes no box.

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

/** A place of the graph. */
export interface Spot {
  readonly column: number
  readonly row: number
}

export interface Layout {
  readonly placed: readonly PlacedNode[]
  /** Where a line passes the columns between its ends. */
  readonly bends: ReadonlyMap<AssetEdge, readonly Spot[]>
  /** How many places the longest column has, and each of them. */
  readonly rowsOf: ReadonlyMap<number, number>
}

/** The column of flows, before all that they run. */
export const FLOW_COLUMN = -1

export interface PlacedNode {
  readonly node: AssetNode
  readonly column: number
  readonly row: number
}

/** More nodes than this are folded by bucket. */
const MAX_NODES = 48
/** Rounds of ordering; more change nothing that people see. */
const ROUNDS = 4

/** Tables of one bucket as one node, when there are too many to look at. */
export function fold({ nodes, edges }: Assets, max = MAX_NODES): Assets {
  if (nodes.length <= max) return { nodes, edges }
  const idOf = new Map(nodes.map((node) => [node.id, node.tableId === undefined ? node.id : `bucket:${bucketOf(node.tableId)}`]))
  const folded = [...Map.groupBy(nodes, ({ id }) => idOf.get(id)!)].map(([id, members]): AssetNode => {
    const [first] = members
    if (members.length === 1 || first!.tableId === undefined) return { ...first!, id }
    return { id, kind: 'bucket', name: bucketOf(first!.tableId), tables: members }
  })
  const moved = edges.map((edge) => ({ ...edge, from: idOf.get(edge.from)!, to: idOf.get(edge.to)! }))
  return { nodes: folded, edges: [...new Map(moved.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()] }
}

export function layOut({ nodes, edges }: Assets): Layout {
  const columns = columnsOf(nodes, edges)
  const { links, passes } = linksOf(edges, columns)
  const places = [...nodes.map(({ id }) => ({ id, column: columns.get(id)! })), ...[...passes.values()].flat()]
  const rows = orderedRows(places, links)
  return {
    placed: nodes.map((node) => ({ node, column: columns.get(node.id)!, row: rows.get(node.id)! })),
    bends: new Map([...passes].map(([edge, list]) => [edge, list.map(({ id, column }) => ({ column, row: rows.get(id)! }))])),
    rowsOf: new Map([...Map.groupBy(places, ({ column }) => column)].map(([column, list]) => [column, list.length])),
  }
}

interface Place {
  readonly id: string
  readonly column: number
}

interface LinkBetween {
  readonly from: string
  readonly to: string
}

/** Lines from column to column; longer ones are cut into such lines, with a place in each column that they pass. */
function linksOf(edges: readonly AssetEdge[], columns: ReadonlyMap<string, number>) {
  const passes = new Map<AssetEdge, readonly Place[]>()
  const links: LinkBetween[] = []
  for (const [index, edge] of edges.entries()) {
    const [from, to] = [columns.get(edge.from), columns.get(edge.to)]
    if (from === undefined || to === undefined) continue
    const between = Array.from({ length: Math.max(0, to - from - 1) }, (_, step) => ({
      id: `line ${index} ${step}`,
      column: from + step + 1,
    }))
    if (between.length > 0) passes.set(edge, between)
    const way = [edge.from, ...between.map(({ id }) => id), edge.to]
    for (let step = 1; step < way.length; step++) links.push({ from: way[step - 1]!, to: way[step]! })
  }
  return { links, passes }
}

/** Each near the middle of what it is linked with, so that few lines cross. */
function orderedRows(places: readonly Place[], links: readonly LinkBetween[]): ReadonlyMap<string, number> {
  const byColumn = Map.groupBy(places, ({ column }) => column)
  const rows = new Map<string, number>()
  for (const list of byColumn.values()) for (const [row, { id }] of list.entries()) rows.set(id, row)
  const order = [...byColumn.keys()].toSorted((a, b) => a - b)
  const [before, after] = [neighboursOf(links, 'to', 'from'), neighboursOf(links, 'from', 'to')]
  for (let round = 0; round < ROUNDS; round++)
    for (const column of round % 2 === 0 ? order : order.toReversed()) {
      const near = round % 2 === 0 ? before : after
      const middle = new Map(byColumn.get(column)!.map(({ id }) => [id, mean(near.get(id) ?? [], rows) ?? rows.get(id)!]))
      const sorted = byColumn.get(column)!.toSorted((a, b) => middle.get(a.id)! - middle.get(b.id)!)
      byColumn.set(column, sorted)
      for (const [row, { id }] of sorted.entries()) rows.set(id, row)
    }
  return rows
}

/**
 * The longest way of data that leads to a node. Where data goes in a circle, the edge that closes it does not count; a configuration that
 * reads what it writes stays before its table. What a flow runs does not come from it: it has no part in the order.
 */
function columnsOf(nodes: readonly AssetNode[], edges: readonly AssetEdge[]): ReadonlyMap<string, number> {
  const written = new Set(edges.map(({ from, to }) => `${from} ${to}`))
  const isTable = new Map(nodes.map(({ id, kind }) => [id, kind !== 'configuration']))
  const data = edges.filter(
    ({ from, to, kind }) => kind !== 'run' && !(isTable.get(from) && !isTable.get(to) && written.has(`${to} ${from}`)),
  )
  const before = neighboursOf(data, 'to', 'from')
  const runs = new Set(edges.filter(({ kind }) => kind === 'run').map(({ from }) => from))
  const moves = new Set(data.flatMap(({ from, to }) => [from, to]))
  const first = new Map(nodes.map(({ id, kind }) => [id, kind === 'configuration' ? 0 : 1]))
  const found = new Map<string, number>(
    nodes.flatMap(({ id }) => (runs.has(id) && !moves.has(id) ? [[id, FLOW_COLUMN] as const] : [])),
  )
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
  edges: readonly LinkBetween[],
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
