// Streams made from a template and data: an answer of the API, a list of the configuration, or parameters of the manifest.

import { contextOf, type Deps, dictOf, listOf } from './component.ts'
import { ConnectorError } from './errors.ts'
import { propagate } from './manifest/parameters.ts'
import { createRouter, type RouterDeps } from './partitions/router.ts'
import { EMPTY_SLICE, type StreamSlice } from './partitions/slice.ts'
import * as dpath from './python/dpath.ts'
import { copied } from './python/json.ts'
import { type Dict, isDict, pyStr, truthy } from './python/values.ts'
import { createRetriever } from './retriever.ts'

const MAX_STREAMS = 10_000
const TYPES = { string: 'str', number: 'float', integer: 'int', boolean: 'bool' } as const

interface Values {
  readonly context: Dict
}

export async function dynamicStreams(manifest: Dict, deps: RouterDeps): Promise<Dict[]> {
  const streams: Dict[] = []
  for (const each of listOf(manifest.dynamic_streams)) {
    const definition = dictOf(each, 'A dynamic stream')
    const resolver = dictOf(definition.components_resolver, 'components_resolver')
    const template = dictOf(definition.stream_template, 'stream_template')
    for await (const { context } of valuesOf(resolver, deps)) {
      const stream = resolved(template, resolver, context, deps)
      streams.push({ ...propagate('DeclarativeSource.streams', stream, {}, definition.use_parent_parameters !== false) })
      if (streams.length > MAX_STREAMS) throw new ConnectorError(`The manifest makes more than ${MAX_STREAMS} dynamic streams.`)
    }
  }
  return streams
}

async function* valuesOf(resolver: Dict, deps: RouterDeps): AsyncIterable<Values> {
  if (resolver.type === 'HttpComponentsResolver') {
    const retriever = dictOf(resolver.retriever, 'retriever')
    const reader = createRetriever(retriever, deps)
    const router = createRouter(retriever.partition_router, deps)
    const slices: AsyncIterable<StreamSlice> | readonly StreamSlice[] = router ? router.slices() : [EMPTY_SLICE]
    for await (const slice of slices)
      for await (const page of reader.read(slice))
        for (const record of page) yield { context: { components_values: record, stream_slice: slice } }
  } else if (resolver.type === 'ConfigComponentsResolver') {
    let combinations: Dict[] = [{}]
    for (const each of listOf(resolver.stream_config).filter(isDict)) {
      const own = contextOf(each, deps)
      const found = dpath.get(
        deps.config,
        listOf(each.configs_pointer).map((part) => pyStr(deps.expressions.value(part, own))),
      )
      const values = [...(Array.isArray(found) ? found : truthy(found) ? [found] : []), ...listOf(each.default_values)]
      combinations = combinations.flatMap((base) =>
        values.map((value) => (isDict(value) ? { ...base, ...value } : { ...base, value })),
      )
      if (combinations.length > MAX_STREAMS)
        throw new ConnectorError(`The configuration makes more than ${MAX_STREAMS} dynamic streams.`)
    }
    for (const components_values of combinations) yield { context: { components_values } }
  } else if (resolver.type === 'ParametrizedComponentsResolver') {
    const parameters = dictOf(resolver.stream_parameters, 'stream_parameters')
    for (const components_values of listOf(parameters.list_of_parameters_for_stream)) yield { context: { components_values } }
  } else throw new ConnectorError(`The components resolver '${pyStr(resolver.type)}' is not supported.`)
}

function resolved(template: Dict, resolver: Dict, context: Dict, deps: Pick<Deps, 'config' | 'expressions'>): Dict {
  const stream = copied(template)
  for (const mapping of listOf(resolver.components_mapping).filter(isDict)) {
    const variables = { ...contextOf(mapping, deps), ...context, stream_template_config: template }
    if (truthy(mapping.condition) && !deps.expressions.truth(mapping.condition, variables)) continue
    const valid = TYPES[mapping.value_type as keyof typeof TYPES]
    const value = deps.expressions.value(mapping.value, variables, valid && [valid])
    const path = listOf(mapping.field_path).map((part) => pyStr(deps.expressions.value(part, variables)))
    if (!dpath.replace(stream, path, value) && mapping.create_or_update === true) dpath.put(stream, path, value)
  }
  return stream
}
