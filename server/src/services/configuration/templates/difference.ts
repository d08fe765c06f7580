// What an upgrade would change, leaf by leaf. Secrets are compared by being there, and never shown.

export interface Change {
  /** `parameters.api.baseUrl`, `rows.orders.parameters.limit`. */
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

const MAX_CHANGES = 500
const HIDDEN = '***'

export function differencesOf(before: unknown, after: unknown): readonly Change[] {
  const [old, now] = [leavesOf(before), leavesOf(after)]
  const paths = [...new Set([...old.keys(), ...now.keys()])]
  return paths
    .filter((path) => JSON.stringify(old.get(path)) !== JSON.stringify(now.get(path)))
    .slice(0, MAX_CHANGES)
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }))
}

function leavesOf(value: unknown, path = '', isHidden = false, into = new Map<string, unknown>()): Map<string, unknown> {
  if (typeof value !== 'object' || value === null) return into.set(path, isHidden ? HIDDEN : value)
  const entries = Object.entries(value)
  if (entries.length === 0) into.set(path, Array.isArray(value) ? [] : {})
  for (const [name, member] of entries)
    leavesOf(member, path === '' ? name : `${path}.${name}`, isHidden || name.startsWith('#'), into)
  return into
}

/** The same value with every secret hidden, for people to look at. */
export function withoutSecrets(value: unknown, isHidden = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, isHidden))
  if (typeof value !== 'object' || value === null) return isHidden ? HIDDEN : value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withoutSecrets(member, isHidden || name.startsWith('#'))]),
  )
}
