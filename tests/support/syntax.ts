// Functions of a source file by its syntax tree: their decisions and their own lines.

import { parseAst } from 'rolldown/parseAst'

export interface MeasuredFunction {
  readonly name: string
  /** One more than its decisions: if, loops, cases, catch, `?:`, `&&`, `||`, `??`. Functions inside it count for themselves. */
  readonly complexity: number
  /** Without those of functions inside it. */
  readonly lines: number
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
const DECISIONS = new Set([
  'IfStatement',
  'ConditionalExpression',
  'LogicalExpression',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
  'CatchClause',
])

export function functionsOf(text: string): MeasuredFunction[] {
  const found: MeasuredFunction[] = []
  /** Decisions and lines of functions below the node, as far as they belong to the function around it. */
  const measure = (node: Node, name: string): { decisions: number; innerLines: number } => {
    const inner = childrenOf(node).map((child) => measure(child, nameOf(node) ?? name))
    const decisions = inner.reduce((sum, one) => sum + one.decisions, isDecision(node) ? 1 : 0)
    const innerLines = inner.reduce((sum, one) => sum + one.innerLines, 0)
    if (!FUNCTIONS.has(node.type)) return { decisions, innerLines }
    const lines = text.slice(node.start, node.end).split('\n').length
    found.push({ name: nameOf(node) ?? name, complexity: decisions + 1, lines: lines - innerLines })
    return { decisions: 0, innerLines: lines - 1 }
  }
  measure(parseAst(text, { lang: 'ts' }) as unknown as Node, '')
  return found
}

const isDecision = (node: Node): boolean => DECISIONS.has(node.type) || (node.type === 'SwitchCase' && node.test !== null)

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

const childrenOf = (node: Node): Node[] =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode))

const nameOf = ({ id, key }: Node): string | undefined => [id, key].filter(isNode).map((node) => node.name as string)[0]
