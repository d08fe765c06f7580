// JSON with integers beyond 2^53, which other programs use as ids: read as BigInt, written digit by digit.

type Reviver = (this: unknown, key: string, value: unknown) => unknown

const INTEGER = /^-?\d+$/

/** As JSON.parse; integers that a number would round are BigInts. */
export function parseExactly(text: string): unknown {
  const revive = (_key: string, value: unknown, context: { readonly source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(context.source ?? '')
      ? BigInt(context.source ?? '')
      : value
  return JSON.parse(text, revive as Reviver) // the third argument is newer than its type
}

/** The integer of these digits, for JSON.stringify: a number while that is exact. */
export function exactInteger(digits: string): unknown {
  const value = Number(digits)
  if (Number.isSafeInteger(value)) return value
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(BigInt(digits))) // newer than its type
}

/** The other way round: BigInts digit by digit, also deep inside a value that something else turns into JSON. */
export const withExactIntegers = (value: unknown): unknown => {
  if (typeof value === 'bigint') return exactInteger(String(value))
  if (Array.isArray(value)) return value.map(withExactIntegers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withExactIntegers(member)]))
}
