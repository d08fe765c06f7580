// Arguments of a call as the list of events keeps them: without secrets, and short.

const MAX_TEXT = 300
const MAX_ALL = 3_000
const MAX_DEPTH = 6
const MAX_MEMBERS = 30

/** Whole texts that often carry credentials. */
const HIDDEN = new Set(['curl', 'openapi', 'har', 'csv'])
const SECRET_NAME = /^#|password|passwd|secret|token|api.?key|authorization|credential/i

export function maskedArguments(args: unknown): string {
  const text = JSON.stringify(masked(args, '', 0)) ?? 'null'
  return text.length > MAX_ALL ? `${text.slice(0, MAX_ALL)}…` : text
}

function masked(value: unknown, name: string, depth: number): unknown {
  if (SECRET_NAME.test(lastPart(name))) return '(secret)'
  if (HIDDEN.has(name)) return `(${(JSON.stringify(value) ?? '').length} characters)`
  if (typeof value === 'string') return withoutCredentials(value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((one) => masked(one, '', depth + 1))
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_MEMBERS)
      .map(([key, member]) => [key.slice(0, MAX_TEXT), masked(member, key, depth + 1)]),
  )
}

/** Names may be JSON pointers. */
const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

/** `https://user:password@host` */
const withoutCredentials = (text: string): string => text.replace(/(\/\/[^\s/:@]{1,100}):[^\s/@]{1,200}@/g, '$1:(secret)@')
