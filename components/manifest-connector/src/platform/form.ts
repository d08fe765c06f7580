// The specification of a connector as the JSON schema of a form: secrets get the names with `#` that are encrypted, fields come in their order.

import { asNumber, type Dict, isDict, isNumber } from '../python/values.ts'

const MAX_DEPTH = 20

export function formOf(specification: unknown, depth = 0): Dict {
  if (!isDict(specification) || depth > MAX_DEPTH) return { type: 'object', properties: {} }
  const { properties, required, oneOf, items, $schema: _, ...others } = specification
  const members = isDict(properties) ? properties : {}
  const nameOf = (name: string): string => (isSecret(members[name]) ? `#${name}` : name)
  const names = Object.keys(members).toSorted((a, b) => orderOf(members[a]) - orderOf(members[b]))
  return {
    ...others,
    ...(isDict(properties) && {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [nameOf(name), formOf(members[name], depth + 1)])),
    }),
    ...(Array.isArray(required) && { required: required.map(String).map(nameOf) }),
    ...(Array.isArray(oneOf) && { oneOf: oneOf.map((choice) => formOf(choice, depth + 1)) }),
    ...(items !== undefined && { items: formOf(items, depth + 1) }),
  }
}

const isSecret = (schema: unknown): boolean => isDict(schema) && schema.airbyte_secret === true

function orderOf(schema: unknown): number {
  const order = isDict(schema) ? schema.order : undefined
  return isNumber(order) ? asNumber(order) : Number.MAX_SAFE_INTEGER
}
