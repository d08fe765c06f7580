// `$parameters` go down to all components below and fill their missing fields; missing types are filled in by position.

import { type Dict, isDict, setKey, truthy } from '../python/values.ts'

const TYPES: Readonly<Record<string, string>> = {
  'CompositeErrorHandler.error_handlers': 'DefaultErrorHandler',
  'CursorPagination.decoder': 'JsonDecoder',
  'DatetimeBasedCursor.end_datetime': 'MinMaxDatetime',
  'DatetimeBasedCursor.end_time_option': 'RequestOption',
  'DatetimeBasedCursor.start_datetime': 'MinMaxDatetime',
  'DatetimeBasedCursor.start_time_option': 'RequestOption',
  'IncrementingCountCursor.start_time_option': 'RequestOption',
  'DeclarativeSource.check': 'CheckStream',
  'DeclarativeSource.spec': 'Spec',
  'DeclarativeSource.streams': 'DeclarativeStream',
  'DeclarativeStream.retriever': 'SimpleRetriever',
  'DeclarativeStream.schema_loader': 'JsonFileSchemaLoader',
  'DynamicDeclarativeStream.stream_template': 'DeclarativeStream',
  'DynamicDeclarativeStream.components_resolver': 'ConfigComponentsResolver',
  'HttpComponentsResolver.retriever': 'SimpleRetriever',
  'HttpComponentsResolver.components_mapping': 'ComponentMappingDefinition',
  'ConfigComponentsResolver.stream_config': 'StreamConfig',
  'ConfigComponentsResolver.components_mapping': 'ComponentMappingDefinition',
  'ParametrizedComponentsResolver.components_mapping': 'ComponentMappingDefinition',
  'DefaultErrorHandler.response_filters': 'HttpResponseFilter',
  'DefaultPaginator.decoder': 'JsonDecoder',
  'DefaultPaginator.page_size_option': 'RequestOption',
  'DpathExtractor.decoder': 'JsonDecoder',
  'HttpRequester.error_handler': 'DefaultErrorHandler',
  'ListPartitionRouter.request_option': 'RequestOption',
  'ParentStreamConfig.request_option': 'RequestOption',
  'ParentStreamConfig.stream': 'DeclarativeStream',
  'RecordSelector.extractor': 'DpathExtractor',
  'RecordSelector.record_filter': 'RecordFilter',
  'SimpleRetriever.paginator': 'NoPagination',
  'SimpleRetriever.record_selector': 'RecordSelector',
  'SimpleRetriever.requester': 'HttpRequester',
  'DynamicSchemaLoader.retriever': 'SimpleRetriever',
  'SubstreamPartitionRouter.parent_stream_configs': 'ParentStreamConfig',
  'AddFields.fields': 'AddedFieldDefinition',
  'StateDelegatingStream.full_refresh_stream': 'DeclarativeStream',
  'StateDelegatingStream.incremental_stream': 'DeclarativeStream',
}

/** A JSON schema is data, not a component. */
const isSchema = (component: Dict) => component.type === 'object'

const hasComponents = (component: Dict) => Object.values(component).some((value) => isDict(value) && truthy(value.type))

export function propagate(position: string, component: Dict, parent: Dict, parentWins = false): Dict {
  const out: Dict = { ...component }
  if (out.type === undefined && out.class_name === undefined && Object.hasOwn(TYPES, position)) out.type = TYPES[position]
  if (isSchema(out)) return out
  if (out.type === undefined) {
    if (hasComponents(out))
      for (const [name, value] of Object.entries(out))
        if (isDict(value)) setKey(out, name, propagate(`.${name}`, value, parent, parentWins))
    return out
  }
  const { $parameters, ...fields } = out
  const own = isDict($parameters) ? $parameters : {}
  const parameters: Dict = parentWins ? { ...own, ...parent } : { ...parent, ...own }
  for (const [name, value] of Object.entries(parameters)) if (!truthy(fields[name])) setKey(fields, name, value)
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'object' || value === null) continue
    // A parameter that fills this very field would fill it again in itself, without end.
    const { [name]: _same, ...inherited } = parameters
    const below = (each: unknown) =>
      isDict(each) ? propagate(`${String(fields.type)}.${name}`, each, inherited, parentWins) : each
    setKey(fields, name, Array.isArray(value) ? value.map(below) : below(value))
  }
  if (Object.keys(parameters).length > 0) fields.$parameters = parameters
  return fields
}
