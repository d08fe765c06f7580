// What is requested one by one at the same moment, loaded together.

/** `load` returns the values in the order of the keys, at most `max` at a time. */
export function createBatches<K, V>(max: number, load: (keys: readonly K[]) => Promise<readonly V[]>): (key: K) => Promise<V> {
  let waiting: { readonly key: K; readonly resolve: (value: Promise<V>) => void }[] = []
  const loadAll = () => {
    const all = waiting
    waiting = []
    for (let start = 0; start < all.length; start += max) {
      const part = all.slice(start, start + max)
      const values = load(part.map(({ key }) => key))
      for (const [index, { resolve }] of part.entries()) resolve(values.then((loaded) => loaded[index]!))
    }
  }
  return (key) =>
    new Promise((resolve) => {
      if (waiting.length === 0) setTimeout(loadAll)
      waiting.push({ key, resolve })
    })
}
