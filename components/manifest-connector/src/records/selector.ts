// `RecordSelector`: extract, filter, transform, cast; in this order unless the manifest turns the middle two.

import { contextOf, type Deps, dictOf, listOf } from '../component.ts'
import type { Decoder } from '../decode/decoder.ts'
import { ConnectorError } from '../errors.ts'
import type { StreamSlice } from '../partitions/slice.ts'
import { type Dict, isDict, truthy } from '../python/values.ts'
import { castRecord } from './cast.ts'
import { createExtractor, type Extractor } from './extractor.ts'
import { createTransformation, type Transform } from './transformations.ts'

export interface Selector {
  readonly extractor: Extractor
  select(items: Iterable<unknown>, slice: StreamSlice, nextPageToken: Dict | undefined, schema: Dict | undefined): Iterable<Dict>
  /** Whether records are cast, so that the schema is needed. */
  readonly casts: boolean
}

export interface SelectorOptions {
  readonly transformations: unknown
  /** Client-side cursors decide which records are new. */
  readonly isNew?: ((record: Dict, slice: StreamSlice) => boolean) | undefined
}

export function createSelector(
  definition: Dict,
  decoder: Decoder,
  deps: Deps,
  { transformations, isNew }: SelectorOptions,
): Selector {
  const extractor = createExtractor(dictOf(definition.extractor, 'extractor'), decoder, deps)
  const transforms: Transform[] = listOf(transformations).map((each) => createTransformation(each as Dict, deps))
  const filter = isDict(definition.record_filter) ? definition.record_filter : undefined
  const casts = definition.schema_normalization === 'Default'
  const transformsFirst =
    typeof definition.transform_before_filtering === 'boolean' ? definition.transform_before_filtering : isNew !== undefined
  const filterContext = filter && contextOf(filter, deps)
  const hasCondition = filter !== undefined && (isNew === undefined || truthy(filter.condition))

  function keeps(record: Dict, slice: StreamSlice, nextPageToken: Dict | undefined): boolean {
    if (
      hasCondition &&
      !deps.expressions.truth(filter!.condition ?? '', {
        ...filterContext,
        record,
        stream_slice: slice,
        next_page_token: nextPageToken ?? null,
      })
    )
      return false
    return !isNew || isNew(record, slice)
  }

  function* select(
    items: Iterable<unknown>,
    slice: StreamSlice,
    nextPageToken: Dict | undefined,
    schema: Dict | undefined,
  ): Iterable<Dict> {
    for (const item of items) {
      const record = item as Dict // what is no object passes as it is
      if (!transformsFirst && !keeps(record, slice, nextPageToken)) continue
      if (isDict(item)) for (const transform of transforms) transform(record, slice)
      if (transformsFirst && !keeps(record, slice, nextPageToken)) continue
      if (item === null) throw new ConnectorError('A record is null, not an object.')
      yield casts && schema && isDict(item) ? castRecord(record, schema) : record
    }
  }

  return { extractor, select, casts }
}
