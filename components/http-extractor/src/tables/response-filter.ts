/** `responseFilter`: parts of an item kept as JSON text (spec extractor 12). */
import { isArray, isEmpty, isObject, isScalar, type JsonObject, type JsonValue, memberOf, setMember } from '../json/json.ts'
import { serialize, toText } from '../json/text.ts'
import { TablesError } from './tables-error.ts'

/** Keys that lead to a value; `tags[]` steps into each element of a list. */
export type FilterSteps = readonly string[]

export type ResponseFilterOptions = {
  readonly filters: readonly FilterSteps[]
  /** 2 and below: scalars become text, empty values stay (spec extractor 18). */
  readonly compatLevel: number
}

export type ResponseFilter = (items: readonly JsonValue[]) => readonly JsonValue[]

export const filterSteps = (paths: readonly string[], delimiter: string): readonly FilterSteps[] =>
  paths.map((path) => path.split(delimiter).filter((segment) => segment !== '')).filter((steps) => steps.length > 0)

/** Gives new items; those that came are left as they are. */
export function createResponseFilter({ filters, compatLevel }: ResponseFilterOptions): ResponseFilter {
  const encode = compatLevel <= 2 ? encodeAsBefore : serialize
  if (filters.length === 0) return (items) => items
  return (items) => items.map((item) => filters.reduce((filtered, path) => replaceAt(filtered, path, encode), item))
}

function replaceAt(value: JsonValue, path: readonly string[], encode: (value: JsonValue) => JsonValue): JsonValue {
  const [segment, ...rest] = path
  if (segment === undefined) return encode(value)
  if (!isObject(value)) return value
  const intoElements = segment.endsWith('[]')
  const key = intoElements ? segment.slice(0, -2) : segment
  const member = memberOf(value, key)
  if (member === undefined) return value
  if (!intoElements) return withMember(value, key, replaceAt(member, rest, encode))
  if (member === null) return value
  if (!isArray(member)) throw new TablesError(`Error filtering response. '${key}' is not an array.`)
  return withMember(
    value,
    key,
    member.map((element) => replaceAt(element, rest, encode)),
  )
}

function withMember(object: JsonObject, key: string, value: JsonValue): JsonObject {
  if (memberOf(object, key) === value) return object
  const copy = object instanceof Map ? new Map(object) : { ...object }
  setMember(copy, key, value)
  return copy
}

function encodeAsBefore(value: JsonValue): JsonValue {
  if (isEmpty(value)) return value
  return isScalar(value) ? toText(value) : serialize(value)
}
