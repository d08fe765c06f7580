// `QueryProperties`: long lists of fields in a parameter, sent in chunks.

import { contextOf, type Deps, listOf } from './component.ts'
import { ConnectorError } from './errors.ts'
import { EMPTY_SLICE } from './partitions/slice.ts'
import * as dpath from './python/dpath.ts'
import { asNumber, type Dict, getKey, isDict, isNumber, pyStr, truthy } from './python/values.ts'
import type { Retriever } from './retriever.types.ts'

export interface Properties {
  chunks(): Promise<{
    readonly chunks: readonly (readonly string[])[]
    readonly mergeKey: ((record: Dict) => string | undefined) | undefined
  }>
}

export function createProperties(
  requester: Dict,
  deps: Deps,
  createRetriever: (definition: Dict) => Retriever,
): Properties | undefined {
  const definition = isDict(requester.query_properties)
    ? requester.query_properties
    : isDict(requester.request_parameters)
      ? Object.values(requester.request_parameters).find((value) => isDict(value) && value.type === 'QueryProperties')
      : undefined
  const query = isDict(definition) ? definition : undefined
  if (!query) return undefined
  const always = listOf(query.always_include_properties).map(pyStr)
  const chunking = isDict(query.property_chunking) ? query.property_chunking : undefined
  let known: Promise<readonly string[]> | undefined

  async function names(): Promise<readonly string[]> {
    if (Array.isArray(query!.property_list)) return query!.property_list.map(pyStr)
    const source = query!.property_list as Dict
    const own = contextOf(source, deps)
    const path = listOf(source.property_field_path).map((part) => pyStr(deps.expressions.value(part, own)))
    const found: string[] = []
    for await (const page of createRetriever(source.retriever as Dict).read(EMPTY_SLICE))
      for (const record of page) found.push(pyStr(dpath.get(record, path)))
    return found
  }

  return {
    async chunks() {
      known ??= names()
      const key = chunking && isDict(chunking.record_merge_strategy) ? chunking.record_merge_strategy.key : undefined
      const keys = key === undefined ? undefined : listOf(key).map(pyStr)
      return {
        chunks: chunked(await known, always, chunking),
        mergeKey:
          keys &&
          ((record) => {
            const parts = keys.map((name) => getKey(record, name))
            if (!parts.every(truthy)) return undefined
            if (!parts.every((part) => typeof part === 'string'))
              throw new ConnectorError('The values by which records are merged must be texts.')
            return parts.join(',')
          }),
      }
    },
  }
}

/** A delimiter takes three characters of an address. */
const DELIMITER = 3

function chunked(names: readonly string[], always: readonly string[], chunking: Dict | undefined): string[][] {
  const limit = chunking && isNumber(chunking.property_limit) ? asNumber(chunking.property_limit) : 0
  if (!chunking || limit <= 0) return [chunking ? [...names, ...always] : [...always, ...names]]
  const sizeOf = (name: string) => (chunking.property_limit_type === 'characters' ? name.length + DELIMITER : 1)
  const chunks: string[][] = [[...always]]
  let size = 0
  for (const name of names) {
    if (size + sizeOf(name) > limit && size > 0) {
      chunks.push([...always])
      size = 0
    }
    chunks.at(-1)!.push(name)
    size += sizeOf(name)
  }
  return chunks
}
