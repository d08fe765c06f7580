// Header fields in the order they were set, found without regard to letter case.

export type Headers = ReadonlyMap<string, readonly [name: string, value: string]>

/** Later fields replace earlier ones of the same name. */
export function headersOf(...layers: readonly Iterable<readonly [string, string]>[]): Headers {
  const headers = new Map<string, readonly [string, string]>()
  for (const layer of layers) for (const [name, value] of layer) headers.set(name.toLowerCase(), [name, value])
  return headers
}

export const withHeaders = (headers: Headers, more: Iterable<readonly [string, string]>): Headers =>
  headersOf(headers.values(), more)

/** Puts fields below the given ones: they count only where nothing else is set. */
export const underHeaders = (headers: Headers, defaults: Iterable<readonly [string, string]>): Headers =>
  headersOf(
    [...defaults].filter(([name]) => !headers.has(name.toLowerCase())),
    headers.values(),
  )

export function withoutHeaders(headers: Headers, drop: (name: string, value: string) => boolean): Headers {
  return headersOf([...headers.values()].filter(([name, value]) => !drop(name.toLowerCase(), value)))
}

export const headerValue = (headers: Headers, name: string) => headers.get(name.toLowerCase())?.[1]
