// Work on many things, a bounded number of them at a time.

/** Results in the order of `items`. The first failure ends it: nothing new is begun, and what runs has ended when this throws. */
export async function mapBounded<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  let next = 0
  let failed: { readonly error: unknown } | undefined
  async function workThrough(): Promise<void> {
    while (next < items.length && !failed) {
      const index = next++
      try {
        results[index] = await work(items[index]!, index)
      } catch (error) {
        failed ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, workThrough))
  if (failed) throw failed.error
  return results
}
