/** Where each place of a structure is written: the columns of a table, in order (spec extractor 13.6, 13.7). */
import { type Aliases, DATA_COLUMN, type Node, type TableNode, tablesBelow } from './structure.ts'

/** A column that does not come from the items; `key` is its name as a member of the serialised item. */
export type AddedColumn = {
  readonly name: string
  readonly slot: number
  readonly key: string
  /** Another name than the requested one, which was taken. */
  readonly isRenamed: boolean
  /** Its value stands in the item's own column of that name, and its own cell stays empty (compatLevel 1). */
  readonly isInItem: boolean
}

export type Layout = {
  /** Those of the items, then the added ones. */
  readonly columns: readonly string[]
  /** By the requested name, in order of their slots. */
  readonly added: ReadonlyMap<string, AddedColumn>
}

/** Lays out every table of a type and prepares the nodes for walking. */
export function layOut(rows: Node): Map<TableNode, Layout> {
  prepare(rows)
  return new Map(tablesBelow(rows).map((table) => [table, layOutTable(table)]))
}

function layOutTable({ rows, naming, aliases, added: asked }: TableNode): Layout {
  const columns = rows.type === 'object' ? columnsBelow(rows) : [DATA_COLUMN]
  const own = new Set(columns)
  // The item's own column keeps its name, also where only its key is the same.
  const isTaken = (name: string) => own.has(name) || (rows.type === 'object' && rows.members.has(name))
  const added = new Map<string, AddedColumn>()
  for (const given of asked) {
    const name = naming.added(aliases.get(given) ?? given, isTaken)
    const isRenamed = name !== naming.added(given, () => false)
    own.add(name)
    added.set(given, {
      name,
      slot: columns.push(name) - 1,
      key: isRenamed ? name : given,
      isRenamed,
      isInItem: isRenamed && naming.overwrites,
    })
  }
  return { columns, added }
}

/**
 * An added column that had to be renamed in one table has the new name in every table that is written after it, whether the old one
 * is free there or not (spec extractor 13.7). Marks the tables whose columns that changes; answers all names of the run.
 */
export function settleAliases(tables: readonly TableNode[], remembered: Aliases): Aliases {
  const written = tables.filter(({ order }) => order !== undefined).sort((a, b) => a.order! - b.order!)
  let aliases = remembered
  for (const table of written) {
    if (table.added.some((asked) => table.aliases.get(asked) !== aliases.get(asked))) {
      table.aliases = aliases
      table.changed = true
    }
    if (table.naming.overwrites) continue
    const renamed = [...layOutTable(table).added].filter(([, { isRenamed }]) => isRenamed)
    if (renamed.some(([asked, { name }]) => aliases.get(asked) !== name))
      aliases = new Map([...aliases, ...renamed.map(([asked, { name }]) => [asked, name] as const)])
  }
  return aliases
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
