/** Where each place of a structure is written: the columns of a table, in order (spec extractor 13.6, 13.7). */
import { cleanName, uniqueName } from './names.ts'
import { DATA_COLUMN, type Node, type TableNode, tablesBelow } from './structure.ts'

/** A column that does not come from the items; `key` is its name as a member of the serialised item. */
export type AddedColumn = { readonly name: string; readonly slot: number; readonly key: string }

export type Layout = {
  /** Those of the items, then the added ones. */
  readonly columns: readonly string[]
  /** By the name asked for, in order of their slots. */
  readonly added: ReadonlyMap<string, AddedColumn>
}

/** Lays out every table of a type and prepares the nodes for walking. */
export function layOut(rows: Node): Map<TableNode, Layout> {
  prepare(rows)
  return new Map(tablesBelow(rows).map((table) => [table, layOutTable(table)]))
}

function layOutTable(table: TableNode): Layout {
  const { rows } = table
  const columns = rows.type === 'object' ? columnsBelow(rows) : [DATA_COLUMN]
  const own = new Set(columns)
  const added = new Map<string, AddedColumn>()
  for (const asked of table.added) {
    // The item's own column keeps its name, also where only its key is the same.
    const wanted = cleanName(asked)
    const name = uniqueName(wanted, (candidate) => own.has(candidate) || (rows.type === 'object' && rows.members.has(candidate)))
    own.add(name)
    added.set(asked, { name, slot: columns.push(name) - 1, key: name === wanted ? asked : name })
  }
  return { columns, added }
}

/** Every place below has a name: it was given when its page was analysed. */
function columnsBelow(node: Node): string[] {
  return node.list.flatMap((child) => (child.type === 'object' ? columnsBelow(child) : [child.column ?? '']))
}

function prepare(node: Node): void {
  node.list = [...node.members.values()]
  node.hasArrays = false
  let width = 0
  node.list.forEach((child, index) => {
    child.index = index
    prepare(child)
    width += child.width
    if (child.type === 'array' || child.hasArrays) node.hasArrays = true
  })
  node.width = node.type === 'object' ? width : 1
  if (node.element !== undefined) prepare(node.element)
}
