// A manifest with a configuration: its streams, and the reading of those that were chosen.

import type { Clock } from './clock.ts'
import { type Deps, type KeptAnswers, listOf } from './component.ts'
import { normalizedConfig } from './config.ts'
import { dynamicStreams } from './dynamic-streams.ts'
import { ConnectorError } from './errors.ts'
import { createBudget } from './http/budget.ts'
import { createResponseCache } from './http/cache.ts'
import type { Send } from './http/transport.ts'
import { createInterpolator } from './jinja/interpolate.ts'
import { nearestOf } from './manifest/nearest.ts'
import type { StreamSlice } from './partitions/slice.ts'
import { asNumber, type Dict, isDict, pyStr, truthy } from './python/values.ts'
import { createStream, type Stream, streamDefinitions } from './stream.ts'

export interface SourceDeps {
  readonly clock: Clock
  readonly send: Send
  /** Answers of an earlier run, which do not count for the limits of the API. */
  readonly kept?: KeptAnswers | undefined
  readonly hide: (secret: unknown) => void
  readonly warn: (message: string) => void
  readonly saveConfig: (config: Dict) => void
}

/** Where records and states go. */
export interface Sink {
  /** What the extractor found; an object in any sane manifest. */
  records(stream: string, records: readonly unknown[]): Promise<void>
  state(stream: string, state: Dict): Promise<void>
  failed(stream: string, error: unknown): Promise<void>
}

export interface Source {
  readonly config: Dict
  streamNames(): Promise<string[]>
  stream(name: string, state: Dict | undefined): Promise<Stream>
  /** The names of the streams that failed. */
  read(selected: readonly string[], states: ReadonlyMap<string, Dict>, sink: Sink): Promise<string[]>
}

/** A manifest that allows no more is read one slice after the other, as the reference does. */
const DEFAULT_CONCURRENCY = 1
const MAX_CONCURRENCY = 20

/** After so many failed slices of a stream the others are not tried: each costs its retries, a message and memory. */
const MAX_FAILURES = 1000

export function createSource(manifest: Dict, given: Dict, { clock, send, kept, hide, warn, saveConfig }: SourceDeps): Source {
  const expressions = createInterpolator(() => clock.now())
  const config = normalizedConfig(given, manifest.spec, { expressions })
  hideSecrets(config, isDict(manifest.spec) ? manifest.spec.connection_specification : undefined, hide)
  const limited = createBudget(manifest.api_budget, clock, expressions, config)(send)
  const deps: Deps & { warn: typeof warn } = {
    config,
    expressions,
    clock,
    send: kept ? kept.wrap(limited) : limited,
    accept: kept?.accept,
    cache: createResponseCache(),
    hide,
    saveConfig,
    warn,
  }
  let all: Promise<Map<string, Dict>> | undefined
  if (truthy(manifest.stream_groups))
    warn('The stream_groups of the manifest have no effect: streams of a group may be read at the same time.')

  async function definitions(): Promise<Map<string, Dict>> {
    const createParent = () => {
      throw new ConnectorError('A components resolver with parent streams is not supported.')
    }
    const streams = [
      ...streamDefinitions(manifest, deps),
      ...(await dynamicStreams(manifest, { ...deps, createParent, childState: undefined })),
    ]
    const parents = new Set<string>()
    const marked = streams.map((stream) => withCachedParents(stream, parents))
    return new Map(marked.map((stream) => [pyStr(stream.name), parents.has(pyStr(stream.name)) ? cached(stream) : stream]))
  }

  /** Manifests whose streams cannot be made fail when the first is opened. */
  async function isKnown(name: string): Promise<boolean> {
    all ??= definitions()
    return all.then(
      (known) => known.has(name),
      () => true,
    )
  }

  async function stream(name: string, state: Dict | undefined): Promise<Stream> {
    all ??= definitions()
    const known = await all
    const definition = known.get(name)
    if (!definition) {
      const near = nearestOf(name, [...known.keys()])
      throw new ConnectorError(`The manifest has no stream '${name}'.${near ? ` Did you mean '${near}'?` : ''}`)
    }
    return createStream(definition, state, deps)
  }

  function concurrency(): number {
    const level = isDict(manifest.concurrency_level) ? manifest.concurrency_level : undefined
    if (!level) return DEFAULT_CONCURRENCY
    const context = { config, parameters: isDict(level.$parameters) ? level.$parameters : {} }
    const wanted = asNumber(expressions.value(level.default_concurrency ?? DEFAULT_CONCURRENCY, context))
    const most =
      level.max_concurrency === undefined || level.max_concurrency === null ? MAX_CONCURRENCY : asNumber(level.max_concurrency)
    return Math.max(1, Math.min(Number.isFinite(wanted) ? wanted : DEFAULT_CONCURRENCY, most, MAX_CONCURRENCY))
  }

  async function read(selected: readonly string[], states: ReadonlyMap<string, Dict>, sink: Sink): Promise<string[]> {
    const gate = createGate(concurrency())
    const failed: string[] = []
    await Promise.all(
      selected.map(async (name) => {
        const good = await readStream(name, states.get(name), sink, gate)
        if (!good) failed.push(name)
      }),
    )
    return failed
  }

  async function readStream(name: string, state: Dict | undefined, sink: Sink, gate: Gate): Promise<boolean> {
    let good = true
    const fail = async (error: unknown) => {
      good = false
      await sink.failed(name, error)
    }
    let opened: Stream
    if (!(await isKnown(name))) {
      warn(`The manifest has no stream '${name}'; it is not read.`)
      return true
    }
    try {
      opened = await stream(name, state)
    } catch (error) {
      await fail(error)
      return false
    }
    const { cursor } = opened
    const tasks = new Set<Promise<void>>()
    let failures = 0
    const readSlice = async (slice: StreamSlice) => {
      try {
        for await (const page of opened.read(slice)) {
          for (const record of page) if (isDict(record)) cursor.observe(record, slice)
          if (page.length > 0) await sink.records(name, page)
        }
        cursor.close(slice)
      } catch (error) {
        failures++
        await fail(error)
      } finally {
        gate.leave()
      }
    }
    try {
      for await (const slice of cursor.slices()) {
        await gate.enter()
        if (failures >= MAX_FAILURES) {
          gate.leave()
          throw new ConnectorError(`${MAX_FAILURES} partitions or windows failed. The others were not read.`)
        }
        const task: Promise<void> = readSlice(slice).finally(() => tasks.delete(task))
        tasks.add(task)
      }
    } catch (error) {
      await fail(error)
    }
    await Promise.all(tasks)
    cursor.finish()
    await sink.state(name, cursor.state())
    return good
  }

  return {
    config,
    streamNames: async () => {
      all ??= definitions()
      return [...(await all).keys()]
    },
    stream,
    read,
  }
}

interface Gate {
  enter(): Promise<void>
  leave(): void
}

/** At most so many slices at a time, over all streams. */
function createGate(places: number): Gate {
  let free = places
  const waiting: (() => void)[] = []
  return {
    enter: () => {
      if (free > 0) {
        free--
        return Promise.resolve()
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
    leave: () => {
      const next = waiting.shift()
      if (next) next()
      else free++
    },
  }
}

/** Parents are requested once per run, for all streams that need them. */
function withCachedParents(stream: Dict, names: Set<string>): Dict {
  if (stream.type === 'StateDelegatingStream')
    return {
      ...stream,
      full_refresh_stream: withCachedParents(stream.full_refresh_stream as Dict, names),
      incremental_stream: withCachedParents(stream.incremental_stream as Dict, names),
    }
  const retriever = isDict(stream.retriever) ? stream.retriever : undefined
  if (!retriever?.partition_router) return stream
  const inRouter = (router: unknown): unknown => {
    if (Array.isArray(router)) return router.map(inRouter)
    if (!isDict(router)) return router
    if (isDict(router.underlying_partition_router))
      return { ...router, underlying_partition_router: inRouter(router.underlying_partition_router) }
    if (!Array.isArray(router.parent_stream_configs)) return router
    const parents = listOf(router.parent_stream_configs).map((each) => {
      if (!isDict(each) || !isDict(each.stream)) return each
      names.add(pyStr(each.stream.name))
      return { ...each, stream: cached(withCachedParents(each.stream, names)) }
    })
    return { ...router, parent_stream_configs: parents }
  }
  return { ...stream, retriever: { ...retriever, partition_router: inRouter(retriever.partition_router) } }
}

function cached(stream: Dict): Dict {
  if (stream.type === 'StateDelegatingStream')
    return {
      ...stream,
      full_refresh_stream: cached(stream.full_refresh_stream as Dict),
      incremental_stream: cached(stream.incremental_stream as Dict),
    }
  const retriever = isDict(stream.retriever) ? stream.retriever : undefined
  if (!retriever || !isDict(retriever.requester)) return stream
  return { ...stream, retriever: { ...retriever, requester: { ...retriever.requester, use_cache: true } } }
}

/** Values of the configuration that its schema marks as secret, and those with the name of a secret. */
function hideSecrets(config: unknown, schema: unknown, hide: (secret: unknown) => void): void {
  if (!isDict(config)) return
  const properties = isDict(schema) && isDict(schema.properties) ? schema.properties : {}
  const variants = isDict(schema) ? listOf(schema.oneOf) : []
  for (const [name, value] of Object.entries(config)) {
    const stated = [
      properties[name],
      ...variants.map((each) => (isDict(each) && isDict(each.properties) ? each.properties[name] : undefined)),
    ].filter(isDict)
    if (isDict(value)) for (const each of stated.length > 0 ? stated : [undefined]) hideSecrets(value, each, hide)
    else if (
      name.startsWith('#') ||
      stated.some((each) => each.airbyte_secret === true) ||
      /(?:secret|password|token|api_?key|credential)/i.test(name)
    )
      hide(value)
  }
}
