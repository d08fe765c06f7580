// Whether a value adheres to a JSON schema: the keywords that specifications of connectors use.

import { pythonRegExp } from './jinja/python-regexp.ts'
import { asNumber, type Dict, equals, isDict, isFloat, isNumber, pyRepr } from './python/values.ts'

const IS_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: isNumber,
  integer: (value) => isNumber(value) && (!isFloat(value) || Number.isInteger(asNumber(value))),
  object: isDict,
  array: Array.isArray,
}
const MAX_DEPTH = 100

/** What is wrong; undefined when the value adheres. */
export function schemaProblem(value: unknown, schema: unknown, depth = 0): string | undefined {
  if (schema === false) return `${shown(value)} is not allowed`
  if (!isDict(schema) || depth > MAX_DEPTH) return undefined
  const below = (each: unknown, of: unknown) => schemaProblem(each, of, depth + 1)
  const types = [schema.type].flat().filter((type) => typeof type === 'string')
  if (types.length > 0 && !types.some((type) => IS_TYPE[type]?.(value) ?? true))
    return `${shown(value)} is not of type ${types.join(', ')}`
  if (Array.isArray(schema.enum) && !schema.enum.some((each) => equals(each, value)))
    return `${shown(value)} is not one of ${shown(schema.enum)}`
  if (Object.hasOwn(schema, 'const') && !equals(schema.const, value)) return `${shown(schema.const)} was expected`
  for (const each of listed(schema.allOf)) {
    const problem = below(value, each)
    if (problem !== undefined) return problem
  }
  if (Array.isArray(schema.anyOf) && schema.anyOf.every((each) => below(value, each) !== undefined))
    return `${shown(value)} is not valid under any of the given schemas`
  if (Array.isArray(schema.oneOf) && schema.oneOf.filter((each) => below(value, each) === undefined).length !== 1)
    return `${shown(value)} is not valid under exactly one of the given schemas`
  if (schema.not !== undefined && below(value, schema.not) === undefined)
    return `${shown(value)} should not be valid under ${shown(schema.not)}`
  if (isDict(value)) return objectProblem(value, schema, below)
  if (Array.isArray(value)) return listProblem(value, schema, below)
  return leafProblem(value, schema)
}

type Below = (value: unknown, schema: unknown) => string | undefined

function objectProblem(value: Dict, schema: Dict, below: Below): string | undefined {
  const missing = listed(schema.required).find((name) => typeof name === 'string' && !Object.hasOwn(value, name))
  if (missing !== undefined) return `${shown(missing)} is a required property`
  const properties = isDict(schema.properties) ? schema.properties : {}
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name)
    if (!known && schema.additionalProperties === false)
      return `Additional properties are not allowed (${shown(name)} was unexpected)`
    const problem = below(member, known ? properties[name] : schema.additionalProperties)
    if (problem !== undefined) return problem
  }
  return undefined
}

function listProblem(value: readonly unknown[], schema: Dict, below: Below): string | undefined {
  if (isNumber(schema.minItems) && value.length < asNumber(schema.minItems)) return `${shown(value)} is too short`
  if (isNumber(schema.maxItems) && value.length > asNumber(schema.maxItems)) return `${shown(value)} is too long`
  for (const each of value) {
    const problem = below(each, schema.items)
    if (problem !== undefined) return problem
  }
  return undefined
}

function leafProblem(value: unknown, schema: Dict): string | undefined {
  if (typeof value === 'string') {
    if (isNumber(schema.minLength) && [...value].length < asNumber(schema.minLength)) return `${shown(value)} is too short`
    if (isNumber(schema.maxLength) && [...value].length > asNumber(schema.maxLength)) return `${shown(value)} is too long`
    if (typeof schema.pattern === 'string' && !pythonRegExp(schema.pattern).test(value))
      return `${shown(value)} does not match ${shown(schema.pattern)}`
  }
  if (isNumber(value)) {
    const number = asNumber(value)
    if (isNumber(schema.minimum) && number < asNumber(schema.minimum))
      return `${number} is less than the minimum of ${asNumber(schema.minimum)}`
    if (isNumber(schema.maximum) && number > asNumber(schema.maximum))
      return `${number} is greater than the maximum of ${asNumber(schema.maximum)}`
  }
  return undefined
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const shown = (value: unknown) => pyRepr(value).slice(0, 100)
