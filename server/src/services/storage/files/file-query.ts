// The `q` of the file list: words, `name:`, `tags:`, `id:` and a few more fields, quotes, `*`, AND, OR, NOT and parentheses.
// A pure parser from text to a tree; files.store.ts turns the tree into SQL.

import { PlatformError } from '../../../kit/errors.ts'

export type FileQuery =
  | { readonly kind: 'and' | 'or'; readonly items: readonly FileQuery[] }
  | { readonly kind: 'not'; readonly item: FileQuery }
  /** `field` absent: any field. `value` may hold `*` for any run of characters unless it was quoted. */
  | { readonly kind: 'term'; readonly field: FileQueryField | undefined; readonly value: string; readonly hasWildcard: boolean }

const FIELDS = ['name', 'tags', 'id', 'runId', 'isSliced', 'isPublic', 'isEncrypted'] as const
export type FileQueryField = (typeof FIELDS)[number]

const MAX_TERMS = 100
const TOKEN = /\s*(?:([()])|(AND|OR|NOT|&&|\|\||!)(?=[\s(]|$)|(-)(?=\S)|(?:([\w.]+):)?(?:"((?:[^"\\]|\\.)*)"|([^\s()"]+)))/y

type Token = { readonly kind: '(' | ')' | 'and' | 'or' | 'not' } | Extract<FileQuery, { kind: 'term' }>

const OPERATORS: Readonly<Record<string, 'and' | 'or' | 'not'>> = {
  AND: 'and',
  '&&': 'and',
  OR: 'or',
  '||': 'or',
  NOT: 'not',
  '!': 'not',
  '-': 'not',
}

/** `undefined` when there is nothing to look for. */
export function parseFileQuery(text: string): FileQuery | undefined {
  const refuse = (reason: string) => new PlatformError('query.syntax', { query: text.slice(0, 120), reason })
  const tokens = tokenize(text, refuse)
  if (tokens.length === 0) return undefined
  let at = 0

  function either(): FileQuery {
    const items = [both()]
    while (tokens[at]?.kind === 'or') {
      at++
      items.push(both())
    }
    return items.length === 1 ? items[0]! : { kind: 'or', items }
  }

  function both(): FileQuery {
    const items = [one()]
    for (;;) {
      const next = tokens[at]?.kind
      if (next === 'and') at++
      else if (next === undefined || next === 'or' || next === ')') break
      items.push(one()) // two terms side by side mean AND
    }
    return items.length === 1 ? items[0]! : { kind: 'and', items }
  }

  function one(): FileQuery {
    const token = tokens[at++]
    if (token?.kind === 'not') return { kind: 'not', item: one() }
    if (token?.kind === '(') {
      const inner = either()
      if (tokens[at++]?.kind !== ')') throw refuse('a parenthesis is not closed')
      return inner
    }
    if (token?.kind === 'term') return token
    throw refuse(
      token ? `"${token.kind.toUpperCase()}" is not allowed where a word is expected` : 'it ends where a word should follow',
    )
  }

  const query = either()
  if (at < tokens.length) throw refuse('there is a closing parenthesis too many')
  return query
}

function tokenize(text: string, refuse: (reason: string) => PlatformError): Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const found = TOKEN.exec(text)
    if (!found) throw refuse('a quote is not closed')
    const [, parenthesis, operator, minus, field, quoted, plain] = found
    if (parenthesis) tokens.push({ kind: parenthesis as '(' | ')' })
    else if (operator || minus) tokens.push({ kind: OPERATORS[operator ?? minus!]! })
    else tokens.push(termOf(field, quoted, plain ?? '', refuse))
    if (tokens.length > MAX_TERMS) throw refuse(`it has more than ${MAX_TERMS} parts`)
  }
  return tokens
}

function termOf(
  field: string | undefined,
  quoted: string | undefined,
  plain: string,
  refuse: (reason: string) => PlatformError,
): Token {
  const known = FIELDS.find((name) => name === (field === 'tag' ? 'tags' : field))
  if (field !== undefined && !known) throw refuse(`field "${field.slice(0, 40)}" does not exist; fields: ${FIELDS.join(', ')}`)
  if (quoted !== undefined) return { kind: 'term', field: known, value: quoted.replace(/\\(.)/gs, '$1'), hasWildcard: false }
  if (/^[\w.]*\[/.test(plain) && plain.includes(':')) throw refuse(`"${plain.slice(0, 40)}" is not a field with a value`)
  if (plain.endsWith(':')) throw refuse(`"${plain.slice(0, 40)}" names a field and no value`)
  return { kind: 'term', field: known, value: plain, hasWildcard: plain.includes('*') }
}
