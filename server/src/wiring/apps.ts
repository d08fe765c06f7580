// Data apps: their records, their processes on this node, and the address at which they are used.

import { hostname } from 'node:os'
import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { egressPolicyFrom } from '../../../contract/egress-rules.ts'
import { fetchOnce, lookAtRepository } from '../engines/git/git-checkout.ts'
import { createGitHost } from '../engines/git/git-host.ts'
import type { ObjectStore } from '../engines/object-store/object-store.ts'
import { answers } from '../engines/reverse-proxy/program-proxy.ts'
import { createRuntimes } from '../engines/runner/runtimes.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import { repeat } from '../kit/repeat.ts'
import { createUlids } from '../kit/ulid.ts'
import { eventOf, NO_ORIGIN } from '../model/event.ts'
import { createAppCode } from '../services/apps/app-code.ts'
import { usableApp } from '../services/apps/app-components.ts'
import { repositoryAt } from '../services/apps/app-paths.ts'
import { createAppProgram } from '../services/apps/app-program.ts'
import { readingToken, revokeQuietly } from '../services/apps/app-token.ts'
import { appsRoutes } from '../services/apps/apps.routes.ts'
import { type AppRow, createAppsStore } from '../services/apps/apps.store.ts'
import { createApps } from '../services/apps/apps.ts'
import { createAppUpgrades, forwardRoutes } from '../services/apps/forward.routes.ts'
import { gitRoutes } from '../services/apps/git.routes.ts'
import { createInstances, DEFAULT_INSTANCES, type InstanceSettings } from '../services/apps/instances.ts'
import { createRepositoriesStore } from '../services/apps/repositories.store.ts'
import { createRepositories, sweepPacks } from '../services/apps/repositories.ts'
import { createBucketsStore } from '../services/buckets/buckets.store.ts'
import { usableComponent } from '../services/configurations/access.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'
import type { QueueModules, WorkerSettings } from './queue.ts'
import type { SqlModules } from './sql.ts'

export interface AppModulesDeps extends Core {
  readonly dataDir: string
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly configurations: ConfigurationModules
  readonly queueModules: QueueModules
  readonly worker: WorkerSettings
  readonly settings: Partial<InstanceSettings> | undefined
  readonly sqlPort: () => number | undefined
  readonly objects: ObjectStore
  readonly workspaces: SqlModules['workspaces']
  readonly baseUrl: () => string
}

const SWEEP_MS = 3_600_000

export function createAppModules(deps: AppModulesDeps) {
  const { metadata, events, tokens, people, clock, log, configurations, queueModules, worker, sqlPort, baseUrl } = deps
  const { db, inTransaction } = metadata
  const { components, branches, encryption, runAccess } = configurations
  const store = createAppsStore(db)
  const placeOf = (app: Pick<AppRow, 'project_id' | 'branch_id' | 'component_id' | 'configuration_id'>) => ({
    projectId: app.project_id,
    branchId: app.branch_id,
    componentId: app.component_id,
    configurationId: app.configuration_id,
  })
  const isDefaultBranch = async (app: AppRow) => app.branch_id === (await branches.defaultId(app.project_id))
  const revokeToken = revokeQuietly(
    (projectId, id) => inTransaction((trx) => tokens.revokeInternal(trx, projectId, id)),
    tokens.forgetKnown,
    (err) => log.error({ err }, 'the token of an app could not be revoked; it ends by itself'),
  )

  const repositoriesStore = createRepositoriesStore(db)
  const repositories = createRepositories({
    store: repositoriesStore,
    git: createGitHost({ tempDir: deps.objects.tempDir }),
    objects: deps.objects,
    inTransaction,
    clock,
    recordEvent: events.record,
    findApp: (actor, id) => apps.find(actor, id),
    findAnywhere: store.findAnywhere,
    admit: tokens.admit,
  })
  const sweeping = repeat({
    everyMs: SWEEP_MS,
    work: () => sweepPacks({ store: repositoriesStore, objects: deps.objects, clock }),
    onError: (err) => log.error({ err }, 'packs that no repository names could not be removed; it is tried again'),
  })
  const egress = egressPolicyFrom(worker.egressAllow)
  const program = createAppProgram({
    runner: queueModules.runner,
    runtimes: createRuntimes(worker.path),
    code: createAppCode({
      fetchOnce,
      lookAtRepository,
      egress,
      hosted: {
        ...repositories,
        placeAt: (address) => repositoryAt(address, baseUrl()),
        open: (id, secret) => repositories.open(id, secret, NO_ORIGIN),
      },
    }),
    isolation: queueModules.isolation,
    findContainerEngine: queueModules.findContainerEngine,
    findComponent: components.findRunnable,
    findVersion: (app, version) => runAccess.findAt(placeOf(app), version),
    decrypt: async (app, text) =>
      encryption.decryptForRun({ ...placeOf(app), isDefaultBranch: await isDefaultBranch(app) }, text),
    findActor: tokens.findActor,
    issueToken: readingToken({
      bucketIds: createBucketsStore(db).listIds,
      create: (actor, request) => tokens.create(actor, request, NO_ORIGIN),
    }),
    revokeToken,
    createWorkspace: async (app, actor) => {
      const branch = { id: app.branch_id, isDefault: await isDefaultBranch(app) }
      const of = { componentId: app.component_id, configurationId: app.configuration_id }
      return (await deps.workspaces.create({ actor, branch }, {}, of)).workspace.id
    },
    removeWorkspace: (projectId, id) => deps.workspaces.remove({ projectId, id }),
    commandsFolder: join(deps.dataDir, 'components'),
    diskBytes: worker.diskBytes,
    egress,
    baseUrl,
    sqlPort,
  })
  const node = `${hostname()}-${process.pid}`
  const details = (app: AppRow) => ({
    objectId: String(app.id),
    component: app.component_id,
    configurationId: app.configuration_id,
    branchId: app.branch_id,
  })
  const instances = createInstances({
    store,
    inTransaction,
    clock,
    node,
    settings: { ...DEFAULT_INSTANCES, ...deps.settings },
    run: program.run,
    answers,
    revokeToken,
    sourceOf: async (app) => tokens.findActor(app.project_id, app.token_id ?? 0),
    onStarted: (trx, source, app) => events.record(trx, source, eventOf('apps.started', { node }, details(app))),
    onFailed: (trx, source, app, reason) => events.record(trx, source, eventOf('apps.failed', { reason }, details(app))),
    onError: (err) => log.error({ err }, 'an app could not be looked after; it is tried again'),
  })
  const apps = createApps({
    store,
    inTransaction,
    clock,
    recordEvent: events.record,
    usableApp: usableApp({
      usable: (actor, componentId) => usableComponent(components, actor, componentId),
      typeOf: (id) => components.find(id)?.type,
    }),
    listConfigurations: async (projectId) => {
      const ids = components
        .list()
        .filter(({ type }) => type === 'data-app')
        .map(({ id }) => id)
      const places = await runAccess.listPlaces(projectId, ids)
      return places.map((place) => ({
        project_id: place.projectId,
        branch_id: place.branchId,
        component_id: place.componentId,
        configuration_id: place.configurationId,
      }))
    },
    newId: createUlids(clock),
    encrypt: (projectId, text) => encryption.encryptBody(text, false, { projectId: String(projectId) }),
    decrypt: encryption.decryptForProject,
    createConfiguration: (caller, componentId, { configuration, ...content }) =>
      configurations.configurations.create(caller, componentId, {
        ...content,
        configuration: { text: configuration, value: JSON.parse(configuration) as unknown },
      }),
    removeConfiguration: configurations.configurations.remove,
    findConfiguration: (key) => runAccess.find(placeOf(key)),
    findVersion: (key, version) => runAccess.findAt(placeOf(key), version),
    check: program.check,
    settingsOf: program.settingsOf,
    defaultBranchId: branches.defaultId,
    admit: tokens.admit,
    repositories: repositoriesStore,
    discardRepository: repositories.discard,
    instances,
  })
  const forwarding = {
    apps,
    use: instances.use,
    personOf: people.finder.ofSession,
    actorOf: people.finder.actorOf,
  }

  return {
    upgrades: createAppUpgrades(forwarding, baseUrl),
    instances,
    registerRoutes(app: FastifyInstance): void {
      addRoutes(app, gitRoutes({ repositories }))
      addRoutes(app, appsRoutes({ apps, repositories, findBranch: async (projectId, name) => branches.resolve(projectId, name) }))
      addRoutes(app, forwardRoutes(forwarding))
    },
    start(): void {
      instances.start()
      sweeping.start()
    },
    async stop(): Promise<void> {
      await sweeping.stop()
      await instances.stop()
    },
  }
}
