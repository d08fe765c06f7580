import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AssetEdge, type AssetNode, fold, layOut } from './asset-layout.ts'

const table = (tableId: string): AssetNode => ({ id: `table:${tableId}`, kind: 'table', tableId })
const configuration = (name: string): AssetNode => ({ id: name, kind: 'configuration', name })
const edge = (from: string, to: string): AssetEdge => ({ from, to, kind: 'write', rowId: null, jobId: null, time: null })
const runs = (from: string, to: string): AssetEdge => ({ ...edge(from, to), kind: 'run' })
const columnsOf = ({ placed }: ReturnType<typeof layOut>) =>
  Object.fromEntries(placed.map(({ node, column }) => [node.id, column]))

test('tables lie right of what writes them, and readers right of tables', () => {
  const placed = layOut({
    nodes: [configuration('report'), table('in.c-a.orders'), configuration('shop'), table('out.c-a.sums')],
    edges: [edge('shop', 'table:in.c-a.orders'), edge('table:in.c-a.orders', 'report'), edge('report', 'table:out.c-a.sums')],
  })
  assert.deepEqual(columnsOf(placed), { shop: 0, 'table:in.c-a.orders': 1, report: 2, 'table:out.c-a.sums': 3 })
})

test('a configuration that reads what it writes does not loop for ever', () => {
  const placed = layOut({
    nodes: [configuration('merge'), table('in.c-a.all')],
    edges: [edge('merge', 'table:in.c-a.all'), edge('table:in.c-a.all', 'merge')],
  })
  assert.deepEqual(columnsOf(placed), { merge: 0, 'table:in.c-a.all': 1 })
})

test('a flow stands before all it runs, an extractor that it runs stays a source', () => {
  const placed = layOut({
    nodes: [configuration('nightly'), configuration('shop'), table('in.c-a.orders'), configuration('report')],
    edges: [
      runs('nightly', 'shop'),
      runs('nightly', 'report'),
      edge('shop', 'table:in.c-a.orders'),
      edge('table:in.c-a.orders', 'report'),
    ],
  })
  assert.deepEqual(columnsOf(placed), { nightly: -1, shop: 0, 'table:in.c-a.orders': 1, report: 2 })
})

test('a line over several columns has a place of its own in each', () => {
  const long = edge('table:in.c-a.orders', 'late')
  const { placed, bends } = layOut({
    nodes: [configuration('shop'), table('in.c-a.orders'), configuration('sums'), table('out.c-a.sums'), configuration('late')],
    edges: [
      edge('shop', 'table:in.c-a.orders'),
      edge('table:in.c-a.orders', 'sums'),
      edge('sums', 'table:out.c-a.sums'),
      edge('table:out.c-a.sums', 'late'),
      long,
    ],
  })
  const spots = bends.get(long)!
  assert.deepEqual(spots.map(({ column }) => column).toSorted(), [2, 3])
  for (const { column, row } of spots) assert.ok(!placed.some((box) => box.column === column && box.row === row))
})

test('lines that would cross are untangled', () => {
  const { placed } = layOut({
    nodes: [configuration('a'), configuration('b'), table('in.c-x.of-b'), table('in.c-x.of-a')],
    edges: [edge('a', 'table:in.c-x.of-a'), edge('b', 'table:in.c-x.of-b')],
  })
  const rowOf = (id: string) => placed.find(({ node }) => node.id === id)!.row
  assert.equal(rowOf('a') < rowOf('b'), rowOf('table:in.c-x.of-a') < rowOf('table:in.c-x.of-b'))
})

test('too many tables are folded by bucket, with one line for all of theirs', () => {
  const tables = Array.from({ length: 60 }, (_, index) => table(`in.c-${index < 50 ? 'many' : 'few'}.t${index}`))
  const { nodes, edges } = fold({
    nodes: [configuration('shop'), ...tables],
    edges: tables.map(({ id }) => edge('shop', id)),
  })
  assert.deepEqual(
    nodes.map(({ id, tables: members }) => [id, members?.length]),
    [
      ['shop', undefined],
      ['bucket:in.c-many', 50],
      ['bucket:in.c-few', 10],
    ],
  )
  assert.equal(edges.length, 2)
})
