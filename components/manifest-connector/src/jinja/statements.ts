// A template as functions: statements around the expressions of compile.ts. Macros, loops and blocks count their steps, so that a template
// that calls itself ends.

import { ConnectorError } from '../errors.ts'
import { type Dict, equals, type PyObject, Tuple, truthy } from '../python/values.ts'
import type { Node, Signature, Target } from './ast.ts'
import { call, type Eval, expression, lookUp, type Scope } from './compile.ts'
import { freeNames, reads, specialsOf } from './free-names.ts'
import { FUNCTIONS, isNamespace } from './functions.ts'
import { parseTemplate } from './parser.ts'
import { iterate, PyFunction, PyTypeError, type Run, typeName, Undefined, type WithMembers } from './runtime.ts'

type Emit = (scope: Scope) => string

export interface Template {
  /** Variables that no statement of the template sets. */
  readonly variables: ReadonlySet<string>
  render(context: Dict, run: Run): string
  /** Of a template that is one expression and nothing else: its value before it becomes text. */
  readonly value?: (context: Dict, run: Run) => unknown
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
    case 'set': {
      const value = expression(node.value)
      return (scope) => set(scope, node.target, node.member, value(scope))
    }
    case 'set block': {
      const [body, filter] = [emitAll(node.body), node.filter && expression(node.filter.expression)]
      return (scope) => {
        const text = body(inside(scope))
        return set(scope, node.target, node.member, filter ? filter({ ...inside(scope), text }) : text)
      }
    }
    case 'filter block': {
      const [body, filter] = [emitAll(node.body), expression(node.filter.expression)]
      return (scope) => blockText(filter({ ...inside(scope), text: body(inside(scope)) }), scope.run)
    }
    case 'with': {
      const values = node.values.map(([target, value]) => [target, expression(value)] as const)
      const body = emitAll(node.body)
      return (scope) => {
        const inner = inside(scope)
        for (const [target, value] of values) assign(inner, target, value(scope))
        return body(inner)
      }
    }
    case 'macro': {
      const create = macroOf(node.name, node, node.body)
      return (scope) => {
        scope.locals.set(node.name, create(scope))
        return ''
      }
    }
    case 'call block': {
      const caller = macroOf(null, node, node.body)
      const { of, args } = node.call as typeof node.call & { kind: 'call' } // by the parser
      const called = call(of, args, (scope) => ({ caller: caller(scope) }))
      return (scope) => blockText(called(scope), scope.run)
    }
    case 'block': {
      const body = emitAll(node.body)
      return (scope) => body(inside(node.scoped ? scope : rootOf(scope)))
    }
    case 'load':
      // There are no other templates. The reference then takes the text as it is.
      return () => {
        throw new PyTypeError('no loader for this environment specified')
      }
  }
}

/** A filter or call block does not convert its result. */
function blockText(value: unknown, run: Run): string {
  if (typeof value !== 'string') throw new PyTypeError(`sequence item 0: expected str instance, ${typeName(value)} found`)
  run.grow(value.length)
  return value
}

function rootOf(scope: Scope): Scope {
  let root = scope
  while (root.parent) root = root.parent
  return root
}

class Macro extends PyFunction implements WithMembers {
  readonly #members: Dict
  constructor(name: string | null, members: Dict, body: PyFunction['call']) {
    super(name ?? '', body)
    this.#members = { name, ...members }
  }
  pyMember(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined
  }
  override pyStr(): string {
    return this.#members.name === null ? '<Macro anonymous>' : `<Macro '${this.name}'>`
  }
}

function macroOf(name: string | null, { names, defaults }: Signature, nodes: readonly Node[]): (scope: Scope) => Macro {
  const [body, values] = [emitAll(nodes), defaults.map(expression)]
  const specials = specialsOf({ names, defaults }, nodes)
  const [takesCaller, takesNamed, takesMore] = ['caller', 'kwargs', 'varargs'].map((each) => specials.includes(each))
  const required = names.length - values.length
  const callers = names.indexOf('caller')
  if (callers >= 0 && callers < required && reads(nodes, 'caller'))
    throw new ConnectorError(
      'When defining macros or call blocks the special "caller" argument must be omitted or be given a default.',
    )
  const shown = name ?? 'None'

  return (outer) => {
    const members = {
      arguments: Tuple.of<unknown>(...names),
      catch_kwargs: takesNamed,
      catch_varargs: takesMore,
      caller: takesCaller || callers >= 0,
    }
    return new Macro(name, members, (given, named, run) => {
      const scope = inside(outer)
      const rest: Dict = { ...named }
      // Defaults may read the parameters before them.
      for (const [i, parameter] of names.entries()) {
        let value: unknown
        if (i < given.length) value = given[i]
        else if (Object.hasOwn(rest, parameter)) {
          value = rest[parameter]
          delete rest[parameter]
        } else if (i >= required) value = values[i - required]!(scope)
        else value = new Undefined(`parameter '${parameter}' was not provided`)
        scope.locals.set(parameter, value)
      }
      if (takesCaller) {
        scope.locals.set('caller', rest.caller ?? new Undefined('No caller defined'))
        delete rest.caller
      }
      if (takesNamed) scope.locals.set('kwargs', rest)
      else if (Object.keys(rest).length > 0)
        throw new PyTypeError(`macro '${shown}' takes no keyword argument '${Object.keys(rest)[0]}'`)
      if (takesMore) scope.locals.set('varargs', Tuple.of<unknown>(...given.slice(names.length)))
      else if (given.length > names.length)
        throw new PyTypeError(`macro '${shown}' takes not more than ${names.length} argument(s)`)
      const text = run.nested(() => body(scope))
      run.grow(text.length)
      return text
    })
  }
}

/** The variable `loop`: a function, too, in a recursive loop. */
class Loop extends PyFunction implements WithMembers, PyObject {
  readonly #items: readonly unknown[]
  readonly #depth: number
  #at = 0
  #changed: readonly unknown[] | undefined
  constructor(items: readonly unknown[], depth: number, again: PyFunction['call']) {
    super('loop', again)
    this.#items = items
    this.#depth = depth
  }
  set at(index: number) {
    this.#at = index
  }
  pyMember(name: string): unknown {
    const [i, { length }] = [this.#at, this.#items]
    switch (name) {
      case 'index':
        return i + 1
      case 'index0':
        return i
      case 'first':
        return i === 0
      case 'last':
        return i === length - 1
      case 'length':
        return length
      case 'revindex':
        return length - i
      case 'revindex0':
        return length - i - 1
      case 'depth':
        return this.#depth + 1
      case 'depth0':
        return this.#depth
      case 'previtem':
        return i > 0 ? this.#items[i - 1] : new Undefined('there is no previous item')
      case 'nextitem':
        return i < length - 1 ? this.#items[i + 1] : new Undefined('there is no next item')
      case 'cycle':
        return new PyFunction('cycle', (args) => {
          if (args.length === 0) throw new PyTypeError('no items for cycling given')
          return args[i % args.length]
        })
      case 'changed':
        return new PyFunction('changed', (args) => {
          const before = this.#changed
          if (before && before.length === args.length && before.every((each, at) => equals(each, args[at]))) return false
          this.#changed = args
          return true
        })
      default:
        return undefined
    }
  }
  override pyStr(): string {
    return `<LoopContext ${this.#at + 1}/${this.#items.length}>`
  }
}

function loop(node: Node & { kind: 'for' }): Emit {
  const items = expression(node.items)
  const test = node.test && expression(node.test)
  const [body, otherwise] = [emitAll(node.body), emitAll(node.otherwise)]
  const hasLoop = node.recursive || reads(node.body, 'loop')

  function over(all: unknown, scope: Scope, depth: number): string {
    const found: { readonly value: unknown; readonly inner: Scope }[] = []
    for (const value of iterate(all)) {
      scope.run.step()
      const inner = inside(scope)
      assign(inner, node.target, value)
      if (!test || truthy(test(inner))) found.push({ value, inner })
    }
    if (found.length === 0) return otherwise(inside(scope))
    const values = found.map(({ value }) => value)
    const state = new Loop(values, depth, ([inner], _named, run) => {
      if (!node.recursive) throw new PyTypeError("The loop must have the 'recursive' marker to be called recursively.")
      return run.nested(() => over(inner, scope, depth + 1))
    })
    let out = ''
    for (const [i, { inner }] of found.entries()) {
      state.at = i
      if (hasLoop) inner.locals.set('loop', state)
      out += body(inner)
    }
    return out
  }
  return (scope) => over(items(scope), scope, 0)
}

function assign(scope: Scope, target: Target, value: unknown): void {
  if (typeof target === 'string') {
    scope.locals.set(target, value)
    return
  }
  const parts = [...iterate(value)]
  if (parts.length !== target.length)
    throw new ConnectorError(`ValueError: expected ${target.length} values to unpack, got ${parts.length}`)
  for (const [i, each] of target.entries()) assign(scope, each, parts[i])
}

function set(scope: Scope, target: Target, member: string | undefined, value: unknown): string {
  if (member === undefined) assign(scope, target, value)
  else {
    const space = lookUp(String(target))(scope)
    if (!isNamespace(space)) throw new ConnectorError('cannot assign attribute on non-namespace object')
    space.pySet(member, value)
  }
  return ''
}

export function compileTemplate(source: string): Template {
  const nodes = parseTemplate(source)
  const output = emitAll(nodes)
  const scopeOf = (context: Dict, run: Run): Scope => ({ run, context, locals: new Map(), parent: undefined })
  const only: Eval | undefined = nodes.length === 1 && nodes[0]!.kind === 'output' ? expression(nodes[0]!.value) : undefined
  return {
    variables: freeNames(nodes, FUNCTIONS),
    render: (context, run) => output(scopeOf(context, run)),
    ...(only && { value: (context: Dict, run: Run) => only(scopeOf(context, run)) }),
  }
}
