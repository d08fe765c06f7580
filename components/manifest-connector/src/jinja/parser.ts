// Jinja's statements: what stands between {% and %}, around texts and expressions.

import type { Expression, Node, Signature } from './ast.ts'
import { blockFilters, expression, MAX_DEPTH, nameOf, or, Tokens, targetOf, tupleOrExpression } from './expressions.ts'
import { type Piece, TemplateError, tokenize } from './lexer.ts'

export function parseTemplate(source: string): Node[] {
  const reader = { pieces: tokenize(source), at: 0, depth: 0, blocks: new Set<string>() }
  return body(reader, []).nodes
}

interface PieceReader {
  readonly pieces: readonly Piece[]
  at: number
  depth: number
  readonly blocks: Set<string>
}

/** Nodes up to a statement that begins with one of these words, which is consumed. */
function body(reader: PieceReader, ends: readonly string[]): { nodes: Node[]; end: string; tokens: Tokens } {
  const nodes: Node[] = []
  if (++reader.depth > MAX_DEPTH) throw new TemplateError(`the template is nested deeper than ${MAX_DEPTH} levels`)
  for (;;) {
    const piece = reader.pieces[reader.at++]
    if (!piece) {
      if (ends.length > 0) throw new TemplateError(`Unexpected end of template. Expected one of: ${ends.join(', ')}.`)
      reader.depth--
      return { nodes, end: '', tokens: new Tokens([]) }
    }
    if (piece.kind === 'text') nodes.push(piece)
    else if (piece.kind === 'expression') {
      const tokens = new Tokens(piece.tokens)
      const value = tupleOrExpression(tokens)
      tokens.end()
      nodes.push({ kind: 'output', value })
    } else {
      const tokens = new Tokens(piece.tokens)
      const word = tokens.name()
      if (ends.includes(word)) {
        reader.depth--
        return { nodes, end: word, tokens }
      }
      nodes.push(statement(word, tokens, reader))
    }
  }
}

type Statement = (tokens: Tokens, reader: PieceReader) => Node

const STATEMENTS: Readonly<Record<string, Statement>> = {
  if: ifStatement,
  for: forStatement,
  set: setStatement,
  macro: macroStatement,
  call: callStatement,
  filter: filterStatement,
  with: withStatement,
  block: blockStatement,
  print: printStatement,
  extends: extendsStatement,
  include: loadStatement,
  import: loadStatement,
  from: fromStatement,
}

function statement(word: string, tokens: Tokens, reader: PieceReader): Node {
  const parse = Object.hasOwn(STATEMENTS, word) ? STATEMENTS[word] : undefined
  if (!parse)
    throw new TemplateError(`The statement '${word}' is not supported. Supported: ${Object.keys(STATEMENTS).join(', ')}, raw.`)
  return parse(tokens, reader)
}

/** The nodes up to the end of the statement. */
function closed(reader: PieceReader, end: string): Node[] {
  const part = body(reader, [end])
  part.tokens.end()
  return part.nodes
}

function ifStatement(tokens: Tokens, reader: PieceReader): Node {
  const branches: [Expression | undefined, readonly Node[]][] = []
  let test: Expression | undefined = tupleOrExpression(tokens)
  tokens.end()
  for (;;) {
    const part = body(reader, ['elif', 'else', 'endif'])
    branches.push([test, part.nodes])
    if (part.end === 'endif') return { kind: 'if', branches }
    test = part.end === 'elif' ? tupleOrExpression(part.tokens) : undefined
    part.tokens.end()
  }
}

function forStatement(tokens: Tokens, reader: PieceReader): Node {
  const target = targetOf(tokens)
  if (!tokens.skipName('in')) throw tokens.unexpected("'in'")
  const first = or(tokens)
  let items: Expression = first
  if (tokens.isOperator(',')) {
    const all = [first]
    while (tokens.skipOperator(',') && tokens.next.kind !== 'end') all.push(or(tokens))
    items = { kind: 'tuple', items: all }
  }
  const test = tokens.skipName('if') ? expression(tokens) : undefined
  const recursive = tokens.skipName('recursive')
  tokens.end()
  const part = body(reader, ['else', 'endfor'])
  part.tokens.end()
  const otherwise = part.end === 'else' ? closed(reader, 'endfor') : []
  return { kind: 'for', target, items, test, body: part.nodes, otherwise, recursive }
}

function setStatement(tokens: Tokens, reader: PieceReader): Node {
  const target = targetOf(tokens)
  const member = typeof target === 'string' && tokens.skipOperator('.') ? tokens.name() : undefined
  if (tokens.skipOperator('=')) {
    const value = tupleOrExpression(tokens)
    tokens.end()
    return { kind: 'set', target, member, value }
  }
  const filter = tokens.isOperator('|') ? { expression: blockFilters(tokens, false) } : undefined
  tokens.end()
  return { kind: 'set block', target, member, filter, body: closed(reader, 'endset') }
}

function signature(tokens: Tokens): Signature {
  const names: string[] = []
  const defaults: Expression[] = []
  while (!tokens.skipOperator(')')) {
    if (names.length > 0) tokens.expect(',')
    const name = nameOf(tokens)
    if (names.includes(name)) throw new TemplateError(`duplicate argument '${name}'`)
    names.push(name)
    if (tokens.skipOperator('=')) defaults.push(expression(tokens))
    else if (defaults.length > 0) throw new TemplateError('non-default argument follows default argument')
  }
  return { names, defaults }
}

function macroStatement(tokens: Tokens, reader: PieceReader): Node {
  const name = nameOf(tokens)
  tokens.expect('(')
  const parameters = signature(tokens)
  tokens.end()
  return { kind: 'macro', name, ...parameters, body: closed(reader, 'endmacro') }
}

function callStatement(tokens: Tokens, reader: PieceReader): Node {
  const parameters = tokens.skipOperator('(') ? signature(tokens) : { names: [], defaults: [] }
  const call = expression(tokens)
  if (call.kind !== 'call') throw new TemplateError('expected call')
  if (call.args.named.some(([name]) => name === 'caller')) throw new TemplateError('keyword argument repeated: caller')
  tokens.end()
  return { kind: 'call block', call, ...parameters, body: closed(reader, 'endcall') }
}

function filterStatement(tokens: Tokens, reader: PieceReader): Node {
  const filter = { expression: blockFilters(tokens, true) }
  tokens.end()
  return { kind: 'filter block', filter, body: closed(reader, 'endfilter') }
}

function withStatement(tokens: Tokens, reader: PieceReader): Node {
  const values: [string, Expression][] = []
  while (tokens.next.kind !== 'end') {
    if (values.length > 0) tokens.expect(',')
    const name = nameOf(tokens)
    tokens.expect('=')
    values.push([name, expression(tokens)])
  }
  return { kind: 'with', values, body: closed(reader, 'endwith') }
}

function blockStatement(tokens: Tokens, reader: PieceReader): Node {
  const name = tokens.name()
  if (reader.blocks.has(name)) throw new TemplateError(`block '${name}' defined twice`)
  reader.blocks.add(name)
  const scoped = tokens.skipName('scoped')
  if (tokens.isName('required')) throw new TemplateError("Blocks with 'required' are not supported.")
  tokens.end()
  const part = body(reader, ['endblock'])
  part.tokens.skipName(name)
  part.tokens.end()
  return { kind: 'block', name, scoped, body: part.nodes }
}

function printStatement(tokens: Tokens): Node {
  const items: Expression[] = []
  while (tokens.next.kind !== 'end') {
    if (items.length > 0) tokens.expect(',')
    items.push(expression(tokens))
  }
  return { kind: 'output', value: { kind: 'concat', items } }
}

function extendsStatement(tokens: Tokens, reader: PieceReader): Node {
  if (reader.depth > 1) throw new TemplateError('cannot use extend from a non top-level scope')
  return loadStatement(tokens)
}

/** `extends`, `include` and `import`: parsed, although no other template exists. */
function loadStatement(tokens: Tokens): Node {
  const template = expression(tokens)
  const names: string[] = []
  while (tokens.next.kind !== 'end') {
    if (tokens.skipName('as')) names.push(nameOf(tokens))
    else tokens.take()
  }
  return { kind: 'load', template, names }
}

function fromStatement(tokens: Tokens): Node {
  const template = expression(tokens)
  if (!tokens.skipName('import')) throw tokens.unexpected("'import'")
  const names: string[] = []
  while (tokens.next.kind !== 'end') {
    const name = nameOf(tokens)
    names.push(tokens.skipName('as') ? nameOf(tokens) : name)
    if (!tokens.skipOperator(',') && tokens.skipName('with')) tokens.take()
  }
  return { kind: 'load', template, names }
}
