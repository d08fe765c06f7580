// Members that may be missing, for objects whose optional members must be absent rather than undefined (`exactOptionalPropertyTypes`):
// `{ name, ...defined({ limit, offset }) }`.

export type Defined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
}

/** The members with content: neither undefined nor null, false, 0, an empty text or an empty list. */
export function filled<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined | null> } {
  const hasContent = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))
  return Object.fromEntries(Object.entries(members).filter(([, value]) => hasContent(value))) as ReturnType<typeof filled<T>>
}

/** The members that are neither undefined nor null: what a client sent. */
export function given<T extends object>(members: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const found = Object.entries(members).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(found) as ReturnType<typeof given<T>> // what is left out was undefined or null
}

/** The members that are not undefined. */
export function defined<T extends object>(members: T): Defined<T> {
  const found: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(members)) if (value !== undefined) found[name] = value
  return found as Defined<T> // what is left out was undefined
}
