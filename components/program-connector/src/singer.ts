// Singer taps: discovery, the choice of streams, and the messages of a run as tables and state.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../../../contract/counted.ts'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'
import { nearestOf } from '../../manifest-connector/src/manifest/nearest.ts'
import { jsonText, parseJson } from '../../manifest-connector/src/python/json.ts'
import { type Dict, isDict, pyStr } from '../../manifest-connector/src/python/values.ts'
import type { Settings, StreamSettings } from './parameters.ts'
import type { Runtime } from './runtime.ts'
import { createTables, type Tables } from './tables.ts'

export interface DiscoveredStream {
  readonly name: string
  readonly entry: Dict
  readonly schema: Dict
  readonly keys: readonly string[]
  readonly replicationKeys: readonly string[]
}

const MAX_CATALOG = 64 * 1024 * 1024

export async function discover(settings: Settings, { run, work, log }: Runtime): Promise<DiscoveredStream[]> {
  const config = fileOf(work, 'config.json', settings.config)
  let text = ''
  await run([...settings.command, '--config', config, '--discover'], {
    onLine: (line) => {
      text += `${line}\n`
      if (text.length > MAX_CATALOG) throw new ConnectorError('The catalog of the tap is larger than 64 MiB.')
    },
    onError: (line) => log.info(line),
  })
  const catalog = catalogIn(text)
  if (!catalog)
    throw new ConnectorError(`${settings.command[0]} gave no catalog for --discover. Taps without discovery are not supported.`)
  return (catalog.streams as unknown[]).filter(isDict).map(discovered)
}

/** Some taps write other lines before it. */
function catalogIn(text: string): Dict | undefined {
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('\n{', at) + 1 || -1) {
    try {
      const value = parseJson(text.slice(at))
      return isDict(value) && Array.isArray(value.streams) ? value : undefined
    } catch {
      // not yet
    }
  }
  return undefined
}

const metadataOf = (entry: Dict): Dict => {
  const own = (Array.isArray(entry.metadata) ? entry.metadata : []).find(
    (each) => isDict(each) && Array.isArray(each.breadcrumb) && each.breadcrumb.length === 0,
  )
  return isDict(own) && isDict(own.metadata) ? own.metadata : {}
}
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(pyStr) : [])

function discovered(entry: Dict): DiscoveredStream {
  const metadata = metadataOf(entry)
  const keys = texts(metadata['table-key-properties'])
  return {
    name: pyStr(entry.tap_stream_id ?? entry.stream ?? ''),
    entry,
    schema: isDict(entry.schema) ? entry.schema : {},
    keys: keys.length > 0 ? keys : texts(entry.key_properties),
    replicationKeys: [
      ...new Set([
        ...texts(metadata['valid-replication-keys']),
        ...(typeof entry.replication_key === 'string' ? [entry.replication_key] : []),
      ]),
    ],
  }
}

/** The catalog with the chosen streams selected, and no other. */
export function selected(streams: readonly DiscoveredStream[], wanted: readonly StreamSettings[]): Dict {
  return {
    streams: streams.map(({ name, entry, schema }) => {
      const settings = wanted.find((each) => each.name === name)
      const others = (Array.isArray(entry.metadata) ? entry.metadata : []).filter(
        (each) => isDict(each) && Array.isArray(each.breadcrumb) && each.breadcrumb.length > 0,
      )
      const own: Dict = { ...metadataOf(entry), selected: settings !== undefined }
      if (settings?.replicationKey !== undefined) {
        own['replication-method'] = 'INCREMENTAL'
        own['replication-key'] = settings.replicationKey
      }
      if (settings?.load === 'overwrite') own['replication-method'] = 'FULL_TABLE'
      const fields = settings?.fields
      return {
        ...entry,
        ...(own['replication-method'] !== undefined && { replication_method: own['replication-method'] }),
        ...(settings?.replicationKey !== undefined && { replication_key: settings.replicationKey }),
        schema: { ...schema, selected: settings !== undefined },
        metadata: [{ breadcrumb: [], metadata: own }, ...others.map((each) => withChoice(each as Dict, fields))],
      }
    }),
  }
}

/** Fields that the tap itself needs stay, whatever is chosen. */
function withChoice(entry: Dict, fields: readonly string[] | undefined): Dict {
  const metadata = isDict(entry.metadata) ? entry.metadata : {}
  const [, field] = texts(entry.breadcrumb)
  if (!fields || field === undefined || metadata.inclusion === 'automatic') return entry
  return { ...entry, metadata: { ...metadata, selected: fields.includes(field) } }
}

export function refuseUnknown(streams: readonly { readonly name: string }[], wanted: readonly StreamSettings[]): void {
  for (const { name } of wanted) {
    if (streams.some((each) => each.name === name)) continue
    const near = nearestOf(
      name,
      streams.map((each) => each.name),
    )
    throw new ConnectorError(`The program has no stream '${name}'.${near ? ` Did you mean '${near}'?` : ''}`)
  }
}

/** Reads the chosen streams; the state for the next run. */
export async function read(settings: Settings, runtime: Runtime, stored: Dict): Promise<Dict> {
  const streams = await discover(settings, runtime)
  refuseUnknown(streams, settings.streams)
  const wanted = settings.streams.length > 0 ? settings.streams : streams.map(({ name }): StreamSettings => ({ name }))
  const { work, run, folder, log } = runtime
  const tables = createTables({ folder, fields: stored.fields })
  // A tap accepts both names of a stream.
  const byName = new Map(
    streams.flatMap((each) => [[each.name, each] as const, [pyStr(each.entry.stream ?? each.name), each] as const]),
  )
  const reader = createReader({ wanted, nameOf: (stream) => byName.get(stream)?.name ?? stream, tables, stored, log })
  const state = isDict(stored.value) && wanted.some(({ load }) => load !== 'overwrite') ? stored.value : undefined
  await run(
    [
      ...settings.command,
      '--config',
      fileOf(work, 'config.json', settings.config),
      '--catalog',
      fileOf(work, 'catalog.json', selected(streams, wanted)),
      ...(state ? ['--state', fileOf(work, 'state.json', state)] : []),
    ],
    { onLine: reader.line, onError: (line) => metricOrLog(line, log) },
  )
  for (const each of wanted) if (!tables.get(each.name)) tables.open(each, describedBy(byName.get(each.name)!))
  for (const [stream, count] of await tables.publish(reader.isReplaced))
    log.info(`Stream '${stream}': ${counted(count, 'record')}.`)
  return { value: reader.state() ?? stored.value ?? {}, versions: reader.versions(), fields: tables.fields() }
}

const describedBy = ({ schema, keys, replicationKeys, entry }: DiscoveredStream) => ({
  schema,
  keys,
  isIncremental: replicationKeys.length > 0 && metadataOf(entry)['forced-replication-method'] !== 'FULL_TABLE',
})

interface ReaderOptions {
  readonly wanted: readonly StreamSettings[]
  nameOf(stream: string): string
  readonly tables: Tables
  readonly stored: Dict
  readonly log: Runtime['log']
}

const MAX_GARBAGE = 20
/** Records are handed to their table in batches. */
const BATCH = 500
const DELETED_AT = '_sdc_deleted_at'

export function createReader({ wanted, nameOf, tables, stored, log }: ReaderOptions) {
  const before = isDict(stored.versions) ? stored.versions : {}
  const versions = new Map<string, unknown>()
  const activated = new Set<string>()
  const skipped = new Set<string>()
  const settingsOf = new Map(wanted.map((each) => [each.name, each]))
  const batches = new Map<string, Dict[]>()
  let state: unknown
  let garbage = 0

  const flush = (stream: string) => {
    const batch = batches.get(stream)
    if (!batch || batch.length === 0) return
    batches.set(stream, [])
    tables.get(stream)!.table.write(batch)
  }

  function onSchema(message: Dict): void {
    const stream = nameOf(textOf(message, 'stream'))
    const settings = settingsOf.get(stream)
    if (!settings) return
    const schema = isDict(message.schema) ? message.schema : {}
    const known = tables.get(stream)
    if (known) {
      flush(stream)
      if (!settings.fields) known.table.extend(schema)
      return
    }
    const properties = isDict(schema.properties) ? schema.properties : {}
    const hasDeletes = Object.hasOwn(properties, DELETED_AT) && settings.deletedField === undefined
    const bookmarks = message.bookmark_properties
    tables.open(hasDeletes ? { ...settings, deletedField: DELETED_AT } : settings, {
      schema,
      keys: texts(message.key_properties),
      isIncremental:
        texts(typeof bookmarks === 'string' ? [bookmarks] : bookmarks).length > 0 || settings.replicationKey !== undefined,
    })
  }

  function onRecord(message: Dict): void {
    const stream = nameOf(textOf(message, 'stream'))
    const target = tables.get(stream)
    if (!target) {
      if (settingsOf.has(stream)) throw new ConnectorError(`The tap sent a RECORD of '${stream}' before its SCHEMA.`)
      if (!skipped.has(stream)) log.warning(`The tap sent records of '${stream}', which is not selected. They are left out.`)
      skipped.add(stream)
      return
    }
    if (!isDict(message.record)) throw new ConnectorError(`The tap sent a RECORD of '${stream}' that is not an object.`)
    if (message.version !== undefined && message.version !== null) useVersion(stream, message.version)
    let batch = batches.get(stream)
    if (!batch) {
      batch = []
      batches.set(stream, batch)
    }
    if (batch.push(message.record) >= BATCH) flush(stream)
  }

  /** Rows of an older version are not part of the table any more. */
  function useVersion(stream: string, version: unknown): void {
    const current = versions.get(stream)
    if (current === version) return
    if (current !== undefined) {
      batches.set(stream, [])
      tables.get(stream)!.table.clear()
    }
    versions.set(stream, version)
  }

  const handlers: Readonly<Record<string, (message: Dict) => void>> = {
    SCHEMA: onSchema,
    RECORD: onRecord,
    STATE: (message) => {
      state = message.value
    },
    ACTIVATE_VERSION: (message) => {
      const stream = nameOf(textOf(message, 'stream'))
      if (!tables.get(stream)) return
      useVersion(stream, message.version)
      activated.add(stream)
    },
    BATCH: () => {
      throw new ConnectorError('The tap sends BATCH messages, which are not supported. Turn batches off in its configuration.')
    },
  }

  function line(text: string): void {
    let message: unknown
    try {
      message = parseJson(text)
    } catch {
      // Not a message: what a library of the tap printed.
      if (garbage++ < MAX_GARBAGE) log.info(text.slice(0, 500))
      return
    }
    const handler = isDict(message) && typeof message.type === 'string' ? handlers[message.type] : undefined
    if (handler) handler(message as Dict)
    else if (garbage++ < MAX_GARBAGE) log.info(`A message of no known type: ${text.slice(0, 300)}`)
  }

  return {
    line,
    state: (): unknown => state,
    versions: (): Dict => ({ ...before, ...Object.fromEntries([...versions].filter(([stream]) => activated.has(stream))) }),
    /** The table becomes what this run has read: a version was activated that is not the one of the table. */
    isReplaced: (stream: string): boolean => {
      flush(stream)
      return activated.has(stream) && before[stream] !== undefined && before[stream] !== versions.get(stream)
    },
  }
}

function textOf(message: Dict, name: string): string {
  const value = message[name]
  if (typeof value !== 'string' || value === '')
    throw new ConnectorError(`The tap sent a ${pyStr(message.type)} without '${name}'.`)
  return value
}

/** `INFO METRIC: {...}` of the Singer libraries. */
export function metricOrLog(line: string, log: Runtime['log']): void {
  const found = /\bMETRIC: (\{.*\})\s*$/.exec(line)
  try {
    if (!found) throw new SyntaxError('no metric')
    const metric = JSON.parse(found[1]!) as { metric?: unknown; value?: unknown; tags?: object } // shown as it is
    log.info(`Metric ${String(metric.metric)}: ${String(metric.value)}`, { ...metric.tags })
  } catch {
    log.info(line)
  }
}

export function fileOf(folder: string, name: string, value: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, jsonText(value), { mode: 0o600 })
  return path
}
