// What the columns of a query are made of, read from its syntax tree: names are followed through joins, subqueries and WITH to columns of
// tables. Values count, conditions do not. Where a tree does not show it (COLUMNS(...), PIVOT, table functions), nothing is guessed.

import type { ColumnSource } from '../../../model/lineage.ts'

/** A column of a query or table, and the columns of tables that its values come from. */
export interface TracedColumn {
  readonly name: string
  readonly from: readonly ColumnSource[]
}

export type Columns = readonly TracedColumn[]

/** Columns of a table by its names; undefined when they are not known. */
export type FindColumns = (schema: string, name: string) => Columns | undefined

interface Relation {
  readonly alias: string
  readonly columns: readonly (TracedColumn & { readonly isHidden?: boolean })[]
}

/** What the names of an expression may mean. */
interface Names {
  readonly ctes: ReadonlyMap<string, Columns>
  /** Those of the query itself first, then of the queries around it. */
  readonly relations: readonly (readonly Relation[])[]
  /** Columns of the same SELECT that have an alias. */
  readonly aliases: ReadonlyMap<string, Columns>
  /** Parameters of lambdas. */
  readonly parameters: ReadonlySet<string>
  /** Shared by the whole query. */
  readonly budget: { steps: number }
}

/** A query over wide tables, WITH after WITH, is more work than its text is long. What takes more than this is not traced. */
const MAX_STEPS = 200_000

function spend({ budget }: Names, steps: number): void {
  budget.steps -= steps
  if (budget.steps < 0) throw new Untraceable()
}

type Node = Readonly<Record<string, unknown>>

class Untraceable extends Error {}

/** Undefined: the tree does not show it. */
export function columnsOfQuery(tree: unknown, find: FindColumns): Columns | undefined {
  try {
    const [statement] = listOf(nodeOf(tree).statements)
    return ofQuery(nodeOf(nodeOf(statement).node), find, {
      ctes: new Map(),
      relations: [],
      aliases: new Map(),
      parameters: new Set(),
      budget: { steps: MAX_STEPS },
    })
  } catch (error) {
    if (error instanceof Untraceable) return undefined
    throw error
  }
}

// --------------------------------------------------------------------------------------------------------------------- queries

function ofQuery(node: Node, find: FindColumns, around: Names): Columns {
  const names = withCtes(node, find, around)
  if (node.type === 'SELECT_NODE') return ofSelect(node, find, names)
  if (node.type === 'SET_OPERATION_NODE') return ofSetOperation(node, find, names)
  if (node.type === 'RECURSIVE_CTE_NODE') return ofRecursion(node, find, names)
  throw new Untraceable()
}

function withCtes(node: Node, find: FindColumns, around: Names): Names {
  spend(around, around.ctes.size)
  const ctes = new Map(around.ctes)
  for (const entry of listOf(nodeOf(node.cte_map ?? {}).map).map(nodeOf)) {
    const value = nodeOf(entry.value)
    const columns = ofQuery(nodeOf(nodeOf(value.query).node), find, { ...around, ctes })
    ctes.set(keyOf(entry.key), renamed(columns, value.aliases))
  }
  return { ...around, ctes }
}

function ofSelect(node: Node, find: FindColumns, around: Names): Columns {
  const own = ofSource(node.from_table, find, around)
  const aliases = new Map<string, Columns>()
  const names: Names = { ...around, relations: [own, ...around.relations], aliases }
  return listOf(node.select_list).flatMap((item) => {
    const expression = nodeOf(item)
    if (expression.class === 'STAR') return ofStar(expression, own, find, names)
    const name =
      textOf(expression.alias) || (expression.class === 'COLUMN_REF' ? String(listOf(expression.column_names).at(-1)) : '')
    const column = { name, from: sourcesOf(expression, find, names) }
    if (expression.alias) aliases.set(keyOf(expression.alias), [column])
    return [column]
  })
}

function ofStar(star: Node, own: readonly Relation[], find: FindColumns, names: Names): Columns {
  if (star.columns === true || star.expr || star.rename_list || star.qualified_exclude_list) throw new Untraceable()
  const relation = star.relation_name
  const chosen = relation === undefined ? own : own.filter(({ alias }) => keyOf(alias) === keyOf(relation))
  if (chosen.length === 0) throw new Untraceable()
  const excluded = new Set(listOf(star.exclude_list).map(keyOf))
  const replaced = new Map(listOf(star.replace_list).map((entry) => [keyOf(nodeOf(entry).key), nodeOf(nodeOf(entry).value)]))
  spend(
    names,
    chosen.reduce((sum, { columns }) => sum + columns.length, 0),
  )
  return chosen
    .flatMap(({ columns }) => columns.filter(({ isHidden }) => relation !== undefined || !isHidden))
    .filter(({ name }) => !excluded.has(keyOf(name)))
    .map(({ name, from }) => {
      const expression = replaced.get(keyOf(name))
      return { name, from: expression ? sourcesOf(expression, find, names) : from }
    })
}

function ofSetOperation(node: Node, find: FindColumns, names: Names): Columns {
  const type = String(node.setop_type)
  const parts = node.children ? listOf(node.children) : [node.left, node.right]
  const columns = parts.map((part) => ofQuery(nodeOf(part), find, names))
  if (type === 'EXCEPT') return columns[0] ?? []
  if (type !== 'UNION' && type !== 'INTERSECT') throw new Untraceable()
  for (const { from } of columns.flat()) spend(names, 1 + from.length)
  return joinedByPlace(columns)
}

/** The second time the recursive part sees what the first one added. */
function ofRecursion(node: Node, find: FindColumns, names: Names): Columns {
  const start = ofQuery(nodeOf(node.left), find, names)
  const next = (known: Columns): Columns =>
    joinedByPlace([
      known,
      ofQuery(nodeOf(node.right), find, { ...names, ctes: new Map(names.ctes).set(keyOf(node.cte_name), known) }),
    ])
  return next(next(start))
}

/** Columns of results that become one, place by place. */
export function joinedByPlace(results: readonly Columns[]): Columns {
  const [first = []] = results
  if (results.some(({ length }) => length !== first.length)) throw new Untraceable()
  return first.map(({ name }, i) => ({ name, from: unique(results.flatMap((columns) => columns[i]?.from ?? [])) }))
}

// --------------------------------------------------------------------------------------------------------------------- sources

function ofSource(source: unknown, find: FindColumns, names: Names): Relation[] {
  const node = nodeOf(source)
  const named = (columns: Columns, fallback: unknown): Relation[] => [
    { alias: textOf(node.alias) || textOf(fallback), columns: renamed(columns, node.column_name_alias) },
  ]
  switch (node.type) {
    case 'EMPTY':
      return []
    case 'BASE_TABLE': {
      const schema = textOf(node.schema_name)
      const cte = schema === '' ? names.ctes.get(keyOf(node.table_name)) : undefined
      return named(cte ?? find(schema, textOf(node.table_name)) ?? untraceable(), node.table_name)
    }
    case 'SUBQUERY':
      return named(ofQuery(nodeOf(nodeOf(node.subquery).node), find, { ...names, aliases: new Map() }), 'unnamed_subquery')
    case 'EXPRESSION_LIST':
      return named(ofValues(node, find, names), 'valueslist')
    case 'TABLE_FUNCTION':
      return named(ofFunction(node, find, names), nodeOf(node.function).function_name)
    case 'JOIN':
      return ofJoin(node, find, names)
    default:
      return untraceable()
  }
}

function ofJoin(node: Node, find: FindColumns, names: Names): Relation[] {
  const left = ofSource(node.left, find, names)
  const right = ofSource(node.right, find, { ...names, relations: [left, ...names.relations] })
  const type = String(node.join_type)
  if (type === 'SEMI' || type === 'ANTI') return left
  if (type === 'RIGHT' || type === 'OUTER') {
    if (node.using_columns || node.ref_type === 'NATURAL') throw new Untraceable() // the column is one of two
  }
  spend(
    names,
    [...left, ...right].reduce((sum, { columns }) => sum + columns.length, 0),
  )
  const ofLeft = new Set(left.flatMap(({ columns }) => columns.map(({ name }) => keyOf(name))))
  const shared = new Set(node.ref_type === 'NATURAL' ? ofLeft : listOf(node.using_columns).map(keyOf))
  const hidden = right.map(({ alias, columns }) => ({
    alias,
    columns: columns.map((column) => (shared.has(keyOf(column.name)) ? { ...column, isHidden: true } : column)),
  }))
  return [...left, ...hidden]
}

function ofValues(node: Node, find: FindColumns, names: Names): Columns {
  const rows = listOf(node.values).map((row) =>
    listOf(row).map((value, i) => ({ name: `col${i}`, from: sourcesOf(nodeOf(value), find, names) })),
  )
  for (const { from } of rows.flat()) spend(names, 1 + from.length)
  return joinedByPlace(rows)
}

const ONE_COLUMN = new Set(['unnest', 'range', 'generate_series'])

function ofFunction(node: Node, find: FindColumns, names: Names): Columns {
  const call = nodeOf(node.function)
  const name = textOf(call.function_name)
  if (!ONE_COLUMN.has(name) || node.with_ordinality === 'WITH_ORDINALITY') throw new Untraceable()
  return [{ name, from: sourcesOf(call, find, names) }]
}

const renamed = (columns: Columns, names: unknown): Columns =>
  columns.map((column, i) => ({ ...column, name: textOf(listOf(names)[i]) || column.name }))

// ------------------------------------------------------------------------------------------------------------------ expressions

function sourcesOf(expression: unknown, find: FindColumns, names: Names): readonly ColumnSource[] {
  if (Array.isArray(expression)) return unique(expression.flatMap((one) => sourcesOf(one, find, names)))
  if (typeof expression !== 'object' || expression === null) return []
  const node = expression as Node
  spend(names, 1)
  if (node.class === 'STAR') throw new Untraceable()
  if (node.class === 'COLUMN_REF') return sourcesOfName(listOf(node.column_names).map(keyOf), names)
  if (node.class === 'LAMBDA') {
    const parameters = new Set([...names.parameters, ...namesIn(node.lhs)])
    return sourcesOf(node.expr, find, { ...names, parameters })
  }
  const { subquery, ...rest } = node
  const inner = node.class === 'SUBQUERY' ? ofQuery(nodeOf(nodeOf(subquery).node), find, { ...names, aliases: new Map() }) : []
  const found = [...inner.flatMap(({ from }) => from), ...Object.values(rest).flatMap((child) => sourcesOf(child, find, names))]
  spend(names, found.length)
  return unique(found)
}

/** `column`, `table.column`, `schema.table.column`, and fields of structs behind any of them. */
function sourcesOfName(path: readonly string[], names: Names): readonly ColumnSource[] {
  const { relations, aliases, parameters } = names
  const [first = '', second] = path
  if (parameters.has(first)) return []
  for (const level of relations) {
    for (const [i, name] of path.slice(0, -1).entries()) {
      const found = level.find(({ alias }) => keyOf(alias) === name)?.columns.find((column) => keyOf(column.name) === path[i + 1])
      if (found) return found.from
    }
    const columns = level.flatMap((relation) => relation.columns)
    spend(names, level.length + columns.length / 10) // looked through for a name, which is quick
    const found = columns.find(({ name, isHidden }) => keyOf(name) === first && !isHidden)
    if (found) return found.from
    const row = second === undefined ? level.find(({ alias }) => keyOf(alias) === first) : undefined
    if (row) return unique(row.columns.flatMap(({ from }) => from))
    const alias = level === relations[0] ? aliases.get(first) : undefined
    if (alias) return unique(alias.flatMap(({ from }) => from))
  }
  return untraceable()
}

const namesIn = (expression: unknown): string[] => {
  if (typeof expression !== 'object' || expression === null) return []
  const { column_names } = expression as Node
  return [...listOf(column_names).map(keyOf), ...Object.values(expression).flatMap(namesIn)]
}

function unique(sources: readonly ColumnSource[]): readonly ColumnSource[] {
  return [...new Map(sources.map((source) => [JSON.stringify([source.tableId, source.column]), source])).values()]
}

const untraceable = (): never => {
  throw new Untraceable()
}
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const keyOf = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : untraceable())
const nodeOf = (value: unknown): Node => (typeof value === 'object' && value !== null ? (value as Node) : untraceable())
