// Names behind `$` in a query. As the stack finds them: not in texts, names or comments.

const PLACES = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|\$([A-Za-z_][A-Za-z0-9_]{0,62})/g

export const parametersIn = (sql: string): readonly string[] => [
  ...new Set([...sql.matchAll(PLACES)].flatMap(([, name]) => (name === undefined ? [] : [name]))),
]

export const PARAMETER_TYPES = ['text', 'number', 'boolean', 'date', 'timestamp'] as const
export type ParameterType = (typeof PARAMETER_TYPES)[number]

interface Filled {
  readonly name: string
  readonly type: ParameterType
  readonly value: string | number | boolean
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/

/** The query with its values as literals, as the stack puts them in. */
export const withLiterals = (sql: string, values: readonly Filled[] = []): string =>
  sql.replace(PLACES, (found: string, name: string | undefined) => {
    const given = values.find((one) => one.name === name)
    return given ? literalOf(given) : found
  })

function literalOf({ type, value }: Filled): string {
  const text = String(value)
  const quoted = `'${text.replaceAll("'", "''")}'`
  if (type === 'number') return NUMBER.test(text) ? `(${text})` : quoted
  if (type === 'boolean') return /^(true|false)$/i.test(text) ? text.toLowerCase() : quoted
  return type === 'text' ? quoted : `${type === 'date' ? 'DATE' : 'TIMESTAMP'} ${quoted}`
}
