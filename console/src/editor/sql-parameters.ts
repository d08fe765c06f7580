// Names behind `$` in a query. As the stack finds them: not in texts, names or comments.

const PLACES = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|\$([A-Za-z_][A-Za-z0-9_]{0,62})/g

export const parametersIn = (sql: string): readonly string[] => [
  ...new Set([...sql.matchAll(PLACES)].flatMap(([, name]) => (name === undefined ? [] : [name]))),
]

export const PARAMETER_TYPES = ['text', 'number', 'boolean', 'date', 'timestamp'] as const
export type ParameterType = (typeof PARAMETER_TYPES)[number]
