// Whether a stop condition ends the reading early once pages are smaller than configured. A condition such as `last_page_size < 100` takes
// a full page of a reduced size for the last one, and the rest of the slice would be missing without an error.

import type { Expression, Node } from '../jinja/ast.ts'
import { parseTemplate } from '../jinja/parser.ts'
import { isInt, pyRepr, pyStr } from '../python/values.ts'

export interface Verdict {
  readonly kind: 'safe' | 'truncates' | 'unknown'
  readonly reason: string
}

const COUNT = 'last_page_size'
const REQUESTED = 'page_size'
const MIRRORED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }
/** Texts that the reference takes for false. */
const FALSE_TEXTS = new Set(['False', 'false', '{}', '[]', '()', '', '0', '0.0'])

export function judgeStopCondition(condition: string, minimumPageSize: number): Verdict {
  const nodes = parsed(condition)
  if (!nodes) return { kind: 'unknown', reason: 'it is not a valid expression' }
  const all = comparisonsOf(nodes)
  if (!names(nodes, COUNT)) return judgeOthers(all)
  const own = all.filter(({ left, right }) => names(left, COUNT) || names(right, COUNT))
  const verdicts = own.map(
    (each): Verdict =>
      each.decides
        ? judge(each, minimumPageSize)
        : { kind: 'unknown', reason: `it uses ${COUNT} in a comparison that does not decide the condition on its own` },
  )
  return (
    verdicts.find(({ kind }) => kind === 'truncates') ??
    verdicts.find(({ kind }) => kind === 'unknown') ??
    verdicts[0] ?? { kind: 'unknown', reason: `it uses ${COUNT} outside of a comparison` }
  )
}

/** Whether an expression reads the variable `page_size`, which exists only where the strategy sets one. */
export function readsPageSize(template: unknown): boolean {
  const nodes = typeof template === 'string' ? parsed(template) : undefined
  return nodes !== undefined && names(nodes, REQUESTED)
}

function parsed(template: string): Node[] | undefined {
  try {
    return parseTemplate(template)
  } catch {
    return undefined
  }
}

interface Comparison {
  readonly left: Expression
  readonly operator: string
  readonly right: Expression
  /** The truth of the condition follows from it: on the way to the root there is nothing but `and` and `or`. */
  readonly decides: boolean
}

type Part = { readonly kind?: string } & Readonly<Record<string, unknown>>

function childrenOf(value: unknown): Part[] {
  if (Array.isArray(value)) return value.flatMap((each) => (isPart(each) ? [each] : childrenOf(each)))
  return isPart(value) && value.kind !== 'constant'
    ? Object.values(value).flatMap((each) => (isPart(each) ? [each] : Array.isArray(each) ? childrenOf(each) : []))
    : []
}

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value)

const names = (value: unknown, name: string): boolean =>
  (isPart(value) && value.kind === 'name' && value.name === name) || childrenOf(value).some((child) => names(child, name))

function comparisonsOf(nodes: readonly Node[]): Comparison[] {
  const found: Comparison[] = []
  const visit = (part: Part, decides: boolean): void => {
    if (part.kind === 'compare') {
      const { first, rest } = part as Expression & { kind: 'compare' }
      let left = first
      for (const [operator, right] of rest) {
        found.push({ left, operator, right, decides })
        left = right
      }
      for (const operand of [first, ...rest.map(([, right]) => right)]) visit(operand as unknown as Part, false)
    } else if (part.kind === 'if') {
      const { branches } = part as Node & { kind: 'if' }
      const follows = decides && branches.length === 1 && rendersTruth(branches[0]![1])
      for (const [i, [test, body]] of branches.entries()) {
        if (test) visit(test as unknown as Part, follows && i === 0)
        for (const child of body) visit(child as unknown as Part, false)
      }
    } else {
      const passes = part.kind === 'output' || (part.kind === 'binary' && (part.operator === 'and' || part.operator === 'or'))
      for (const child of childrenOf(part)) visit(child, decides && passes)
    }
  }
  // A text beside an expression makes the rendered condition true, whatever the expression is.
  for (const node of nodes) visit(node as unknown as Part, nodes.length === 1)
  return found
}

function rendersTruth(body: readonly Node[]): boolean {
  let text = ''
  for (const node of body) {
    if (node.kind === 'text') text += node.text
    else if (node.kind === 'output' && node.value.kind === 'constant') text += pyStr(node.value.value)
    else return false
  }
  return !FALSE_TEXTS.has(text)
}

/** The size of a page can be counted from the response, too, so every upper bound may be one. */
function judgeOthers(all: readonly Comparison[]): Verdict {
  for (const { left, operator, right, decides } of all) {
    if (!Object.hasOwn(MIRRORED, operator)) continue
    const bounded = decides ? (operator.startsWith('<') ? left : right) : left.kind === 'constant' ? right : left
    if (decides && bounded.kind === 'constant') continue
    return {
      kind: 'unknown',
      reason: `it stops when ${shown(bounded)} is below a limit, which may be the number of records of a page`,
    }
  }
  return { kind: 'safe', reason: `it does not depend on ${COUNT}` }
}

function judge({ left, operator, right }: Comparison, minimumPageSize: number): Verdict {
  if (names(left, COUNT) && names(right, COUNT)) return { kind: 'unknown', reason: `it compares ${COUNT} with itself` }
  const [counted, limit, sign] = names(left, COUNT) ? [left, right, operator] : [right, left, MIRRORED[operator] ?? operator]
  const isBare = counted.kind === 'name'
  const transformed: Verdict = { kind: 'unknown', reason: `${COUNT} is changed before it is compared` }
  if (sign === '==' || sign === '!=') {
    if (!isBare) return transformed
    const isZero = limit.kind === 'constant' && (limit.value === 0 || limit.value === false)
    return isZero
      ? { kind: 'safe', reason: `${COUNT} is only compared with 0` }
      : { kind: 'unknown', reason: `it compares ${COUNT} with ${shown(limit)}` }
  }
  if (sign === '>' || sign === '>=') return isBare ? { kind: 'safe', reason: 'a smaller page cannot make it true' } : transformed
  if (sign !== '<' && sign !== '<=') return { kind: 'unknown', reason: `it uses ${COUNT} with '${sign}'` }
  return judgeUpperBound(counted, sign, limit, minimumPageSize)
}

const ARITHMETIC = new Set(['+', '-', '*', '/', '//', '%', '**', 'and', 'or'])

function judgeUpperBound(counted: Expression, sign: '<' | '<=', limit: Expression, minimumPageSize: number): Verdict {
  if (counted.kind === 'binary' && ARITHMETIC.has(counted.operator))
    return { kind: 'unknown', reason: `${COUNT} is part of a calculation before it is compared` }
  if (names(limit, REQUESTED))
    return isRequestedSize(limit)
      ? { kind: 'safe', reason: `it compares ${COUNT} with ${REQUESTED}` }
      : { kind: 'unknown', reason: `it compares ${COUNT} with a value computed from ${REQUESTED}` }
  if (limit.kind === 'constant' && isInt(limit.value)) {
    const bound = Number(limit.value) + (sign === '<' ? 0 : 1)
    if (bound <= minimumPageSize) return { kind: 'safe', reason: `no page of fewer than ${bound} records is requested` }
  }
  return {
    kind: 'truncates',
    reason: `it stops at a page smaller than ${shown(limit)}, so a full page of a reduced size would be taken for the last one`,
  }
}

function isRequestedSize(node: Expression): boolean {
  let inner = node
  while (inner.kind === 'filter') inner = inner.of
  return inner.kind === 'name' && inner.name === REQUESTED
}

function shown(node: Expression): string {
  if (node.kind === 'constant') return pyRepr(node.value)
  if (node.kind === 'name') return node.name
  if (node.kind === 'attribute') return `${shown(node.of)}.${node.name}`
  if (node.kind === 'item' && node.key.kind === 'constant') return `${shown(node.of)}[${pyRepr(node.key.value)}]`
  return 'a computed value'
}
