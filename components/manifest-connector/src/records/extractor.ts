// Which part of a document is the records.

import { contextOf, type Deps, dictOf, listOf } from '../component.ts'
import { createDecoder, type Decoder } from '../decode/decoder.ts'
import { ConnectorError } from '../errors.ts'
import type { HttpResponse } from '../http/response.ts'
import * as dpath from '../python/dpath.ts'
import { copied } from '../python/json.ts'
import { type Dict, isDict, pyStr, setKey, truthy } from '../python/values.ts'

export interface Extractor {
  extract(response: HttpResponse): Iterable<unknown>
}

export function createExtractor(definition: Dict, decoder: Decoder, deps: Pick<Deps, 'config' | 'expressions'>): Extractor {
  if (definition.type === 'KeyValueExtractor') return keyValues(definition, decoder, deps)
  if (definition.type === 'CombinedExtractor') return combined(definition, decoder, deps)
  if (definition.type !== 'DpathExtractor' && definition.type !== undefined)
    throw new ConnectorError(`The extractor '${pyStr(definition.type)}' is not supported.`)
  const own = isDict(definition.decoder) ? createDecoder(definition.decoder) : decoder
  const context = contextOf(definition, deps)
  const path = () => (definition.field_path as unknown[]).map((part) => pyStr(deps.expressions.value(part, context)))
  const expand = isDict(definition.record_expander) ? expander(definition.record_expander, deps) : undefined
  return {
    *extract(response) {
      const segments = path()
      for (const body of own.decode(response)) {
        for (const record of recordsIn(body, segments)) {
          if (expand) yield* expand(record)
          else yield record
        }
      }
    },
  }
}

/** An object is one record, a list its items; nothing, null and the empty object are none. */
function* recordsIn(body: unknown, path: readonly string[]): Iterable<unknown> {
  const found = path.length === 0 ? body : path.includes('*') ? [...dpath.values(body, path)] : dpath.get(body, path)
  if (Array.isArray(found)) yield* found
  else if (truthy(found)) yield found
}

/** Items inside a record become records. */
function expander(definition: Dict, deps: Pick<Deps, 'config' | 'expressions'>): (record: unknown) => Iterable<unknown> {
  const context = contextOf(definition, deps)
  const path = (definition.expand_records_from_field as unknown[]).map((part) => pyStr(deps.expressions.value(part, context)))
  const keepsParent = definition.remain_original_record === true
  const merges = definition.merge_parent === true
  const copiedFields = listOf(definition.parent_fields)
    .filter(isDict)
    .map((field) => {
      const text = (part: unknown) => pyStr(deps.expressions.value(part, contextOf(field, deps)))
      return { from: listOf(field.parent_path).map(text), to: listOf(field.record_path).map(text) }
    })
  if (isDict(definition.truncated_list_retriever))
    throw new ConnectorError('truncated_list_retriever is not supported. The lists inside the records are read without it.')
  const hasParent = keepsParent || merges || copiedFields.length > 0

  function withParent(item: unknown, parent: Dict, base: Dict): Dict {
    const child: Dict = { ...copied(base), ...(isDict(item) ? item : { value: item }) }
    for (const { from, to } of copiedFields) dpath.put(child, to, copied(dpath.get(parent, from) ?? null))
    if (keepsParent) child.original_record = copied(parent)
    return child
  }

  return function* (record) {
    if (!isDict(record)) {
      yield record
      return
    }
    const found = path.some((part) => part.includes('*')) ? [...dpath.values(record, path)] : [dpath.get(record, path)]
    const items = found.filter((each) => Array.isArray(each)).flat()
    const base: Dict = merges ? copied(record) : {}
    if (merges) dpath.remove(base, path, Array.isArray)
    for (const item of items) yield hasParent ? withParent(item, record, base) : item
    if (items.length === 0 && definition.on_no_records === 'emit_parent') yield record
  }
}

/** The records of all extractors, or of the first that finds any. */
function combined(definition: Dict, decoder: Decoder, deps: Pick<Deps, 'config' | 'expressions'>): Extractor {
  const extractors = listOf(definition.extractors).map((each) => createExtractor(dictOf(each, 'An extractor'), decoder, deps))
  const keeps = definition.skip_empty_records === true ? truthy : () => true
  return {
    *extract(response) {
      for (const each of extractors) {
        const records = [...each.extract(response)].filter(keeps)
        yield* records
        if (definition.mode === 'first_match' && records.length > 0) return
      }
    },
  }
}

/** Names from one place, values from another: one record per row of names. */
function keyValues(definition: Dict, decoder: Decoder, deps: Pick<Deps, 'config' | 'expressions'>): Extractor {
  const keys = createExtractor(dictOf(definition.keys_extractor, 'keys_extractor'), decoder, deps)
  const values = createExtractor(dictOf(definition.values_extractor, 'values_extractor'), decoder, deps)
  return {
    *extract(response) {
      const names = [...keys.extract(response)].map(pyStr)
      if (names.length === 0) return
      let row: Dict = {}
      let at = 0
      for (const value of values.extract(response)) {
        setKey(row, names[at]!, value)
        if (++at < names.length) continue
        yield row
        row = {}
        at = 0
      }
      if (at > 0) yield row
    },
  }
}
