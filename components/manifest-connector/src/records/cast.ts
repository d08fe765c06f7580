// `schema_normalization: Default`: values get the types of the schema, where that is possible.

import { floatOf, integerOf, truncated } from '../python/numbers.ts'
import { asNumber, type Dict, isDict, isNumber, PyFloat, pyStr, setKey, toFloat, truthy } from '../python/values.ts'

const SIMPLE = new Set(['string', 'number', 'integer', 'boolean', 'null'])
const MAX_DEPTH = 64

export function castRecord(record: Dict, schema: Dict): Dict {
  castInside(record, schema, schema, 0)
  return record
}

function castInside(value: unknown, schema: Dict, root: Dict, depth: number): void {
  if (depth > MAX_DEPTH) return
  if (isDict(schema.properties) && isDict(value))
    for (const [name, each] of Object.entries(schema.properties)) {
      if (!Object.hasOwn(value, name) || !isDict(each)) continue
      const member = resolved(each, root)
      setKey(value, name, cast(value[name], member))
      castInside(value[name], member, root, depth + 1)
    }
  if (isDict(schema.items) && Array.isArray(value)) {
    const member = resolved(schema.items, root)
    for (const [i, each] of value.entries()) {
      value[i] = cast(each, member)
      castInside(value[i], member, root, depth + 1)
    }
  }
}

function resolved(schema: Dict, root: Dict): Dict {
  const { $ref } = schema
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return schema
  const target = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, part) => (isDict(at) && Object.hasOwn(at, part) ? at[part] : undefined), root)
  return isDict(target) ? target : schema
}

function cast(value: unknown, schema: Dict): unknown {
  const types = schema.type ?? []
  const list = Array.isArray(types) ? types.filter((type) => type !== 'null') : [types]
  if (value === null && (Array.isArray(types) ? types.includes('null') : String(types).includes('null'))) return null
  if (list.length !== 1) return value
  switch (list[0]) {
    case 'string':
      return pyStr(value)
    case 'number':
      return asFloat(value)
    case 'integer':
      return asInteger(value)
    case 'boolean':
      return typeof value === 'string' ? strToBool(value) : truthy(value)
    case 'array': {
      const items = isDict(schema.items) ? schema.items.type : []
      const names = Array.isArray(items) ? items.map(String) : items === undefined ? [] : [...String(items)]
      return names.every((name) => SIMPLE.has(name)) && isSimple(value) ? [value] : value
    }
    default:
      return value
  }
}

const isSimple = (value: unknown) =>
  value === null || ['string', 'number', 'boolean', 'bigint'].includes(typeof value) || value instanceof PyFloat

function asFloat(value: unknown): unknown {
  if (typeof value === 'boolean' || isNumber(value)) return toFloat(asNumber(value))
  const number = typeof value === 'string' ? floatOf(value) : undefined
  return number === undefined ? value : toFloat(number) // those that are not finite are null in JSON
}

function asInteger(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'bigint') return value
  if (isNumber(value)) return Number.isFinite(asNumber(value)) ? truncated(asNumber(value)) : value
  return typeof value === 'string' ? (integerOf(value) ?? value) : value
}

function strToBool(text: string): unknown {
  const word = text.toLowerCase().trim()
  if (['y', 'yes', 't', 'true', 'on', '1'].includes(word)) return true
  return ['n', 'no', 'f', 'false', 'off', '0'].includes(word) ? false : text
}
