// A declarative stream: its slices, the records of each, its state and its schema.

import { createAsyncRetriever } from './async-retriever.ts'
import { contextOf, type Deps, dictOf, listOf } from './component.ts'
import { type Cursor, fullRefreshCursor } from './cursors/cursor.ts'
import { type CursorPlan, planCursor } from './cursors/datetime-cursor.ts'
import { createPartitionCursor } from './cursors/partition-cursor.ts'
import type { WindowCursor } from './cursors/window-cursor.ts'
import { planSplit } from './cursors/window-split.ts'
import { ConnectorError } from './errors.ts'
import type { Place } from './http/options.ts'
import { createRequestOption } from './http/request-option.ts'
import { CUSTOM } from './manifest/components.ts'
import { createRouter, isReadLazily, type ParentStream, type Router } from './partitions/router.ts'
import { EMPTY_SLICE, type StreamSlice } from './partitions/slice.ts'
import { copied } from './python/json.ts'
import { compare, type Dict, getKey, isDict, pyStr, truthy } from './python/values.ts'
import { createRetriever } from './retriever.ts'
import type { Retriever } from './retriever.types.ts'
import { createSchemaLoader } from './schema.ts'
import { migrated } from './state.ts'
import { parseDuration } from './time/datetime.ts'

export interface Stream {
  readonly name: string
  readonly primaryKey: unknown
  readonly cursorField: string | undefined
  readonly cursor: Cursor
  read(slice: StreamSlice): AsyncIterable<readonly Dict[]>
  schema(): Promise<Dict>
}

export interface StreamDeps extends Deps {
  readonly warn: (message: string) => void
}

export function createStream(definition: Dict, state: Dict | undefined, deps: StreamDeps): Stream {
  if (definition.type === 'StateDelegatingStream') {
    const known = truthy(state) && !isTooOld(definition, state, deps) ? state : undefined
    return createStream(dictOf(known ? definition.incremental_stream : definition.full_refresh_stream, 'stream'), known, deps)
  }
  refuseCustom(definition)
  if (isDict(definition.file_uploader))
    deps.warn(`The stream '${pyStr(definition.name ?? '')}' has a file_uploader: its records are read, its files are not.`)
  const retriever = dictOf(definition.retriever, 'retriever')
  const known = migrated(state, definition, deps)
  const childState = isSentinel(known) ? undefined : known
  const createParent = (parent: Dict, parentState: Dict | undefined) => asParent(createStream(parent, parentState, deps))
  const router = createRouter(retriever.partition_router, { ...deps, createParent, childState })
  const incremental = isDict(definition.incremental_sync) ? definition.incremental_sync : undefined
  const plan = incremental && planCursor(incremental, deps)
  const loadSchema = createSchemaLoader(definition.schema_loader, deps)
  let schema: Promise<Dict> | undefined

  const isAsync = retriever.type === 'AsyncRetriever'
  const name = pyStr(definition.name ?? '')
  const options = {
    name,
    transformations: definition.transformations,
    schema: () => loadOnce(),
    sliceOptions: sliceOptions(incremental, plan, router, deps),
  }
  const cursor = createCursor(plan, router, childState, { incremental, retriever }, deps)
  const filters = incremental?.is_client_side_incremental === true || incremental?.is_data_feed === true
  const isNew = filters ? (record: Dict, slice: StreamSlice) => cursor.isNew(record, slice) : undefined
  const reader: Retriever = isAsync
    ? createAsyncRetriever(retriever, deps, options)
    : createRetriever(retriever, deps, {
        ...options,
        isNew,
        rest: restOf(cursor),
        stopsAtOld: incremental?.is_data_feed === true,
        isLazy: mayReadLazily(incremental, retriever, !childState),
        splitOf: (hasProperties) =>
          planSplit(retriever, {
            name,
            incremental,
            plan,
            hasProperties,
            hasFiles: isDict(definition.file_uploader),
            warn: deps.warn,
          }),
      })

  const loadOnce = () => {
    schema ??= loadSchema()
    return schema
  }

  return {
    name,
    primaryKey: definition.primary_key,
    cursorField: plan?.field,
    cursor,
    read: (slice) => reader.read(slice),
    schema: loadOnce,
  }
}

/** Whether the first page of a slice is in the record of its parent, or an error as the reference raises it. */
function mayReadLazily(incremental: Dict | undefined, retriever: Dict, isFirst: boolean): boolean {
  const { decoder } = retriever
  if (!isReadLazily(retriever.partition_router)) return false
  if (truthy(retriever.page_size_reduction) || truthy(retriever.request_window_splitting))
    throw new ConnectorError(
      'page_size_reduction and request_window_splitting do not support lazy_read_pointer: the records are in the pages of the parent.',
    )
  if (!isFirst) return false
  if (incremental && incremental.type !== 'DatetimeBasedCursor')
    throw new ConnectorError('lazy_read_pointer supports the cursor DatetimeBasedCursor only.')
  if (truthy(incremental?.step) || truthy(incremental?.cursor_granularity))
    throw new ConnectorError('lazy_read_pointer does not support step and cursor_granularity: a parent has one slice.')
  if (isDict(decoder) && decoder.type !== 'JsonDecoder')
    throw new ConnectorError('lazy_read_pointer supports the decoder JsonDecoder only.')
  return true
}

/** The API does not go back as far as the state: the stream is read whole again. */
function isTooOld(definition: Dict, state: Dict | undefined, deps: Deps): boolean {
  const text =
    definition.api_retention_period && deps.expressions.value(definition.api_retention_period, contextOf(definition, deps))
  if (!truthy(text) || state?.__ab_no_cursor_state_message === true) return false
  const period = parseDuration(pyStr(text))
  if (!period)
    throw new ConnectorError(`api_retention_period is '${pyStr(text)}', which is not an ISO 8601 duration such as P30D.`)
  const incremental = dictOf(dictOf(definition.incremental_stream, 'incremental_stream').incremental_sync, 'incremental_sync')
  const plan = planCursor(incremental, deps)
  const global = isDict(state?.state) ? state.state : state
  const value = global && getKey(global, plan.field)
  const moment = value === undefined || value === null ? undefined : plan.instant?.(value)
  return moment === undefined || (compare(moment, deps.clock.now().minus(period)) ?? 0) < 0
}

const restOf = (cursor: Cursor): WindowCursor['rest'] | undefined =>
  'rest' in cursor ? (cursor as WindowCursor).rest : undefined

const isSentinel = (state: Dict | undefined) =>
  state === undefined || Object.keys(state).length === 0 || state.__ab_no_cursor_state_message === true

function createCursor(
  plan: CursorPlan | undefined,
  router: Router | undefined,
  state: Dict | undefined,
  { incremental, retriever }: { readonly incremental: Dict | undefined; readonly retriever: Dict },
  deps: StreamDeps,
): Cursor {
  const all = async function* () {
    yield EMPTY_SLICE
  }
  if (!plan) return fullRefreshCursor(router ? () => router.slices() : all)
  if (!router) return plan.create(state, 0)
  const useGlobal =
    incremental?.global_substream_cursor === true ||
    listOf(retriever.partition_router).some((each) => isDict(each) && each.type === 'GroupingPartitionRouter')
  return createPartitionCursor({ plan, router, state, useGlobal, elapsed: () => deps.clock.elapsed() })
}

/** Windows and partitions in the request. */
function sliceOptions(
  incremental: Dict | undefined,
  plan: CursorPlan | undefined,
  router: Router | undefined,
  deps: Deps,
): (place: Place, slice: StreamSlice) => Dict {
  const isCount = incremental?.type === 'IncrementingCountCursor'
  const start = createRequestOption(isCount ? incremental.start_value_option : incremental?.start_time_option, deps)
  const end = createRequestOption(incremental?.end_time_option, deps)
  return (place, slice) => {
    const out: Dict = router ? router.options(place, slice) : {}
    if (plan && start?.place === place) start.inject(out, getKey(slice.cursorSlice, plan.startField) ?? null)
    if (plan && end?.place === place) end.inject(out, getKey(slice.cursorSlice, plan.endField) ?? null)
    return out
  }
}

/** A parent is read slice by slice; its cursor moves on before its last record is given away. */
function asParent(stream: Stream): ParentStream {
  const { cursor } = stream
  /** One object until it changes, which records alone do not bring about: it is compared for each partition of the child. */
  let known: Dict | undefined
  return {
    name: stream.name,
    state: () => {
      known ??= copied(cursor.state())
      return known
    },
    async *records() {
      for await (const slice of cursor.slices()) {
        known = undefined
        let held: Dict | undefined
        for await (const page of stream.read(slice))
          for (const record of page) {
            if (held) yield { record: held, slice }
            held = record
            cursor.observe(record, slice)
          }
        cursor.close(slice)
        known = undefined
        if (held) yield { record: held, slice }
      }
      cursor.finish()
      known = undefined
    },
  }
}

/** Every stream of a manifest by its name. */
/** Components in Python: read as the standard ones they would give other records. */
function refuseCustom(definition: Dict): void {
  const found = customIn(definition)
  if (found !== undefined)
    throw new ConnectorError(
      `The stream '${pyStr(definition.name ?? '')}' needs the component '${found}', which is Python code. Choose other streams, or run the manifest with its components.py in platform.airbyte-source, which runs with Python.`,
    )
}

function customIn(node: unknown): string | undefined {
  if (Array.isArray(node)) return node.map(customIn).find((found) => found !== undefined)
  if (!isDict(node)) return undefined
  if (typeof node.type === 'string' && CUSTOM.test(node.type)) return node.type
  return Object.entries(node)
    .map(([name, inner]) => (name === '$parameters' || name === 'schema' ? undefined : customIn(inner)))
    .find((found) => found !== undefined)
}

export function streamDefinitions(manifest: Dict, deps: Pick<Deps, 'config' | 'expressions'>): Dict[] {
  const streams = listOf(manifest.streams).flatMap((each) => {
    const stream = dictOf(each, 'A stream')
    if (stream.type !== 'ConditionalStreams') return [stream]
    const isOn = deps.expressions.truth(stream.condition, {
      config: deps.config,
      parameters: isDict(stream.$parameters) ? stream.$parameters : {},
    })
    return isOn ? listOf(stream.streams).map((inner) => dictOf(inner, 'A stream')) : []
  })
  const names = new Set<string>()
  for (const stream of streams) {
    const name = pyStr(stream.name ?? '')
    if (names.has(name)) throw new ConnectorError(`The manifest has two streams named '${name}'.`)
    names.add(name)
  }
  return streams
}
