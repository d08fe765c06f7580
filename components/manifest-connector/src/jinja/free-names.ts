// The variables that a template reads from outside, as Jinja finds them: a name that only some branches of an `if` set counts as one, too.

import type { Expression, Node, Signature, Target } from './ast.ts'

/** The names of one frame: a template, a loop, a macro or a block. */
class Names {
  readonly parent: Names | undefined
  readonly known: Set<string>
  readonly stored: Set<string>
  /** Read from the context. */
  readonly resolved: Set<string>
  constructor(parent?: Names, from?: Names) {
    this.parent = parent
    this.known = new Set(from?.known)
    this.stored = new Set(from?.stored)
    this.resolved = new Set(from?.resolved)
  }
  has(name: string): boolean {
    return this.known.has(name) || this.parent?.has(name) === true
  }
  load(name: string): void {
    if (this.has(name)) return
    this.known.add(name)
    this.resolved.add(name)
  }
  store(name: string): void {
    this.stored.add(name)
    this.known.add(name)
  }
  declare(name: string): void {
    this.store(name)
    this.resolved.delete(name)
  }
  /** After an `if`, whose three parts (body, others, else) started as copies of this. */
  join(parts: readonly Names[]): void {
    const counts = new Map<string, number>()
    for (const part of parts)
      for (const name of part.stored) if (!this.stored.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
    for (const part of parts) {
      for (const name of part.known) this.known.add(name)
      for (const name of part.stored) this.stored.add(name)
      for (const name of part.resolved) this.resolved.add(name)
    }
    for (const [name, count] of counts) if (count < parts.length && this.parent?.has(name) !== true) this.resolved.add(name)
  }
}

export const namesOf = (target: Target): readonly string[] => (typeof target === 'string' ? [target] : target.flatMap(namesOf))

/** Names that are read anywhere in an expression. */
function loads(node: unknown, found: string[] = []): string[] {
  if (Array.isArray(node)) for (const each of node) loads(each, found)
  else if (typeof node === 'object' && node !== null) {
    const { kind, name } = node as { kind?: string; name?: string }
    if (kind === 'constant') return found
    if (kind === 'name' && name !== undefined) found.push(name)
    for (const part of Object.values(node)) loads(part, found)
  }
  return found
}

/** Whether a body reads a name of its own macro or loop, such as `caller`. */
export const reads = (nodes: readonly Node[], name: string): boolean => loads(nodes).includes(name)

/** The special parameters of a macro, of those that its body reads. */
export const specialsOf = ({ names }: Signature, body: readonly Node[]): readonly string[] =>
  ['caller', 'kwargs', 'varargs'].filter((name) => !names.includes(name) && reads(body, name))

export function freeNames(nodes: readonly Node[], globals: ReadonlyMap<string, unknown>): Set<string> {
  const free = new Set<string>()

  const read = (names: Names, node: Expression | undefined) => {
    for (const name of loads(node)) names.load(name)
  }

  /** First what a frame's own nodes read and set, then the frames inside it. */
  function frame(names: Names, own: readonly Node[]): void {
    const inner: (() => void)[] = []
    visit(own, names, names, inner)
    for (const name of names.resolved) if (!globals.has(name)) free.add(name)
    for (const each of inner) each()
  }

  function visit(own: readonly Node[], names: Names, whole: Names, inner: (() => void)[]): void {
    for (const node of own) visitNode(node, names, whole, inner)
  }

  function within(parent: Names, own: readonly Node[], declared: readonly string[], values: readonly Expression[] = []): void {
    const names = new Names(parent)
    for (const name of declared) names.declare(name)
    for (const value of values) read(names, value)
    frame(names, own)
  }

  function visitNode(node: Node, names: Names, whole: Names, inner: (() => void)[]): void {
    switch (node.kind) {
      case 'text':
        return
      case 'output':
        read(names, node.value)
        return
      case 'if': {
        read(names, node.branches[0]![0])
        const part = (index: number, test?: Expression) => {
          const copy = new Names(names.parent, names)
          read(copy, test)
          visit(node.branches[index]?.[1] ?? [], copy, whole, inner)
          return copy
        }
        names.join(partsOf(node).map((indexes) => joined(indexes, part, node, names)))
        return
      }
      case 'for':
        read(names, node.items)
        inner.push(() => {
          within(whole, node.body, [...namesOf(node.target), ...(node.recursive || reads(node.body, 'loop') ? ['loop'] : [])])
          if (node.test) within(whole, [], namesOf(node.target), [node.test])
          within(whole, node.otherwise, [])
        })
        return
      case 'set':
        read(names, node.value)
        store(names, node)
        return
      case 'set block':
        store(names, node)
        inner.push(() => within(whole, node.body, [], node.filter && [node.filter.expression]))
        return
      case 'filter block':
        read(names, node.filter.expression)
        inner.push(() => within(whole, node.body, []))
        return
      case 'with':
        for (const [, value] of node.values) read(names, value)
        inner.push(() =>
          within(
            whole,
            node.body,
            node.values.flatMap(([target]) => namesOf(target)),
          ),
        )
        return
      case 'macro':
        names.store(node.name)
        inner.push(() => within(whole, node.body, [...node.names, ...specialsOf(node, node.body)], node.defaults))
        return
      case 'call block':
        read(names, node.call)
        inner.push(() => within(whole, node.body, [...node.names, ...specialsOf(node, node.body)], node.defaults))
        return
      case 'block':
        inner.push(() => frame(new Names(), node.body)) // also of a scoped block
        return
      case 'load':
        read(names, node.template)
        for (const name of node.names) names.store(name)
    }
  }

  function store(names: Names, { target, member }: { readonly target: Target; readonly member: string | undefined }): void {
    if (member !== undefined) for (const name of namesOf(target)) names.load(name)
    else for (const name of namesOf(target)) names.store(name)
  }

  frame(new Names(), nodes)
  return free
}

type If = Node & { kind: 'if' }

/** The body, the branches of `elif`, and that of `else`, which may be missing. */
function partsOf({ branches }: If): readonly (readonly number[])[] {
  const indexes = branches.map((_, i) => i)
  const last = branches.length - 1
  const otherwise = branches.length > 1 && !branches[last]![0] ? [last] : []
  return [[0], indexes.slice(1, branches.length - otherwise.length), otherwise]
}

/** Several `elif` are statements of their own, one after the other, each with two empty parts. */
function joined(indexes: readonly number[], part: (index: number, test?: Expression) => Names, node: If, names: Names): Names {
  if (indexes.length === 1 && indexes[0] === 0) return part(0)
  const all = new Names(names.parent, names)
  for (const index of indexes) {
    const test = node.branches[index]![0]
    const found = part(index, test)
    if (!test) return found
    for (const name of found.resolved) if (!names.known.has(name)) all.resolved.add(name)
    all.join([found, new Names(names.parent, names), new Names(names.parent, names)])
  }
  return all
}
