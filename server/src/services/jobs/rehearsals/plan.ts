// What a rehearsal runs, in which order: the changed configurations, and everything that reads a table that one of them writes.

export interface Place {
  readonly componentId: string
  readonly configurationId: string
}

/** What a configuration reads and writes, as declared or as in its last runs. */
export interface Uses extends Place {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

export interface Plan {
  /** Steps of one level may run side by side; a level starts when the one before has ended. */
  readonly levels: readonly (readonly Place[])[]
  readonly notRun: readonly (Place & { readonly reason: string })[]
  /** Tables that the steps are known to write. */
  readonly writes: readonly string[]
  /** Writers and others that would take the changed tables out of the project. */
  readonly deliveries: readonly (Place & { readonly tables: readonly string[] })[]
}

export interface PlanInput {
  readonly changed: readonly Place[]
  readonly uses: readonly Uses[]
  /** Why a configuration cannot run in a rehearsal; undefined when it can. */
  readonly problemOf: (place: Place) => string | undefined
  readonly isDelivery: (componentId: string) => boolean
}

const MAX_STEPS = 100

export const keyOf = ({ componentId, configurationId }: Place): string => `${componentId}/${configurationId}`

export function planRehearsal({ changed, uses, problemOf, isDelivery }: PlanInput): Plan {
  const known = merged(uses)
  const usesOf = (place: Place): Uses => known.get(keyOf(place)) ?? { ...place, reads: [], writes: [] }
  const readers = new Map<string, Uses[]>()
  for (const one of known.values()) for (const table of one.reads) readers.set(table, [...(readers.get(table) ?? []), one])

  const steps = new Map<string, Uses>()
  const left = new Map<string, Plan['notRun'][number]>()
  const deliveries = new Map<string, Plan['deliveries'][number]>()
  const waiting: Place[] = [...changed]
  for (let place = waiting.shift(); place !== undefined; place = waiting.shift()) {
    const key = keyOf(place)
    if (steps.has(key) || left.has(key)) continue
    const reason = steps.size >= MAX_STEPS ? `a rehearsal runs at most ${MAX_STEPS} configurations` : problemOf(place)
    if (reason !== undefined) {
      left.set(key, { ...placeOf(place), reason })
      continue
    }
    const step = usesOf(place)
    steps.set(key, step)
    for (const table of step.writes)
      for (const reader of readers.get(table) ?? [])
        if (isDelivery(reader.componentId)) {
          const tables = deliveries.get(keyOf(reader))?.tables ?? []
          deliveries.set(keyOf(reader), { ...placeOf(reader), tables: [...new Set([...tables, table])] })
        } else waiting.push(reader)
  }
  return {
    levels: levelsOf([...steps.values()]),
    notRun: [...left.values()],
    writes: [...new Set([...steps.values()].flatMap(({ writes }) => writes))].sort(),
    deliveries: [...deliveries.values()],
  }
}

const placeOf = ({ componentId, configurationId }: Place): Place => ({ componentId, configurationId })

function merged(uses: readonly Uses[]): Map<string, Uses> {
  const found = new Map<string, Uses>()
  for (const one of uses) {
    const before = found.get(keyOf(one))
    found.set(keyOf(one), {
      ...placeOf(one),
      reads: [...new Set([...(before?.reads ?? []), ...one.reads])],
      writes: [...new Set([...(before?.writes ?? []), ...one.writes])],
    })
  }
  return found
}

/** A step comes after those that write what it reads. Steps in a circle run one after the other, in the order in which they were found. */
function levelsOf(steps: readonly Uses[]): Place[][] {
  const levels: Place[][] = []
  let left = steps
  while (left.length > 0) {
    const writers = new Map<string, Set<string>>()
    for (const one of left)
      for (const table of one.writes) writers.set(table, (writers.get(table) ?? new Set<string>()).add(keyOf(one)))
    const isFree = (one: Uses): boolean =>
      one.reads.every((table) => [...(writers.get(table) ?? [])].every((writer) => writer === keyOf(one)))
    const free = left.filter(isFree)
    const next = free.length > 0 ? free : left.slice(0, 1)
    levels.push(next.map(placeOf))
    left = left.filter((one) => !next.includes(one))
  }
  return levels
}
