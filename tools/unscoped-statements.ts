// Statements of the query builder about a table of projects (one with a column project_id) that name no project. Most are meant so: loops
// work for all projects, and some rows are found by a secret. tests/project-filters.test.ts compares how many each file has.

import { DatabaseSync } from 'node:sqlite'

export interface UnscopedStatement {
  readonly line: number
  readonly table: string
}

const BEGINNING = /\b(?:selectFrom|updateTable|deleteFrom)\(\s*(?:'(\w+)(?: as \w+)?'|\w+)\s*\)/g
const PROJECT = /project_?id/i
/** What names columns without choosing rows. */
const CHOOSES_NOTHING = /\.(?:select|returning|columns|groupBy|orderBy|onRef|selectAll)\(/g
const FILTER = /\.where(?:Ref)?\(\s*'(?:\w+\.)?project_id'/g

export function unscopedStatements(text: string, tables: ReadonlySet<string>): UnscopedStatement[] {
  const statements = [...text.matchAll(BEGINNING)].map((match) => ({
    table: match[1],
    start: match.index,
    end: endOfChain(text, match.index + match[0].length),
  }))
  return statements
    .filter(({ table, start, end }) => {
      const inner = statements.filter((other) => other.start > start && other.end <= end)
      // A name that is chosen at run time stands for tables of projects in all of our statements.
      return (table === undefined || tables.has(table)) && !PROJECT.test(conditionsOf(without(text, start, end, inner)))
    })
    .map(({ table = '?', start }) => ({ table, line: text.slice(0, start).split('\n').length }))
}

/** A chain of calls continues where the next line begins with a dot, and ends with the bracket or the comma after it. */
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

/** The text again and again, each time without one of its conditions on the project. */
export function* withoutFilters(text: string): Generator<{ readonly line: number; readonly text: string }> {
  for (const { index } of text.matchAll(FILTER))
    yield { line: text.slice(0, index).split('\n').length, text: text.slice(0, index) + text.slice(endOfCall(text, index)) }
}

function conditionsOf(text: string): string {
  let own = ''
  let at = 0
  for (const { index } of text.matchAll(CHOOSES_NOTHING)) {
    if (index < at) continue
    own += text.slice(at, index)
    at = endOfCall(text, index)
  }
  return own + text.slice(at)
}

/** Behind the closing bracket of the call that begins here. */
function endOfCall(text: string, start: number): number {
  let at = text.indexOf('(', start) + 1
  for (;;) {
    at = endOfChain(text, at)
    if (at >= text.length || text[at] === ')') return at + 1
    at++
  }
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
