// spec, check, discover and read, as the public protocol has them.

import { listOf } from './component.ts'
import { ConnectorError, messageOf } from './errors.ts'
import type { Messages } from './messages.ts'
import { asNumber, type Dict, isDict, isNumber, pyStr, setKey, truthy } from './python/values.ts'
import type { Source } from './source.ts'
import type { Stream } from './stream.ts'

export function specOf(manifest: Dict): Dict {
  const spec = isDict(manifest.spec) ? manifest.spec : {}
  const { documentation_url, connection_specification = { type: 'object', properties: {} }, advanced_auth } = spec
  return {
    connectionSpecification: connection_specification,
    ...(typeof documentation_url === 'string' && { documentationUrl: documentation_url }),
    ...(isDict(advanced_auth) && { advanced_auth }),
  }
}

/** Tries to read one record of each stream that the manifest names. Undefined when all is well. */
export async function check(manifest: Dict, source: Source): Promise<string | undefined> {
  const definition = isDict(manifest.check) ? manifest.check : {}
  const names = await source.streamNames()
  const dynamic = definition.type === 'CheckDynamicStream'
  const wanted = dynamic
    ? names.slice(0, isNumber(definition.stream_count) ? asNumber(definition.stream_count) : 1)
    : listOf(definition.stream_names).map(pyStr)
  if (names.length === 0) return 'The manifest has no streams.'
  for (const name of wanted) {
    try {
      await firstRecord(await source.stream(name, undefined))
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return `Unable to connect to stream ${name}: ${messageOf(error)}`
    }
  }
  return undefined
}

async function firstRecord(stream: Stream): Promise<void> {
  for await (const slice of stream.cursor.slices()) {
    for await (const page of stream.read(slice)) if (page.length > 0) return
    return
  }
}

export async function discover(source: Source): Promise<Dict> {
  const streams: Dict[] = []
  for (const name of await source.streamNames()) {
    const stream = await source.stream(name, undefined)
    const keys = keysOf(stream.primaryKey)
    streams.push({
      name,
      json_schema: await stream.schema(),
      supported_sync_modes: stream.cursorField === undefined ? ['full_refresh'] : ['full_refresh', 'incremental'],
      is_resumable: stream.cursorField !== undefined,
      ...(stream.cursorField !== undefined && { source_defined_cursor: true, default_cursor_field: [stream.cursorField] }),
      ...(keys.length > 0 && { source_defined_primary_key: keys }),
    })
  }
  return { streams }
}

/** One key, several, or paths: always as a list of paths. */
export function keysOf(primaryKey: unknown): string[][] {
  if (typeof primaryKey === 'string') return primaryKey === '' ? [] : [[primaryKey]]
  return listOf(primaryKey).map((key) => listOf(key).map(pyStr))
}

export async function read(
  source: Source,
  catalog: unknown,
  states: ReadonlyMap<string, Dict>,
  messages: Messages,
): Promise<boolean> {
  const selected = isDict(catalog)
    ? listOf(catalog.streams).map((each) => (isDict(each) && isDict(each.stream) ? pyStr(each.stream.name) : ''))
    : []
  if (selected.length === 0) throw new ConnectorError('The catalog selects no streams.')
  // The reference reads its queue until an empty item: an empty record ends its output, without a failure.
  let ended = false
  const failed = await source.read(selected, states, {
    async records(stream, records) {
      const now = Date.now()
      for (const record of records) {
        if (ended) return
        if (truthy(record)) messages.record(stream, asObject(record), now)
        else ended = true
      }
      await messages.flush()
    },
    async state(stream, state) {
      if (!ended)
        messages.write({
          type: 'STATE',
          state: { type: 'STREAM', stream: { stream_descriptor: { name: stream }, stream_state: state } },
        })
      await messages.flush()
    },
    async failed(stream, error) {
      if (!ended) messages.write(failureMessage(stream, error))
      await messages.flush()
    },
  })
  return ended || failed.length === 0
}

function failureMessage(stream: string, error: unknown): Dict {
  const text = messageOf(error)
  const isOurs = error instanceof ConnectorError
  const details = {
    message: `Stream '${stream}' failed: ${text}`,
    internal_message: isOurs ? text : ((error as Error)?.stack ?? text),
    failure_type: isOurs ? 'config_error' : 'system_error',
    stream_descriptor: { name: stream },
  }
  return { type: 'TRACE', trace: { type: 'ERROR', emitted_at: Date.now(), error: details } }
}

/** Python's dict(): a list of pairs is an object too. */
export function asObject(record: unknown): Dict {
  if (isDict(record)) return record
  if (!Array.isArray(record)) throw new ConnectorError(`A record is not an object: ${pyStr(record).slice(0, 100)}`)
  const out: Dict = {}
  for (const each of record) {
    const pair = Array.isArray(each) ? each : isDict(each) ? Object.keys(each) : typeof each === 'string' ? [...each] : []
    if (pair.length !== 2)
      throw new ConnectorError(`A record is a list that is not made of pairs: ${pyStr(record).slice(0, 100)}`)
    setKey(out, pyStr(pair[0]), pair[1])
  }
  return out
}
