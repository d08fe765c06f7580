// A text with several statements, as single ones: a semicolon ends one, unless it stands in a text, a name or a comment.

export interface Statement {
  readonly sql: string
  /** Characters before it. */
  readonly offset: number
}

/** In one pass: what begins with one of these ends with its other end, whatever is between. */
const SKIPPED: readonly (readonly [start: string, end: string])[] = [
  ["'", "'"],
  ['"', '"'],
  ['--', '\n'],
  ['/*', '*/'],
]

export function statementsOf(text: string): readonly Statement[] {
  const found: Statement[] = []
  let from = 0
  const add = (to: number) => {
    const part = text.slice(from, to)
    const sql = part.trim()
    if (withoutComments(sql) !== '') found.push({ sql, offset: from + part.indexOf(sql) })
    from = to + 1
  }
  for (const end of statementEnds(text)) add(end)
  add(text.length)
  return found
}

/** Where the semicolons are that end statements. */
export function statementEnds(text: string): readonly number[] {
  const ends: number[] = []
  for (let i = 0; i < text.length; i++) {
    const skipped = SKIPPED.find(([start]) => text.startsWith(start, i))
    if (skipped) {
      const end = text.indexOf(skipped[1], i + skipped[0].length)
      i = end === -1 ? text.length : end + skipped[1].length - 1
    } else if (text[i] === ';') ends.push(i)
  }
  return ends
}

const withoutComments = (sql: string): string => sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim()

/** Without the comments before it, as the stack counts lines of statements of a script. */
export const withoutHead = (sql: string): string => sql.replace(/^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '')

/** Where the stack found a mistake, in characters from the start of the statement; undefined when it does not report it. */
export function placeOfError(message: string, sql: string): number | undefined {
  const placed = /\(line (\d+), character (\d+)\)/.exec(message)
  if (placed) {
    const before = sql.split('\n').slice(0, Number(placed[1]) - 1)
    return Math.min(sql.length, before.reduce((sum, line) => sum + line.length + 1, 0) + Number(placed[2]) - 1)
  }
  const position = /at character (\d+):/.exec(message)
  return position ? Math.min(sql.length, Number(position[1]) - 1) : undefined
}
