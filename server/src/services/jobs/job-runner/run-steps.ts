// The programs of a row, one after the other over the same data folder.

import { withBatches } from '../../../engines/runner/batches.ts'
import type { Checkpoint } from '../../../engines/runner/checkpoints.ts'
import {
  type DataFolder,
  handOver,
  refuseLinkedFolders,
  refuseTooMany,
  writeConfigFile,
  writeStateFile,
} from '../../../engines/runner/data-folder.ts'
import { type DiskQuota, withinQuota } from '../../../engines/runner/disk-quota.ts'
import type { LogEvent } from '../../../engines/runner/log-event.ts'
import { createMask, type Mask } from '../../../engines/runner/mask.ts'
import type { RunOutcome } from '../../../engines/runner/runner.ts'
import { turnYamlToJson, yamlOf } from '../../../engines/runner/yaml-files.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { StagedFile } from '../../../model/run-ports.ts'
import { type ArtifactRun, downloadArtifacts, stageArtifacts, wantsArtifacts } from './artifacts.ts'
import { readFailure } from './cause.ts'
import { runComponent } from './component-run.ts'
import { type OpenDbt, openDbt } from './dbt/dbt-step.ts'
import { saveStage } from './debug-archive.ts'
import type { Inputs } from './input.ts'
import type { JobLog } from './job-log.ts'
import { type Failure, failureOf, thrown } from './limits.ts'
import { invalid } from './mapping/mapping.ts'
import { placeRecording } from './rehearsal.ts'
import { readResultVariables, readStateResult, readUsage } from './results.ts'
import { inPhase } from './row-account.ts'
import type { RowDeps, RowProgress, RowRun, Step } from './row-types.ts'
import { runSandboxStep } from './sandbox-step.ts'
import { runScript, runSparkScript, type ScriptEnd } from './sql-script.ts'
import type { RunState } from './state.ts'

/** Where the programs of a row work, and what they find there. */
export interface RowFolder {
  readonly folder: DataFolder
  readonly mask: Mask
  readonly state: RunState
  readonly sql: Inputs['sql']
  readonly checkpoint: Checkpoint | undefined
  /** Ports of this machine that the program may connect to. */
  readonly loopbackPorts?: readonly number[]
  /** Publishes the tables that are written also after a failed run. */
  publishAlways(): Promise<void>
  /** Rows and state that the component leaves while it runs, in one transaction. */
  publishBatch(batch: DataFolder): Promise<void>
}

/** What the component itself left, beside its tables and files. */
export interface StepOutput {
  readonly state: string | undefined
  readonly usage: readonly unknown[]
  readonly variables: Readonly<Record<string, unknown>>
  readonly artifacts: readonly StagedFile[]
}

/** What one program leaves in the folder is the input of the next. */
export async function runSteps(deps: RowDeps, run: RowRun, place: RowFolder, progress: RowProgress): Promise<StepOutput> {
  let output: StepOutput = { state: undefined, usage: [], variables: {}, artifacts: [] }
  for (const [index, step] of run.steps.entries()) {
    if (index > 0) await handOver(place.folder)
    const artifacts = await fillFolder(deps, run, step, place, progress)
    if (run.debug) {
      await run.log.flush()
      await saveStage(run.debug, place.folder, `stage_${index}.zip`, place.mask)
    }
    if (run.inputOnly) break
    if (!step.isMain) run.log.say('info', `Running processor ${step.component.id}.`)
    run.tell({ phase: 'program', component: step.component.id })
    const { type } = step.component.definition
    if (type === 'sql') await runSqlStep(deps, run, step, place, progress)
    else if (type === 'spark') await runSparkStep(deps, run, step, place, progress)
    else if (type === 'sandboxes') await runSandboxTask(deps, run, step)
    else if (step.isMain && step.component.features.includes(DBT)) await runDbtStep(deps, run, step, place, progress)
    else await runProgramStep(deps, run, step, place, progress)
    if (!step.isMain) continue
    progress.hasRun = true
    if (type !== 'sql' && type !== 'spark' && type !== 'sandboxes')
      output = {
        state: await readStateResult(place.folder),
        usage: progress.usage,
        variables: await readResultVariables(place.folder),
        artifacts: [
          ...(artifacts && !run.debug ? await stagedArtifacts(deps, artifacts, run.log) : []),
          ...(progress.dbt?.artifacts ?? []),
        ],
      }
  }
  return output
}

/** What the step finds: its configuration, and for the component itself its state and the artifacts of earlier runs. */
async function fillFolder(
  deps: RowDeps,
  run: RowRun,
  { component, configFile, isMain }: Step,
  { folder, state }: RowFolder,
  progress: RowProgress,
): Promise<ArtifactRun | undefined> {
  const format = component.configurationFormat
  const written = (json: string) => (format === 'yaml' ? yamlOf(json) : json)
  await writeConfigFile(folder, written(configFile), format)
  if (!isMain) return undefined
  await writeStateFile(folder, written(state.component), format)
  const artifacts = artifactRun(deps, run, folder)
  if (artifacts && wantsArtifacts(artifacts.settings))
    progress.artifacts.downloaded = await withinQuota(await quotaOf(deps, folder, 'The artifacts'), run.signal, (signal) =>
      downloadArtifacts(deps, { ...artifacts, signal }),
    )
  return artifacts
}

/** A script has no program: its statements run in the SQL engine, within the disk and the time of the run. */
async function runSqlStep(
  deps: RowDeps,
  run: RowRun,
  step: Step,
  { folder, sql }: RowFolder,
  progress: RowProgress,
): Promise<void> {
  const { scope, mapping, log } = run
  const say = (text: string) => log.say('info', text)
  const component = step.component.id
  const onStatement = (done: number, total: number) => run.tell({ phase: 'program', component, done, total, unit: 'statements' })
  const script = async (): Promise<ScriptEnd> =>
    withinQuota(await quotaOf(deps, folder, 'The tables of the script'), run.signal, (signal) =>
      runScript(deps.sql, { ...step, scope, mapping, inputs: sql, folder, say, onStatement }, signal),
    )
  const phases = { account: progress.account, clock: deps.clock }
  const { image, namedTables, columns } = await inPhase(phases, 'program', script, () => ({ component }))
  progress.images.push(image)
  progress.namedTables = namedTables
  // A processor behind the script may have made something else of its tables.
  progress.columns = run.steps.at(-1) === step ? columns : {}
}

/** The rows of a script on Spark are not in the folder: no processor can follow it. */
async function runSparkStep(
  deps: RowDeps,
  run: RowRun,
  step: Step,
  { folder, sql, mask }: RowFolder,
  progress: RowProgress,
): Promise<void> {
  const component = step.component.id
  if (run.steps.at(-1) !== step) throw invalid(`no processor can run after ${component}: its results are not in files of the run`)
  const { scope, mapping, log, signal } = run
  const onStatement = (done: number, total: number) => run.tell({ phase: 'program', component, done, total, unit: 'statements' })
  const say = (event: LogEvent) => log.component(step.component, event)
  const script = () =>
    runSparkScript(deps.spark, { ...step, scope, mapping, inputs: sql, folder, mask, say, onStatement }, signal)
  const phases = { account: progress.account, clock: deps.clock }
  const { image, stored } = await inPhase(phases, 'program', script, () => ({ component }))
  progress.images.push(image)
  progress.stored = stored
}

const runSandboxTask = (deps: RowDeps, { scope, output, log }: RowRun, { configFile }: Step): Promise<void> =>
  runSandboxStep(deps.sandboxes, {
    scope,
    configurationId: output.configurationId,
    configFile,
    say: (text) => log.say('info', text),
  })

/** Components with this feature run a dbt project in a workspace of their configuration. */
const DBT = 'dbt'

/** The state of a failed run is kept, too: the next one continues from it. */
async function runDbtStep(deps: RowDeps, run: RowRun, step: Step, place: RowFolder, progress: RowProgress): Promise<void> {
  const { component, configFile } = step
  if (run.steps.at(-1) !== step)
    throw invalid(`no processor can run after ${component.id}: its results are relations of a workspace`)
  const dbt = await openDbt(
    { ...deps, folders: deps.programs.folders.read, egress: deps.programs.egress, fetchOnce: deps.dbt.fetchOnce },
    {
      ...{ scope: run.scope, componentId: component.id, configurationId: run.output.configurationId, configFile },
      ...{ state: place.state.component, folder: place.folder, owner: run.debug ? undefined : run.artifacts?.owner },
      ...{ signal: run.signal, say: run.log.say },
    },
  )
  try {
    const mask = createMask(dbt.secrets)
    const own = { ...place, mask: (text: string) => mask(place.mask(text)), loopbackPorts: [dbt.port] }
    await runProgramStep(deps, run, step, own, progress).catch(async (error: unknown) => {
      await keepFailed(run, dbt, own.mask, progress)
      throw error
    })
    const end = await dbt.end(true, own.mask)
    progress.dbt = end
    progress.namedTables = end.read
  } finally {
    await dbt.close()
  }
}

/** A stopped run reports nothing. */
async function keepFailed(run: RowRun, dbt: OpenDbt, mask: Mask, progress: RowProgress): Promise<void> {
  if (run.signal.aborted) return
  try {
    const end = await dbt.end(false, mask)
    await run.publish(async (trx) => {
      await run.hold(trx)
      for (const file of end.artifacts) await file.publish(trx)
      await end.record(trx)
    })
    progress.dbt = end
    progress.artifacts.uploaded = end.artifacts.map(({ id }) => id)
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    run.log.say('warn', `The artefacts of the failed run were not kept: ${error.message}`)
  }
}

async function runProgramStep(deps: RowDeps, run: RowRun, step: Step, place: RowFolder, progress: RowProgress): Promise<void> {
  const { component, isMain, limits } = step
  const { folder, mask, checkpoint, loopbackPorts = [] } = place
  const recording = isMain ? run.rehearsal?.recording : undefined
  const replay = recording ? await placeRecording(deps, run.scope, recording, folder, run.signal) : {}
  const hasBatches = isMain && run.hasBatches
  const program = (signal: AbortSignal) =>
    runComponent(deps.programs, {
      ...step,
      environment: { ...step.environment, ...replay, ...(hasBatches && { MILLRACE_BATCHES: '1' }) },
      isOffline: run.rehearsal !== undefined,
      folder,
      mask,
      signal,
      loopbackPorts,
      checkpointFolder: isMain ? checkpoint?.folder : undefined,
      onEvent: (event) => run.log.component(component, event),
    })
  const phases = { account: progress.account, clock: deps.clock }
  const running = () => (hasBatches ? withBatches(folder, run.signal, place.publishBatch, program) : program(run.signal))
  const { outcome, image } = await inPhase(phases, 'program', running, (ended) => ({
    component: component.id,
    ...usedBy(ended.outcome),
  }))
  progress.images.push(image)
  const failure = failureOf(component, outcome, limits)
  const isPlain = await isStillPlain(folder, failure, deps.programs.results)
  try {
    if (component.configurationFormat === 'yaml' && isPlain) await turnYamlToJson(folder)
    if (isMain && isPlain) progress.usage = await readUsage(folder)
  } catch (error) {
    if (!failure) throw error // what a failed program left half written is not why it failed
  }
  if (!failure) return
  if (isPlain && !run.signal.aborted && !run.debug && run.staging.output === 'local') await place.publishAlways()
  throw thrown(failure, undefined, isPlain ? await readFailure(folder) : {})
}

/** Nothing was seen of a program that ended at once. */
const usedBy = ({ peakMemoryBytes, cpuSeconds }: RunOutcome) => ({
  peakMemoryBytes: peakMemoryBytes || undefined,
  cpuSeconds: cpuSeconds || undefined,
})

const RESULTS = ['out/tables', 'out/files', 'artifacts/out']

/** Whether the folder can be looked into. One that cannot is the reason of the end, unless the program has failed by itself. */
async function isStillPlain(folder: DataFolder, failure: Failure | undefined, maxResults: number): Promise<boolean> {
  try {
    refuseLinkedFolders(folder)
    await refuseTooMany(folder, RESULTS, maxResults)
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

export async function quotaOf({ programs }: RowDeps, folder: DataFolder, what: string): Promise<DiskQuota> {
  const bytes = await programs.runner.diskQuota(folder, programs.diskBytes)
  return {
    folder,
    bytes,
    excess: () => new PlatformError('jobRunner.noRoom', { what, megabytes: Math.round(bytes / 1e6) }),
  }
}
