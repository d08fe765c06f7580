// A job as configured (spec extractor 8), read and checked before the first request.

import { createHash } from 'node:crypto'
import { at, headerPairs, type Maybe, methodAt, objectAt, textAt } from '../configuration/read.ts'
import { type Decode, readResponseType } from '../decode/decode.ts'
import { UserError } from '../errors.ts'
import type { Method } from '../http/request.ts'
import { isArray, isEmpty, isObject, type JsonObject, type JsonValue } from '../json/json.ts'
import { exactJson } from '../json/text.ts'
import { createResponseFilter, type FilterSteps, filterSteps } from '../tables/response-filter.ts'
import { createItemPicker, type ItemPicker, readDataField } from './items.ts'
import { type Placeholder, readPlaceholders } from './placeholders.ts'
import { createRecursionFilter, type ItemFilter } from './recursion-filter.ts'

export interface JobDefinition {
  /** Where it stands: `config.jobs.0`. */
  readonly path: string
  /** For messages: the job's id, otherwise a hash of its content. */
  readonly id: string
  readonly endpoint: string
  readonly method: Method | undefined
  /** Expressions, evaluated when the job starts. */
  readonly params: JsonObject
  readonly headers: readonly [string, string][]
  readonly dataType: string
  readonly pick: ItemPicker
  readonly filter: (items: readonly JsonValue[]) => readonly JsonValue[]
  /** What the filter makes text of. */
  readonly keptAsText: readonly FilterSteps[]
  /** Both of the above, without a word: how a spooled page gives its items again. */
  readonly pickAgain: (response: JsonValue) => readonly JsonValue[]
  readonly children: readonly JobDefinition[]
  readonly placeholders: readonly Placeholder[]
  readonly recursionFilter: ItemFilter | undefined
  readonly scroller: string | undefined
  readonly userData: JsonValue | undefined
  /** How its answers are read; undefined: as JSON. */
  readonly decode: Decode | undefined
}

export function readJob(value: JsonValue, path: string, compatLevel: number): JobDefinition {
  if (!isObject(value)) throw new UserError(`Job configuration must be an array: ${exactJson(value)} (${path})`)
  const endpoint = readEndpoint(value, path)
  const pick = createItemPicker(readDataField(at(value, 'dataField'), `${path}.dataField`), endpoint)
  const delimiter = textAt(at(value, 'responseFilterDelimiter'), `${path}.responseFilterDelimiter`, '.') || '.'
  const keptAsText = filterSteps(readFilterPaths(at(value, 'responseFilter'), path), delimiter)
  const filter = createResponseFilter({ filters: keptAsText, compatLevel })
  const recursion = at(value, 'recursionFilter')
  return {
    path,
    id: textAt(at(value, 'id'), `${path}.id`) ?? createHash('md5').update(exactJson(value)).digest('hex'),
    endpoint,
    method: methodAt(at(value, 'method'), `${path}.method`),
    params: readParams(at(value, 'params'), path),
    headers: headerPairs(at(value, 'headers'), `${path}.headers`),
    dataType: isEmpty(at(value, 'dataType')) ? endpoint : textAt(at(value, 'dataType'), `${path}.dataType`, endpoint),
    pick,
    filter,
    keptAsText,
    pickAgain: (response) => filter(pick(response).items),
    children: readChildren(at(value, 'children'), path, compatLevel),
    placeholders: readPlaceholders(at(value, 'placeholders'), `${path}.placeholders`),
    recursionFilter: isEmpty(recursion) ? undefined : createRecursionFilter(textAt(recursion, `${path}.recursionFilter`, '')),
    scroller: isEmpty(at(value, 'scroller')) ? undefined : textAt(at(value, 'scroller'), `${path}.scroller`),
    userData: at(value, 'userData'),
    decode: readResponseType(at(value, 'responseType'), `${path}.responseType`),
  }
}

function readEndpoint(job: JsonObject, path: string): string {
  const endpoint = textAt(at(job, 'endpoint'), `${path}.endpoint`)
  if (endpoint === undefined || endpoint === '') throw new UserError(`The 'endpoint' property must be set in job. (${path})`)
  return endpoint
}

function readParams(value: Maybe, path: string): JsonObject {
  if (value !== undefined && value !== null && !isObject(value) && !(isArray(value) && value.length === 0)) {
    throw new UserError(`The 'params' property must be an array. (${path}.params: an object of names and values)`)
  }
  return objectAt(value, `${path}.params`)
}

function readFilterPaths(value: Maybe, path: string): string[] {
  if (isEmpty(value)) return []
  const list = isArray(value) ? value : [value!]
  return list.map((entry, i) => textAt(entry, `${path}.responseFilter.${i}`, ''))
}

function readChildren(value: Maybe, path: string, compatLevel: number): JobDefinition[] {
  if (value === undefined || value === null) return []
  if (!isArray(value)) throw new UserError(`The 'children' property must an array of jobs. (${path}.children)`)
  return value.map((child, i) => readJob(child, `${path}.children.${i}`, compatLevel))
}
