// Statements of the query builder about a table of projects (one with a column project_id) that name no project. Most are meant so: loops
// work for all projects, and some rows are found by a secret. tests/project-filters.test.ts knows how many each file has.

import { DatabaseSync } from 'node:sqlite'

export interface UnscopedStatement {
  readonly line: number
  readonly table: string
}

const BEGINNING = /\b(?:selectFrom|updateTable|deleteFrom)\(\s*'(\w+)(?: as \w+)?'\s*\)/g
const PROJECT = /project_?id/i

export function unscopedStatements(text: string, tables: ReadonlySet<string>): UnscopedStatement[] {
  const statements = [...text.matchAll(BEGINNING)].map((match) => ({
    table: match[1]!,
    start: match.index,
    end: endOfChain(text, match.index + match[0].length),
  }))
  return statements
    .filter(({ table, start, end }) => {
      const inner = statements.filter((other) => other.start > start && other.end <= end)
      return tables.has(table) && !PROJECT.test(without(text, start, end, inner))
    })
    .map(({ table, start }) => ({ table, line: text.slice(0, start).split('\n').length }))
}

/** A chain of calls goes on where the next line begins with a dot, and ends with the bracket or the comma after it. */
function endOfChain(text: string, from: number): number {
  let depth = 0
  let quote = ''
  for (let at = from; at < text.length; at++) {
    const character = text[at]!
    if (quote !== '') {
      if (character === '\\') at++
      else if (character === quote) quote = ''
    } else if ('\'"`'.includes(character)) quote = character
    else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) {
      if (depth-- === 0) return at
    } else if (depth > 0) continue
    else if (character === ',' || character === ';') return at
    else if (character === '\n' && !/^\s*(?:\/\/.*\n\s*)*\./.test(text.slice(at, at + 500))) return at
  }
  return text.length
}

/** What belongs to a statement itself, and not to one inside of it. */
function without(text: string, start: number, end: number, inner: readonly { start: number; end: number }[]): string {
  let own = ''
  let at = start
  for (const part of inner) {
    if (part.start < at) continue
    own += text.slice(at, part.start)
    at = part.end
  }
  return own + text.slice(at, end)
}

/** Of a migrated database. */
export function tablesOfProjects(path: string): ReadonlySet<string> {
  const db = new DatabaseSync(path, { readOnly: true })
  const rows = db
    .prepare(
      `select m.name from sqlite_master m join pragma_table_info(m.name) c on c.name = 'project_id' where m.type = 'table'`,
    )
    .all()
  db.close()
  return new Set(rows.map(({ name }) => String(name)))
}
