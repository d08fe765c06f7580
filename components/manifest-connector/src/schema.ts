// Schemas of streams: written in the manifest, or made from an answer of the API.

import { contextOf, type Deps, dictOf, listOf } from './component.ts'
import { EMPTY_SLICE } from './partitions/slice.ts'
import * as dpath from './python/dpath.ts'
import { type Dict, equals, isDict, pyStr, setKey, truthy } from './python/values.ts'
import { createTransformation } from './records/transformations.ts'
import { createRetriever } from './retriever.ts'

const EMPTY: Dict = { type: 'object', properties: {}, additionalProperties: true }

export function createSchemaLoader(definition: unknown, deps: Deps): () => Promise<Dict> {
  const loaders = listOf(definition).filter(isDict)
  if (loaders.length === 0) return async () => EMPTY
  const parts = loaders.map((each) => loaderOf(each, deps))
  if (parts.length === 1) return parts[0]!
  return async () => {
    const schemas = await Promise.all(parts.map((load) => load()))
    return { ...schemas[0], properties: Object.assign({}, ...schemas.map(({ properties }) => properties)) as Dict }
  }
}

function loaderOf(definition: Dict, deps: Deps): () => Promise<Dict> {
  if (definition.type === 'InlineSchemaLoader')
    return async () => (isDict(definition.schema) && truthy(definition.schema) ? definition.schema : EMPTY)
  if (definition.type === 'DynamicSchemaLoader') return dynamic(definition, deps)
  return async () => EMPTY // files beside the manifest do not exist here
}

const TYPES: Readonly<Record<string, Dict>> = {
  string: { type: ['null', 'string'] },
  boolean: { type: ['null', 'boolean'] },
  date: { type: ['null', 'string'], format: 'date' },
  timestamp_without_timezone: { type: ['null', 'string'], format: 'date-time', airbyte_type: 'timestamp_without_timezone' },
  timestamp_with_timezone: { type: ['null', 'string'], format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
  time_without_timezone: { type: ['null', 'string'], format: 'time', airbyte_type: 'time_without_timezone' },
  time_with_timezone: { type: ['null', 'string'], format: 'time', airbyte_type: 'time_with_timezone' },
  integer: { type: ['null', 'integer'] },
  number: { type: ['null', 'number'] },
  array: { type: ['null', 'array'] },
  object: { type: ['null', 'object'] },
}

function dynamic(definition: Dict, deps: Deps): () => Promise<Dict> {
  const identifier = dictOf(definition.schema_type_identifier, 'schema_type_identifier')
  const own = contextOf(identifier, deps)
  const pathOf = (pointer: unknown) => listOf(pointer).map((part) => pyStr(deps.expressions.value(part, own)))
  const transforms = listOf(definition.schema_transformations).map((each) => createTransformation(each as Dict, deps))
  const filter = isDict(definition.schema_filter) ? definition.schema_filter : undefined

  return async () => {
    const retriever = createRetriever(dictOf(definition.retriever, 'retriever'), deps)
    let first: Dict = {}
    for await (const page of retriever.read(EMPTY_SLICE)) {
      if (page.length === 0) continue
      first = page[0]!
      break
    }
    const found = pathOf(identifier.schema_pointer).length === 0 ? first : dpath.get(first, pathOf(identifier.schema_pointer))
    const properties: Dict = {}
    for (const each of Array.isArray(found) ? found : [found]) {
      const name = dpath.get(each, pathOf(identifier.key_pointer))
      const typed = truthy(identifier.type_pointer) ? dpath.get(each, pathOf(identifier.type_pointer)) : 'string'
      if (typeof name === 'string') setKey(properties, name, mapped(typed, each, identifier, deps))
    }
    for (const transform of transforms) transform(properties, EMPTY_SLICE)
    if (filter)
      for (const [name, value] of Object.entries(properties))
        if (
          !deps.expressions.truth(filter.condition, {
            ...contextOf(filter, deps),
            record: { [name]: value },
            stream_slice: EMPTY_SLICE,
            next_page_token: null,
          })
        )
          delete properties[name]
    return { $schema: 'https://json-schema.org/draft-07/schema#', type: 'object', additionalProperties: true, properties }
  }
}

function mapped(type: unknown, raw: unknown, identifier: Dict, deps: Deps): Dict {
  let name: unknown = type
  for (const each of listOf(identifier.types_mapping)) {
    const map = each as Dict
    const condition = truthy(map.condition)
      ? deps.expressions.truth(map.condition, { ...contextOf(map, deps), raw_schema: raw })
      : true
    if (condition && equals(map.current_type, type)) {
      name = map.target_type
      break
    }
  }
  if (isDict(name)) return complex(name)
  const names = Array.isArray(name) ? name : [name]
  const types = names.map((each) => TYPES[pyStr(each)] ?? { type: ['null', 'string'] })
  return types.length === 1 ? { ...types[0]! } : { oneOf: types }
}

function complex(definition: Dict): Dict {
  const base: Dict = { ...(TYPES[pyStr(definition.field_type)] ?? TYPES.string) }
  if (isDict(definition.items)) base.items = complex(definition.items)
  else if (typeof definition.items === 'string') base.items = { ...TYPES[definition.items] }
  return base
}
