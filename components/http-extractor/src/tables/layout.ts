/** Where each place of a structure is written: the columns of a table, in order (contract 13.6, 13.7). */
import { cleanName, uniqueName } from './names.ts'
import { DATA_COLUMN, type Node, type TableNode, tablesBelow } from './structure.ts'

export type AddedColumn = { readonly name: string; readonly slot: number; readonly keyMark: string }

export type Layout = {
  readonly columns: readonly string[]
  /** By the name asked for; `name` is the one it got. */
  readonly added: ReadonlyMap<string, AddedColumn>
}

/** Lays out every table of a type and numbers the nodes accordingly. */
export function layOut(rows: Node): Map<TableNode, Layout> {
  numberNodes(rows)
  return new Map(tablesBelow(rows).map((table) => [table, layOutTable(table)]))
}

function layOutTable(table: TableNode): Layout {
  const columns: string[] = []
  const { rows } = table
  if (rows.type === 'object') place(rows, columns)
  else rows.slot = columns.push(DATA_COLUMN) - 1
  const own = new Set(columns)
  const added = new Map<string, AddedColumn>()
  for (const asked of table.added) {
    // The item's own column keeps its name, also where only its key is the same.
    const wanted = cleanName(asked)
    const name = uniqueName(wanted, (candidate) => own.has(candidate) || (rows.type === 'object' && rows.members.has(candidate)))
    own.add(name)
    const key = name === wanted ? asked : name
    added.set(asked, { name, slot: columns.push(name) - 1, keyMark: `s:${Buffer.byteLength(key)}:"${key}";` })
  }
  return { columns, added }
}

function place(node: Node, columns: string[]): void {
  for (const child of node.list) {
    if (child.type === 'object') place(child, columns)
    else child.slot = columns.push(child.column!) - 1 // named when the page was analysed
  }
}

function numberNodes(node: Node): boolean {
  node.slot = -1
  node.list = [...node.members.values()]
  node.hasArrays = false
  node.list.forEach((child, index) => {
    child.index = index
    const leads = numberNodes(child)
    if (child.type === 'array' || leads) node.hasArrays = true
  })
  if (node.element !== undefined) numberNodes(node.element)
  return node.hasArrays
}
