// Work side by side that is only worth something whole.

type Works<Results extends readonly unknown[]> = { readonly [K in keyof Results]: (signal: AbortSignal) => Promise<Results[K]> }

/** Runs all at once; the first failure cancels the others and is the one thrown. Nothing still runs when this ends. */
export async function allOrFirstFailure<Results extends readonly unknown[]>(
  outer: AbortSignal | undefined,
  works: Works<Results>,
): Promise<Results> {
  const stop = new AbortController()
  const signal = outer ? AbortSignal.any([outer, stop.signal]) : stop.signal
  let failed: { readonly error: unknown } | undefined
  const results = await Promise.all(
    works.map(async (work: (signal: AbortSignal) => Promise<unknown>) => {
      try {
        return await work(signal)
      } catch (error) {
        failed ??= { error }
        stop.abort()
        return undefined
      }
    }),
  )
  if (failed) throw failed.error
  return results as unknown as Results // each is the result of its work: none has failed
}
