// JSON whose numbers stay as they are written: a configuration that a tool reads, changes at one place and saves keeps all its digits.

interface JsonOfV8 {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
}

const exact = JSON as unknown as JsonOfV8 // newer than its types

/** Numbers that JavaScript would write differently are raw pieces, which JSON.stringify writes as they came. */
export const parseExact = (text: string): unknown =>
  exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
  )

export const isRawNumber = (value: unknown): boolean => exact.isRawJSON(value)
