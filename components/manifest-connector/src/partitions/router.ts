// Partition routers: what a stream is read for, once each.

import { contextOf, type Deps, listOf } from '../component.ts'
import { ConnectorError } from '../errors.ts'
import type { Place } from '../http/options.ts'
import { createRequestOption, type RequestOption } from '../http/request-option.ts'
import { HttpResponse } from '../http/response.ts'
import * as dpath from '../python/dpath.ts'
import { jsonText } from '../python/json.ts'
import { asNumber, type Dict, getKey, isDict, pyRepr, pyStr, setKey, truthy } from '../python/values.ts'
import { CHILD_RESPONSE, StreamSlice } from './slice.ts'

export interface Router {
  slices(): AsyncIterable<StreamSlice>
  options(place: Place, slice: StreamSlice): Dict
  /** States of parents that are read incrementally; undefined when there are none. */
  parentState(): Dict | undefined
}

/** A parent as the router reads it: slice by slice, its cursor moved along. */
export interface ParentStream {
  readonly name: string
  records(): AsyncIterable<{ readonly record: Dict; readonly slice: StreamSlice }>
  /** The same object until it changes. */
  state(): Dict
}

export interface RouterDeps extends Deps {
  readonly createParent: (definition: Dict, state: Dict | undefined) => ParentStream
  /** Of the stream that the router belongs to. */
  readonly childState: Dict | undefined
  readonly warn: (message: string) => void
}

export function createRouter(definition: unknown, deps: RouterDeps): Router | undefined {
  const list = listOf(definition)
  if (list.length === 0) return undefined
  return list.length === 1 ? createOne(list[0] as Dict, deps) : product(list.map((each) => createOne(each as Dict, deps)))
}

function createOne(definition: Dict, deps: RouterDeps): Router {
  switch (definition.type) {
    case 'ListPartitionRouter':
      return listRouter(definition, deps)
    case 'SubstreamPartitionRouter':
      return substreamRouter(definition, deps)
    case 'GroupingPartitionRouter':
      return groupingRouter(definition, deps)
    case 'UnionPartitionRouter':
      return unionRouter(definition, deps)
    default:
      throw new ConnectorError(`The partition router '${pyStr(definition.type)}' is not supported.`)
  }
}

const injectedValue = (option: RequestOption | undefined, place: Place, value: unknown): Dict => {
  const out: Dict = {}
  if (option?.place === place && truthy(value)) option.inject(out, value)
  return out
}

function listRouter(definition: Dict, deps: Deps): Router {
  const own = contextOf(definition, deps)
  const field = pyStr(deps.expressions.value(definition.cursor_field, own))
  const evaluated = typeof definition.values === 'string' ? deps.expressions.value(definition.values, own) : definition.values
  const values: readonly unknown[] = Array.isArray(evaluated) ? evaluated : typeof evaluated === 'string' ? [...evaluated] : []
  if (!Array.isArray(evaluated) && typeof evaluated !== 'string')
    throw new ConnectorError(`The values of a ListPartitionRouter are not a list: ${pyRepr(evaluated)}.`)
  const option = createRequestOption(definition.request_option, deps)
  return {
    async *slices() {
      for (const value of values) yield new StreamSlice({ [field]: value })
    },
    options: (place, slice) => injectedValue(option, place, getKey(slice.fields, field)),
    parentState: () => undefined,
  }
}

interface Parent {
  readonly stream: ParentStream
  readonly key: readonly string[]
  readonly field: string
  readonly option: RequestOption | undefined
  readonly extra: readonly (readonly string[])[]
  /** Where a record of the parent has the first page of the child; empty: nowhere. */
  readonly lazy: readonly string[]
  readonly isIncremental: boolean
}

const responseOf = (data: unknown) => new HttpResponse(200, [], Buffer.from(jsonText(data)), '')

/** Whether a stream has its first pages in the records of its parent. */
export const isReadLazily = (partitionRouter: unknown): boolean =>
  isDict(partitionRouter) &&
  listOf(partitionRouter.parent_stream_configs).some((each) => isDict(each) && listOf(each.lazy_read_pointer).length > 0)

function substreamRouter(definition: Dict, deps: RouterDeps): Router {
  const states = parentStates(definition, deps.childState)
  const parents: Parent[] = listOf(definition.parent_stream_configs).map((each) => {
    const config = each as Dict // checked with the manifest
    const own = contextOf(config, deps)
    const text = (template: unknown) => pyStr(deps.expressions.value(template, own))
    const isIncremental = config.incremental_dependency === true
    const stream = config.stream as Dict
    const lazy = listOf(config.lazy_read_pointer).map(text)
    if (lazy.some((part) => part.includes('*'))) throw new ConnectorError('lazy_read_pointer does not support *.')
    return {
      stream: deps.createParent(stream, isIncremental ? (getKey(states, pyStr(stream.name)) as Dict | undefined) : undefined),
      key: dpath.split(text(config.parent_key)),
      field: text(config.partition_field),
      option: createRequestOption(config.request_option, deps),
      extra: listOf(config.extra_fields).map((path) => listOf(path).map(text)),
      lazy,
      isIncremental,
    }
  })

  async function* slicesOf({ stream, key, field, extra, lazy }: Parent): AsyncIterable<StreamSlice> {
    for await (const { record, slice } of stream.records()) {
      const value = dpath.get(record, key)
      if (value === undefined || value === null) continue
      const extraFields: Dict = {}
      for (const path of extra) setKey(extraFields, path.join('.'), dpath.get(record, path) ?? null)
      if (lazy.length > 0) extraFields[CHILD_RESPONSE] = responseOf(dpath.get(record, lazy) ?? [])
      yield new StreamSlice({ [field]: value, parent_slice: slice.partition }, {}, extraFields)
    }
  }

  return {
    async *slices() {
      for (const parent of parents) yield* slicesOf(parent)
    },
    options(place, slice) {
      const out: Dict = {}
      for (const { option, field } of parents) Object.assign(out, injectedValue(option, place, getKey(slice.fields, field)))
      return out
    },
    parentState() {
      const incremental = parents.filter((parent) => parent.isIncremental)
      if (incremental.length === 0) return undefined
      const out: Dict = {}
      for (const { stream } of incremental) setKey(out, stream.name, stream.state())
      return out
    },
  }
}

/** The states of parents inside the state of the child; older states hold one value for all. */
function parentStates(definition: Dict, childState: Dict | undefined): Dict {
  if (!childState) return {}
  if (isDict(childState.parent_state) && truthy(childState.parent_state)) return childState.parent_state
  const global = isDict(childState.state) ? childState.state : childState
  const values = Object.values(global)
  const [value] = values
  if (values.length !== 1 || typeof value === 'object' || typeof value === 'boolean' || !truthy(value)) return {}
  const out: Dict = {}
  for (const each of listOf(definition.parent_stream_configs)) {
    const stream = isDict(each) && each.incremental_dependency === true && isDict(each.stream) ? each.stream : undefined
    const field = stream && isDict(stream.incremental_sync) ? stream.incremental_sync.cursor_field : undefined
    if (stream && typeof field === 'string') setKey(out, pyStr(stream.name), { [field]: value })
  }
  return out
}

/** Groups of partitions: each field holds a list. */
function groupingRouter(definition: Dict, deps: RouterDeps): Router {
  const inner = createOne(definition.underlying_partition_router as Dict, deps)
  const size = Math.max(1, asNumber(definition.group_size))
  const deduplicates = definition.deduplicate !== false

  const grouped = (batch: readonly StreamSlice[]): StreamSlice => {
    const partition: Dict = {}
    for (const key of Object.keys(batch[0]!.partition))
      if (key !== 'parent_slice')
        setKey(
          partition,
          key,
          batch.map((slice) => slice.partition[key]),
        )
    const extra: Dict = {}
    for (const key of new Set(batch.flatMap((slice) => Object.keys(slice.extraFields))))
      setKey(
        extra,
        key,
        batch.map((slice) => slice.extraFields[key] ?? null),
      )
    return new StreamSlice(partition, {}, extra)
  }

  return {
    async *slices() {
      let batch: StreamSlice[] = []
      const seen = new Set<string>()
      for await (const slice of inner.slices()) {
        const key = pyRepr(Object.values(slice.partition)[0])
        if (deduplicates && seen.has(key)) continue
        seen.add(key)
        batch.push(slice)
        if (batch.length < size) continue
        yield grouped(batch)
        batch = []
      }
      if (batch.length > 0) yield grouped(batch)
    },
    options: () => ({}),
    parentState: () => inner.parentState(),
  }
}

/** The values of several routers one after the other, each value once. What else a partition has goes to the extra fields. */
function unionRouter(definition: Dict, deps: RouterDeps): Router {
  const routers = listOf(definition.partition_routers).map((each) => createOne(each as Dict, deps))
  const field = pyStr(definition.partition_field)
  return {
    async *slices() {
      const seen = new Set<string>()
      for (const router of routers)
        for await (const slice of router.slices()) {
          if (!Object.hasOwn(slice.partition, field))
            throw new ConnectorError(`A router of the UnionPartitionRouter does not give the field '${field}'.`)
          const { [field]: value, ...others } = slice.partition
          if (typeof value === 'object' && value !== null)
            throw new ConnectorError(`The values of a UnionPartitionRouter must be texts or numbers, not ${pyRepr(value)}.`)
          if (seen.has(pyRepr(value))) continue
          seen.add(pyRepr(value))
          yield new StreamSlice({ [field]: value }, {}, { ...slice.extraFields, ...others })
        }
    },
    options: () => ({}),
    parentState: () => mergedStates(routers),
  }
}

const mergedStates = (routers: readonly Router[]): Dict | undefined => {
  const states = routers.map((router) => router.parentState()).filter((state) => state !== undefined)
  return states.length === 0 ? undefined : (Object.assign({}, ...states) as Dict)
}

/** Every combination; of equal fields the first router's wins. */
function product(routers: readonly Router[]): Router {
  async function* combined(at: number, base: StreamSlice): AsyncIterable<StreamSlice> {
    const router = routers[at]
    if (!router) {
      yield base
      return
    }
    for await (const slice of cached[at]!())
      yield* combined(
        at + 1,
        new StreamSlice({ ...slice.partition, ...base.partition }, {}, { ...slice.extraFields, ...base.extraFields }),
      )
  }
  // The later ones are gone over again for each slice of the first.
  const cached = routers.map((router, i) => {
    if (i === 0) return () => router.slices()
    let known: StreamSlice[] | undefined
    return async function* () {
      if (!known) {
        known = []
        for await (const slice of router.slices()) known.push(slice)
      }
      yield* known
    }
  })
  return {
    slices: () => combined(0, new StreamSlice({})),
    options: (place, slice) => Object.assign({}, ...routers.map((router) => router.options(place, slice))) as Dict,
    parentState: () => undefined, // as in the reference: one value of a parent has many partitions
  }
}
