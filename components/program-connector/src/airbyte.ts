// Programs that speak the Airbyte protocol: spec, check, discover and read.

import { createHash } from 'node:crypto'
import { counted } from '../../../contract/counted.ts'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'
import { jsonText, parseJson } from '../../manifest-connector/src/python/json.ts'
import { type Dict, isDict, pyStr } from '../../manifest-connector/src/python/values.ts'
import type { Settings, StreamSettings } from './parameters.ts'
import type { Runtime } from './runtime.ts'
import { fileOf, refuseUnknown } from './singer.ts'
import { createTables } from './tables.ts'

export interface SourceStream {
  readonly name: string
  readonly entry: Dict
  readonly schema: Dict
  readonly keys: readonly string[]
  readonly isIncremental: boolean
}

type OnMessage = (message: Dict, text: string) => void
const MAX_GARBAGE = 20

/** The configuration as the program gets it: manifests travel inside it. */
function configOf({ config, manifest, componentsPy }: Settings, parse: (text: string) => unknown): Dict {
  if (manifest === undefined) return config
  return {
    ...config,
    __injected_declarative_manifest: typeof manifest === 'string' ? parse(manifest) : manifest,
    ...(componentsPy !== undefined && {
      __injected_components_py: componentsPy,
      __injected_components_py_checksums: { md5: createHash('md5').update(componentsPy).digest('hex') },
    }),
  }
}

export function createSourceProgram(settings: Settings, runtime: Runtime, parseYaml: (text: string) => unknown) {
  const { work, run, log } = runtime
  const config = () => fileOf(work, 'config.json', configOf(settings, parseYaml))
  let failure: string | undefined

  async function start(args: readonly string[], onMessage: OnMessage): Promise<void> {
    let garbage = 0
    failure = undefined
    try {
      await run([...settings.command, ...args], {
        onError: (line) => log.info(line),
        onLine(line) {
          let message: unknown
          try {
            message = parseJson(line)
          } catch {
            if (garbage++ < MAX_GARBAGE) log.info(line.slice(0, 500))
            return
          }
          if (!isDict(message)) return
          if (message.type === 'LOG' && isDict(message.log)) logged(message.log)
          else if (message.type === 'TRACE') traced(message.trace)
          else onMessage(message, line)
        },
      })
    } catch (error) {
      // The program's own error is better than its exit code.
      throw failure !== undefined && error instanceof ConnectorError ? new ConnectorError(failure, error) : error
    }
    if (failure !== undefined) throw new ConnectorError(failure)
  }

  function logged({ level, message }: Dict): void {
    const text = pyStr(message ?? '').slice(0, 2000)
    if (level === 'ERROR' || level === 'FATAL') log.error(text)
    else if (level === 'WARN') log.warning(text)
    else log.info(text)
  }

  function traced(trace: unknown): void {
    if (!isDict(trace) || trace.type !== 'ERROR' || !isDict(trace.error)) return
    const stream = isDict(trace.error.stream_descriptor) ? `Stream '${pyStr(trace.error.stream_descriptor.name)}' failed: ` : ''
    const text = pyStr(trace.error.message ?? trace.error.internal_message ?? 'the program reported an error without a text.')
    failure ??= text.startsWith('Stream ') ? text : `${stream}${text}`
  }

  async function spec(): Promise<Dict> {
    let found: Dict | undefined
    // A manifest is part of the configuration, which this command does not take.
    await start(settings.manifest === undefined ? ['spec'] : ['spec', '--config', config()], (message) => {
      if (message.type === 'SPEC' && isDict(message.spec)) found = message.spec
    })
    if (!found) throw new ConnectorError(`${settings.command[0]} gave no specification.`)
    return found
  }

  async function check(): Promise<void> {
    let status: Dict | undefined
    await start(['check', '--config', config()], (message) => {
      if (isDict(message.connectionStatus)) status = message.connectionStatus
    })
    if (status?.status !== 'SUCCEEDED')
      throw new ConnectorError(pyStr(status?.message ?? `${settings.command[0]} did not report the state of the connection.`))
  }

  async function discover(): Promise<SourceStream[]> {
    let catalog: unknown
    await start(['discover', '--config', config()], (message) => {
      if (isDict(message.catalog)) catalog = message.catalog.streams
    })
    if (!Array.isArray(catalog)) throw new ConnectorError(`${settings.command[0]} gave no catalog.`)
    return catalog.filter(isDict).map((entry) => ({
      name: pyStr(entry.name ?? ''),
      entry,
      schema: isDict(entry.json_schema) ? entry.json_schema : {},
      keys: (Array.isArray(entry.source_defined_primary_key) ? entry.source_defined_primary_key : [])
        .filter((path): path is unknown[] => Array.isArray(path) && path.length === 1)
        .map(([name]) => pyStr(name)),
      isIncremental: Array.isArray(entry.supported_sync_modes) && entry.supported_sync_modes.includes('incremental'),
    }))
  }

  /** Reads the chosen streams; the state for the next run. */
  async function read(stored: Dict): Promise<Dict> {
    const streams = await discover()
    refuseUnknown(streams, settings.streams)
    const wanted = settings.streams.length > 0 ? settings.streams : streams.map(({ name }): StreamSettings => ({ name }))
    const tables = createTables({ folder: runtime.folder, fields: stored.fields })
    const states: Dict = { ...(isDict(stored.streams) ? stored.streams : {}) }
    let global: unknown = stored.global
    let newConfig: Dict | undefined = isDict(stored['#config']) ? stored['#config'] : undefined
    const chosen = wanted.map((each) => {
      const stream = streams.find(({ name }) => name === each.name)!
      const { load } = tables.open(each, stream)
      if (load === 'overwrite') delete states[each.name]
      return { stream, load, settings: each }
    })
    const skipped = new Set<string>()
    const batches = new Map<string, Dict[]>()
    const flush = (name: string) => {
      tables.get(name)!.table.write(batches.get(name) ?? [])
      batches.delete(name)
    }
    const onMessage: OnMessage = (message, text) => {
      if (message.type === 'RECORD' && isDict(message.record)) {
        const name = pyStr(message.record.stream)
        if (!tables.get(name)) {
          if (!skipped.has(name)) log.warning(`The program sent records of '${name}', which is not selected. They are left out.`)
          skipped.add(name)
        } else if (isDict(message.record.data)) {
          const batch = batches.get(name) ?? []
          batches.set(name, batch)
          if (batch.push(message.record.data) >= 500) flush(name)
        } else throw new ConnectorError(`The program sent a record of '${name}' that is not an object: ${text.slice(0, 200)}`)
      } else if (message.type === 'STATE' && isDict(message.state)) {
        const { stream, data } = message.state
        if (isDict(stream) && isDict(stream.stream_descriptor))
          states[pyStr(stream.stream_descriptor.name)] = stream.stream_state ?? {}
        else if (isDict(message.state.global)) global = message.state
        else if (data !== undefined) global = message.state
      } else if (message.type === 'CONTROL' && isDict(message.control) && isDict(message.control.connectorConfig)) {
        const { config: next } = message.control.connectorConfig
        if (isDict(next)) newConfig = withoutInjected(next)
      }
    }
    const given = [
      ...Object.entries(states).map(([name, state]) => ({
        type: 'STREAM',
        stream: { stream_descriptor: { name }, stream_state: state },
      })),
      ...(isDict(global) ? [global] : []),
    ]
    await start(
      [
        ...['read', '--config', config(), '--catalog', fileOf(work, 'catalog.json', configuredCatalog(chosen))],
        ...(given.length > 0 ? ['--state', fileOf(work, 'state.json', given)] : []),
      ],
      onMessage,
    )
    for (const name of [...batches.keys()]) flush(name)
    for (const [stream, count] of await tables.publish(() => false)) log.info(`Stream '${stream}': ${counted(count, 'record')}.`)
    return {
      streams: states,
      ...(isDict(global) && { global }),
      fields: tables.fields(),
      ...(newConfig && { '#config': newConfig }),
    }
  }

  return { spec, check, discover, read }
}

const withoutInjected = (config: Dict): Dict =>
  JSON.parse(jsonText(Object.fromEntries(Object.entries(config).filter(([name]) => !name.startsWith('__injected_')))))

function configuredCatalog(
  chosen: readonly { readonly stream: SourceStream; readonly load: string; readonly settings: StreamSettings }[],
): Dict {
  return {
    streams: chosen.map(({ stream: { entry, keys, isIncremental }, load, settings }) => {
      const cursor = settings.replicationKey === undefined ? entry.default_cursor_field : [settings.replicationKey]
      return {
        stream: entry,
        sync_mode: isIncremental && load !== 'overwrite' ? 'incremental' : 'full_refresh',
        destination_sync_mode: load === 'deduped' ? 'append_dedup' : load,
        ...(Array.isArray(cursor) && cursor.length > 0 && { cursor_field: cursor }),
        ...((settings.primaryKey ?? keys).length > 0 && { primary_key: (settings.primaryKey ?? keys).map((key) => [key]) }),
      }
    }),
  }
}
