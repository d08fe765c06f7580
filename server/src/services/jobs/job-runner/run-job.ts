// A job from claim to result: the rows of a configuration, one after the other (spec storage 2.8.5).

import { randomUUID } from 'node:crypto'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { CheckpointOwner } from '../../../engines/runner/checkpoints.ts'
import { createMask } from '../../../engines/runner/mask.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { diskFullError } from '../../../kit/disk-full.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { JobCause, SinceLastGood } from '../../../model/job-cause.ts'
import type { JobProgress, StateOfRun } from '../../../model/job-progress.ts'
import { placeOf, type QueuedJob } from '../../../model/queued-job.ts'
import type {
  ConfigurationChanges,
  ConfigurationPlace,
  LoadedTable,
  ProjectInfo,
  RunnableComponent,
  RunOauth,
  RunScope,
  RunTokens,
  StoredConfiguration,
} from '../../../model/run-ports.ts'
import type { ArtifactOwner } from './artifacts.ts'
import { causeOf } from './cause.ts'
import { createJobLog, type JobLog, type JobLogDeps } from './job-log.ts'
import { type Gathered, metricsOf, resultOf, usageOf } from './job-result.ts'
import { sizeOf } from './limits.ts'
import { gone } from './mapping/mapping.ts'
import { defaultBucketId } from './mapping/output-plan.ts'
import { stagingOf } from './mapping/staging.ts'
import { withOauthCredentials } from './oauth-credentials.ts'
import { type PlannedRow, prepareSteps, type StepDeps } from './prepare-steps.ts'
import {
  checkProcessors,
  checkRehearsal,
  findRecording,
  needsRecording,
  withoutSecrets,
  withProductionState,
} from './rehearsal.ts'
import { closeRowAccount, openRowAccount, publishedAccount, startedRows } from './row-account.ts'
import type { RowDeps, RowProgress, RowResult, RowRun } from './row-types.ts'
import { chooseRows, contextOf, notFound, ownConfiguration, planRow, rowIdsIn } from './run-configuration.ts'
import { runRow } from './run-row.ts'

export interface RunHandle {
  readonly job: QueuedJob
  /** Its reason is `killed`, `lost` or `stopped`. */
  readonly signal: AbortSignal
  /** To be called before the first program starts, with the version that runs. */
  begin(configVersion: number | null): Promise<void>
  hold(trx: Trx): Promise<void>
  /** The last results are published in this transaction: whatever happens next, the job has succeeded. */
  markPublished(trx: Trx, done: Pick<RunOfJob, 'result' | 'metrics'>): Promise<void>
  publish<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  holdBatch(trx: Trx): Promise<void>
  /** How far it is; written down once in a while. */
  tell(progress: JobProgress): void
}

export interface RunOfJob {
  readonly end: 'succeeded' | 'warned' | 'failed' | 'killed'
  readonly result: Readonly<Record<string, unknown>>
  readonly usage: readonly unknown[]
  readonly metrics: Readonly<Record<string, unknown>>
  readonly error: string | null
  readonly cause: JobCause | null
  /** What the row that failed would have gone on from; null when there is none. */
  readonly unsavedState: StateOfRun | null
}

export interface JobRunnerDeps extends RowDeps, StepDeps, JobLogDeps {
  readonly tokens: RunTokens
  readonly oauth: RunOauth
  readonly project: (projectId: number) => Promise<ProjectInfo>
  /** The last run of the same configuration and rows that ended well. */
  readonly lastGood: (job: QueuedJob) => Promise<LastGoodRun | undefined>
  readonly changesSince: (place: ConfigurationPlace, version: number) => Promise<ConfigurationChanges>
  readonly log: { error(details: object, text: string): void }
}

export interface LastGoodRun {
  readonly jobId: number
  readonly endedAt: number
  readonly configVersion: number | null
}

export async function runJob(given: JobRunnerDeps, handle: RunHandle): Promise<RunOfJob> {
  const { job } = handle
  const deps = job.mode === 'rehearse' ? withoutSecrets(given) : given
  const scope: RunScope = {
    actor: job.actor,
    projectId: job.projectId,
    branchId: job.branchId,
    isDefaultBranch: job.isDefaultBranch,
    runId: String(job.id),
    baseUrl: job.baseUrl,
  }
  const log = createJobLog(deps, scope, job)
  const gathered: Gathered = {
    rows: [],
    progress: [],
    accounts: [],
    queued: { startedAt: job.readyAt, endedAt: Math.max(job.readyAt, job.startedAt) },
    secrets: [],
    version: '',
    stored: undefined,
    variables: {},
    size: 'small',
    context: undefined,
    running: undefined,
  }
  try {
    const message = await runRows(deps, handle, scope, log, gathered)
    log.say('success', message)
    const mask = createMask(gathered.secrets)
    return {
      end: 'succeeded',
      result: { message, ...resultOf(gathered, mask) },
      usage: usageOf(gathered, mask),
      metrics: metricsOf(gathered),
      error: null,
      cause: null,
      unsavedState: null,
    }
  } catch (error) {
    return failed(deps, handle, log, gathered, { error, since: await sinceLastGood(deps, job) })
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
  if (!job.isDefaultBranch && !(await deps.findBranch(job.projectId, String(job.branchId))))
    throw gone(`its branch ${job.branchId} no longer exists`)
  if (job.mode === 'rehearse') await checkRehearsal(deps, job, component)
  const found = await configurationOf(deps, job)
  const stored =
    job.mode === 'rehearse' ? await withProductionState(deps, scope, configurationPlace(job), found, component) : found
  gathered.stored = stored
  gathered.version = stored.version === 0 ? '' : String(stored.version)
  const { rows, skipped } = chooseRows(stored, job.rowIds)
  for (const sentence of skipped) log.say('info', sentence)
  if (rows.length === 0) return 'No configurations executed.'
  const project = await deps.project(job.projectId)
  const bucketComponentId = await bucketComponentOf(deps, scope, component, job.configurationId, stored.listedAs)
  const token =
    component.forwardToken && job.mode !== 'rehearse' ? await deps.tokens.issue(scope, `Job ${job.id}`, TOKEN_SECONDS) : undefined
  if (token) gathered.secrets.push(token.value)
  try {
    for (const [index, row] of rows.entries()) {
      if (handle.signal.aborted) throw new PlatformError('jobRunner.componentFailed', { message: 'The job was terminated.' })
      const account = openRowAccount(deps.clock, row?.id ?? null)
      gathered.accounts.push(account)
      gathered.running = isStateSaved(job) ? { rowId: row?.id ?? null, before: row?.state ?? stored.state } : undefined
      const place = placeOf(job)
      const planned = await planRow(deps, {
        place,
        stored,
        row,
        variableValuesId: job.variableValuesId,
        variableValues: job.variableValues,
        variableOverrides: job.variableOverrides,
      })
      const opened = await withOauthCredentials(deps, job.actor, component, planned.configuration)
      const plan = { ...planned, configuration: opened.text, secrets: [...planned.secrets, ...opened.values] }
      gathered.variables = { ...gathered.variables, ...plan.variables }
      gathered.secrets.push(...plan.secrets)
      gathered.size = sizeOf(plan.runtime, job.backend)
      gathered.context = contextOf(job, plan)
      const what = row ? `row ${index + 1} of ${rows.length}, "${row.name}" (${row.id})` : 'the configuration'
      log.say('info', `${job.inputOnly ? 'Filling the data folder of' : 'Running'} component ${component.id}: ${what}.`)
      const progress: RowProgress = {
        images: [],
        inputTables: [],
        namedTables: [],
        columns: {},
        stored: {},
        usage: [],
        batchTables: [],
        secrets: gathered.secrets,
        artifacts: { downloaded: [], uploaded: [] },
        hasRun: false,
        account,
      }
      gathered.progress.push(progress)
      gathered.rows.push(
        await runPlanned(deps, handle, {
          scope,
          component,
          bucketComponentId,
          project,
          token: token?.value,
          plan,
          log,
          progress,
          stateBefore: row?.state ?? stored.state,
          tell: (part) =>
            handle.tell({
              ...part,
              rowsDone: index,
              rowsTotal: rows.length,
              rowId: row?.id ?? null,
              // As they are when it is written: the phase that it reports has not started yet.
              get rows() {
                return startedRows(gathered.accounts)
              },
            }),
          version: gathered.version,
          onPublish:
            index === rows.length - 1
              ? (trx, tables, artifacts) => markPublished(trx, deps, handle, gathered, { tables, artifacts })
              : undefined,
        }),
      )
      closeRowAccount(account, deps.clock, { status: 'success', error: undefined })
      gathered.running = undefined
    }
  } finally {
    if (token) await deps.tokens.revoke(scope, token.id)
  }
  return FINISHED
}

const FINISHED = 'Component processing finished.'

/** The result of the job, stored from now on: the end may be written by another worker that finds it lost. */
async function markPublished(
  trx: Trx,
  { clock }: Pick<JobRunnerDeps, 'clock'>,
  handle: RunHandle,
  gathered: Gathered,
  { tables: outputTables, artifacts }: { readonly tables: readonly LoadedTable[]; readonly artifacts: readonly number[] },
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
  const accounts = gathered.accounts.map((account, at) =>
    at === gathered.accounts.length - 1 ? publishedAccount(account, clock, outputTables) : account,
  )
  const whole = { ...gathered, progress, accounts, rows: [...gathered.rows, last] }
  const result = { message: FINISHED, ...resultOf(whole, createMask(gathered.secrets)) }
  await handle.markPublished(trx, { result, metrics: metricsOf(whole) })
}

const sumOf = (tables: readonly LoadedTable[]): number => tables.reduce((sum, { bytes }) => sum + bytes, 0)

/** As long as a job may run at most, and a while for its end. */
const TOKEN_SECONDS = 7 * 86_400

/** The configuration a job runs, with its rows as they are now. */
export async function configurationOf(
  { configurations }: Pick<JobRunnerDeps, 'configurations'>,
  job: QueuedJob,
): Promise<StoredConfiguration> {
  if (job.configData !== null) return ownConfiguration(job.configData)
  const place = configurationPlace(job)
  const stored = await configurations.find(place)
  if (!stored) throw notFound(job.componentId, place.configurationId)
  return stored
}

const configurationPlace = ({ projectId, branchId, componentId, configurationId }: QueuedJob): ConfigurationPlace => ({
  projectId,
  branchId,
  componentId,
  configurationId: configurationId ?? '',
})

const isStateSaved = ({ configurationId, configData, mode }: QueuedJob): boolean =>
  configurationId !== null && configData === null && mode !== 'debug' && mode !== 'rehearse'

interface Planned extends PlannedRow, Pick<RowRun, 'tell'> {
  readonly stateBefore: string
  readonly bucketComponentId: string
  readonly log: JobLog
  readonly progress: RowProgress
  readonly onPublish: RowRun['onPublish'] | undefined
}

async function runPlanned(deps: JobRunnerDeps, handle: RunHandle, planned: Planned): Promise<RowResult> {
  const { job } = handle
  const { scope, component, plan, token } = planned
  const { steps, secrets: opened } = await prepareSteps(deps, job, planned)
  planned.progress.secrets.push(...opened)
  const isRehearsal = job.mode === 'rehearse'
  if (isRehearsal) checkProcessors(steps)
  const isSaved = isStateSaved(job)
  return runRow(
    deps,
    {
      ...handle,
      begin: () => handle.begin(planned.version === '' ? null : Number(planned.version)),
      scope,
      steps,
      inputOnly: job.inputOnly,
      mapping: plan.mapping,
      staging: stagingOf(component, plan.mapping, plan.runtime),
      bareNulls: component.features.includes(INPUT_NULLS),
      state: plan.state,
      secrets: [...plan.secrets, ...opened, ...(token === undefined ? [] : [token])],
      output: {
        componentId: component.id,
        configurationId: job.configurationId,
        rowId: plan.rowId,
        branchId: job.branchId,
        runId: scope.runId,
        defaultBucket: component.defaultBucket,
        defaultBucketStage: component.defaultBucketStage,
        bucketComponentId: planned.bucketComponentId,
        dataTypesSupport: plan.mapping.dataTypesSupport ?? component.dataTypesSupport,
      },
      statePlace: isSaved ? { place: configurationPlace(job), rowId: plan.rowId, before: planned.stateBefore } : undefined,
      tell: planned.tell,
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
      rehearsal: isRehearsal ? { recording: await recordingOf(deps, job, scope, component, plan.rowId) } : undefined,
      artifacts:
        job.configurationId === null || isRehearsal
          ? undefined
          : { settings: plan.artifacts, owner: ownerOf(job, job.configurationId) },
      checkpoint:
        isSaved && !job.inputOnly && component.features.includes(CHECKPOINT) ? checkpointOwner(job, plan.rowId) : undefined,
      // What a processor makes of the results is available at the end only.
      hasBatches: isSaved && !job.inputOnly && steps.length === 1 && leavesBatches(component),
      isDelivery: component.type === 'writer',
      log: planned.log,
      ...(planned.onPublish ? { onPublish: planned.onPublish } : {}),
    },
    planned.progress,
  )
}

/** Throws where the outside is needed and nothing replaces it. */
async function recordingOf(
  deps: JobRunnerDeps,
  job: QueuedJob,
  scope: RunScope,
  component: RunnableComponent,
  rowId: string | null,
) {
  if (!needsRecording(component)) return undefined
  const place = { componentId: component.id, configurationId: job.configurationId ?? '', rowId }
  const recording = await findRecording(deps, scope, place)
  if (!recording)
    throw new PlatformError('proposals.notRehearsed', {
      component: component.id,
      reason: `the configuration ${place.configurationId} has no recording of a run in production`,
    })
  return recording
}

/**
 * The id that the default bucket is named after: the one under which the configuration was made. A bucket that is there under
 * another id of the component stays in use, because its tables do not move (spec platform 1.11).
 */
async function bucketComponentOf(
  { tables }: Pick<JobRunnerDeps, 'tables'>,
  scope: RunScope,
  { id, aliases, defaultBucket, defaultBucketStage }: RunnableComponent,
  configurationId: string | null,
  listedAs = id,
): Promise<string> {
  if (!defaultBucket || configurationId === null) return id
  for (const name of [listedAs, id, ...aliases])
    if (await tables.bucketExists(scope, defaultBucketId(defaultBucketStage, name, configurationId))) return name
  return listedAs
}

/** In the input tables of a component with this feature, a null is nothing at all, and an empty text is `""`. */
export const INPUT_NULLS = 'input-nulls'

/** A component with this feature continues what a failed run of the same configuration has begun. */
const CHECKPOINT = 'checkpoint'
const BATCHES = 'batches'

/** Batches are read while the program runs, so it must be one that can make no links: ours, under the permission model. */
const leavesBatches = ({ definition, features }: RunnableComponent): boolean =>
  definition.type === 'builtin' && features.includes(BATCHES)

const checkpointOwner = (job: QueuedJob, rowId: string | null): CheckpointOwner => ({ ...configurationPlace(job), rowId })

const ownerOf = (job: QueuedJob, configurationId: string): ArtifactOwner => ({
  componentId: job.componentId,
  configurationId,
  jobId: job.id,
  orchestrationId: job.orchestrationId,
})

/** Rows that are done stay done: their tables and their state are in the project. */
function failed(
  deps: JobRunnerDeps,
  { job, signal }: RunHandle,
  log: JobLog,
  gathered: Gathered,
  { error: thrown, since }: { readonly error: unknown; readonly since: SinceLastGood | null },
): RunOfJob {
  const error = diskFullError(thrown) ?? thrown
  const mask = createMask(gathered.secrets)
  const exceptionId = `job-${job.id}-${randomUUID().slice(0, 8)}`
  const known = error instanceof PlatformError ? error : undefined
  const isOurs = known === undefined || known.kind === 'bug' || known.kind === 'transient'
  const stopped =
    signal.reason === 'stopped' ? 'The job was interrupted: the node that ran it was stopped. Run it again.' : undefined
  const message = mask(
    stopped ??
      known?.message ??
      'The job failed due to an internal error of the platform. Search the log for the exception id to find the details.',
  )
  if (known === undefined && !signal.aborted)
    deps.log.error({ err: error, jobId: job.id, exceptionId }, 'a job failed by our fault')
  const isKilled = signal.reason === 'killed'
  const open = gathered.accounts.find(({ status }) => status === 'processing')
  if (open)
    closeRowAccount(open, deps.clock, isKilled ? { status: 'terminated', error: undefined } : { status: 'error', error: message })
  log.say(isKilled ? 'warn' : 'error', isKilled ? 'The job was terminated.' : message)
  const cause = causeOf({
    error,
    wasStopped: stopped !== undefined,
    account: open,
    stored: gathered.stored,
    since,
    mask,
    message,
  })
  const result = { message, ...resultOf(gathered, mask), error: { type: isOurs ? 'application' : 'user', exceptionId, cause } }
  return {
    end: isKilled ? 'killed' : 'failed',
    result,
    usage: usageOf(gathered, mask),
    metrics: metricsOf(gathered),
    error: message,
    cause: isKilled ? null : cause,
    unsavedState: gathered.running ? { ...gathered.running, projectId: job.projectId, jobId: job.id, after: null } : null,
  }
}

/** Known of stored configurations only. What cannot be found out does not change how the job ends. */
async function sinceLastGood(deps: JobRunnerDeps, job: QueuedJob): Promise<SinceLastGood | null> {
  if (job.configurationId === null || job.configData !== null) return null
  try {
    const good = await deps.lastGood(job)
    if (good?.configVersion == null) return null
    const { isConfigurationChanged, rowIds } = await deps.changesSince(configurationPlace(job), good.configVersion)
    return {
      job: String(good.jobId),
      endTime: formatTimestamp(new Date(good.endedAt)),
      configVersion: String(good.configVersion),
      isConfigurationChanged,
      rowsChanged: rowIds,
    }
  } catch (error) {
    deps.log.error({ err: error, jobId: job.id }, 'what changed since the last good run could not be found out')
    return null
  }
}

/** Ids of the rows that a job runs, in order. */
export const rowIdsOf = async (deps: JobRunnerDeps, job: QueuedJob): Promise<readonly string[]> =>
  rowIdsIn(await configurationOf(deps, job), job.rowIds)
