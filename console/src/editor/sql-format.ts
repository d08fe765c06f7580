// SQL with one clause per line. Only white space changes: every word, text, name and comment stays as it is written.

interface Token {
  readonly text: string
  readonly kind: 'word' | 'name' | 'comment' | 'symbol'
}

const TOKEN =
  /\s+|(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$))|([\p{L}_$][\p{L}\p{N}_$]*|\d[\w.]*)|(::|<=|>=|<>|!=|\|\||->>|->|=>|[\s\S])/gu

function tokensOf(sql: string): readonly Token[] {
  const tokens: Token[] = []
  for (const [, comment, name, word, symbol] of sql.matchAll(TOKEN)) {
    if (comment !== undefined) tokens.push({ text: comment.trimEnd(), kind: 'comment' })
    else if (name !== undefined) tokens.push({ text: name, kind: 'name' })
    else if (word !== undefined) tokens.push({ text: word, kind: 'word' })
    else if (symbol !== undefined) tokens.push({ text: symbol, kind: 'symbol' })
  }
  return tokens
}

/** Each begins a line. */
const CLAUSES = new Set(
  'with select from where group having order limit offset qualify window union intersect except values'.split(' '),
)
const JOIN_WORDS = new Set('left right full inner cross natural asof positional semi anti lateral'.split(' '))
const NO_SPACE_BEFORE = new Set([',', ')', ';', '.', ']', '::', ':'])
const NO_SPACE_AFTER = new Set(['(', '.', '[', '::'])
/** A bracket behind one of these is no call of a function. */
const BEFORE_BRACKET = new Set(
  'in exists as from join where and or on not over using select values by when then else any all'.split(' '),
)

interface Level {
  /** Spaces before its lines; undefined for brackets that stay on one line. */
  readonly indent: number | undefined
  clause: string
  isBetween: boolean
}

export function formattedSql(sql: string): string {
  const tokens = tokensOf(sql)
  const lower = (at: number) => (tokens[at]?.kind === 'word' ? tokens[at].text.toLowerCase() : '')
  const levels: Level[] = [{ indent: 0, clause: '', isBetween: false }]
  let out = ''
  const level = () => levels.at(-1)!
  const breakLine = (indent: number) => {
    out = out.trimEnd()
    if (out !== '') out += `\n${' '.repeat(indent)}`
  }
  for (const [at, { text, kind }] of tokens.entries()) {
    const word = lower(at)
    const before = tokens[at - 1]
    const own = level()
    const { indent } = own
    if (kind === 'comment') {
      out += `${out === '' || /\s$/.test(out) ? '' : ' '}${text}`
      if (text.startsWith('--')) out += `\n${' '.repeat(indent ?? 0)}`
      continue
    }
    if (text === ')' && levels.length > 1) {
      levels.pop()
      if (own.indent !== undefined) breakLine(own.indent - 2)
    }
    if (indent !== undefined && kind === 'word' && before?.text !== '.') {
      const isJoin = word === 'join' && !JOIN_WORDS.has(lower(at - 1)) && lower(at - 1) !== 'outer'
      const isJoinStart =
        JOIN_WORDS.has(word) && !JOIN_WORDS.has(lower(at - 1)) && /^(join|outer|join|left|right|semi|anti)$/.test(lower(at + 1))
      const isClause =
        CLAUSES.has(word) && (word !== 'from' || own.clause !== 'extract') && !(word === 'with' && own.clause !== '')
      if (isClause || isJoin || isJoinStart) {
        breakLine(indent)
        own.clause = isClause ? word : 'join'
        own.isBetween = false
      } else if ((word === 'and' && !own.isBetween) || word === 'or') {
        if (/^(where|having|join|qualify)$/.test(own.clause)) breakLine(indent + 2)
      }
      if (word === 'between') own.isBetween = true
      else if (word === 'and') own.isBetween = false
    }
    const isCall =
      text === '(' &&
      before !== undefined &&
      (before.kind === 'name' || (before.kind === 'word' && !BEFORE_BRACKET.has(lower(at - 1))))
    const isTight =
      out === '' ||
      /\s$/.test(out) ||
      NO_SPACE_BEFORE.has(text) ||
      isCall ||
      (text === '[' && before?.kind !== 'symbol') ||
      (before !== undefined && NO_SPACE_AFTER.has(before.text))
    out += isTight ? text : ` ${text}`
    if (text === '(') {
      const isQuery = /^(select|with|from|values)$/.test(lower(at + 1)) && lower(at + 1) !== 'values'
      const outer = levels.findLast(({ indent: one }) => one !== undefined)?.indent ?? 0
      levels.push({ indent: isQuery ? outer + 2 : undefined, clause: '', isBetween: false })
      if (isQuery) breakLine(outer + 2)
    } else if (text === ',' && indent !== undefined && own.clause === 'select') breakLine(indent + 2)
    else if (text === ',' && indent !== undefined && own.clause === 'with') breakLine(indent)
    else if (text === ';' && levels.length === 1) {
      breakLine(0)
      out = `${out.trimEnd()}\n\n`
      levels[0] = { indent: 0, clause: '', isBetween: false }
    }
  }
  return out.trim()
}
