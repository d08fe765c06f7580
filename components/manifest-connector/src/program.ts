// The connector as a component of the platform: KBC_DATADIR names a data folder with config.json; tables and state appear in its out/.
// Exit codes: 0 success, 1 the user can fix it, 2 anything else. A stream that fails fails the run: tables and state are published whole or not at all.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../../../contract/counted.ts'
import { untilJob } from '../../../contract/started-ahead.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { createHeapKeeper } from '../../http-extractor/src/heap.ts'
import { createEgress } from '../../http-extractor/src/http/egress.ts'
import { readEgressPolicy } from '../../http-extractor/src/http/egress-policy.ts'
import { createLog } from '../../http-extractor/src/log.ts'
import { createRedactor } from '../../http-extractor/src/redaction.ts'
import { cleanName } from '../../http-extractor/src/tables/names.ts'
import { createClock } from './clock.ts'
import { asObject, check, discover, keysOf, specOf } from './commands.ts'
import { fromExtractor } from './convert/from-extractor.ts'
import { toExtractor } from './convert/to-extractor.ts'
import { ConnectorError, messageOf } from './errors.ts'
import { createTransport, type Send } from './http/transport.ts'
import { loadManifest } from './manifest/load.ts'
import { authorizedConfig, placesOf, type RenewedConfig, withRenewed } from './platform/authorization.ts'
import { connectorNamed, PUBLIC_INDEX, publicConnectors, shippedConnectors, streamNamesOf } from './platform/catalogue.ts'
import { formOf } from './platform/form.ts'
import { createNestedTables, type NestedTables } from './platform/nested.ts'
import { readCatalogueParameters, readParameters, secretsIn, type WantedStream } from './platform/parameters.ts'
import { createRecorder, createReplay } from './platform/recording.ts'
import { openResume, type Resume } from './platform/resume.ts'
import { createTable, type Table, type TableOptions } from './platform/table.ts'
import { jsonText, parseJson } from './python/json.ts'
import { type Dict, getKey, isDict, pyStr, setKey, truthy } from './python/values.ts'
import { createSource, type Source } from './source.ts'
import { readStates } from './state.ts'

untilJob()

const redactor = createRedactor()
const print = (text: string) => void process.stdout.write(text)
const log = createLog({ debug: false, redactor, write: print })

async function main(): Promise<void> {
  const folder = process.env.KBC_DATADIR ?? '/data'
  const file = parseJson(readFileSync(join(folder, 'config.json'), 'utf8'))
  if (!isDict(file)) throw new ConnectorError('config.json is not an object.')
  for (const secret of secretsIn(file.parameters)) redactor.add(secret)
  const action = String(file.action ?? 'run')
  const transport = createTransport(createEgress(readEgressPolicy(process.env.MILLRACE_EGRESS_POLICY)))
  try {
    const found = await catalogueAnswer(action, file.parameters, transport.send)
    const converted = conversionOf(action, file.parameters)
    if (converted) return print(`${JSON.stringify(converted)}\n`)
    if (found) return print(`${JSON.stringify(found)}\n`)
    await withManifest(action, file, folder, transport.send)
  } finally {
    await transport.close()
  }
}

/** Undefined: not an action of the catalogue, which needs no manifest. */
async function catalogueAnswer(action: string, given: unknown, send: Send): Promise<object | undefined> {
  if (action !== 'catalogue' && action !== 'connector') return undefined
  const { name, index } = readCatalogueParameters(given)
  const url = index === 'public' ? PUBLIC_INDEX : index
  if (action === 'connector') {
    if (name === undefined)
      throw new ConnectorError("'parameters.name' is required: the name of a connector, or the URL of a manifest.")
    return connectorNamed(send, name, url)
  }
  return {
    connectors: shippedConnectors(),
    ...(url !== undefined && { public: await publicConnectors(send, url) }),
  }
}

/** Between the two formats of the builder. Undefined: not such an action. */
function conversionOf(action: string, given: unknown): object | undefined {
  if (action !== 'manifestToConfig' && action !== 'configToManifest') return undefined
  const { manifest, configuration, rows = [] } = isDict(given) ? given : {}
  if (action === 'configToManifest') {
    if (!Array.isArray(rows)) throw new ConnectorError("'parameters.rows' must be a list of configurations of rows.")
    return fromExtractor(configuration, rows)
  }
  if (typeof manifest !== 'string' && !isDict(manifest))
    throw new ConnectorError("'parameters.manifest' is required: an object, or the text of a YAML document.")
  return toExtractor(loadManifest(manifest))
}

/** What a run reaches: the API, and with `record` a file of what it answers; or only the answers that were recorded. */
function wayOut(action: string, isRecorded: boolean, folder: string, send: Send, resume: Resume | undefined) {
  const replayed = action === 'run' ? process.env.MILLRACE_REPLAY_FILE : undefined
  if (replayed) {
    const { send: answered, began } = createReplay(readFileSync(replayed, 'utf8'), redactor)
    return { send: answered, clock: createClock({ virtual: true, began: began ?? Date.now() }), finish: () => {} }
  }
  if (action !== 'run' || !isRecorded)
    return { send, clock: createClock(resume ? { began: resume.began } : {}), finish: () => {} }
  const began = Date.now()
  const recorder = createRecorder(folder, redactor, began)
  return { send: recorder.tap(send), clock: createClock({ began }), finish: recorder.finish }
}

/** What an earlier run with the same parameters, account and state has received. */
function resumeOf(file: Dict, state: Dict): Resume | undefined {
  const folder = process.env.MILLRACE_CHECKPOINT_DIR
  if (process.env.MILLRACE_REPLAY_FILE) return undefined
  if (!folder) {
    log.info("'parameters.resume' has no effect here: there is no folder that outlives this run (MILLRACE_CHECKPOINT_DIR).")
    return undefined
  }
  const account = isDict(file.authorization) && isDict(file.authorization.oauth_api) ? file.authorization.oauth_api.id : null
  const run = jsonText([file.parameters, account ?? null, state])
  return openResume({ folder, run, now: Date.now, log })
}

async function withManifest(action: string, file: Dict, folder: string, send: Send): Promise<void> {
  const parameters = readParameters(file.parameters ?? {})
  const manifest = loadManifest(parameters.manifest)
  if (action === 'spec') {
    const spec = specOf(manifest)
    const authorized = [...placesOf(isDict(manifest.spec) ? manifest.spec : {}).values()]
    const form = formOf(spec.connectionSpecification)
    return print(`${JSON.stringify({ ...spec, form, authorized, streams: streamNamesOf(manifest) })}\n`)
  }
  const stored = storedState(folder)
  const authorized = authorizedConfig(parameters.config, file.authorization, isDict(manifest.spec) ? manifest.spec : {})
  for (const secret of authorized.secrets) redactor.add(secret)
  const base = authorized.config
  let renewed = renewedIn(stored)
  const resume = action === 'run' && parameters.isResumed ? resumeOf(file, stored) : undefined
  const { send: sent, clock, finish } = wayOut(action, parameters.isRecorded, folder, send, resume)
  try {
    const source = createSource(manifest, withRenewed(base, renewed), {
      clock,
      send: sent,
      kept: resume,
      hide: (secret) => redactor.addPassing(secret),
      warn: (message) => log.warning(message),
      saveConfig: (config) => {
        renewed = { base, config }
      },
    })
    if (action === 'run')
      return await run(source, parameters.streams, {
        stored,
        folder,
        renewedConfig: () => renewed,
        allRead: () => resume?.allRead(),
      })
    const answer = await answerOf(action, manifest, source, parameters.streams)
    print(`${redactor.redact(JSON.stringify(answer))}\n`)
  } catch (error) {
    resume?.failed(error)
    throw error
  } finally {
    resume?.close()
    finish()
  }
}

function renewedIn(stored: Dict): RenewedConfig | undefined {
  const renewed = stored['#renewed']
  return isDict(renewed) && isDict(renewed.base) && isDict(renewed.config)
    ? { base: renewed.base, config: renewed.config }
    : undefined
}

async function answerOf(action: string, manifest: Dict, source: Source, chosen: readonly WantedStream[]): Promise<Dict> {
  if (action === 'testConnection') {
    const problem = await check(manifest, source)
    if (problem !== undefined) throw new ConnectorError(problem)
    return { status: 'success' }
  }
  if (action === 'discover') return discover(source)
  if (action === 'streams') return streamsOf(source)
  if (action === 'preview') return previewOf(source, chosen)
  throw new ConnectorError(
    `The action '${action}' is unknown. Known: testConnection, discover, streams, preview, spec, catalogue, connector, manifestToConfig, configToManifest.`,
  )
}

/** What a user chooses from: a stream that cannot be built has the reason. */
async function streamsOf(source: Source): Promise<Dict> {
  const streams: Dict[] = []
  for (const name of await source.streamNames()) {
    try {
      const { primaryKey, cursorField } = await source.stream(name, undefined)
      streams.push({ name, primaryKey: keysOf(primaryKey).map((path) => path.join('.')), incremental: cursorField !== undefined })
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error
      streams.push({ name, problem: error.message })
    }
  }
  return { streams }
}

const PREVIEW_RECORDS = 10
/** Windows and partitions without records are passed over, up to so many. */
const PREVIEW_SLICES = 10

/** The first records of one stream, from as few pages as it takes. */
async function previewOf(source: Source, chosen: readonly WantedStream[]): Promise<Dict> {
  const [wanted] = chosen
  if (!wanted) throw new ConnectorError("'parameters.stream' is required: the name of the stream to read.")
  const records: Dict[] = []
  const stream = await source.stream(wanted.name, undefined)
  let slices = 0
  for await (const slice of stream.cursor.slices()) {
    for await (const page of stream.read(slice)) {
      records.push(
        ...page
          .filter(truthy)
          .map(asObject)
          .slice(0, PREVIEW_RECORDS - records.length),
      )
      if (records.length >= PREVIEW_RECORDS) return { records: JSON.parse(jsonText(records)) }
    }
    if (++slices >= PREVIEW_SLICES) break
  }
  return { records: JSON.parse(jsonText(records)) }
}

const fieldsOf = (stored: Dict, stream: string): string[] => {
  const known = isDict(stored.fields) ? getKey(stored.fields, stream) : undefined
  return Array.isArray(known) ? known.map(pyStr) : []
}

function storedState(folder: string): Dict {
  const path = join(folder, 'in', 'state.json')
  const state = existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : {}
  return isDict(state) ? state : {}
}

interface RunPlace {
  readonly stored: Dict
  readonly folder: string
  readonly renewedConfig: () => RenewedConfig | undefined
  /** Called when nothing is requested any more. */
  readonly allRead: () => void
}

async function run(source: Source, wanted: readonly WantedStream[], place: RunPlace): Promise<void> {
  const { stored, folder, renewedConfig, allRead } = place
  const chosen = wanted.length > 0 ? wanted : (await source.streamNames()).map((name): WantedStream => ({ name }))
  const states = readStates(stored.streams)
  const work = join(folder, 'manifest-connector')
  const tables = new Map<string, Table>()
  const names = new Set<string>()
  for (const [i, each] of chosen.entries()) {
    if (tables.has(each.name)) throw new ConnectorError(`The stream '${each.name}' is chosen twice.`)
    const stream = await source.stream(each.name, states.get(each.name))
    const keys =
      each.primaryKey ??
      keysOf(stream.primaryKey)
        .filter((path) => path.length === 1)
        .flat()
    const load = each.load ?? (stream.cursorField === undefined ? 'overwrite' : keys.length > 0 ? 'deduped' : 'append')
    if (load === 'deduped' && keys.length === 0)
      throw new ConnectorError(
        `The stream '${each.name}' has no primary key, so it cannot be loaded deduped. Set 'primaryKey', or load append.`,
      )
    if (load === 'overwrite') states.delete(each.name) // a table that is replaced needs everything
    const name = cleanName(each.table ?? each.name)
    if (names.has(name)) throw new ConnectorError(`Two streams become the table '${name}'. Set 'table' for one of them.`)
    names.add(name)
    const { deletedField } = each
    const options: TableOptions = {
      name,
      outDir: join(folder, 'out', 'tables'),
      workDir: join(work, String(i)),
      schema: await stream.schema(),
      knownFields: fieldsOf(stored, each.name),
      primaryKey: load === 'append' ? [] : keys,
      incremental: load !== 'overwrite',
      drift: each.schemaDrift,
      isDeleted: deletedField !== undefined && load === 'deduped' ? (record) => truthy(getKey(record, deletedField)) : undefined,
    }
    if (deletedField !== undefined && load !== 'deduped')
      throw new ConnectorError(`'deletedField' of '${each.name}' needs the load deduped: rows are deleted by their key.`)
    tables.set(
      each.name,
      each.nested === 'tables'
        ? createNestedTables(options, (path) => fieldsOf(stored, `${each.name}/${path}`))
        : createTable(options),
    )
  }

  const fields: Dict = { ...(isDict(stored.fields) ? stored.fields : {}) }
  const next: Dict = { ...(isDict(stored.streams) ? stored.streams : {}) }
  const heap = createHeapKeeper()
  let failure: unknown
  const failed = await source.read([...tables.keys()], states, {
    async records(stream, records) {
      // An empty record is no row; the reference would end here.
      tables.get(stream)!.write(records.filter(truthy).map(asObject))
      heap.check()
    },
    async state(stream, state) {
      setKey(next, stream, state)
    },
    async failed(stream, error) {
      log.error(`Stream '${stream}' failed: ${messageOf(error)}`)
      failure ??=
        error instanceof ConnectorError ? new ConnectorError(`Stream '${stream}' failed: ${error.message}`, error) : error
    },
  })
  const renewed = renewedConfig()
  if (failed.length > 0) throw failure
  allRead()
  for (const [stream, table] of tables) log.info(`Stream '${stream}': ${counted(await table.publish(), 'record')}.`)
  for (const [stream, table] of tables) {
    setKey(fields, stream, table.fields())
    if ('childFields' in table)
      for (const [path, names] of (table as NestedTables).childFields()) setKey(fields, `${stream}/${path}`, [...names])
  }
  rmSync(work, { recursive: true, force: true })
  mkdirSync(join(folder, 'out'), { recursive: true })
  writeFileSync(join(folder, 'out', 'state.json'), jsonText({ streams: next, fields, ...(renewed && { '#renewed': renewed }) }))
}

try {
  await main()
} catch (error) {
  const isUsers = error instanceof ConnectorError || error instanceof UserError
  const text = isUsers ? error.message : `Unexpected error: ${messageOf(error)}`
  log.error(text, isUsers ? {} : { stack: error instanceof Error ? error.stack : null })
  process.stderr.write(`${redactor.redact(text)}\n`)
  process.exitCode = isUsers ? 1 : 2
}
