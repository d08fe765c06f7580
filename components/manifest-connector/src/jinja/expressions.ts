// Jinja's expressions, with their precedences: filters bind stronger than arithmetic, comparisons can be chained.

import { literal } from '../python/literal.ts'
import type { Arguments, Expression, Target } from './ast.ts'
import { TemplateError, type Token } from './lexer.ts'

const END: Token = { kind: 'end', text: '' }
const COMPARISONS = new Set(['==', '!=', '<', '>', '<=', '>='])
export const MAX_DEPTH = 100

export class Tokens {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }
  get next(): Token {
    return this.#tokens[this.#at] ?? END
  }
  peek(ahead = 1): Token {
    return this.#tokens[this.#at + ahead] ?? END
  }
  take(): Token {
    return this.#tokens[this.#at++] ?? END
  }
  isOperator(text: string): boolean {
    return this.next.kind === 'operator' && this.next.text === text
  }
  isName(text: string): boolean {
    return this.next.kind === 'name' && this.next.text === text
  }
  skipOperator(text: string): boolean {
    if (!this.isOperator(text)) return false
    this.#at++
    return true
  }
  skipName(text: string): boolean {
    if (!this.isName(text)) return false
    this.#at++
    return true
  }
  expect(text: string): void {
    if (!this.skipOperator(text)) throw this.unexpected(`'${text}'`)
  }
  name(): string {
    const token = this.take()
    if (token.kind !== 'name') throw new TemplateError(`expected a name, got '${token.text || 'end of expression'}'`)
    return token.text
  }
  end(): void {
    if (this.next.kind !== 'end') throw this.unexpected('end of expression')
  }
  unexpected(wanted: string): TemplateError {
    return new TemplateError(`expected ${wanted}, got '${this.next.text || 'end of expression'}'`)
  }
  nested<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError(`the expression is nested deeper than ${MAX_DEPTH} levels`)
    const value = read()
    this.#depth--
    return value
  }
}

export function targetOf(tokens: Tokens): Target {
  const first = oneTarget(tokens)
  if (!tokens.isOperator(',')) return first
  const all = [first]
  while (tokens.skipOperator(',')) {
    if (tokens.isOperator('=') || tokens.isName('in') || tokens.next.kind === 'end') break
    all.push(oneTarget(tokens))
  }
  return all
}

function oneTarget(tokens: Tokens): Target {
  return tokens.nested(() => {
    if (!tokens.skipOperator('(')) return nameOf(tokens)
    const inner = targetOf(tokens)
    tokens.expect(')')
    return inner
  })
}

/** A name that can be assigned. */
export function nameOf(tokens: Tokens): string {
  const name = tokens.name()
  if (CONSTANTS.has(name)) throw new TemplateError(`can't assign to '${name}'`)
  return name
}

export function tupleOrExpression(tokens: Tokens): Expression {
  const first = expression(tokens)
  if (!tokens.isOperator(',')) return first
  const items = [first]
  while (tokens.skipOperator(',') && tokens.next.kind !== 'end') items.push(expression(tokens))
  return { kind: 'tuple', items }
}

export function expression(tokens: Tokens): Expression {
  return tokens.nested(() => {
    let value = or(tokens)
    while (tokens.skipName('if')) {
      const test = or(tokens)
      const otherwise = tokens.skipName('else') ? expression(tokens) : undefined
      value = { kind: 'condition', test, whenTrue: value, otherwise }
    }
    return value
  })
}

export function or(tokens: Tokens): Expression {
  let left = and(tokens)
  while (tokens.skipName('or')) left = { kind: 'binary', operator: 'or', left, right: and(tokens) }
  return left
}

function and(tokens: Tokens): Expression {
  let left = not(tokens)
  while (tokens.skipName('and')) left = { kind: 'binary', operator: 'and', left, right: not(tokens) }
  return left
}

function not(tokens: Tokens): Expression {
  if (!tokens.isName('not')) return comparison(tokens)
  tokens.take()
  return tokens.nested(() => ({ kind: 'unary', operator: 'not', of: not(tokens) }))
}

function comparison(tokens: Tokens): Expression {
  const first = sum(tokens)
  const rest: [string, Expression][] = []
  for (;;) {
    const { kind, text } = tokens.next
    if (kind === 'operator' && COMPARISONS.has(text)) {
      tokens.take()
      rest.push([text, sum(tokens)])
    } else if (tokens.skipName('in')) rest.push(['in', sum(tokens)])
    else if (tokens.isName('not') && tokens.peek().kind === 'name' && tokens.peek().text === 'in') {
      tokens.take()
      tokens.take()
      rest.push(['not in', sum(tokens)])
    } else return rest.length === 0 ? first : { kind: 'compare', first, rest }
  }
}

function leftToRight(tokens: Tokens, operators: readonly string[], operand: (tokens: Tokens) => Expression): Expression {
  let left = operand(tokens)
  while (tokens.next.kind === 'operator' && operators.includes(tokens.next.text)) {
    const operator = tokens.take().text
    left = { kind: 'binary', operator, left, right: operand(tokens) }
  }
  return left
}

const sum = (tokens: Tokens): Expression => leftToRight(tokens, ['+', '-'], concat)

function concat(tokens: Tokens): Expression {
  const items = [product(tokens)]
  while (tokens.skipOperator('~')) items.push(product(tokens))
  return items.length === 1 ? items[0]! : { kind: 'concat', items }
}

const product = (tokens: Tokens): Expression => leftToRight(tokens, ['*', '/', '//', '%'], power)
const power = (tokens: Tokens): Expression => leftToRight(tokens, ['**'], (t) => unary(t, true))

function unary(tokens: Tokens, withFilter: boolean): Expression {
  return tokens.nested(() => {
    let value: Expression
    if (tokens.skipOperator('-')) value = { kind: 'unary', operator: '-', of: unary(tokens, false) }
    else if (tokens.skipOperator('+')) value = { kind: 'unary', operator: '+', of: unary(tokens, false) }
    else value = primary(tokens)
    value = postfix(tokens, value)
    return withFilter ? filtered(tokens, value) : value
  })
}

const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
])

export function primary(tokens: Tokens): Expression {
  const token = tokens.take()
  switch (token.kind) {
    case 'name':
      return CONSTANTS.has(token.text)
        ? { kind: 'constant', value: CONSTANTS.get(token.text) }
        : { kind: 'name', name: token.text }
    case 'string': {
      let value = textOf(token.text)
      while (tokens.next.kind === 'string') value += textOf(tokens.take().text)
      return { kind: 'constant', value }
    }
    case 'integer':
    case 'float':
      return { kind: 'constant', value: literal(token.text.replace(/^0+(?=\d)/, '')) }
    case 'operator':
      if (token.text === '(') return bracketed(tokens)
      if (token.text === '[') return { kind: 'list', items: items(tokens, ']') }
      if (token.text === '{') return dict(tokens)
  }
  throw new TemplateError(`unexpected '${token.text || 'end of expression'}'`)
}

const ESCAPES = /\\(?:[0-7]{1,3}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[\s\S])/g
const SIMPLE: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
}

const textOf = (quoted: string): string =>
  quoted.slice(1, -1).replace(ESCAPES, (sequence) => {
    const char = sequence[1]!
    if (/[0-7]/.test(char)) return String.fromCodePoint(Number.parseInt(sequence.slice(1), 8))
    if (sequence.length > 2) return String.fromCodePoint(Math.min(Number.parseInt(sequence.slice(2), 16), 0x10ffff))
    return SIMPLE[char] ?? sequence
  })

function bracketed(tokens: Tokens): Expression {
  if (tokens.skipOperator(')')) return { kind: 'tuple', items: [] }
  const first = expression(tokens)
  if (tokens.skipOperator(')')) return first
  const all = [first]
  while (tokens.skipOperator(',')) {
    if (tokens.isOperator(')')) break
    all.push(expression(tokens))
  }
  tokens.expect(')')
  return { kind: 'tuple', items: all }
}

function items(tokens: Tokens, end: string): Expression[] {
  const all: Expression[] = []
  while (!tokens.skipOperator(end)) {
    if (all.length > 0) {
      tokens.expect(',')
      if (tokens.skipOperator(end)) break
    }
    all.push(expression(tokens))
  }
  return all
}

function dict(tokens: Tokens): Expression {
  const all: [Expression, Expression][] = []
  while (!tokens.skipOperator('}')) {
    if (all.length > 0) {
      tokens.expect(',')
      if (tokens.skipOperator('}')) break
    }
    const key = expression(tokens)
    tokens.expect(':')
    all.push([key, expression(tokens)])
  }
  return { kind: 'dict', items: all }
}

function postfix(tokens: Tokens, start: Expression): Expression {
  let value = start
  for (;;) {
    if (tokens.skipOperator('.')) {
      const token = tokens.take()
      if (token.kind === 'integer') value = { kind: 'item', of: value, key: { kind: 'constant', value: Number(token.text) } }
      else if (token.kind === 'name') value = { kind: 'attribute', of: value, name: token.text }
      else throw new TemplateError(`expected a name after '.', got '${token.text || 'end of expression'}'`)
    } else if (tokens.skipOperator('[')) value = subscript(tokens, value)
    else if (tokens.skipOperator('(')) value = { kind: 'call', of: value, args: argumentsOf(tokens) }
    else return value
  }
}

function subscript(tokens: Tokens, of: Expression): Expression {
  const parts: (Expression | undefined)[] = [undefined]
  let isSlice = false
  while (!tokens.skipOperator(']')) {
    if (tokens.skipOperator(':')) {
      isSlice = true
      parts.push(undefined)
    } else parts[parts.length - 1] = expression(tokens)
    if (tokens.next.kind === 'end') throw tokens.unexpected("']'")
  }
  if (isSlice) return { kind: 'slice', of, parts }
  if (!parts[0]) throw new TemplateError('expected subscript expression')
  return { kind: 'item', of, key: parts[0] }
}

function argumentsOf(tokens: Tokens): Arguments {
  const positional: Expression[] = []
  const named: [string, Expression][] = []
  let list: Expression | undefined
  let dict: Expression | undefined
  let first = true
  const refuseAfter = (later: boolean) => {
    if (later) throw new TemplateError('invalid syntax for function call expression')
  }
  while (!tokens.skipOperator(')')) {
    if (!first) {
      tokens.expect(',')
      if (tokens.skipOperator(')')) break
    }
    first = false
    if (tokens.skipOperator('*')) {
      refuseAfter(list !== undefined || dict !== undefined)
      list = expression(tokens)
    } else if (tokens.skipOperator('**')) {
      refuseAfter(dict !== undefined)
      dict = expression(tokens)
    } else if (tokens.next.kind === 'name' && tokens.peek().kind === 'operator' && tokens.peek().text === '=') {
      refuseAfter(dict !== undefined)
      const name = tokens.name()
      tokens.take()
      if (named.some(([known]) => known === name)) throw new TemplateError(`keyword argument repeated: ${name}`)
      named.push([name, expression(tokens)])
    } else {
      refuseAfter(list !== undefined || dict !== undefined || named.length > 0)
      positional.push(expression(tokens))
    }
  }
  return { positional, named, list, dict }
}

const NO_ARGUMENTS: Arguments = { positional: [], named: [] }

function dottedName(tokens: Tokens): string {
  let name = tokens.name()
  while (tokens.skipOperator('.')) name += `.${tokens.name()}`
  return name
}

/** Filters of a block: the first has no `|` before it where `inline`. */
export function blockFilters(tokens: Tokens, inline: boolean): Expression {
  let value: Expression = { kind: 'block text' }
  for (let first = inline; first || tokens.skipOperator('|'); first = false) {
    const name = dottedName(tokens)
    value = { kind: 'filter', of: value, name, args: tokens.skipOperator('(') ? argumentsOf(tokens) : NO_ARGUMENTS }
  }
  return value
}

function filtered(tokens: Tokens, start: Expression): Expression {
  let value = start
  for (;;) {
    if (tokens.skipOperator('|')) {
      const name = dottedName(tokens)
      value = { kind: 'filter', of: value, name, args: tokens.skipOperator('(') ? argumentsOf(tokens) : NO_ARGUMENTS }
    } else if (tokens.skipName('is')) value = test(tokens, value)
    else if (tokens.skipOperator('(')) value = { kind: 'call', of: value, args: argumentsOf(tokens) }
    else return value
  }
}

const NO_ARGUMENT = new Set(['else', 'or', 'and', 'is', 'if', 'not', 'in'])

function test(tokens: Tokens, of: Expression): Expression {
  const isNot = tokens.skipName('not')
  const name = dottedName(tokens)
  const { kind, text } = tokens.next
  if (tokens.skipOperator('(')) return { kind: 'test', of, name, args: argumentsOf(tokens), not: isNot }
  const hasArgument =
    ['string', 'integer', 'float'].includes(kind) ||
    (kind === 'name' && !NO_ARGUMENT.has(text)) ||
    (kind === 'operator' && '[{'.includes(text))
  const args = hasArgument ? { positional: [postfix(tokens, primary(tokens))], named: [] } : NO_ARGUMENTS
  return { kind: 'test', of, name, args, not: isNot }
}
