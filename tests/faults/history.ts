// Histories of clients that work side by side while processes are killed, and whether one order of the operations explains them: each
// takes effect at one moment between its call and its answer. An operation without an answer may take effect at any moment after its call,
// or never.

export interface Operation {
  readonly calledAt: number
  /** Infinity: no answer came. */
  readonly answeredAt: number
}

/** Of a register: a read without an answer is not part of a history. Every write has a value of its own. */
export interface RegisterOperation extends Operation {
  readonly kind: 'read' | 'write'
  readonly value: string
}

/** Of a set to which values are added, each once. */
export type SetOperation = Operation &
  ({ readonly kind: 'add'; readonly value: string } | { readonly kind: 'read'; readonly values: ReadonlySet<string> })

interface Zone {
  readonly value: string
  readonly from: number
  readonly to: number
}

/**
 * Undefined if one order explains the history. All operations of a value (its write and its reads) can be side by side in that order if and
 * only if the time from the first answer to the last call of one value, in which the register must have had it, overlaps with that of no
 * other value, and no value had to come and go within it (Gibbons and Korach, Testing shared memories, 1997).
 */
export function registerProblem(history: readonly RegisterOperation[], initial: string): string | undefined {
  const byValue = new Map<string, RegisterOperation[]>()
  const first: RegisterOperation = { kind: 'write', value: initial, calledAt: -1, answeredAt: -1 }
  for (const one of [first, ...history]) byValue.set(one.value, [...(byValue.get(one.value) ?? []), one])
  const held: Zone[] = []
  const passing: Zone[] = []
  for (const [value, operations] of byValue) {
    const write = operations.find(({ kind }) => kind === 'write')
    if (!write) return `"${value}" was read and never written`
    const reads = operations.filter(({ kind }) => kind === 'read')
    if (reads.length === 0 && write.answeredAt === Number.POSITIVE_INFINITY) continue // it may never have happened
    const early = reads.find(({ answeredAt }) => answeredAt < write.calledAt)
    if (early) return `"${value}" was read at ${early.answeredAt} and written at ${write.calledAt}`
    const firstAnswer = Math.min(...operations.map(({ answeredAt }) => answeredAt))
    const lastCall = Math.max(...operations.map(({ calledAt }) => calledAt))
    if (firstAnswer < lastCall) held.push({ value, from: firstAnswer, to: lastCall })
    else passing.push({ value, from: lastCall, to: firstAnswer })
  }
  held.sort((a, b) => a.from - b.from)
  for (const [at, zone] of held.entries()) {
    const next = held[at + 1]
    if (next && next.from < zone.to)
      return `the register had "${zone.value}" until ${zone.to} and "${next.value}" from ${next.from}`
    const inside = passing.find(({ from, to }) => zone.from < from && to < zone.to)
    if (inside) return `"${inside.value}" came and went while the register had "${zone.value}" (${zone.from} to ${zone.to})`
  }
  return undefined
}

/** Undefined if one order explains the history: what was answered is in every later read, and reads agree on the order of what was added. */
export function setProblem(history: readonly SetOperation[]): string | undefined {
  const adds = new Map(history.flatMap((one) => (one.kind === 'add' ? [[one.value, one] as const] : [])))
  const reads = history.filter((one) => one.kind === 'read').toSorted((a, b) => a.values.size - b.values.size)
  for (const read of reads) {
    for (const value of read.values) {
      const add = adds.get(value)
      if (!add) return `"${value}" was read and never added`
      if (read.answeredAt < add.calledAt) return `"${value}" was read at ${read.answeredAt} and added at ${add.calledAt}`
    }
    for (const [value, add] of adds)
      if (add.answeredAt < read.calledAt && !read.values.has(value))
        return `"${value}" was added at ${add.answeredAt} and was missing at ${read.calledAt}`
  }
  for (const [at, read] of reads.entries()) {
    const larger = reads[at + 1]
    const lost = larger && [...read.values].find((value) => !larger.values.has(value))
    if (lost !== undefined) return `two reads disagree whether "${lost}" was added before what only the other one has`
    const later = reads.slice(0, at).find((one) => one.calledAt > read.answeredAt && one.values.size < read.values.size)
    if (later) return `a read at ${later.calledAt} has less than one that was answered at ${read.answeredAt}`
  }
  return undefined
}
