// The kinds of PHP's gettype(), for messages.

import { isNumber, type JsonValue } from '../json/json.ts'

export function kindOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return 'NULL'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'string') return 'string'
  if (isNumber(value)) return /^-?\d+$/.test(String(value)) ? 'integer' : 'double'
  return Array.isArray(value) ? 'array' : 'object'
}
