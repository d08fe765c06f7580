// The platform: opens the database and the object store, creates the modules, and combines what they add to it.

import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { clientAddresses } from '../http/client-address.ts'
import { collectRoutes } from '../http/openapi.ts'
import { createRequestLimits, NO_LIMITS } from '../http/request-limits.ts'
import { createHttpServer } from '../http/server.ts'
import { DEFAULT_LIMITS } from '../kit/default-limits.ts'
import { startInOrder, stopInReverse } from '../kit/lifecycle.ts'
import { createLiveValues, type LiveValues, withLive } from '../kit/live-values.ts'
import type { Module, Role } from '../model/module.ts'
import { createBackupsModule } from '../services/stack/backups/backups.module.ts'
import { createDocsModule } from '../services/stack/health-and-docs/docs.module.ts'
import { createSettingsModule } from '../services/stack/operations/operations.module.ts'
import { createObjectsModule } from '../services/storage/s3/s3.module.ts'
import { openCore } from './core.ts'
import { createModules, type Foundation, type Modules } from './modules.ts'
import type { PlatformOptions } from './platform-options.ts'

/** The modules by name, and what runs them. */
export interface Platform extends Modules {
  readonly app: FastifyInstance
  readonly metadata: Foundation['metadata']
  /** The time of the stack: on PostgreSQL that of the database. */
  readonly clock: Foundation['clock']
  /** A restored copy in which nothing starts by itself. */
  readonly isPausedCopy: boolean
  /** On an empty stack: creates the first project and returns its master token. Undefined ever after. */
  firstStart(masterToken: string | undefined): Promise<string | undefined>
  /** Starts the background loops; until then nothing runs by itself. */
  start(): Promise<void>
  /** Claims no further jobs and waits for those that run; the API stays up. Returns how many still run after `maxMs`. */
  drain(maxMs: number): Promise<number>
  close(): Promise<void>
}

export async function createPlatform(options: PlatformOptions): Promise<Platform> {
  const { log, roles } = options
  const has = (role: Role): boolean => roles?.includes(role) ?? true
  const live = createLiveValues()
  const opened = await openCore({ ...options, sessions: sessionSettings(options, live) })
  const { core, metadata, clock, people, tokens, events, keyRing } = opened
  await keyRing.check()
  const settings = await createSettingsModule({ core, people, known: options.settings ?? [], live })
  const workerId = randomUUID()
  const lease = has('worker') ? await metadata.holdWorkerLease(workerId) : undefined
  const backups = createBackupsModule(core)
  const limits = createRequestLimits(limitSettings(options, live), clock)
  const objects = await openObjects(options, { core, backups, live })
  const restoredAt = options.restoredAt ?? (await backups.restoredAt())
  const modules = await createModules(options, {
    ...{ ...opened, live, objects, backups, limits, workerId, restoredAt },
    listeningOrigin: () => app.listeningOrigin, // later
  })

  const { branches, agentGuards, agentSignIn, mergeRequests, proposals, apps, health, components, nodes, queue, scheduler } =
    modules
  const app = createHttpServer({
    log,
    tls: options.tls,
    bodyLimitBytes: options.bodyLimitBytes,
    maintenance: options.maintenance,
    corsOrigins: options.corsOrigins,
    limits,
    trustedProxies: options.trustedProxies ?? [],
    publicUrl: options.publicUrl,
    domain: options.domain,
    authenticate: tokens.authenticate,
    authenticateAgent: agentSignIn.actorOf,
    people: people.finder,
    findBranch: branches.resolve,
    showsOwnStorage: tokens.showsOwnStorage,
    isBranchLocked: mergeRequests.isMerging,
    proposals: proposals.kernel,
    guardChange: agentGuards.checkChange,
    databaseVersion: metadata.version,
    upgrades: apps.upgrades,
    onRead: events.recordRead,
    running: health.eventLoop,
    onFinished: (request) => {
      health.requestFinished(request)
      log.request(request)
    },
  })
  const docs = createDocsModule({ components, version: options.version, routes: collectRoutes(app) })
  const all: readonly Module[] = [settings, ...Object.values(modules), docs]
  for (const { jobHandlers = {}, lightJobHandlers = {} } of all) {
    for (const [name, run] of Object.entries(jobHandlers)) modules.storageJobs.registerHandler(name, run)
    for (const [name, run] of Object.entries(lightJobHandlers)) modules.storageJobs.registerHandler(name, run, 'light')
  }
  for (const { routes = [], routesOfEveryNode = [] } of all)
    for (const add of [...routesOfEveryNode, ...(has('api') ? routes : [])]) await add(app, {})
  await app.ready()

  const background = [
    { stop: metadata.close },
    { stop: () => lease?.release() },
    ...all.flatMap(({ background: parts = [] }) => parts),
  ]
  const isStarted = ({ role, isOffInCopies = false }: NonNullable<Module['background']>[number]) =>
    (role === undefined || has(role)) && !(isOffInCopies && restoredAt !== undefined)

  return {
    ...modules,
    app,
    metadata,
    clock,
    isPausedCopy: restoredAt !== undefined,
    firstStart: async (masterToken) => (await tokens.createFirstProject('Millrace', masterToken))?.master.value,
    start: () => startInOrder(background.filter(isStarted)),
    drain: async (maxMs) => {
      health.stopping()
      await nodes.drain()
      await scheduler.loop.stop()
      await queue.drain(maxMs)
      return queue.running()
    },
    close: async () => {
      health.stopping()
      await metadata.stopWithin(async () => {
        await app.close()
        await stopInReverse(background, (err) => log.error({ err }, 'a part of the node could not be stopped; the others are'))
      })
    },
  }
}

const HOUR_MS = 3_600_000

const sessionSettings = (options: PlatformOptions, live: LiveValues) =>
  withLive({ ...DEFAULT_LIMITS.sessions, ...options.sessions }, live, {
    idleMs: ['MILLRACE_SESSION_IDLE_HOURS', (hours) => hours * HOUR_MS],
    maxMs: ['MILLRACE_SESSION_HOURS', (hours) => hours * HOUR_MS],
  })

const limitSettings = (options: PlatformOptions, live: LiveValues) =>
  withLive({ ...NO_LIMITS, ...options.requestLimits }, live, {
    perAddress: 'MILLRACE_RATE_PER_ADDRESS',
    perToken: 'MILLRACE_RATE_PER_TOKEN',
    wrongTokens: 'MILLRACE_WRONG_TOKENS',
  })

/** Uploads have request limits of their own: they do not count as requests of the API. */
function openObjects(options: PlatformOptions, { core, backups, live }: Pick<Foundation, 'core' | 'backups' | 'live'>) {
  const limits = createRequestLimits(limitSettings(options, live), core.clock)
  const clientOf = clientAddresses(options.trustedProxies ?? [])
  const { bucket, region, waitMs, tls, s3PublicUrl, externalS3 } = options
  return createObjectsModule({
    ...{ core, backups, bucket, region, tls },
    ...(waitMs !== undefined && { waitMs }),
    publicUrl: s3PublicUrl,
    external: externalS3,
    limits: { waitOf: (message) => limits.address(clientOf(message))?.seconds },
  })
}

export type { PlatformOptions }
