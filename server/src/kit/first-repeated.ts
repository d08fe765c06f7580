/** The first value of a list that occurs twice; undefined when all differ. `key` defines equality. */
export function firstRepeated<T>(values: readonly T[], key: (value: T) => unknown = (value) => value): T | undefined {
  const seen = new Set<unknown>()
  return values.find((value) => {
    const id = key(value)
    if (seen.has(id)) return true
    seen.add(id)
    return false
  })
}
