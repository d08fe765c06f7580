// Query strings and form bodies in PHP's bracket syntax: `a[b][0]=x`, repeated `tags[]=x`; the last plain value of a name wins.

import { PlatformError } from '../kit/errors.ts'

const MAX_DEPTH = 32
const MAX_PAIRS = 20_000

type Node = Map<string, Node | string>

export type FormValue = string | FormValue[] | { [name: string]: FormValue }

export function parseForm(text: string): Record<string, FormValue> {
  const pairs: [string, string][] = []
  for (const part of text.split('&')) {
    if (part === '') continue
    if (pairs.length >= MAX_PAIRS) throw malformed(`more than ${MAX_PAIRS} fields`)
    const equals = part.indexOf('=')
    pairs.push(equals < 0 ? [decode(part), ''] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))])
  }
  return fromPairs(pairs)
}

/** Nests flat names; multipart fields come through here as well. */
export function fromPairs(pairs: Iterable<readonly [string, string]>): Record<string, FormValue> {
  const root: Node = new Map()
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
    const key = segment === '' ? nextIndex(node) : segment
    if (i === segments.length - 1) {
      node.set(key, value)
      return
    }
    const next = node.get(key)
    if (next instanceof Map) node = next
    else {
      const created: Node = new Map()
      node.set(key, created)
      node = created
    }
  }
}

function nextIndex(node: Node): string {
  let next = 0
  for (const key of node.keys()) if (/^\d{1,9}$/.test(key)) next = Math.max(next, Number(key) + 1)
  return String(next)
}

function toValue(node: Node | string): FormValue {
  if (typeof node === 'string') return node
  const isList = node.size > 0 && [...node.keys()].every((key, i) => key === String(i))
  return isList ? [...node.values()].map(toValue) : toObject(node)
}

function toObject(node: Node): Record<string, FormValue> {
  const object: Record<string, FormValue> = {}
  for (const [key, value] of node) {
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
