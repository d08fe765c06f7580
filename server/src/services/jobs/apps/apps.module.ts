// Data apps: their records, their processes on this node, and the address at which they are used.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { egressPolicyFrom } from '../../../../../contract/egress-rules.ts'
import { fetchOnce, lookAtRepository } from '../../../engines/git/git-checkout.ts'
import { createGitHost } from '../../../engines/git/git-host.ts'
import { answers } from '../../../engines/reverse-proxy/program-proxy.ts'
import { createRuntimes } from '../../../engines/runner/runtimes.ts'
import { DEFAULT_LIMITS } from '../../../kit/default-limits.ts'
import { repeat } from '../../../kit/repeat.ts'
import { createUlids } from '../../../kit/ulid.ts'
import type { Core } from '../../../model/core.ts'
import { eventOf, NO_ORIGIN } from '../../../model/event.ts'
import { defineModule } from '../../../model/module.ts'
import type { WorkerSettings } from '../../../model/worker-settings.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { PeopleModule } from '../../access/people/people.module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { SqlPortModule } from '../../query/sql-port/sql-port.module.ts'
import type { WorkspacesModule } from '../../query/workspaces/workspaces.module.ts'
import type { BucketsModule } from '../../storage/buckets/buckets.module.ts'
import type { ObjectsModule } from '../../storage/s3/s3.module.ts'
import type { ProgramsModule } from '../job-runner/programs.module.ts'
import { createAppCode } from './app-code.ts'
import { usableApp } from './app-components.ts'
import { repositoryAt } from './app-paths.ts'
import { createAppProgram } from './app-program.ts'
import { readingToken, revokeQuietly } from './app-token.ts'
import { appsRoutes } from './apps.routes.ts'
import { type AppRow, createAppsStore } from './apps.store.ts'
import { createApps } from './apps.ts'
import { createAppUpgrades, forwardRoutes } from './forward.routes.ts'
import { gitRoutes } from './git.routes.ts'
import { createInstances, type InstanceSettings } from './instances.ts'
import { createRepositoriesStore } from './repositories.store.ts'
import { createRepositories, sweepPacks } from './repositories.ts'

export interface AppsModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly people: PeopleModule
  readonly objects: ObjectsModule
  readonly components: ComponentsModule
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly buckets: BucketsModule
  readonly workspaces: WorkspacesModule
  readonly sqlPort: SqlPortModule
  readonly programs: ProgramsModule
  readonly worker: WorkerSettings
  readonly settings: Partial<InstanceSettings> | undefined
  readonly baseUrl: () => string
}

const SWEEP_MS = 3_600_000

export function createAppsModule(deps: AppsModuleDeps) {
  const { core, tokens, people, components, encryption, branches, configurations, buckets, programs, worker, baseUrl } = deps
  const { db, inTransaction, clock, log, recordEvent } = core
  const objects = deps.objects.store
  const { runAccess } = configurations
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
    git: createGitHost({ tempDir: objects.tempDir }),
    objects,
    inTransaction,
    clock,
    recordEvent,
    findApp: (actor, id) => apps.find(actor, id),
    findAnywhere: store.findAnywhere,
    admit: tokens.admit,
  })
  const sweeping = repeat({
    everyMs: SWEEP_MS,
    work: () => sweepPacks({ store: repositoriesStore, objects, clock }),
    onError: (err) => log.error({ err }, 'packs that no repository names could not be removed; it is tried again'),
  })
  const egress = egressPolicyFrom(worker.egressAllow)
  const program = createAppProgram({
    runner: programs.runner,
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
    isolation: programs.isolation,
    findContainerEngine: programs.findContainerEngine,
    findComponent: components.findRunnable,
    findVersion: (app, version) => runAccess.findAt(placeOf(app), version),
    decrypt: async (app, text) =>
      encryption.decryptForRun({ ...placeOf(app), isDefaultBranch: await isDefaultBranch(app) }, text),
    findActor: tokens.findActor,
    issueToken: readingToken({
      bucketIds: buckets.store.listIds,
      create: (actor, request) => tokens.create(actor, request, NO_ORIGIN),
    }),
    revokeToken,
    createWorkspace: async (app, actor) => {
      const branch = { id: app.branch_id, isDefault: await isDefaultBranch(app) }
      const of = { componentId: app.component_id, configurationId: app.configuration_id }
      return (await deps.workspaces.create({ actor, branch }, {}, of)).workspace.id
    },
    removeWorkspace: (projectId, id) => deps.workspaces.remove({ projectId, id }),
    commandsFolder: join(core.dataDir, 'components'),
    diskBytes: worker.diskBytes,
    egress,
    baseUrl,
    sqlPort: deps.sqlPort.number,
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
    settings: { ...DEFAULT_LIMITS.apps, ...deps.settings },
    run: program.run,
    answers,
    revokeToken,
    sourceOf: async (app) => tokens.findActor(app.project_id, app.token_id ?? 0),
    onStarted: (trx, source, app) => recordEvent(trx, source, eventOf('apps.started', { node }, details(app))),
    onFailed: (trx, source, app, reason) => recordEvent(trx, source, eventOf('apps.failed', { reason }, details(app))),
    onError: (err) => log.error({ err }, 'an app could not be looked after; it is tried again'),
  })
  const apps = createApps({
    store,
    inTransaction,
    clock,
    recordEvent,
    usableApp: usableApp({
      usable: configurations.usableComponent,
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
    encrypt: encryption.encryptForProject,
    decrypt: encryption.decryptForProject,
    createConfiguration: (caller, componentId, { configuration, ...content }) =>
      configurations.create(caller, componentId, {
        ...content,
        configuration: { text: configuration, value: JSON.parse(configuration) as unknown },
      }),
    removeConfiguration: configurations.remove,
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

  return defineModule({
    name: 'apps',
    routes: [
      gitRoutes({ repositories }),
      appsRoutes({ apps, repositories, findBranch: branches.findByName }),
      forwardRoutes(forwarding),
    ],
    background: [
      { role: 'api', start: instances.start, stop: instances.stop },
      { role: 'api', start: sweeping.start, stop: sweeping.stop },
    ],
    upgrades: createAppUpgrades(forwarding, baseUrl),
  })
}

export type { InstanceSettings }
