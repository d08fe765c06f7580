// Tolerant scalars (spec storage 1.6): forms and old clients send "1", "true", "True" or '' for booleans and digits for integers.
// A value is converted to the type of the schema only where that is unambiguous; anything else is left for validation to refuse.
// Null means "not given": many clients send all members. It has a meaning only where the schema allows null.

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

const TRUE = new Set(['1', 'true', 'True', 'TRUE'])
const FALSE = new Set(['0', 'false', 'False', 'FALSE', ''])

export function coerce(schema: Schema, value: unknown): unknown {
  if (schema.anyOf) return coerceUnion(schema.anyOf, value)
  switch (schema.type) {
    case 'boolean':
      return toBoolean(value)
    case 'integer':
    case 'number':
      return toNumber(value, schema.type === 'integer')
    case 'string':
      return typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
    case 'array':
      return coerceList(schema, value)
    case 'object':
      return coerceObject(schema, value)
    default:
      return value
  }
}

/** PHP sends a list with gaps as an object with digits for names. */
function coerceList({ items }: Schema, value: unknown): unknown {
  const list = isGappedList(value) ? Object.values(value) : value
  return Array.isArray(list) && items ? list.map((item) => coerce(items, item)) : list
}

const isGappedList = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((name) => /^\d{1,6}$/.test(name))

function coerceObject(schema: Schema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !schema.properties) return value
  const object = value as Record<string, unknown> // a plain object, by the checks above
  for (const name of Object.keys(object)) {
    const member = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (object[name] === null && !namesNull(member)) delete object[name]
    else if (member) object[name] = coerce(member, object[name])
  }
  return object
}

const namesNull = (schema: Schema | undefined): boolean =>
  schema?.type === 'null' || (schema?.anyOf?.some((member) => member.type === 'null') ?? false)

/** `string | null` and the like: a value that already has one of the types stays as it is. */
function coerceUnion(members: readonly Schema[], value: unknown): unknown {
  if (members.some((member) => hasType(member, value))) return value
  for (const member of members) {
    const coerced = coerce(member, value)
    if (coerced !== value) return coerced
  }
  return value
}

function hasType(schema: Schema, value: unknown): boolean {
  switch (schema.type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isSafeInteger(value)
    default:
      return typeof value === schema.type
  }
}

/** Yes or no in every form clients send it; anything else comes back as it was. */
export function toBoolean(value: unknown): unknown {
  if (value === 1) return true
  if (value === 0) return false
  if (typeof value !== 'string') return value
  return TRUE.has(value) ? true : FALSE.has(value) ? false : value
}

function toNumber(value: unknown, integer: boolean): unknown {
  // A number that lost digits is another one than the client sent, and may be more than a database stores: validation refuses the text.
  if (integer && Number.isInteger(value) && !Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string') return value
  return (integer ? /^-?\d{1,15}$/ : /^-?\d{1,15}(\.\d{1,15})?$/).test(value) ? Number(value) : value
}
