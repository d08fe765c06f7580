// The wiring of the queue, the job runner and sync actions: one part of platform.ts, in a file of its own for its length.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ComponentDescription } from '../../../contract/component.ts'
import { type ContainerEngine, findContainerEngine } from '../engines/runner/container-engine.ts'
import { createRunner } from '../engines/runner/runner.ts'
import type { Clock } from '../kit/clock.ts'
import { PlatformError } from '../kit/errors.ts'
import type { Actor } from '../model/actor.ts'
import { NO_ORIGIN } from '../model/event.ts'
import type { NotificationPort } from '../model/notification-port.ts'
import type { RunFiles, RunnableComponent, RunScope, RunTables, StoredConfiguration } from '../model/run-ports.ts'
import type { RunAccess } from '../services/configurations/run-access.ts'
import { eventView } from '../services/events/events.routes.ts'
import { invalid } from '../services/job-runner/mapping.ts'
import type { QueuedJob } from '../services/job-runner/queued-job.ts'
import { runAction } from '../services/job-runner/run-action.ts'
import { chooseRows, resolveRow } from '../services/job-runner/run-configuration.ts'
import { configurationOf, type JobRunnerDeps, runJob } from '../services/job-runner/run-job.ts'
import { createJobNotifier } from '../services/queue/job-notifier.ts'
import type { StoredRequest } from '../services/queue/job-request.ts'
import { legacyRoutes } from '../services/queue/legacy.routes.ts'
import { createQueueLoop } from '../services/queue/queue.loop.ts'
import { queueRoutes } from '../services/queue/queue.routes.ts'
import type { JobRow } from '../services/queue/queue.schema.ts'
import { createQueueStore } from '../services/queue/queue.store.ts'
import { createQueue } from '../services/queue/queue.ts'
import { createActionSlots } from '../services/sync-actions/action-slots.ts'
import { type Caller, syncActionsRoutes } from '../services/sync-actions/sync-actions.routes.ts'
import { vaultRoutes } from '../services/vault/vault.routes.ts'
import { createVault } from '../services/vault/vault.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'
import { createFlowModules, flowFormatOf } from './flows.ts'

export interface QueueModulesDeps extends Core {
  readonly dataDir: string
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly domain: string | undefined
  readonly rooms: ConfigurationModules
  readonly tables: RunTables
  readonly files: RunFiles
  readonly worker: WorkerSettings
  readonly workerId: string
  readonly notifications: NotificationPort | undefined
}

export interface WorkerSettings {
  /** Most jobs this node runs at once. */
  readonly jobs: number
  /** Most jobs one project runs at once, on all nodes (spec platform 2.6). */
  readonly projectJobs: number
  /** Most sync actions this node runs at once. */
  readonly actions: number
  /** Most sync actions of one project this node runs at once. */
  readonly projectActions: number
  /** Most disk one run may fill. */
  readonly diskBytes: number
  /** Most files one row may leave as results, slices included. */
  readonly results: number
  /** Where commands are looked for. */
  readonly path: string
  readonly egressAllow: readonly string[]
}

export const DEFAULT_WORKER: WorkerSettings = {
  jobs: 10,
  projectJobs: 10,
  actions: 20,
  projectActions: 5,
  diskBytes: 10e9,
  results: 10_000,
  path: '/usr/local/bin:/usr/bin:/bin',
  egressAllow: [],
}
/** How long an action waits for its turn; it may then still take its 30 seconds. */
const ACTION_WAIT_MS = 5_000
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))
/** How long an answer about docker or podman holds; it may be started or stopped at any time. */
const ENGINE_MS = 30_000

export type QueueModules = ReturnType<typeof createQueueModules>

export function createQueueModules(deps: QueueModulesDeps) {
  const { metadata, events, tokens, clock, log, rooms, dataDir, worker, workerId } = deps
  const { db, inTransaction } = metadata
  const { components, encryption, branches, runAccess } = rooms
  const runner = createRunner({
    runsFolder: join(dataDir, 'runs'),
    cacheFolder: join(dataDir, 'cache', 'programs'),
    path: worker.path,
  })

  const news = createJobNotifier()

  const vault = createVault({
    db,
    inTransaction,
    clock,
    encrypt: (projectId, value) => encryption.encryptBody(value, false, { projectId: String(projectId) }),
  })

  const runnerDeps: JobRunnerDeps = {
    inTransaction,
    clock,
    log,
    tables: deps.tables,
    files: deps.files,
    findBranch: async (projectId, name) => branches.resolve(projectId, name),
    recordEvent: events.record,
    onSaid: (runId) => news.tell(Number(runId)),
    onError: (error) => log.error({ err: error }, 'events of a job could not be written'),
    components: { find: (id) => runnable(components.find(id)) },
    configurations: {
      find: runAccess.find,
      saveState: (trx, place, rowId, state) => runAccess.saveState(trx, place, rowId ?? undefined, state),
    },
    secrets: {
      decrypt: async (place, text) => {
        const secrets = await encryption.secretsOf(place.projectId)
        const { componentId, configurationId, isDefaultBranch } = place
        return secrets.decrypt(text, { componentId, configurationId, branchType: isDefaultBranch ? 'default' : 'dev' })
      },
      encrypterOf: async (projectId) => {
        const secrets = await encryption.secretsOf(projectId)
        return (text, componentId) => secrets.encrypt(text, componentId)
      },
    },
    vaultValues: vault.valuesIn,
    tokens: {
      issue: async ({ actor }, description, expiresIn) => {
        const { token, value } = await tokens.create(manager(actor), { ...actor, description, expiresIn }, NO_ORIGIN)
        return { id: token.id, value }
      },
      revoke: ({ actor }, id) => tokens.remove(manager(actor), id, NO_ORIGIN),
    },
    project: async (projectId) => (await tokens.findProject(projectId)) ?? { name: '', features: [] },
    programs: {
      runner,
      findContainerEngine: engineFinder(clock, worker.path),
      builtinFolder: join(REPOSITORY, 'components'),
      readable: [join(REPOSITORY, 'node_modules'), join(REPOSITORY, 'contract')],
      commandsFolder: join(dataDir, 'components'),
      diskBytes: worker.diskBytes,
      results: worker.results,
      egressPolicy: JSON.stringify(
        worker.egressAllow.includes('*') ? { mode: 'open', allow: [] } : { mode: 'guarded', allow: worker.egressAllow },
      ),
    },
  }

  const store = createQueueStore(db)
  const flows = createFlowModules({
    metadata,
    events,
    clock,
    log,
    runAccess,
    canonicalId: components.canonicalId,
    notifications: deps.notifications,
    queue: () => queue,
  })
  const queue = createQueue({
    store,
    inTransaction,
    clock,
    components: {
      find: (id) => {
        const found = components.find(id)
        return (
          found && {
            id: found.id,
            tag: found.data.definition.tag,
            features: found.features,
            problem: problemOf(found),
            isFlow: flowFormatOf(found.id) !== undefined,
          }
        )
      },
      canonicalId: components.canonicalId,
    },
    configurations: {
      get: async (place) => {
        const found = await runAccess.find(place)
        if (!found)
          throw new PlatformError('storage.configuration.notFound', { id: place.configurationId, component: place.componentId })
        return found
      },
    },
    flows: flows.ofQueue,
    encrypt: async (projectId, componentId, text) => (await encryption.secretsOf(projectId)).encrypt(text, componentId),
    findBranch: async (projectId, name) => branches.resolve(projectId, name),
    onChange: (killed) => {
      loop.nudge(killed)
      flows.loop.nudge()
      killed?.forEach(news.tell)
    },
  })
  const loop = createQueueLoop({
    store,
    queue: () => queue,
    inTransaction,
    clock,
    log,
    runJob: async (handle) => {
      const { project_id, branch_id, is_default_branch } = handle.job
      await runAccess.prepare(project_id)
      const hold: typeof handle.hold = async (trx) => {
        await handle.hold(trx)
        if (is_default_branch === 0) await branches.hold(trx, project_id, branch_id)
      }
      return runJob(runnerDeps, { ...handle, hold, job: queuedJob(handle.job) })
    },
    onMoved: ({ id, parent_job_id }) => {
      news.tell(id)
      if (parent_job_id !== null) news.tell(parent_job_id)
      flows.loop.nudge()
    },
    openFlow: flows.ofQueue.open,
    rowsOf: async (job) => rowsOf(runnerDeps, queuedJob(job)),
    slots: worker.jobs,
    projectLimit: worker.projectJobs,
    isAlone: metadata.dialect === 'sqlite',
    worker: workerId,
  })

  const actionSlots = createActionSlots({
    most: worker.actions,
    mostPerProject: worker.projectActions,
    waitMs: ACTION_WAIT_MS,
  })

  const scopeOf = ({ actor, branch, baseUrl }: Caller): RunScope => ({
    actor,
    projectId: actor.projectId,
    branchId: branch.id,
    isDefaultBranch: branch.isDefault,
    runId: '',
    baseUrl,
  })

  return {
    queue,
    /** Jobs were queued by another room's transaction. */
    wake: () => loop.nudge(),
    registerRoutes(app: FastifyInstance): void {
      const projectName = async (projectId: number) => (await tokens.findProject(projectId))?.name ?? ''
      const routes = { queue, clock, domain: deps.domain, projectName }
      app.register(legacyRoutes(routes))
      app.register(
        queueRoutes({
          ...routes,
          news,
          events: {
            list: async (actor, job, { sinceId, limit }, baseUrl) => {
              // Who may see the job may see what it said.
              const query = { runId: String(job.id), sortOrder: 'asc', limit, ...(sinceId === undefined ? {} : { sinceId }) }
              const rows = await events.list({ ...actor, canReadAllProjectEvents: true }, query)
              return rows.map((row) => eventView(row, baseUrl))
            },
          },
        }),
      )
      app.register(vaultRoutes({ vault, findBranch: async (projectId, name) => branches.resolve(projectId, name) }))
      app.register(
        syncActionsRoutes({
          run: (caller, action, signal) =>
            actionSlots.run(caller.actor.projectId, signal, () => runAction(runnerDeps, scopeOf(caller), action, signal)),
          canonicalId: components.canonicalId,
          actionsOf: (id) => components.find(id)?.data.synchronous_actions,
          findBranch: async (projectId, name) => branches.resolve(projectId, name),
          resolve: (caller, request) => resolveConfiguration(runnerDeps, runAccess.findAt, scopeOf(caller), request),
        }),
      )
    },
    async start(isWorker: boolean): Promise<void> {
      await runner.sweep()
      if (isWorker) await loop.start()
      if (isWorker) flows.loop.start()
    },
    async stop(graceMs: number): Promise<void> {
      await flows.loop.stop()
      await loop.stop(graceMs)
      await runner.close()
    },
  }
}

/** The platform itself makes and removes the token of a job, for a token that may not do so. */
const manager = (actor: Actor): Actor => ({ ...actor, canManageTokens: true })

const problemOf = ({ data, hasRun, id }: ComponentDescription): string | undefined => {
  if (!hasRun && data.definition.uri === '' && !data.definition.command)
    return `${id} has no program; it only keeps configurations.`
  return data.definition.type === 'command' && !data.definition.command ? 'its description names no command.' : undefined
}

async function rowsOf(deps: JobRunnerDeps, job: QueuedJob): Promise<readonly string[]> {
  return chooseRows(await configurationOf(deps, job), job.rowIds).rows.flatMap((row) => (row ? [row.id] : []))
}

/** A configuration as it was: without the rows and the state it has now. */
const atVersion = (found: Awaited<ReturnType<RunAccess['findAt']>>): StoredConfiguration | undefined =>
  found && { ...found, state: '{}', rows: [] }

interface VariableData {
  readonly values?: { readonly name: string; readonly value: unknown }[]
}

interface ResolveRequest {
  readonly componentId: string
  readonly configId: string
  readonly configRowId?: string | null
  readonly configVersion?: string | null
  readonly variableValuesId?: string | null
  readonly variableValuesData?: VariableData | never[] | null
}

async function resolveConfiguration(
  deps: JobRunnerDeps,
  findAt: RunAccess['findAt'],
  scope: RunScope,
  request: ResolveRequest,
): Promise<string> {
  const { componentId, configId, configRowId, configVersion, variableValuesData } = request
  const place = { ...scope, componentId, configurationId: configId }
  if (configRowId && configVersion)
    throw invalid('configRowId and configVersion exclude each other: rows are resolved as they are now')
  const stored = configVersion
    ? atVersion(await findAt(place, /^\d{1,15}$/.test(configVersion) ? Number(configVersion) : 0))
    : await deps.configurations.find(place)
  if (!stored)
    throw new PlatformError('notFound', {
      what: `Configuration "${configId}" of ${componentId}${configVersion ? ` in version "${configVersion.slice(0, 20)}"` : ''}`,
    })
  const row = configRowId ? stored.rows.find(({ id }) => id === configRowId) : undefined
  if (configRowId && !row) throw new PlatformError('notFound', { what: `Row "${configRowId}" of configuration "${configId}"` })
  const values = variableValuesData && !Array.isArray(variableValuesData) ? (variableValuesData.values ?? []) : []
  const { text } = await resolveRow(deps, {
    place,
    stored,
    row,
    variableValuesId: request.variableValuesId ?? null,
    variableValues: values,
  })
  return `{"configuration":${text}}`
}

function queuedJob(job: JobRow): QueuedJob {
  const request = JSON.parse(job.request) as StoredRequest // written by the queue
  const backend = request.backend?.containerType ?? request.backend?.type
  return {
    id: job.id,
    projectId: job.project_id,
    branchId: job.branch_id,
    isDefaultBranch: job.is_default_branch === 1,
    componentId: job.component_id,
    configurationId: job.configuration_id,
    configData: job.config_data,
    rowIds: job.row_ids === null ? null : (JSON.parse(job.row_ids) as string[]), // written by the queue
    mode: job.mode,
    inputOnly: request.inputOnly ?? false,
    tag: request.tag ?? null,
    actor: JSON.parse(job.actor) as QueuedJob['actor'], // written by the queue
    variableValuesId: job.variable_values_id,
    variableValues: request.variableValues,
    variableOverrides: request.variableOverrides ?? [],
    backend: typeof backend === 'string' ? backend : undefined,
    backendContext: typeof request.backend?.context === 'string' ? request.backend.context : undefined,
    orchestrationId: request.orchestrationJobId,
    baseUrl: request.baseUrl,
  }
}

/** A description as the runner reads it. */
function runnable(component: ComponentDescription | undefined): RunnableComponent | undefined {
  if (!component) return undefined
  const { data } = component
  const { name, command, digest, ...definition } = data.definition
  return {
    id: component.id,
    type: component.type,
    features: component.features,
    definition: { ...definition, ...(name ? { name } : {}), ...(command ? { command } : {}), ...(digest ? { digest } : {}) },
    configurationFormat: data.configuration_format,
    network: data.network,
    memory: data.memory,
    processTimeoutSeconds: data.process_timeout,
    forwardToken: data.forward_token,
    forwardTokenDetails: data.forward_token_details,
    defaultBucket: data.default_bucket,
    defaultBucketStage: data.default_bucket_stage,
    stagingInput: data.staging_storage.input,
    stagingOutput: data.staging_storage.output,
    imageParameters: data.image_parameters,
    synchronousActions: data.synchronous_actions,
    logging: {
      type: data.logging.type,
      gelfServerType: data.logging.gelf_server_type,
      verbosity: data.logging.verbosity as RunnableComponent['logging']['verbosity'], // other words count as the default
      noApplicationErrors: data.logging.no_application_errors,
    },
    dataTypesSupport: oneOf(component.dataTypesConfiguration.dataTypesSupport, ['hints', 'authoritative'], 'none'),
    processorPosition: oneOf(component.processorConfiguration.allowedProcessorPosition, ['before', 'after'], 'any'),
  }
}

const oneOf = <const T extends string, const F extends string>(value: unknown, choices: readonly T[], fallback: F): T | F =>
  choices.find((choice) => choice === value) ?? fallback

function engineFinder(clock: Clock, path: string): () => Promise<ContainerEngine | undefined> {
  let known: { readonly at: number; readonly engine: Promise<ContainerEngine | undefined> } | undefined
  return () => {
    const now = clock.now().getTime()
    if (!known || now - known.at > ENGINE_MS) known = { at: now, engine: findContainerEngine(path) }
    return known.engine
  }
}
