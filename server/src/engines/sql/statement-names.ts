// What a query names, read from its syntax tree. A tree is some thirty times as long as its text, so that the worker reads it and the
// main process gets the names alone.

import type { TableName } from './statements.ts'

export interface StatementNames {
  /** With their schema, which may be empty; names of a WITH are none. */
  readonly tables: readonly TableName[]
  /** Functions that are called, with their schema. */
  readonly functions: readonly TableName[]
  /** Columns without a table: words such as current_user are columns to DuckDB. In lower case. */
  readonly columns: readonly string[]
  /** Types that values are cast to that DuckDB does not have. In lower case. */
  readonly types: readonly string[]
  /** For each column of the result the function that it is a call of, when it has no name of its own; none with a `*` among them. */
  readonly results: readonly string[]
}

export function namesIn(tree: unknown): StatementNames {
  const tables = new Map<string, TableName>()
  const functions = new Map<string, TableName>()
  const columns = new Set<string>()
  const types = new Set<string>()
  const ctes = new Set<string>()
  const open: unknown[] = [tree]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue
    const member = node as Readonly<Record<string, unknown>>
    const text = (name: string) => (typeof member[name] === 'string' ? (member[name] as string) : '')
    const add = (to: Map<string, TableName>, schema: string, name: string) =>
      to.set(JSON.stringify([schema, name]), { schema, name })
    if (member.type === 'BASE_TABLE') add(tables, text('schema_name'), text('table_name'))
    if (member.class === 'FUNCTION') add(functions, text('schema').toLowerCase(), text('function_name').toLowerCase())
    if (member.class === 'COLUMN_REF' && Array.isArray(member.column_names) && member.column_names.length === 1)
      columns.add(String(member.column_names[0]).toLowerCase())
    if (member.class === 'CAST') types.add(typeNamed(member.cast_type))
    if (Array.isArray(member.map))
      for (const entry of member.map) if (typeof entry?.key === 'string') ctes.add(entry.key.toLowerCase())
    for (const child of Object.values(member)) open.push(child)
  }
  return {
    tables: [...tables.values()].filter(({ schema, name }) => schema !== '' || !ctes.has(name.toLowerCase())),
    functions: [...functions.values()],
    columns: [...columns],
    types: [...types],
    results: resultsOf(tree),
  }
}

interface Node {
  readonly class?: unknown
  readonly alias?: unknown
  readonly function_name?: unknown
  readonly is_operator?: unknown
  readonly left?: Node
  readonly select_list?: readonly Node[]
}

function resultsOf(tree: unknown): string[] {
  const { statements } = tree as { readonly statements?: readonly { readonly node?: Node }[] } // DuckDB's own
  let node = statements?.[0]?.node
  while (node?.left) node = node.left
  const list = node?.select_list ?? []
  return list.some((item) => item.class === 'STAR') ? [] : list.map(callOf)
}

/** What PostgreSQL calls it. */
function callOf({ class: kind, alias, function_name: name, is_operator: isOperator }: Node): string {
  const isCall = (kind === 'FUNCTION' || kind === 'WINDOW') && !alias && isOperator !== true && typeof name === 'string'
  if (!isCall || LITERALS.has(name)) return ''
  return name === 'count_star' ? 'count' : name
}

/** Lists and structs in brackets. */
const LITERALS = new Set(['list_value', 'struct_pack', 'row'])

function typeNamed(type: unknown): string {
  const { type_info: info } = (type ?? {}) as { readonly type_info?: { readonly name?: unknown } }
  return typeof info?.name === 'string' ? info.name.toLowerCase() : ''
}
