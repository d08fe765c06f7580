// One row of a job, or the one run of a configuration without rows (spec platform 1.5, spec storage 2.8.5).
//  (1) Inputs are read when this function is called, so after every row before it is done.
//  (2) Tables, files and state become visible in one transaction, and only while the job is still ours.
//  (3) The files of the data folder, with the clear secrets in them, are gone when this function has ended.

import type { Trx } from '../../engines/metadata-db/dialects.ts'
import type { Checkpoint, CheckpointOwner } from '../../engines/runner/checkpoints.ts'
import {
  type DataFolder,
  handOver,
  refuseLinkedFolders,
  refuseTooMany,
  writeConfigFile,
  writeStateFile,
} from '../../engines/runner/data-folder.ts'
import { type DiskQuota, withinQuota } from '../../engines/runner/disk-quota.ts'
import { createMask, type Mask } from '../../engines/runner/mask.ts'
import type { RunOutcome } from '../../engines/runner/runner.ts'
import { turnYamlToJson, yamlOf } from '../../engines/runner/yaml-files.ts'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import { mapBounded } from '../../kit/map-bounded.ts'
import type {
  ConfigurationPlace,
  LoadedTable,
  NewFile,
  RunConfigurations,
  RunnableComponent,
  RunScope,
  RunSql,
  StagedFile,
  TableInfo,
} from '../../model/run-ports.ts'
import {
  type ArtifactOwner,
  type ArtifactRun,
  type ArtifactSettings,
  downloadArtifacts,
  stageArtifacts,
  wantsArtifacts,
} from './artifacts.ts'
import { type ImageRecord, type ProgramSettings, runComponent } from './component-run.ts'
import { type DebugArchive, saveStage } from './debug-archive.ts'
import { type InputDeps, type Inputs, readInputs } from './input.ts'
import type { JobLog } from './job-log.ts'
import { type ComponentLimits, type Failure, failureOf, thrown } from './limits.ts'
import type { Mapping } from './mapping.ts'
import { type OutputContext, type PlannedLoad, planFiles, planTableFiles, planTables } from './output-plan.ts'
import { readFileResults, readResultVariables, readStateResult, readTableResults, readUsage } from './results.ts'
import { inPhase, loadFacts, type RowAccount } from './row-account.ts'
import { runScript } from './sql-script.ts'
import { STAGED_AT_ONCE, type Staging } from './staging.ts'
import { type RunState, readState, secretsIn, writeState } from './state.ts'

export interface RowDeps extends InputDeps {
  readonly programs: ProgramSettings
  readonly sql: RunSql
  readonly configurations: RunConfigurations
  readonly clock: Clock
}

/** A component or processor that runs as part of the row, in order. */
export interface Step {
  readonly component: RunnableComponent
  readonly tag: string
  readonly isMain: boolean
  readonly limits: ComponentLimits
  /** Text of config.json, secrets in clear. */
  readonly configFile: string
  readonly environment: Readonly<Record<string, string>>
}

export interface RowRun {
  readonly scope: RunScope
  readonly steps: readonly Step[]
  readonly mapping: Mapping
  readonly staging: Staging
  /** Secrets in clear. */
  readonly state: string
  /** Every clear value that is in the folder. */
  readonly secrets: readonly string[]
  readonly output: Omit<OutputContext, 'now'>
  /** Where the state is saved; undefined when it is not. */
  readonly statePlace: { readonly place: ConfigurationPlace; readonly rowId: string | null } | undefined
  readonly debug: DebugArchive | undefined
  /** The row ends before its first program starts. */
  readonly inputOnly: boolean
  /** Undefined without a stored configuration: nobody would find them again. */
  readonly artifacts: { readonly settings: ArtifactSettings; readonly owner: ArtifactOwner } | undefined
  /** Whose folder outlives a failed run; undefined when the component has none. */
  readonly checkpoint: CheckpointOwner | undefined
  readonly log: JobLog
  readonly signal: AbortSignal
  /** To be called before the first program starts. */
  begin(): Promise<void>
  /** Fails when the job is no longer ours; part of every transaction that publishes. */
  hold(trx: Trx): Promise<void>
  publish<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /** Told in the transaction that publishes the row. */
  onPublish?(trx: Trx, tables: readonly LoadedTable[], artifacts: readonly number[]): Promise<void>
}

export interface RowResult {
  readonly images: readonly ImageRecord[]
  readonly inputTables: readonly TableInfo[]
  readonly outputTables: readonly LoadedTable[]
  readonly inputBytes: number
  readonly outputBytes: number
  readonly usage: readonly unknown[]
  readonly outputVariables: Readonly<Record<string, unknown>>
}

/** What is known of a row while it runs: a failed one still tells its images, inputs and usage. */
export interface RowProgress {
  images: ImageRecord[]
  inputTables: readonly TableInfo[]
  usage: readonly unknown[]
  /** Clear values that came to the folder with the inputs. */
  readonly secrets: string[]
  /** Ids of files. */
  readonly artifacts: { downloaded: readonly number[]; uploaded: readonly number[] }
  /** The component itself has done its work. */
  hasRun: boolean
  readonly account: RowAccount
}

export async function runRow(deps: RowDeps, run: RowRun, progress: RowProgress): Promise<RowResult> {
  const checkpoint = run.checkpoint && (await deps.programs.checkpoints.open(run.checkpoint))
  try {
    const result = await runInFolder(deps, run, progress, checkpoint)
    await checkpoint?.remove()
    return result
  } catch (error) {
    // Its results were refused: the next run has to make others, not the same again.
    if (progress.hasRun && isRefusal(error) && !run.signal.aborted) await checkpoint?.remove()
    throw error
  } finally {
    await checkpoint?.close()
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof PlatformError && error.kind !== 'transient' && error.kind !== 'bug'

async function runInFolder(
  deps: RowDeps,
  run: RowRun,
  progress: RowProgress,
  checkpoint: Checkpoint | undefined,
): Promise<RowResult> {
  const folder = await deps.programs.runner.newFolder(run.artifacts !== undefined)
  try {
    const state = readState(run.state)
    const phases = { account: progress.account, clock: deps.clock }
    const read = () => readWithinQuota(deps, run, folder, state)
    const inputs = await inPhase(phases, 'input', read, ({ tables, bytes }) => ({ tables: tables.length, bytes }))
    progress.inputTables = inputs.tables
    progress.secrets.push(...inputs.secrets)
    const mask = createMask([...run.secrets, ...inputs.secrets])
    if (inputs.tables.length > 0)
      run.log.say('info', `Fetched ${plural(inputs.tables.length, 'table')}: ${inputs.tables.map(({ id }) => id).join(', ')}.`)
    await run.begin()
    const told = await runSteps(deps, run, folder, mask, { state, sql: inputs.sql }, progress, checkpoint)
    if (run.inputOnly) return emptyResult(inputs)
    if (run.debug) {
      // What the component will remember may be a secret that nobody knew before.
      const remembered = createMask([...run.secrets, ...inputs.secrets, ...secretsIn(told.state ?? '{}')])
      await run.log.flush()
      await saveStage(run.debug, folder, 'stage_output.zip', remembered)
      return { ...emptyResult(inputs), images: progress.images, usage: told.usage }
    }
    const saved = writeState(state, told.state, inputs.tableStates, inputs.fileStates)
    const publish = () => publishRow(deps, run, folder, saved, told.artifacts, inputs.processed, progress)
    const outputTables = await inPhase(phases, 'load', publish, loadFacts)
    progress.account.tables = outputTables
    return {
      ...emptyResult(inputs),
      images: progress.images,
      outputTables,
      outputBytes: outputTables.reduce((sum, table) => sum + table.bytes, 0),
      usage: told.usage,
      outputVariables: told.variables,
    }
  } finally {
    await deps.programs.runner.removeFolder(folder)
  }
}

/** What is read counts in the run's share of the disk, like what it writes. */
async function readWithinQuota(deps: RowDeps, run: RowRun, folder: DataFolder, state: RunState): Promise<Inputs> {
  const { mapping, staging, scope } = run
  const request = { scope, mapping, state, folder, staging: staging.input, now: deps.clock.now() }
  const isEmpty = mapping.inputTables.length + mapping.inputFiles.length === 0
  if (isEmpty) return readInputs(deps, { ...request, signal: run.signal })
  return withinQuota(await quotaOf(deps, folder, 'The tables and files of the input mapping'), run.signal, (signal) =>
    readInputs(deps, { ...request, signal }),
  )
}

async function quotaOf({ programs }: RowDeps, folder: DataFolder, what: string): Promise<DiskQuota> {
  const bytes = await programs.runner.diskQuota(folder, programs.diskBytes)
  return {
    folder,
    bytes,
    excess: () => new PlatformError('jobRunner.noRoom', { what, megabytes: Math.round(bytes / 1e6) }),
  }
}

const emptyResult = (inputs: Inputs): RowResult => ({
  images: [],
  inputTables: inputs.tables,
  outputTables: [],
  inputBytes: inputs.bytes,
  outputBytes: 0,
  usage: [],
  outputVariables: {},
})

interface Told {
  readonly state: string | undefined
  readonly usage: readonly unknown[]
  readonly variables: Readonly<Record<string, unknown>>
  readonly artifacts: readonly StagedFile[]
}

/** Runs the programs one after the other over the folder; what one leaves is the input of the next. */
async function runSteps(
  deps: RowDeps,
  run: RowRun,
  folder: DataFolder,
  mask: Mask,
  { state, sql }: { readonly state: RunState; readonly sql: Inputs['sql'] },
  progress: RowProgress,
  checkpoint: Checkpoint | undefined,
): Promise<Told> {
  let told: Told = { state: undefined, usage: [], variables: {}, artifacts: [] }
  for (const [index, step] of run.steps.entries()) {
    if (index > 0) await handOver(folder)
    const format = step.component.configurationFormat
    const written = (json: string) => (format === 'yaml' ? yamlOf(json) : json)
    await writeConfigFile(folder, written(step.configFile), format)
    if (step.isMain) await writeStateFile(folder, written(state.component), format)
    const artifacts = step.isMain ? artifactRun(deps, run, folder) : undefined
    if (artifacts && wantsArtifacts(artifacts.settings))
      progress.artifacts.downloaded = await withinQuota(await quotaOf(deps, folder, 'The artifacts'), run.signal, (signal) =>
        downloadArtifacts(deps, { ...artifacts, signal }),
      )
    if (run.debug) {
      await run.log.flush()
      await saveStage(run.debug, folder, `stage_${index}.zip`, mask)
    }
    if (run.inputOnly) break
    if (!step.isMain) run.log.say('info', `Running processor ${step.component.id}.`)
    if (step.component.definition.type === 'sql') {
      const script = () => runSql(deps, run, folder, step, sql)
      const phase = { account: progress.account, clock: deps.clock }
      progress.images.push(await inPhase(phase, 'program', script, () => ({ component: step.component.id })))
      progress.hasRun = true
      continue
    }
    const program = () =>
      runComponent(deps.programs, {
        ...step,
        folder,
        mask,
        signal: run.signal,
        checkpointFolder: step.isMain ? checkpoint?.folder : undefined,
        onEvent: (event) => run.log.component(step.component, event),
      })
    const { outcome, image } = await inPhase({ account: progress.account, clock: deps.clock }, 'program', program, (ended) => ({
      component: step.component.id,
      ...usedBy(ended.outcome),
    }))
    progress.images.push(image)
    const failure = failureOf(step.component, outcome, step.limits)
    const isPlain = await isStillPlain(folder, failure, deps.programs.results)
    try {
      if (format === 'yaml' && isPlain) await turnYamlToJson(folder)
      if (step.isMain && isPlain) progress.usage = await readUsage(folder)
    } catch (error) {
      if (!failure) throw error // what a failed program left half written is not why it failed
    }
    if (failure) {
      if (isPlain && !run.signal.aborted && !run.debug && run.staging.output === 'local') await publishAlways(deps, run, folder)
      throw thrown(failure)
    }
    if (step.isMain) {
      progress.hasRun = true
      told = {
        state: await readStateResult(folder),
        usage: progress.usage,
        variables: await readResultVariables(folder),
        artifacts: artifacts && !run.debug ? await stagedArtifacts(deps, artifacts, run.log) : [],
      }
    }
  }
  return told
}

/** Nothing was seen of a program that ended at once. */
const usedBy = ({ peakMemoryBytes, cpuSeconds }: RunOutcome) => ({
  peakMemoryBytes: peakMemoryBytes || undefined,
  cpuSeconds: cpuSeconds || undefined,
})

/** A script has no program: its statements run in the SQL engine, within the disk and the time of the run. */
async function runSql(deps: RowDeps, run: RowRun, folder: DataFolder, step: Step, inputs: Inputs['sql']): Promise<ImageRecord> {
  const { scope, mapping, log } = run
  const say = (text: string) => log.say('info', text)
  return withinQuota(await quotaOf(deps, folder, 'The tables of the script'), run.signal, (signal) =>
    runScript(deps.sql, { ...step, scope, mapping, inputs, folder, say }, signal),
  )
}

const RESULTS = ['out/tables', 'out/files', 'artifacts/out']
/** Names of results in the job's own words; more of them would only make the message unreadable. */
const NAMED_RESULTS = 100

/** Whether the folder can be looked into. One that cannot is the reason of the end, unless the program has failed by itself. */
async function isStillPlain(folder: DataFolder, failure: Failure | undefined, mostResults: number): Promise<boolean> {
  try {
    refuseLinkedFolders(folder)
    await refuseTooMany(folder, RESULTS, mostResults)
    return true
  } catch (error) {
    if (!failure) throw error
    return false
  }
}

const artifactRun = (deps: RowDeps, run: RowRun, folder: DataFolder): ArtifactRun | undefined =>
  run.artifacts && {
    ...run.artifacts,
    scope: run.scope,
    folder,
    signal: run.signal,
    now: deps.clock.now(),
    diskBytes: deps.programs.diskBytes,
  }

/** A run whose artifacts cannot be kept has still done its work. */
async function stagedArtifacts(deps: RowDeps, artifacts: ArtifactRun, log: JobLog): Promise<readonly StagedFile[]> {
  try {
    return await stageArtifacts(deps, artifacts)
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    log.say('warn', `The artifacts were not kept: ${error.message}`)
    return []
  }
}

/** Loads everything side by side, then shows it all at once, with the state. */
async function publishRow(
  deps: RowDeps,
  run: RowRun,
  folder: DataFolder,
  state: string,
  artifacts: readonly StagedFile[],
  processed: Inputs['processed'],
  progress: RowProgress,
): Promise<readonly LoadedTable[]> {
  const context = { ...run.output, now: deps.clock.now() }
  const { loads, files: planned, warnings } = await planOutput(run, folder, context)
  for (const warning of warnings) run.log.say('warn', warning)
  const files = await mapBounded(planned, STAGED_AT_ONCE, (file) => deps.files.stage(run.scope, file, run.signal))
  await run.log.flush() // what the component said comes before what the storage says of its results
  const commit = async (trx: Trx, loaded: readonly LoadedTable[] = []): Promise<void> => {
    await run.hold(trx)
    await run.onPublish?.(
      trx,
      loaded,
      artifacts.map(({ id }) => id),
    )
    for (const file of [...files, ...artifacts]) await file.publish(trx)
    for (const { fileId, tags } of processed) await deps.files.addTags(trx, run.scope, fileId, tags)
    const saved =
      run.statePlace === undefined ||
      (await deps.configurations.saveState(trx, run.statePlace.place, run.statePlace.rowId, state))
    if (!saved) run.log.say('warn', 'The state was not saved: the configuration was deleted while the job ran.')
  }
  const isNothing = loads.length + files.length + artifacts.length + processed.length === 0 && run.statePlace === undefined
  const tables = isNothing ? [] : await loadTables(deps, run, loads, commit)
  for (const warning of tables.flatMap((table) => table.warnings)) run.log.say('warn', warning)
  progress.artifacts.uploaded = artifacts.map(({ id }) => id)
  const stored = [
    ...tables.map(({ id, importedRowsCount }) => `${id} (${plural(importedRowsCount, 'row')})`),
    ...planned.map(({ name }) => `file ${name}`),
  ]
  if (stored.length > 0) run.log.say('info', `Stored ${listed(stored)}.`)
  return tables
}

interface PlannedOutput {
  readonly loads: readonly PlannedLoad[]
  readonly files: readonly NewFile[]
  readonly warnings: readonly string[]
}

/** What becomes of everything the programs left. */
async function planOutput({ staging, mapping }: RowRun, folder: DataFolder, context: OutputContext): Promise<PlannedOutput> {
  if (staging.output === 'none') return { loads: [], files: [], warnings: [] }
  const tables = await readTableResults(folder, mapping)
  const files = planFiles(await readFileResults(folder), mapping.outputFiles, context)
  if (staging.output === 'files')
    return { loads: [], files: [...planTableFiles(tables, mapping, context), ...files], warnings: [] }
  return { ...planTables(tables, mapping, context), files }
}

/** Tables that the mapping wants also from a run that failed. What else is wrong with the output does not matter any more. */
async function publishAlways(deps: RowDeps, run: RowRun, folder: DataFolder): Promise<void> {
  try {
    const found = await readTableResults(folder, run.mapping, 'leaveOutBroken')
    const always = new Set(found.filter(({ manifest }) => manifest?.write_always).map(({ name }) => name))
    const outputTables = run.mapping.outputTables.filter(
      ({ source, write_always }) => found.some(({ name }) => name === source) && (write_always || always.has(source)),
    )
    for (const { source } of outputTables) always.add(source)
    const results = found.filter(({ name }) => always.has(name))
    const { loads } = planTables(results, { ...run.mapping, outputTables }, { ...run.output, now: deps.clock.now() })
    if (loads.length > 0) await loadTables(deps, run, loads, run.hold)
  } catch (error) {
    run.log.say('warn', `Tables of the failed run were not stored: ${error instanceof Error ? error.message : error}`)
  }
}

async function loadTables(
  deps: RowDeps,
  run: RowRun,
  loads: readonly PlannedLoad[],
  commit: (trx: Trx, loaded?: readonly LoadedTable[]) => Promise<void>,
): Promise<readonly LoadedTable[]> {
  if (loads.length === 0) {
    await run.publish(commit)
    return []
  }
  const filled = await mapBounded(loads, STAGED_AT_ONCE, (load) => withDeferredValues(deps, run.scope, load))
  return deps.tables.loadAll(run.scope, filled, commit, run.signal)
}

/** Delete rules whose values are in another table get them now. */
async function withDeferredValues(deps: RowDeps, scope: RunScope, load: PlannedLoad): Promise<PlannedLoad> {
  if (load.deferredFilters.length === 0) return load
  const fetched = await Promise.all(
    load.deferredFilters.map(async (filter) => ({
      ...filter,
      values: await deps.tables.columnValues(scope, filter.tableId, filter.fromColumn),
    })),
  )
  const deleteWhere = load.deleteWhere.map((rule, at) => ({
    ...rule,
    filters: [...rule.filters, ...fetched.filter((one) => one.rule === at)],
  }))
  return { ...load, deleteWhere }
}

const listed = (names: readonly string[]): string =>
  names.length <= NAMED_RESULTS
    ? names.join(', ')
    : `${names.slice(0, NAMED_RESULTS).join(', ')} and ${names.length - NAMED_RESULTS} more`

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
