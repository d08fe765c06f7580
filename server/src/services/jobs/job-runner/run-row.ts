// One row of a job, or the one run of a configuration without rows (spec platform 1.5, spec storage 2.8.5).
//  (1) Inputs are read when this function is called, so after every row before it is done.
//  (2) Tables, files and state become visible in one transaction, and only while the job is still ours.
//  (3) The files of the data folder, with the clear secrets in them, are gone when this function has ended.

import { isDryRun } from '../../../../../contract/delivery.ts'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Checkpoint } from '../../../engines/runner/checkpoints.ts'
import type { DataFolder } from '../../../engines/runner/data-folder.ts'
import { withinQuota } from '../../../engines/runner/disk-quota.ts'
import { createMask } from '../../../engines/runner/mask.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { mapBounded } from '../../../kit/map-bounded.ts'
import type { LoadedTable, NewFile, OnBytes, RunScope, StagedFile } from '../../../model/run-ports.ts'
import { spareKeyOf } from './component-run.ts'
import { saveStage } from './debug-archive.ts'
import { type Inputs, readInputs } from './input.ts'
import { type OutputContext, type PlannedLoad, planFiles, planTableFiles, planTables } from './mapping/output-plan.ts'
import { STAGED_AT_ONCE } from './mapping/staging.ts'
import { readFileResults, readStateResult, readTableResults, storedResults } from './results.ts'
import { inPhase, loadFacts } from './row-account.ts'
import type { RowDeps, RowProgress, RowResult, RowRun } from './row-types.ts'
import { quotaOf, runSteps } from './run-steps.ts'
import { type RunState, readState, secretsIn, writeState } from './state.ts'

export async function runRow(deps: RowDeps, run: RowRun, progress: RowProgress): Promise<RowResult> {
  const checkpoint = run.checkpoint && (await deps.programs.checkpoints.open(run.checkpoint))
  try {
    const result = await runInFolder(deps, run, progress, checkpoint)
    if (!isDry(run, progress)) await checkpoint?.remove()
    return result
  } catch (error) {
    // Its results were refused: the next run has to make others, not the same again. What was sent elsewhere stays sent.
    if (!run.isDelivery && progress.hasRun && isRefusal(error) && !run.signal.aborted) await checkpoint?.remove()
    throw error
  } finally {
    await checkpoint?.close()
  }
}

/** What a dry run read is still to be delivered: state, lineage and a delivery that did not come to its end stay as they were. */
const isDry = ({ isDelivery }: RowRun, { usage }: RowProgress): boolean => isDelivery && isDryRun(usage)

const isRefusal = (error: unknown): boolean =>
  error instanceof PlatformError && error.kind !== 'transient' && error.kind !== 'bug'

async function runInFolder(
  deps: RowDeps,
  run: RowRun,
  progress: RowProgress,
  checkpoint: Checkpoint | undefined,
): Promise<RowResult> {
  const main = run.steps.find(({ isMain }) => isMain)
  const folder = await deps.programs.runner.newFolder(run.artifacts !== undefined, main && spareKeyOf(main))
  try {
    const state = readState(run.state)
    const phases = { account: progress.account, clock: deps.clock }
    run.tell({ phase: 'input' })
    const read = () => readWithinQuota(deps, run, folder, state)
    const inputs = await inPhase(phases, 'input', read, ({ tables, bytes }) => ({ tables: tables.length, bytes }))
    progress.inputTables = inputs.tables
    progress.namedTables = inputs.namedTables
    progress.secrets.push(...inputs.secrets)
    const mask = createMask([...run.secrets, ...inputs.secrets])
    if (inputs.tables.length > 0)
      run.log.say('info', `Fetched ${plural(inputs.tables.length, 'table')}: ${inputs.tables.map(({ id }) => id).join(', ')}.`)
    await run.begin()
    const publishAlways = () => publishTablesOfFailed(deps, run, folder)
    const publish = (batch: DataFolder) => publishBatch(deps, run, { batch, state, inputs }, progress)
    const place = { folder, mask, state, sql: inputs.sql, checkpoint, publishAlways, publishBatch: publish }
    const output = await runSteps(deps, run, place, progress)
    if (run.inputOnly) return emptyResult(inputs)
    if (run.debug) {
      // The state of the component may contain a secret that was unknown before.
      const remembered = createMask([...run.secrets, ...inputs.secrets, ...secretsIn(output.state ?? '{}')])
      await run.log.flush()
      await saveStage(run.debug, folder, 'stage_output.zip', remembered)
      return { ...emptyResult(inputs), images: progress.images, usage: output.usage }
    }
    run.tell({ phase: 'load' })
    const saved = writeState(state, output.state, inputs.tableStates, inputs.fileStates)
    const publishRest = () =>
      publishRow(deps, run, { folder, state: saved, artifacts: output.artifacts, processed: inputs.processed }, progress)
    const outputTables = await inPhase(phases, 'load', publishRest, loadFacts)
    progress.account.tables = outputTables
    return {
      ...emptyResult(inputs),
      images: progress.images,
      outputTables,
      outputBytes: outputTables.reduce((sum, table) => sum + table.bytes, 0),
      usage: output.usage,
      outputVariables: output.variables,
    }
  } finally {
    await deps.programs.runner.removeFolder(folder)
  }
}

/** What is read counts in the run's share of the disk, like what it writes. */
async function readWithinQuota(deps: RowDeps, run: RowRun, folder: DataFolder, state: RunState): Promise<Inputs> {
  const { mapping, staging, scope } = run
  const onRead: OnBytes = (done, total) => run.tell({ phase: 'input', done, total, unit: 'bytes' })
  const request = {
    scope,
    mapping,
    state,
    folder,
    staging: staging.input,
    now: deps.clock.now(),
    bareNulls: run.bareNulls,
    onRead,
  }
  const isEmpty = mapping.inputTables.length + mapping.inputFiles.length === 0
  if (isEmpty) return readInputs(deps, { ...request, signal: run.signal })
  return withinQuota(await quotaOf(deps, folder, 'The tables and files of the input mapping'), run.signal, (signal) =>
    readInputs(deps, { ...request, signal }),
  )
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

/** Names of results in the job's own words; more of them would only make the message unreadable. */
const NAMED_RESULTS = 100

interface RowOutput {
  readonly folder: DataFolder
  readonly state: string
  readonly artifacts: readonly StagedFile[]
  /** Files of the input mapping that get their tags when the row succeeds. */
  readonly processed: Inputs['processed']
}

/** Loads everything side by side, then shows it all at once, with the state. */
async function publishRow(
  deps: RowDeps,
  run: RowRun,
  { folder, state, artifacts, processed }: RowOutput,
  progress: RowProgress,
): Promise<readonly LoadedTable[]> {
  const context = { ...run.output, now: deps.clock.now() }
  const { loads, files: planned, warnings } = await planOutput(run, folder, context, progress.stored)
  for (const warning of warnings) run.log.say('warn', warning)
  const files = await mapBounded(planned, STAGED_AT_ONCE, (file) => deps.files.stage(run.scope, file, run.signal))
  await run.log.flush() // the output of the component precedes the messages of the storage
  const isKept = isDry(run, progress)
  // A run with other settings than the stored ones may deliver a part only.
  const isDelivered = !run.isDelivery || (!isKept && run.statePlace !== undefined)
  const commit = async (trx: Trx, loaded: readonly LoadedTable[] = []): Promise<void> => {
    await run.hold(trx)
    if (isDelivered) await recordUse(deps, run, progress, loaded, trx)
    await run.onPublish?.(
      trx,
      addedUp(progress.batchTables, loaded),
      artifacts.map(({ id }) => id),
    )
    for (const file of [...files, ...artifacts]) await file.publish(trx)
    await progress.dbt?.record(trx)
    if (!isKept) for (const { fileId, tags } of processed) await deps.files.addTags(trx, run.scope, fileId, tags)
    if (!isKept) await saveState(deps, run, state, trx)
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
  return addedUp(progress.batchTables, tables)
}

async function saveState(deps: RowDeps, { scope, statePlace, log }: RowRun, state: string, trx: Trx): Promise<void> {
  if (statePlace === undefined) return
  const { place, rowId, before } = statePlace
  const saved = await deps.configurations.saveState(trx, place, rowId, state)
  if (saved === undefined) log.say('warn', 'The state was not saved: the configuration was deleted while the job ran.')
  await deps.recordState(trx, {
    projectId: scope.projectId,
    jobId: Number(scope.runId),
    rowId,
    before,
    after: saved ?? null,
  })
}

async function recordUse(
  deps: RowDeps,
  { scope, mapping, output: { componentId, configurationId, rowId } }: RowRun,
  { inputTables, namedTables, columns, dbt }: RowProgress,
  loaded: readonly LoadedTable[],
  trx: Trx,
): Promise<void> {
  if (configurationId === null) return
  await deps.recordUse(trx, {
    projectId: scope.projectId,
    branchId: scope.branchId,
    componentId,
    configurationId,
    rowId,
    jobId: Number(scope.runId),
    read: [...inputTables.map(({ id }) => id), ...namedTables],
    written: loaded.map(({ id }) => id),
    columns: {
      ...Object.fromEntries(
        mapping.outputTables.flatMap(({ source, destination }) => {
          const known = columns[source]
          return known && destination ? [[destination, known]] : []
        }),
      ),
      ...dbt?.columns,
    },
  })
}

interface PlannedOutput {
  readonly loads: readonly PlannedLoad[]
  readonly files: readonly NewFile[]
  readonly warnings: readonly string[]
}

interface Batch {
  readonly batch: DataFolder
  readonly state: RunState
  readonly inputs: Inputs
}

/** What a component has left while it runs: tables that the mapping names need not be in every batch. */
async function publishBatch(deps: RowDeps, run: RowRun, { batch, state, inputs }: Batch, progress: RowProgress): Promise<void> {
  const found = await readTableResults(batch, run.mapping)
  const outputTables = run.mapping.outputTables.filter(({ source }) => found.some(({ name }) => name === source))
  const context = { ...run.output, now: deps.clock.now() }
  const { loads } = planTables(found, { ...run.mapping, outputTables }, context)
  const saved = writeState(state, await readStateResult(batch), inputs.tableStates, inputs.fileStates)
  const commit = async (trx: Trx, loaded: readonly LoadedTable[] = []): Promise<void> => {
    await run.holdBatch(trx)
    await recordUse(deps, run, progress, loaded, trx)
    if (run.statePlace) await deps.configurations.saveState(trx, run.statePlace.place, run.statePlace.rowId, saved)
  }
  const tables = loads.length === 0 ? await deps.inTransaction(commit).then(() => []) : await loadTables(deps, run, loads, commit)
  progress.batchTables = addedUp(progress.batchTables, tables)
  progress.account.tables = progress.batchTables
}

/** Rows and bytes of the same table are added. */
function addedUp(before: readonly LoadedTable[], next: readonly LoadedTable[]): readonly LoadedTable[] {
  const tables = new Map(before.map((table) => [table.id, table]))
  for (const table of next) {
    const { importedRowsCount = 0, bytes = 0 } = tables.get(table.id) ?? {}
    tables.set(table.id, {
      ...table,
      importedRowsCount: importedRowsCount + table.importedRowsCount,
      bytes: bytes + table.bytes,
    })
  }
  return [...tables.values()]
}

/** What becomes of everything the programs left. */
async function planOutput(
  { staging, mapping }: RowRun,
  folder: DataFolder,
  context: OutputContext,
  stored: RowProgress['stored'],
): Promise<PlannedOutput> {
  if (staging.output === 'none') return { loads: [], files: [], warnings: [] }
  const tables = [...(await readTableResults(folder, mapping)), ...storedResults(mapping, stored)]
  const files = planFiles(await readFileResults(folder), mapping.outputFiles, context)
  if (staging.output === 'files')
    return { loads: [], files: [...planTableFiles(tables, mapping, context), ...files], warnings: [] }
  return { ...planTables(tables, mapping, context), files }
}

/** Tables that the mapping writes also after a failed run. Other problems of the output are ignored then. */
async function publishTablesOfFailed(deps: RowDeps, run: RowRun, folder: DataFolder): Promise<void> {
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
  return deps.tables.loadAll(run.scope, filled, commit, run.signal, (done, total) =>
    run.tell({ phase: 'load', done, total, unit: 'bytes' }),
  )
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
