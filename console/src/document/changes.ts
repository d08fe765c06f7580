// What differs between two documents, by path; and what two people changed in one document, merged.

import { isRecord, type Path, parsed, putAt, sliceAt, valueIn } from './json-text.ts'

export interface Change {
  readonly path: Path
  readonly before: unknown
  readonly after: unknown
}

export function changesBetween(before: unknown, after: unknown, path: Path = []): readonly Change[] {
  if (before === after) return []
  if (isRecord(before) && isRecord(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) => changesBetween(ownOf(before, name), ownOf(after, name), [...path, name]))
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((one: unknown, index) => changesBetween(one, after[index], [...path, index]))
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }]
}

/** The same for people: elements that a list gained or lost stand alone, those around them are not changes. Not for merging. */
export function differencesBetween(before: unknown, after: unknown, path: Path = []): readonly Change[] {
  if (before === after) return []
  if (isRecord(before) && isRecord(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) => differencesBetween(ownOf(before, name), ownOf(after, name), [...path, name]))
  }
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(before, after, path)
  return [{ path, before, after }]
}

function listDifferences(before: readonly unknown[], after: readonly unknown[], path: Path): readonly Change[] {
  if (before.length === after.length)
    return before.flatMap((one, index) => differencesBetween(one, after[index], [...path, index]))
  const [old, young] = [before, after].map((list) => list.map((one) => JSON.stringify(one)))
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && old![head] === young![head]) head++
  let tail = 0
  while (tail < shorter - head && old!.at(-1 - tail) === young!.at(-1 - tail)) tail++
  return [
    ...before.slice(head, before.length - tail).map((one, at) => ({ path: [...path, head + at], before: one, after: undefined })),
    ...after.slice(head, after.length - tail).map((one, at) => ({ path: [...path, head + at], before: undefined, after: one })),
  ]
}

const ownOf = (value: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined

export interface MergeStep {
  readonly path: Path
  readonly before: unknown
  readonly theirs: unknown
  readonly mine: unknown
  /** Both changed the same place, in different ways. */
  readonly isConflict: boolean
}

/** What both sides did since `before`: theirs first, then mine. */
export function mergeSteps(before: unknown, theirs: unknown, mine: unknown): readonly MergeStep[] {
  const paths = [...changesBetween(before, theirs), ...changesBetween(before, mine)].map(({ path }) => path)
  // A change of a whole object takes in the changes below it.
  const distinct = paths.filter(
    (path, index) => !paths.some((other, at) => isWithin(path, other) && (other.length < path.length || at < index)),
  )
  return distinct.map((path) => {
    const [then, their, my] = [before, theirs, mine].map((document) => valueIn(document, path))
    const [a, b, c] = [then, their, my].map((value) => JSON.stringify(value))
    return { path, before: then, theirs: their, mine: my, isConflict: a !== b && a !== c && b !== c }
  })
}

/** True when the first path is the second or lies below it. */
const isWithin = (path: Path, above: Path): boolean =>
  above.length <= path.length && above.every((key, index) => path[index] === key)

/** Their document with my changes in it; where both changed the same place, the one that was chosen. */
export function merged(
  theirText: string,
  myText: string,
  steps: readonly MergeStep[],
  isMine: (step: MergeStep) => boolean,
): string {
  return steps
    .filter((step) => JSON.stringify(step.theirs) !== JSON.stringify(step.mine))
    .filter((step) => (step.isConflict ? isMine(step) : JSON.stringify(step.before) !== JSON.stringify(step.mine)))
    .toSorted((a, b) => compareForRemoval(a, b))
    .reduce((text, { path }) => putAt(text, path, sliceAt(myText, path)), theirText)
}

/** Elements of a list are taken away from its end, so that the others keep their places. */
function compareForRemoval(a: MergeStep, b: MergeStep): number {
  const [one, other] = [a.path.at(-1), b.path.at(-1)]
  return typeof one === 'number' && typeof other === 'number' ? other - one : 0
}

/** Text of both, when they differ only in how they are written. */
export const isSameDocument = (one: string, other: string): boolean => {
  if (one === other) return true
  const [a, b] = [parsed(one), parsed(other)]
  return a !== undefined && b !== undefined && longNumbers(one) === longNumbers(other) && changesBetween(a, b).length === 0
}

/** Numbers with more digits than JavaScript distinguishes. */
const longNumbers = (text: string): string => (text.match(/\d{16,}/g) ?? []).join()
