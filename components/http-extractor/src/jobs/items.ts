// From a response to its items (spec extractor 11). Picking is pure, so that a spooled page can be picked again later;
// messages about a page are returned as values.

import { at, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { entriesOf, isArray, isEmpty, isObject, type JsonValue, valueAt } from '../json/json.ts'

export interface Picked {
  readonly items: readonly JsonValue[]
  readonly warning?: string
}

export type ItemPicker = (response: JsonValue) => Picked

export interface DataField {
  readonly path: string
  readonly delimiter: string
}

export function readDataField(value: JsonValue | undefined, path: string): DataField | undefined {
  if (isEmpty(value)) return undefined
  if (!isObject(value)) return { path: textAt(value, path, ''), delimiter: '.' }
  const inner = at(value, 'path')
  if (isEmpty(inner)) throw new UserError(`'dataField.path' must be set! (${path})`)
  return { path: textAt(inner, `${path}.path`, ''), delimiter: textAt(at(value, 'delimiter'), `${path}.delimiter`, '.') || '.' }
}

export function createItemPicker(dataField: DataField | undefined, endpoint: string): ItemPicker {
  return dataField ? (response) => pickField(response, dataField) : (response) => pickOnlyArray(response, endpoint)
}

function pickField(response: JsonValue, { path, delimiter }: DataField): Picked {
  const value = valueAt(response, path, delimiter)
  // The spelling of the warning is fixed (spec extractor 6.1.1).
  if (isEmpty(value)) return { items: [], warning: `datafield '${path}' contains no data!` }
  return { items: isArray(value) ? value : [value!] }
}

function pickOnlyArray(response: JsonValue, endpoint: string): Picked {
  if (isArray(response)) return { items: response }
  if (!isObject(response)) throw new UserError('Unknown response from API.').withFacts({ kind: 'response.noItems' })
  const arrays = entriesOf(response).filter((entry): entry is [string, JsonValue[]] => isArray(entry[1]))
  if (arrays.length === 0) return { items: [], warning: `No data array found in response! (endpoint: ${endpoint})` }
  if (arrays.length > 1) {
    throw new UserError(
      "More than one array found in response! Use 'dataField' parameter to specify a key to the data array. " +
        `(endpoint: ${endpoint}, arrays in response root: ${arrays.map(([name]) => name).join(', ')})`,
    ).withFacts({ kind: 'response.noItems' })
  }
  return { items: arrays[0]![1] }
}
