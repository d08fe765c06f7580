// What one row runs with: the root configuration merged with the row's (spec storage 2.8.5).
//  (1) objects merge by key, at every depth, and the row wins;
//  (2) lists and scalars are replaced whole, never item by item;
//  (3) `processors` is never part of the result, from neither side;
//  (4) the result is spliced from the two texts, so key order, `1.10` and integers beyond 2^53 stay as they were sent.

import { type Node, parseTree } from 'jsonc-parser'

/** Where a value of the effective configuration was written. */
export type Origin = 'root' | 'row'

export interface EffectiveConfiguration {
  /** The merged configuration as JSON text. */
  readonly text: string
  /** JSON pointer of every value that is not a merged object, with the side it came from. */
  readonly origins: Readonly<Record<string, Origin>>
}

/**
 * Merges two configurations given as JSON text. Without a row it is the root alone, still without `processors`.
 *
 *     effectiveConfiguration('{"parameters":{"a":1}}', '{"parameters":{"b":2}}').text // {"parameters":{"a":1,"b":2}}
 */
export function effectiveConfiguration(rootText: string, rowText?: string): EffectiveConfiguration {
  const origins: [string, Origin][] = []
  const text = mergeObjects(sideOf(rootText, 'root'), rowText === undefined ? undefined : sideOf(rowText, 'row'), '', origins)
  // fromEntries defines own keys, so that a key `__proto__` is only a key.
  return { text, origins: Object.fromEntries(origins) }
}

/** The definitions a run's processors come from; both sides at once are an error of the run (spec platform 1.4, 9). */
export function processorsText(text: string): string | undefined {
  const found = membersOf(parseTree(text)).get('processors')
  return found && text.slice(found.offset, found.offset + found.length)
}

interface Side {
  readonly text: string
  readonly origin: Origin
  readonly node: Node | undefined
}

const sideOf = (text: string, origin: Origin): Side => ({ text, origin, node: parseTree(text) })
const sliceOf = ({ text, node }: Side): string => (node ? text.slice(node.offset, node.offset + node.length) : 'null')

/** The members of an object; of a key written twice the last counts, as everywhere in JSON. */
function membersOf(node: Node | undefined): Map<string, Node> {
  const members = new Map<string, Node>()
  for (const property of (node?.type === 'object' && node.children) || []) {
    const [key, value] = property.children ?? []
    if (key && value) members.set(key.value as string, value) // a property's first child is its key, always a string
  }
  return members
}

function mergeObjects(root: Side, row: Side | undefined, pointer: string, origins: [string, Origin][]): string {
  const rootMembers = membersOf(root.node)
  const rowMembers = membersOf(row?.node)
  const members: string[] = []
  for (const key of new Set([...rootMembers.keys(), ...rowMembers.keys()])) {
    if (pointer === '' && key === 'processors') continue
    const sides = [withNode(root, rootMembers.get(key)), row && withNode(row, rowMembers.get(key))]
    members.push(`${JSON.stringify(key)}:${mergeValues(sides[0], sides[1], `${pointer}/${escapePointer(key)}`, origins)}`)
  }
  return `{${members.join(',')}}`
}

function mergeValues(root: Side | undefined, row: Side | undefined, pointer: string, origins: [string, Origin][]): string {
  const winner = row ?? root!
  if (root && row && isObject(root, pointer) && isObject(row, pointer)) return mergeObjects(root, row, pointer, origins)
  noteOrigins(winner, pointer, origins)
  return sliceOf(winner)
}

const withNode = (side: Side, node: Node | undefined): Side | undefined => node && { ...side, node }

/** PHP clients write an empty object as `[]`: a node such as `parameters: []` has no keys, so it replaces none. */
const isObject = ({ node }: Side, pointer: string): boolean =>
  node?.type === 'object' || (node?.type === 'array' && node.children?.length === 0 && pointer.lastIndexOf('/') === 0)

function noteOrigins(side: Side, pointer: string, origins: [string, Origin][]): void {
  const members = membersOf(side.node)
  if (members.size === 0) origins.push([pointer, side.origin])
  for (const [key, node] of members) noteOrigins({ ...side, node }, `${pointer}/${escapePointer(key)}`, origins)
}

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
