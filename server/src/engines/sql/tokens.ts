// SQL text as tokens, the way DuckDB's own lexer cuts it. Enough to find statements, the tables they name and the functions they
// call; what a statement means is DuckDB's to say. Where the two might read a text differently, this one refuses it.

import { PlatformError } from '../../kit/errors.ts'

export interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'symbol'
  /** Words as written, quoted identifiers without their quotes, a single character of anything else. */
  readonly text: string
  /** Where it begins and ends in the text, in UTF-16 units. */
  readonly start: number
  readonly end: number
}

// Each alternative starts at the current place (`y`). An identifier may hold `$`; a `$tag$` that does not follow one opens a string.
const SPACE = /(?:\s|[\u00a0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]|--[^\r\n]*)+/y
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy
const NUMBER = /\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?/y
const QUOTED = /"((?:[^"]|"")*)"/y
const STRING = /'(?:[^']|'')*'/y
const ESCAPE_STRING = /[eE]'(?:[^'\\]|\\[\s\S]|'')*'/y
const DOLLAR = /\$([\p{L}_][\p{L}\p{N}_]*)?\$/uy
const COMMENT_END = /\*\/|\/\*/g

export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(sql)
  }
  const push = (kind: Token['kind'], text: string, end: number) => {
    tokens.push({ kind, text, start: at, end })
    at = end
  }
  while (at < sql.length) {
    const space = match(SPACE)
    if (space) at += space[0].length
    else if (sql.startsWith('/*', at)) at = endOfComment(sql, at)
    else if (match(ESCAPE_STRING)) push('string', '', ESCAPE_STRING.lastIndex)
    else if (match(WORD)) push('word', sql.slice(at, WORD.lastIndex), WORD.lastIndex)
    else if (match(NUMBER)) push('symbol', '0', NUMBER.lastIndex)
    else if (match(STRING)) push('string', '', STRING.lastIndex)
    else if (match(DOLLAR)) push('string', '', endOfDollarString(sql, sql.slice(at, DOLLAR.lastIndex), DOLLAR.lastIndex))
    else {
      const quoted = match(QUOTED)
      if (quoted) push('quoted', quoted[1]?.replaceAll('""', '"') ?? '', QUOTED.lastIndex)
      else if (sql[at] === "'" || sql[at] === '"') throw syntax('a quote is opened and not closed', at)
      else push('symbol', sql[at] ?? '', at + 1)
    }
  }
  return tokens
}

/** DuckDB nests comments; nobody needs to, and a text that two readers cut differently is refused instead. */
function endOfComment(sql: string, start: number): number {
  COMMENT_END.lastIndex = start + 2
  const end = COMMENT_END.exec(sql)
  if (!end) throw syntax('a comment is opened and not closed', start)
  if (end[0] === '/*') throw syntax('a comment stands inside a comment', end.index)
  return end.index + 2
}

function endOfDollarString(sql: string, tag: string, from: number): number {
  const end = sql.indexOf(tag, from)
  if (end === -1) throw syntax(`a string is opened with ${tag.slice(0, 40)} and not closed`, from - tag.length)
  return end + tag.length
}

const syntax = (reason: string, position: number) => new PlatformError('sql.invalid', { reason, position: position + 1 })
