// Jinja's tokens: text between blocks, and the words inside them.

import { ConnectorError } from '../errors.ts'

export type Token =
  | { readonly kind: 'name' | 'string' | 'integer' | 'float' | 'operator'; readonly text: string }
  | { readonly kind: 'end'; readonly text: '' }

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'expression' | 'statement'; readonly tokens: readonly Token[] }

export class TemplateError extends ConnectorError {
  constructor(message: string) {
    super(message)
    this.name = 'TemplateError'
  }
}

const WORDS =
  /\s+|(?<name>[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)|(?<float>\d+(?:_\d+)*(?:(?:\.\d+(?:_\d+)*)?[eE][+-]?\d+(?:_\d+)*|\.\d+(?:_\d+)*))|(?<integer>0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|\d+(?:_\d+)*)|(?<string>'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*")|(?<operator>\/\/|\*\*|==|!=|>=|<=|[-+*/%~|.,:()[\]{}<>=!;])/y

const OPENS = /\{([{%#])([-+]?)/g
const RAW = /\{%[-+]?\s*raw\s*[-+]?%\}/y
const RAW_END = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g

/** The end of a block, strings skipped. */
function tokensFrom(source: string, from: number, close: string): { tokens: Token[]; end: number; trims: boolean } {
  const tokens: Token[] = []
  let at = from
  let depth = 0
  for (;;) {
    const isEnd = (sign: string) => depth <= 0 && source.startsWith(sign, at)
    if (isEnd(`-${close}`) || isEnd(`+${close}`)) return { tokens, end: at + 3, trims: source[at] === '-' }
    if (isEnd(close)) return { tokens, end: at + 2, trims: false }
    WORDS.lastIndex = at
    const match = WORDS.exec(source)
    if (!match)
      throw new TemplateError(
        at >= source.length ? `The block is not closed by '${close}'` : `unexpected char '${source[at]}' at ${at}`,
      )
    at += match[0].length
    const { name, float, integer, string, operator } = match.groups!
    if (operator !== undefined) {
      if ('([{'.includes(operator)) depth++
      if (')]}'.includes(operator)) depth--
      tokens.push({ kind: 'operator', text: operator })
    } else if (name !== undefined) tokens.push({ kind: 'name', text: name })
    else if (float !== undefined) tokens.push({ kind: 'float', text: float })
    else if (integer !== undefined) tokens.push({ kind: 'integer', text: integer })
    else if (string !== undefined) tokens.push({ kind: 'string', text: string })
  }
}

export function tokenize(template: string): Piece[] {
  // As Jinja does with its defaults: one newline at the end goes, others become \n.
  const source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '')
  const pieces: Piece[] = []
  let from = 0
  let trimsNext = false
  const addText = (text: string, trimsEnd: boolean) => {
    let kept = trimsNext ? text.trimStart() : text
    if (trimsEnd) kept = kept.trimEnd()
    if (kept !== '') pieces.push({ kind: 'text', text: kept })
    trimsNext = false
  }
  for (;;) {
    OPENS.lastIndex = from
    const open = OPENS.exec(source)
    if (!open) {
      addText(source.slice(from), false)
      return pieces
    }
    addText(source.slice(from, open.index), open[2] === '-')
    RAW.lastIndex = open.index
    const raw = RAW.exec(source)
    if (raw) {
      RAW_END.lastIndex = open.index + raw[0].length
      const end = RAW_END.exec(source)
      if (!end) throw new TemplateError('Missing end of raw directive')
      addText(source.slice(open.index + raw[0].length, end.index), false)
      from = end.index + end[0].length
    } else if (open[1] === '#') {
      const end = source.indexOf('#}', open.index)
      if (end < 0) throw new TemplateError('Missing end of comment tag')
      trimsNext = source[end - 1] === '-'
      from = end + 2
    } else {
      const isExpression = open[1] === '{'
      const block = tokensFrom(source, open.index + open[0].length, isExpression ? '}}' : '%}')
      pieces.push({ kind: isExpression ? 'expression' : 'statement', tokens: block.tokens })
      trimsNext = block.trims
      from = block.end
    }
  }
}
