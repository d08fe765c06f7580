// Query strings and form bodies in PHP's bracket syntax: `a[b][0]=x`, repeated `tags[]=x`; the last plain value of a name wins.

import { PlatformError } from '../../kit/errors.ts'

const MAX_DEPTH = 32
const MAX_PAIRS = 20_000

interface Node {
  readonly members: Map<string, Node | string>
  /** Where empty brackets append: one after the largest number so far, as PHP counts. */
  next: number
}

const emptyNode = (): Node => ({ members: new Map(), next: 0 })

export type FormValue = string | FormValue[] | { [name: string]: FormValue }

export function parseForm(text: string): Record<string, FormValue> {
  const pairs: [string, string][] = []
  for (const part of partsOf(text)) {
    if (pairs.length >= MAX_PAIRS) throw malformed(`more than ${MAX_PAIRS} fields`)
    const equals = part.indexOf('=')
    pairs.push(equals < 0 ? [decode(part), ''] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))])
  }
  return fromPairs(pairs)
}

/** One after the other: a text of nothing but separators is not worth a list of its own. */
function* partsOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('&', at)
    const stop = end < 0 ? text.length : end
    if (stop > at) yield text.slice(at, stop)
    at = stop + 1
  }
}

/** Nests flat names; multipart fields come through here as well. */
export function fromPairs(pairs: Iterable<readonly [string, string]>): Record<string, FormValue> {
  const root = emptyNode()
  for (const [name, value] of pairs) insert(root, segmentsOf(name), value)
  return toObject(root)
}

function segmentsOf(name: string): string[] {
  const open = name.indexOf('[')
  if (open <= 0 || !name.endsWith(']')) return [name]
  const inner = name.slice(open + 1, -1).split('][')
  if (inner.length > MAX_DEPTH) throw malformed(`field ${name.slice(0, 60)} is nested deeper than ${MAX_DEPTH} levels`)
  return [name.slice(0, open), ...inner]
}

function insert(root: Node, segments: readonly string[], value: string): void {
  let node = root
  for (const [i, segment] of segments.entries()) {
    const key = segment === '' ? String(node.next) : segment
    if (/^\d{1,9}$/.test(key)) node.next = Math.max(node.next, Number(key) + 1)
    if (i === segments.length - 1) {
      node.members.set(key, value)
      return
    }
    const known = node.members.get(key)
    const inner = known === undefined || typeof known === 'string' ? emptyNode() : known
    node.members.set(key, inner)
    node = inner
  }
}

function toValue(node: Node | string): FormValue {
  if (typeof node === 'string') return node
  const { members } = node
  const isList = members.size > 0 && [...members.keys()].every((key, i) => key === String(i))
  return isList ? [...members.values()].map(toValue) : toObject(node)
}

function toObject(node: Node): Record<string, FormValue> {
  const object: Record<string, FormValue> = {}
  for (const [key, value] of node.members) {
    // defineProperty, so that a field named __proto__ is an ordinary member.
    Object.defineProperty(object, key, { value: toValue(value), enumerable: true, writable: true, configurable: true })
  }
  return object
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw malformed(`"${text.slice(0, 60)}" is not valid percent-encoding of UTF-8`)
  }
}

const malformed = (reason: string) => new PlatformError('malformedRequest', { reason })
