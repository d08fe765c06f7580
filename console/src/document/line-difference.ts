// Which lines two texts share, in the time of a few readings of them. Pure.

import { diff } from '@codemirror/merge'

export interface LineRun {
  readonly kind: 'same' | 'removed' | 'added'
  readonly lines: readonly string[]
  /** Number of its first line: in the text after, for removed lines in the text before. */
  readonly from: number
}

/** Lines are compared as single characters; more kinds of lines than these are compared only at both ends. */
const FIRST_CODE = 0x100
const LAST_CODE = 0xd7ff
/** Texts that share little are compared less exactly rather than late. */
const EFFORT = { scanLimit: 2000, timeout: 150 }

export function lineDifference(before: string, after: string): readonly LineRun[] {
  const [old, young] = [before.split('\n'), after.split('\n')]
  const shorter = Math.min(old.length, young.length)
  let head = 0
  while (head < shorter && old[head] === young[head]) head++
  let tail = 0
  while (tail < shorter - head && old.at(-1 - tail) === young.at(-1 - tail)) tail++
  const middle = [old.slice(head, old.length - tail), young.slice(head, young.length - tail)] as const
  const [a, b] = encoded(...middle)
  const changes =
    a === undefined || b === undefined
      ? [{ fromA: 0, toA: middle[0].length, fromB: 0, toB: middle[1].length }]
      : diff(a, b, EFFORT)
  const runs: LineRun[] = []
  let done = 0
  const add = (kind: LineRun['kind'], list: readonly string[], from: number, to: number) =>
    to > from ? runs.push({ kind, lines: list.slice(from, to), from: from + 1 }) : undefined
  for (const { fromA, toA, fromB, toB } of changes) {
    add('same', young, done, head + fromB)
    add('removed', old, head + fromA, head + toA)
    add('added', young, head + fromB, head + toB)
    done = head + toB
  }
  add('same', young, done, young.length)
  return runs
}

/** Each text as one character per line; nothing when there are more different lines than characters. */
function encoded(...texts: readonly (readonly string[])[]): readonly (string | undefined)[] {
  const codes = new Map<string, string>()
  for (const line of texts.flat()) {
    if (!codes.has(line)) codes.set(line, String.fromCharCode(FIRST_CODE + codes.size))
    if (FIRST_CODE + codes.size > LAST_CODE) return []
  }
  return texts.map((lines) => lines.map((line) => codes.get(line)).join(''))
}
