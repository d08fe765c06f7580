// A configuration is edited as the text it is: a change of one value leaves every other byte alone, so unknown keys, big
// numbers and the order of keys survive whichever view made the change.

import { applyEdits, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser'
import { JSON_LAYOUT, layOutJson } from '../../../contract/json-layout.ts'

export type Path = readonly (string | number)[]

export const pretty = layOutJson

const nodeAt = (text: string, path: Path): Node | undefined => {
  const tree = parseTree(text)
  return tree && findNodeAtLocation(tree, [...path])
}

/** The text of the value at this place, as it was written. */
export function sliceAt(text: string, path: Path): string | undefined {
  const node = nodeAt(text, path)
  return node && text.slice(node.offset, node.offset + node.length)
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function valueIn(document: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return (value as readonly unknown[])[Number(key)]
    return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }, document)
}

/** Sets one value, with the objects that lead to it; `undefined` takes it away. What stands in the way (a text, null, an empty list) gives way. */
export function setAt(text: string, path: Path, value: unknown): string {
  const document = parsed(text)
  if (value === undefined && valueIn(document, path) === undefined) return text
  const blocked = path.findIndex((key, depth) => depth > 0 && !canHold(valueIn(document, path.slice(0, depth)), key))
  if (blocked === -1) return changed(text, path, value)
  const nested = path
    .slice(blocked)
    .reduceRight<unknown>((inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }), value)
  return setAt(text, path.slice(0, blocked), nested)
}

/** jsonc-parser cannot lay out the hundredth level (see layOutJson) and throws there: such a text is changed as it stands. */
function changed(text: string, path: Path, value: unknown): string {
  if (value === undefined && typeof path.at(-1) === 'number') return withoutItem(text, path)
  try {
    return applyEdits(text, modify(text, [...path], value, { formattingOptions: JSON_LAYOUT }))
  } catch {
    return applyEdits(text, modify(text, [...path], value, {}))
  }
}

/** jsonc-parser takes a bracket with the last item of a list that is written on one line. */
function withoutItem(text: string, path: Path): string {
  const node = nodeAt(text, path)
  const items = node?.parent?.children ?? []
  const at = node ? items.indexOf(node) : -1
  const [before, item, after] = [items[at - 1], items[at], items[at + 1]]
  if (!item) return text
  const [from, to] = after
    ? [item.offset, after.offset]
    : [before ? before.offset + before.length : item.offset, item.offset + item.length]
  return text.slice(0, from) + text.slice(to)
}

/** Values by place; `undefined` takes away. */
export type Changes = readonly (readonly [Path, unknown])[]

export const editAll = (text: string, changes: Changes): string =>
  changes.reduce((current, [path, value]) => setAt(current, path, value), text)

function canHold(value: unknown, key: string | number): boolean {
  if (value === undefined) return true
  return typeof key === 'number' ? Array.isArray(value) : isRecord(value)
}

/** Gives a member another name; its value and its place stay. */
export function renameAt(text: string, path: Path, name: string): string {
  const key = nodeAt(text, path)?.parent?.children?.[0]
  return key ? text.slice(0, key.offset) + JSON.stringify(name) + text.slice(key.offset + key.length) : text
}

/** Puts JSON text in the place of a value, byte for byte. */
export function spliceAt(text: string, path: Path, slice: string): string {
  const node = nodeAt(text, path)
  if (node) return text.slice(0, node.offset) + slice + text.slice(node.offset + node.length)
  const made = setAt(text, path, null)
  return nodeAt(made, path) ? spliceAt(made, path, slice) : made
}

/** Puts JSON text in the place of a value, or takes the value away. */
export const putAt = (text: string, path: Path, json: string | undefined): string =>
  json === undefined ? setAt(text, path, undefined) : spliceAt(text, path, json)

/** Two values change places, byte for byte. */
export function swapAt(text: string, one: Path, other: Path): string {
  const [first, second] = [sliceAt(text, one), sliceAt(text, other)]
  return first === undefined || second === undefined ? text : spliceAt(spliceAt(text, other, first), one, second)
}

/** `parameters.api.retryConfig`, for people. */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`), '')

const isCipher = (value: unknown): boolean => typeof value === 'string' && value.startsWith('KBC::')

/** A secret that the stack has encrypted already. */
export const isEncrypted = (key: string | number | undefined, value: unknown): boolean =>
  String(key).startsWith('#') && isCipher(value)

/** Whether a value is a secret, or inside an object or list that is one. */
export const isBelowSecret = (path: Path): boolean => path.some((key) => String(key).startsWith('#'))

export interface Place {
  readonly path: Path
  readonly value: unknown
  readonly offset: number
  readonly length: number
}

/** Every value that is not an object or a list, with where it stands. */
export function leavesOf(text: string): readonly Place[] {
  const leaves: Place[] = []
  const walk = (node: Node, path: Path): void => {
    if (node.type === 'object')
      for (const property of node.children ?? []) {
        const [key, value] = property.children ?? []
        if (key && value) walk(value, [...path, String(key.value)])
      }
    else if (node.type === 'array') for (const [index, child] of (node.children ?? []).entries()) walk(child, [...path, index])
    else leaves.push({ path, value: node.value as unknown, offset: node.offset, length: node.length })
  }
  const tree = parseTree(text)
  if (tree) walk(tree, [])
  return leaves
}

/** For keeping a draft in the tab: secrets that are not encrypted yet are left out, to be typed again. */
export function withoutClearSecrets(text: string): string {
  let result = text
  for (const { path, value, offset, length } of leavesOf(text).toReversed())
    if (isBelowSecret(path) && !isCipher(value)) result = `${result.slice(0, offset)}""${result.slice(offset + length)}`
  return result
}

/** The start of a JSON text, indented as far as it goes. Any other text stays as it is. */
export function prettyStart(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  return text.replace(/"(?:[^"\\]|\\.)*"?|[[\]{},:]|\s+|[^"[\]{},:\s]+/g, (token) => {
    if (/^\s/.test(token)) return ''
    if (token === ':') return ': '
    if (token === ',') return `,${line()}`
    if (token === '{' || token === '[') {
      depth += 1
      return token + line()
    }
    if (token !== '}' && token !== ']') return token
    depth = Math.max(0, depth - 1)
    return line() + token
  })
}
