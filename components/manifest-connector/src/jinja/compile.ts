// A template as functions: parsed once, each node one closure. No code is generated, so nothing outside the tables can be called.

import { ConnectorError } from '../errors.ts'
import { type Dict, pyStr, setKey, Tuple, truthy } from '../python/values.ts'
import type { Arguments, Expression, Node } from './ast.ts'
import { filterOf } from './filters.ts'
import { FUNCTIONS, isNamespace } from './functions.ts'
import { attribute, item, slice } from './members.ts'
import { binary, comparison } from './operators.ts'
import { parseTemplate } from './parser.ts'
import { iterate, PyFunction, PyTypeError, type Run, typeName, Undefined } from './runtime.ts'
import { testOf } from './tests.ts'

/** The variables of a rendering, and those that its loops and assignments add. */
interface Scope {
  readonly run: Run
  readonly context: Dict
  readonly locals: Map<string, unknown>
  readonly parent: Scope | undefined
}

type Eval = (scope: Scope) => unknown
type Emit = (scope: Scope) => string

export interface Template {
  /** Variables that no statement of the template sets. */
  readonly variables: ReadonlySet<string>
  render(context: Dict, run: Run): string
  /** Of a template that is one expression and nothing else: its value before it becomes text. */
  readonly value?: (context: Dict, run: Run) => unknown
}

function lookUp(name: string): Eval {
  return (scope) => {
    for (let at: Scope | undefined = scope; at; at = at.parent) if (at.locals.has(name)) return at.locals.get(name)
    if (Object.hasOwn(scope.context, name)) return scope.context[name] ?? null
    return FUNCTIONS.get(name) ?? new Undefined(`'${name}' is undefined`)
  }
}

function argumentsOf(args: Arguments): (scope: Scope) => { positional: unknown[]; named: Dict } {
  const positional = args.positional.map(expression)
  const named = args.named.map(([name, value]) => [name, expression(value)] as const)
  return (scope) => {
    const values: Dict = {}
    for (const [name, value] of named) setKey(values, name, value(scope))
    return { positional: positional.map((value) => value(scope)), named: values }
  }
}

function expression(node: Expression): Eval {
  switch (node.kind) {
    case 'constant':
      return () => node.value
    case 'name':
      return lookUp(node.name)
    case 'list': {
      const items = node.items.map(expression)
      return (scope) => items.map((each) => each(scope))
    }
    case 'tuple': {
      const items = node.items.map(expression)
      return (scope) => Tuple.of(...items.map((each) => each(scope)))
    }
    case 'dict': {
      const items = node.items.map(([key, value]) => [expression(key), expression(value)] as const)
      return (scope) => {
        const dict: Dict = {}
        for (const [key, value] of items) setKey(dict, pyStr(key(scope)), value(scope))
        return dict
      }
    }
    case 'attribute': {
      const of = expression(node.of)
      return (scope) => {
        scope.run.step()
        return attribute(of(scope), node.name)
      }
    }
    case 'item': {
      const [of, key] = [expression(node.of), expression(node.key)]
      return (scope) => {
        scope.run.step()
        return item(of(scope), key(scope))
      }
    }
    case 'slice': {
      const of = expression(node.of)
      const parts = node.parts.map((part) => part && expression(part))
      return (scope) => {
        scope.run.step()
        return slice(
          of(scope),
          parts.map((part) => part?.(scope)),
        )
      }
    }
    case 'call':
      return call(node.of, node.args)
    case 'filter': {
      const [of, args, filter] = [expression(node.of), argumentsOf(node.args), filterOf(node.name)]
      return (scope) => {
        scope.run.step()
        const value = of(scope)
        const { positional, named } = args(scope)
        return filter(value, positional, named, scope.run)
      }
    }
    case 'test': {
      const [of, args, test] = [expression(node.of), argumentsOf(node.args), testOf(node.name)]
      return (scope) => test(of(scope), args(scope).positional) !== node.not
    }
    case 'unary': {
      const of = expression(node.of)
      if (node.operator === 'not') return (scope) => !truthy(of(scope))
      return (scope) => (node.operator === '-' ? binary('-', 0, of(scope), scope.run) : of(scope))
    }
    case 'binary':
      return operation(node.operator, expression(node.left), expression(node.right))
    case 'compare': {
      const first = expression(node.first)
      const rest = node.rest.map(([operator, right]) => [operator, expression(right)] as const)
      return (scope) => {
        let left = first(scope)
        for (const [operator, right] of rest) {
          const value = right(scope)
          if (!comparison(operator, left, value)) return false
          left = value
        }
        return true
      }
    }
    case 'concat': {
      const items = node.items.map(expression)
      return (scope) => items.map((each) => scope.run.text(each(scope))).join('')
    }
    case 'condition': {
      const [test, then] = [expression(node.test), expression(node.whenTrue)]
      const otherwise = node.otherwise && expression(node.otherwise)
      return (scope) =>
        truthy(test(scope))
          ? then(scope)
          : otherwise
            ? otherwise(scope)
            : new Undefined('the inline if-expression evaluated to false and no else section was defined.')
    }
  }
}

function operation(operator: string, left: Eval, right: Eval): Eval {
  if (operator === 'and')
    return (scope) => {
      const value = left(scope)
      return truthy(value) ? right(scope) : value
    }
  if (operator === 'or')
    return (scope) => {
      const value = left(scope)
      return truthy(value) ? value : right(scope)
    }
  return (scope) => {
    scope.run.step()
    return binary(operator, left(scope), right(scope), scope.run)
  }
}

function call(target: Expression, args: Arguments): Eval {
  const [of, values] = [expression(target), argumentsOf(args)]
  return (scope) => {
    scope.run.step()
    const callee = of(scope)
    if (callee instanceof Undefined) callee.fail()
    if (!(callee instanceof PyFunction)) throw new PyTypeError(`'${typeName(callee)}' object is not callable`)
    const { positional, named } = values(scope)
    return callee.call(positional, named, scope.run)
  }
}

const inside = (scope: Scope): Scope => ({ run: scope.run, context: scope.context, locals: new Map(), parent: scope })

function emitAll(nodes: readonly Node[]): Emit {
  const parts = nodes.map(emit)
  if (parts.length === 1) return parts[0]!
  return (scope) => {
    let out = ''
    for (const part of parts) out += part(scope)
    return out
  }
}

function emit(node: Node): Emit {
  switch (node.kind) {
    case 'text':
      return () => node.text
    case 'output': {
      const value = expression(node.value)
      return (scope) => scope.run.text(value(scope))
    }
    case 'if': {
      const branches = node.branches.map(([test, body]) => [test && expression(test), emitAll(body)] as const)
      return (scope) => branches.find(([test]) => !test || truthy(test(scope)))?.[1](scope) ?? ''
    }
    case 'for':
      return loop(node)
    case 'set':
      return assignment(node)
  }
}

function loop(node: Node & { kind: 'for' }): Emit {
  const items = expression(node.items)
  const test = node.test && expression(node.test)
  const [body, otherwise] = [emitAll(node.body), emitAll(node.otherwise)]
  return (scope) => {
    let all = [...iterate(items(scope))].map((value) => {
      const inner = inside(scope)
      assign(inner, node.names, value)
      scope.run.step()
      return inner
    })
    if (test) all = all.filter((inner) => truthy(test(inner)))
    if (all.length === 0) return otherwise(scope)
    let out = ''
    for (const [i, inner] of all.entries()) {
      inner.locals.set('loop', {
        index: i + 1,
        index0: i,
        first: i === 0,
        last: i === all.length - 1,
        length: all.length,
        revindex: all.length - i,
        revindex0: all.length - i - 1,
      })
      out += body(inner)
    }
    return out
  }
}

function assign(scope: Scope, names: readonly string[], value: unknown): void {
  if (names.length === 1) {
    scope.locals.set(names[0]!, value)
    return
  }
  const parts = [...iterate(value)]
  if (parts.length !== names.length)
    throw new ConnectorError(`ValueError: expected ${names.length} values to unpack, got ${parts.length}`)
  for (const [i, name] of names.entries()) scope.locals.set(name, parts[i])
}

function assignment({ names, member, value }: Node & { kind: 'set' }): Emit {
  const evaluated = Array.isArray(value) ? emitAll(value as readonly Node[]) : expression(value as Expression)
  return (scope) => {
    const result = evaluated(scope)
    if (member === undefined) assign(scope, names, result)
    else {
      const space = lookUp(names[0]!)(scope)
      if (!isNamespace(space)) throw new ConnectorError('cannot assign attribute on non-namespace object')
      space.pySet(member, result)
    }
    return ''
  }
}

/** Names that are read and not set before by a statement of the template. */
function freeNames(nodes: readonly Node[]): Set<string> {
  const free = new Set<string>()
  const inExpression = (node: unknown, known: ReadonlySet<string>): void => {
    if (Array.isArray(node)) for (const each of node) inExpression(each, known)
    else if (typeof node === 'object' && node !== null) {
      const { kind, name } = node as { kind?: string; name?: string }
      if (kind === 'constant') return
      if (kind === 'name' && name !== undefined && !known.has(name) && !FUNCTIONS.has(name)) free.add(name)
      for (const part of Object.values(node)) inExpression(part, known)
    }
  }
  const inNodes = (list: readonly Node[], known: Set<string>): void => {
    for (const node of list) {
      if (node.kind === 'output') inExpression(node.value, known)
      else if (node.kind === 'if')
        for (const [test, body] of node.branches) {
          inExpression(test, known)
          inNodes(body, known)
        }
      else if (node.kind === 'for') {
        inExpression(node.items, known)
        const inner = new Set([...known, ...node.names, 'loop'])
        inExpression(node.test, inner)
        inNodes(node.body, inner)
        inNodes(node.otherwise, new Set(known))
      } else if (node.kind === 'set') {
        if (Array.isArray(node.value)) inNodes(node.value as readonly Node[], new Set(known))
        else inExpression(node.value, known)
        for (const name of node.names) known.add(name)
      }
    }
  }
  inNodes(nodes, new Set())
  return free
}

export function compileTemplate(source: string): Template {
  const nodes = parseTemplate(source)
  const output = emitAll(nodes)
  const scopeOf = (context: Dict, run: Run): Scope => ({ run, context, locals: new Map(), parent: undefined })
  const only = nodes.length === 1 && nodes[0]!.kind === 'output' ? expression(nodes[0]!.value) : undefined
  return {
    variables: freeNames(nodes),
    render: (context, run) => output(scopeOf(context, run)),
    ...(only && { value: (context: Dict, run: Run) => only(scopeOf(context, run)) }),
  }
}
