// Cuts what a tool found to the size of an answer, and marks the cut. An agent pays for every token, and one long cell must not cost it
// the context.

import { isRawNumber } from '../../../kit/text/exact-numbers.ts'
import { tokensOf } from './token-count.ts'
import type { Found } from './tool.ts'

export const MAX_ANSWER_TOKENS = 2_000
/** Room for `total`, `truncated`, `next` and what the protocol adds. */
const RESERVED = 60
const LONGEST_TEXTS = [2_000, 1_000, 500, 250, 120, 60]
const LONGEST_LISTS = [200, 50, 20, 10, 5, 3]
/** Objects deeper than this are shown by their size. */
const MAX_DEPTH = 24

export type Answer = Readonly<Record<string, unknown>> & { readonly truncated: boolean }

/** `isPaged`: the tool takes `next`. */
export function fitAnswer({ items, total, offset = 0, hasMore = false, next, ...rest }: Found, isPaged: boolean): Answer {
  const max = MAX_ANSWER_TOKENS - RESERVED
  if (items === undefined) {
    const { value, isCut } = shorten(rest, max)
    const page = next === undefined ? { truncated: isCut } : { total, truncated: true, next }
    return { ...(value as Readonly<Record<string, unknown>>), ...page }
  }
  const head = shorten(rest, max / 2)
  const room = max - sizeOf(head.value)
  const kept: unknown[] = []
  let used = 0
  let isCut = head.isCut
  for (const item of items) {
    const one = shorten(item, kept.length === 0 ? room : Math.min(room, max / 4))
    const size = sizeOf(one.value) + 1
    if (used + size > room) break
    kept.push(one.value)
    used += size
    isCut ||= one.isCut
  }
  const end = offset + kept.length
  const isMore = kept.length < items.length || hasMore || (total ?? 0) > end
  const count = total === undefined ? (hasMore ? null : offset + items.length) : total
  return {
    ...(head.value as Readonly<Record<string, unknown>>),
    items: kept,
    total: count,
    truncated: isCut || isMore,
    ...(isMore && isPaged && kept.length > 0 && { next: String(end) }),
  }
}

/** The value in at most `max` tokens of JSON: first long texts are cut, then long lists, then objects. */
export function shorten(value: unknown, max: number): { readonly value: unknown; readonly isCut: boolean } {
  if (sizeOf(value) <= max) return { value, isCut: false }
  for (const [step, longest] of LONGEST_TEXTS.entries()) {
    const cut = cutValue(value, longest, LONGEST_LISTS[step]!, 0)
    if (sizeOf(cut) <= max) return { value: cut, isCut: true }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value: '…', isCut: true }
  // As many members as fit, in their order.
  const kept: Record<string, unknown> = {}
  let used = 2
  for (const [name, member] of Object.entries(value)) {
    const cut = cutValue(member, 60, 3, 0)
    const size = sizeOf(name) + sizeOf(cut) + 2
    if (used + size > max) continue
    kept[name] = cut
    used += size
  }
  return { value: kept, isCut: true }
}

const sizeOf = (value: unknown): number => tokensOf(JSON.stringify(value) ?? 'null')

function cutValue(value: unknown, longestText: number, longestList: number, depth: number): unknown {
  if (typeof value === 'string')
    return value.length <= longestText ? value : `${value.slice(0, longestText)}… (${value.length} characters)`
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) {
    const kept = value.slice(0, longestList).map((one) => cutValue(one, longestText, longestList, depth + 1))
    return value.length > longestList ? [...kept, `… (${value.length} items)`] : kept
  }
  const members = Object.entries(value)
  const kept = members.slice(0, longestList * 2).map(([name, one]) => [name, cutValue(one, longestText, longestList, depth + 1)])
  if (members.length > kept.length) kept.push(['…', `${members.length} members`])
  return Object.fromEntries(kept)
}
