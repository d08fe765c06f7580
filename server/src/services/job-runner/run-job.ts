// A job from claim to result: the rows of a configuration, one after the other (seeds, rules for configurations with rows).

import { createHash, randomUUID } from 'node:crypto'
import type { Trx } from '../../engines/metadata-db/dialects.ts'
import { createMask, type Mask } from '../../engines/runner/mask.ts'
import type { Actor } from '../../kit/actor.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { ArtifactOwner } from './artifacts.ts'
import { environmentOf } from './component-run.ts'
import { configFile, processorConfigFile } from './config-file.ts'
import { createJobLog, type JobLog, type JobLogDeps } from './job-log.ts'
import { limitsOf } from './limits.ts'
import {
  chooseRows,
  notFound,
  ownConfiguration,
  type PlanDeps,
  type ProcessorPlan,
  planRow,
  type RowPlan,
} from './run-configuration.ts'
import { type RowDeps, type RowProgress, type RowResult, type RowRun, runRow, type Step } from './run-row.ts'
import { stagingOf } from './staging.ts'
import type {
  LoadedTable,
  ProjectInfo,
  RunComponents,
  RunnableComponent,
  RunScope,
  RunTokens,
  StoredConfiguration,
} from './storage.ts'

export interface QueuedJob {
  readonly id: number
  readonly projectId: number
  readonly branchId: number
  readonly isDefaultBranch: boolean
  readonly componentId: string
  readonly configurationId: string | null
  readonly configData: string | null
  readonly rowIds: readonly string[] | null
  readonly mode: 'run' | 'forceRun' | 'debug'
  readonly tag: string
  readonly actor: Actor
  readonly variableValuesId: string | null
  readonly variableValues: readonly { readonly name: string; readonly value: unknown }[]
  readonly backend: string | undefined
  readonly orchestrationId: string | null
  readonly baseUrl: string
}

export interface RunHandle {
  readonly job: QueuedJob
  /** Its reason is `killed`, `lost` or `stopped`. */
  readonly signal: AbortSignal
  begin(): Promise<void>
  hold(trx: Trx): Promise<void>
  /** The last results are published in this transaction: whatever happens next, the job has succeeded. */
  markPublished(trx: Trx, done: Pick<RunOfJob, 'result' | 'metrics'>): Promise<void>
  publish<T>(work: (trx: Trx) => Promise<T>): Promise<T>
}

export interface RunOfJob {
  readonly end: 'succeeded' | 'warned' | 'failed' | 'killed'
  readonly result: Readonly<Record<string, unknown>>
  readonly usage: readonly unknown[]
  readonly metrics: Readonly<Record<string, unknown>>
  readonly error: string | null
}

export interface JobRunnerDeps extends RowDeps, PlanDeps, JobLogDeps {
  readonly components: RunComponents
  readonly tokens: RunTokens
  readonly project: (projectId: number) => Promise<ProjectInfo>
  readonly log: { error(details: object, text: string): void }
}

/** What is gathered for the result while rows run; a failed job tells what it got to. */
interface Gathered {
  readonly rows: RowResult[]
  readonly progress: RowProgress[]
  readonly secrets: string[]
  version: string
  variables: Readonly<Record<string, string>>
}

export async function runJob(deps: JobRunnerDeps, handle: RunHandle): Promise<RunOfJob> {
  const { job } = handle
  const scope: RunScope = {
    actor: job.actor,
    projectId: job.projectId,
    branchId: job.branchId,
    isDefaultBranch: job.isDefaultBranch,
    runId: String(job.id),
    baseUrl: job.baseUrl,
  }
  const log = createJobLog(deps, scope, job)
  const gathered: Gathered = { rows: [], progress: [], secrets: [], version: '', variables: {} }
  try {
    const message = await runRows(deps, handle, scope, log, gathered)
    log.say('success', message)
    return {
      end: 'succeeded',
      result: { message, ...resultOf(gathered) },
      usage: usageOf(gathered),
      metrics: metricsOf(job, gathered),
      error: null,
    }
  } catch (error) {
    return failed(deps, handle, log, gathered, error)
  } finally {
    await log.flush()
  }
}

async function runRows(
  deps: JobRunnerDeps,
  handle: RunHandle,
  scope: RunScope,
  log: JobLog,
  gathered: Gathered,
): Promise<string> {
  const { job } = handle
  const component = deps.components.find(job.componentId)
  if (!component) throw new PlatformError('queue.unknownComponent', { component: job.componentId })
  const stored = await configurationOf(deps, job)
  gathered.version = stored.version === 0 ? '' : String(stored.version)
  const { rows, skipped } = chooseRows(stored, job.rowIds)
  for (const sentence of skipped) log.say('info', sentence)
  if (rows.length === 0) return 'No configurations executed.'
  const project = await deps.project(job.projectId)
  const token = component.forwardToken ? await deps.tokens.issue(scope, `Job ${job.id}`, TOKEN_SECONDS) : undefined
  if (token) gathered.secrets.push(token.value)
  try {
    for (const [index, row] of rows.entries()) {
      if (handle.signal.aborted) throw new PlatformError('jobRunner.componentFailed', { message: 'The job was terminated.' })
      const place = placeOf(job)
      const plan = await planRow(deps, {
        place,
        stored,
        row,
        variableValuesId: job.variableValuesId,
        variableValues: job.variableValues,
      })
      gathered.variables = { ...gathered.variables, ...plan.variables }
      gathered.secrets.push(...plan.secrets)
      const what = row ? `row ${index + 1} of ${rows.length}, "${row.name}" (${row.id})` : 'the configuration'
      log.say('info', `Running component ${component.id}: ${what}.`)
      const progress: RowProgress = {
        images: [],
        inputTables: [],
        usage: [],
        secrets: gathered.secrets,
        artifacts: { downloaded: [], uploaded: [] },
      }
      gathered.progress.push(progress)
      gathered.rows.push(
        await runPlanned(deps, handle, {
          scope,
          component,
          project,
          token: token?.value,
          plan,
          log,
          progress,
          version: gathered.version,
          onPublish:
            index === rows.length - 1
              ? (trx, tables, artifacts) => markPublished(handle, gathered, tables, artifacts, trx)
              : undefined,
        }),
      )
    }
  } finally {
    if (token) await deps.tokens.revoke(scope, token.id)
  }
  return FINISHED
}

const FINISHED = 'Component processing finished.'

/** What the job will say when it ends, kept from now on: the end may be written by whoever finds it lost. */
async function markPublished(
  handle: RunHandle,
  gathered: Gathered,
  outputTables: readonly LoadedTable[],
  artifacts: readonly number[],
  trx: Trx,
): Promise<void> {
  const last: RowResult = {
    images: [],
    inputTables: [],
    outputTables,
    inputBytes: 0,
    outputBytes: sumOf(outputTables),
    usage: [],
    outputVariables: {},
  }
  const progress = gathered.progress.map((one, at) =>
    at === gathered.progress.length - 1 ? { ...one, artifacts: { ...one.artifacts, uploaded: artifacts } } : one,
  )
  const whole = { ...gathered, progress, rows: [...gathered.rows, last] }
  await handle.markPublished(trx, { result: { message: FINISHED, ...resultOf(whole) }, metrics: metricsOf(handle.job, whole) })
}

const sumOf = (tables: readonly LoadedTable[]): number => tables.reduce((sum, { bytes }) => sum + bytes, 0)

/** As long as a job may run at most, and a while for its end. */
const TOKEN_SECONDS = 7 * 86_400

async function configurationOf(deps: JobRunnerDeps, job: QueuedJob): Promise<StoredConfiguration> {
  if (job.configData !== null) return ownConfiguration(job.configData)
  const configurationId = job.configurationId ?? ''
  const stored = await deps.configurations.find({
    projectId: job.projectId,
    branchId: job.branchId,
    componentId: job.componentId,
    configurationId,
  })
  if (!stored) throw notFound(job.componentId, configurationId)
  return stored
}

const placeOf = (job: QueuedJob) => ({
  projectId: job.projectId,
  branchId: job.branchId,
  componentId: job.componentId,
  configurationId: job.configurationId ?? undefined,
  isDefaultBranch: job.isDefaultBranch,
})

interface Planned {
  readonly scope: RunScope
  readonly component: RunnableComponent
  readonly project: ProjectInfo
  readonly token: string | undefined
  readonly plan: RowPlan
  readonly log: JobLog
  readonly progress: RowProgress
  readonly version: string
  readonly onPublish: RowRun['onPublish'] | undefined
}

async function runPlanned(deps: JobRunnerDeps, handle: RunHandle, planned: Planned): Promise<RowResult> {
  const { job } = handle
  const { scope, component, plan, token } = planned
  const images = await openImageParameters(deps, job, component)
  const steps = stepsOf(deps, job, planned, images.text)
  const isSaved = job.configurationId !== null && job.configData === null && job.mode !== 'debug'
  const place = {
    projectId: job.projectId,
    branchId: job.branchId,
    componentId: job.componentId,
    configurationId: job.configurationId ?? '',
  }
  return runRow(
    deps,
    {
      ...handle,
      scope,
      steps,
      mapping: plan.mapping,
      staging: stagingOf(component, plan.mapping),
      state: plan.state,
      secrets: [...plan.secrets, ...images.values, ...(token === undefined ? [] : [token])],
      output: {
        componentId: component.id,
        configurationId: job.configurationId,
        rowId: plan.rowId,
        branchId: job.branchId,
        runId: scope.runId,
        defaultBucket: component.defaultBucket,
        defaultBucketStage: component.defaultBucketStage,
        dataTypesSupport: component.dataTypesSupport,
      },
      statePlace: isSaved ? { place, rowId: plan.rowId } : undefined,
      debug:
        job.mode === 'debug'
          ? {
              scope,
              files: deps.files,
              tags: ['debug', component.id, `jobId:${job.id}`, ...(plan.rowId === null ? [] : [`rowId:${plan.rowId}`])],
              signal: handle.signal,
              publish: handle.publish,
            }
          : undefined,
      artifacts:
        job.configurationId === null ? undefined : { settings: plan.artifacts, owner: ownerOf(job, job.configurationId) },
      log: planned.log,
      ...(planned.onPublish ? { onPublish: planned.onPublish } : {}),
    },
    planned.progress,
  )
}

const ownerOf = (job: QueuedJob, configurationId: string): ArtifactOwner => ({
  componentId: job.componentId,
  configurationId,
  jobId: job.id,
  orchestrationId: job.orchestrationId,
})

async function openImageParameters(deps: JobRunnerDeps, job: QueuedJob, component: RunnableComponent) {
  const encrypt = await deps.secrets.encrypterOf(job.projectId)
  return deps.secrets.decrypt(
    { ...placeOf(job), componentId: component.id },
    encrypt(JSON.stringify(component.imageParameters), component.id),
  )
}

/** Before processors, the component, after processors; a component that takes no data has none. */
function stepsOf(deps: JobRunnerDeps, job: QueuedJob, planned: Planned, imageParameters: string): Step[] {
  const { component, plan } = planned
  const main: Step = {
    component,
    tag: plan.runtime.tag ?? plan.runtime.image_tag ?? job.tag,
    isMain: true,
    limits: limitsOf(component, plan.runtime, job.backend, true, deps.programs.diskBytes),
    configFile: configFile({ configuration: plan.configuration, imageParameters, action: 'run' }),
    environment: environmentFor(job, planned, component),
  }
  if (component.stagingInput === 'none') return [main]
  return [
    ...plan.before.map((one) => processorStep(deps, job, planned, one, 'before')),
    main,
    ...plan.after.map((one) => processorStep(deps, job, planned, one, 'after')),
  ]
}

function processorStep(
  deps: JobRunnerDeps,
  job: QueuedJob,
  planned: Planned,
  wanted: ProcessorPlan,
  position: 'before' | 'after',
): Step {
  const component = deps.components.find(wanted.component)
  if (!component) throw new PlatformError('queue.unknownComponent', { component: wanted.component })
  if (component.processorPosition !== 'any' && component.processorPosition !== position) {
    throw new PlatformError('jobRunner.invalidConfiguration', {
      reason: `the processor ${wanted.component} cannot run ${position} a component`,
    })
  }
  return {
    component,
    tag: wanted.tag ?? component.definition.tag,
    isMain: false,
    limits: limitsOf(component, {}, job.backend, false, deps.programs.diskBytes),
    configFile: processorConfigFile(wanted.parameters, JSON.stringify(component.imageParameters)),
    environment: environmentFor(job, planned, component),
  }
}

const environmentFor = (
  job: QueuedJob,
  { scope, component: main, project, token, plan, version }: Planned,
  component: RunnableComponent,
) =>
  environmentOf({
    scope,
    component,
    project,
    configurationId: job.configurationId ?? createHash('sha256').update(plan.configuration).digest('hex').slice(0, 32),
    version,
    rowId: plan.rowId,
    mode: job.mode === 'debug' ? 'debug' : 'run',
    token,
    dataTypesSupport: main.dataTypesSupport,
  })

/** Rows that are done stay done: their tables and their state are in the project. */
function failed(deps: JobRunnerDeps, { job, signal }: RunHandle, log: JobLog, gathered: Gathered, error: unknown): RunOfJob {
  const mask = createMask(gathered.secrets)
  const exceptionId = `job-${job.id}-${randomUUID().slice(0, 8)}`
  const known = error instanceof PlatformError ? error : undefined
  const isOurs = known === undefined || known.kind === 'bug' || known.kind === 'transient'
  const stopped =
    signal.reason === 'stopped' ? 'The job was interrupted: the node that ran it was stopped. Run it again.' : undefined
  const message = mask(
    stopped ??
      known?.message ??
      'An internal error of the platform ended the job. The exception id finds the details in the log.',
  )
  if (known === undefined && !signal.aborted)
    deps.log.error({ err: error, jobId: job.id, exceptionId }, 'a job failed by our fault')
  const isKilled = signal.reason === 'killed'
  log.say(isKilled ? 'warn' : 'error', isKilled ? 'The job was terminated.' : message)
  const result = { message, ...resultOf(gathered), error: { type: isOurs ? 'application' : 'user', exceptionId } }
  return {
    end: isKilled ? 'killed' : 'failed',
    result,
    usage: usageOf(gathered),
    metrics: metricsOf(job, gathered),
    error: message,
  }
}

function resultOf({ rows, progress, version, variables, secrets }: Gathered): Record<string, unknown> {
  const mask = createMask(secrets)
  const tableOf = ({
    id,
    name,
    displayName,
    columns,
  }: {
    id: string
    name: string
    displayName: string
    columns: readonly string[]
  }) => ({
    id,
    name,
    displayName,
    columns: columns.map((column) => ({ name: column })),
  })
  const unique = <T extends { readonly id: string }>(tables: readonly T[]): T[] => [
    ...new Map(tables.map((table) => [table.id, table])).values(),
  ]
  return {
    configVersion: version,
    images: progress.map(({ images }) => images),
    input: { tables: unique(progress.flatMap(({ inputTables }) => inputTables)).map(tableOf) },
    output: {
      tables: rows
        .flatMap(({ outputTables }) => outputTables)
        .map((table) => ({ ...tableOf(table), importedRowsCount: table.importedRowsCount })),
    },
    artifacts: {
      uploaded: progress.flatMap(({ artifacts }) => artifacts.uploaded).map(storageFile),
      downloaded: progress.flatMap(({ artifacts }) => artifacts.downloaded).map(storageFile),
    },
    variables: masked(variables, mask),
    outputVariables: masked(Object.assign({}, ...rows.map(({ outputVariables }) => outputVariables)), mask), // the last row wins
  }
}

/** A variable may have filled a `#` field, and a component may tell what it was given. */
const masked = (values: Readonly<Record<string, unknown>>, mask: Mask): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? mask(value) : value]))

const storageFile = (id: number) => ({ storageFileId: String(id) })

const usageOf = ({ progress }: Gathered): unknown[] => progress.flatMap(({ usage }) => usage)

const metricsOf = (job: QueuedJob, { rows }: Gathered): Record<string, unknown> => ({
  storage: {
    inputTablesBytesSum: rows.reduce((sum, { inputBytes }) => sum + inputBytes, 0),
    outputTablesBytesSum: rows.reduce((sum, { outputBytes }) => sum + outputBytes, 0),
  },
  backend: { size: null, containerSize: job.backend ?? 'small', context: null },
})
