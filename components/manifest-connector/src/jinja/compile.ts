// An expression as functions: parsed once, each node one closure. No code is generated, so nothing outside the tables can be called.

import { type Dict, isDict, pyStr, setKey, Tuple, truthy } from '../python/values.ts'
import type { Arguments, Expression } from './ast.ts'
import { hashable } from './collection-methods.ts'
import { filterOf } from './filters.ts'
import { FUNCTIONS } from './functions.ts'
import { attribute, item, slice } from './members.ts'
import { binary, comparison, negated, positive } from './operators.ts'
import { iterate, PyFunction, PyTypeError, type Run, typeName, Undefined } from './runtime.ts'
import { testOf } from './tests.ts'

/** The variables of a rendering, and those that its loops and assignments add. */
export interface Scope {
  readonly run: Run
  readonly context: Dict
  readonly locals: Map<string, unknown>
  readonly parent: Scope | undefined
  /** Of the block whose filters are applied. */
  readonly text?: string
}

export type Eval = (scope: Scope) => unknown

export function lookUp(name: string): Eval {
  return (scope) => {
    for (let at: Scope | undefined = scope; at; at = at.parent) if (at.locals.has(name)) return at.locals.get(name)
    if (Object.hasOwn(scope.context, name)) return scope.context[name] ?? null
    return FUNCTIONS.get(name) ?? new Undefined(`'${name}' is undefined`)
  }
}

function argumentsOf(args: Arguments): (scope: Scope, more?: Dict) => { positional: unknown[]; named: Dict } {
  const positional = args.positional.map(expression)
  const named = args.named.map(([name, value]) => [name, expression(value)] as const)
  const [list, dict] = [args.list && expression(args.list), args.dict && expression(args.dict)]
  return (scope, given) => {
    const values: Dict = {}
    const all = positional.map((value) => value(scope))
    for (const [name, value] of named) setKey(values, name, value(scope))
    for (const [name, value] of Object.entries(given ?? {})) setKey(values, name, value)
    if (list) for (const each of iterate(list(scope))) all.push(each)
    const more = dict?.(scope)
    if (more !== undefined && !isDict(more)) throw new PyTypeError('argument after ** must be a mapping')
    for (const [name, value] of Object.entries(more ?? {})) {
      if (Object.hasOwn(values, name)) throw new PyTypeError(`got multiple values for keyword argument '${name}'`)
      setKey(values, name, value)
    }
    return { positional: all, named: values }
  }
}

export function expression(node: Expression): Eval {
  switch (node.kind) {
    case 'block text':
      return ({ text }) => text ?? ''
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
        for (const [key, value] of items) setKey(dict, pyStr(hashable(key(scope))), value(scope))
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
      return (scope) => {
        const value = of(scope)
        const { positional, named } = args(scope)
        return test(value, positional, named, scope.run) !== node.not
      }
    }
    case 'unary': {
      const of = expression(node.of)
      if (node.operator === 'not') return (scope) => !truthy(of(scope))
      return (scope) => (node.operator === '-' ? negated(of(scope), scope.run) : positive(of(scope)))
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

/** `more` gives named arguments beside those of the template. */
export function call(target: Expression, args: Arguments, more?: (scope: Scope) => Dict): Eval {
  const [of, values] = [expression(target), argumentsOf(args)]
  return (scope) => {
    scope.run.step()
    const callee = of(scope)
    if (callee instanceof Undefined) callee.fail()
    if (!(callee instanceof PyFunction)) throw new PyTypeError(`'${typeName(callee)}' object is not callable`)
    const { positional, named } = values(scope, more?.(scope))
    return callee.call(positional, named, scope.run)
  }
}
