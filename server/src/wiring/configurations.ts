// Components, encryption, configurations, branches and merge requests.

import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { nodeIdOf } from '../engines/data-dir/node-id.ts'
import { openWith, seal } from '../engines/encryption/cipher.ts'
import { createJsonFolder } from '../engines/json-folder/json-folder.ts'
import type { Trx } from '../engines/metadata-db/dialects.ts'
import type { ObjectStore } from '../engines/object-store/object-store.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { Branch } from '../http/server.ts'
import type { Clock } from '../kit/clock.ts'
import { defined } from '../kit/defined.ts'
import { once } from '../kit/once.ts'
import { createUlids } from '../kit/ulid.ts'
import type { Actor } from '../model/actor.ts'
import { undone } from '../model/dry-run.ts'
import { NO_ORIGIN } from '../model/event.ts'
import type { NewStorageJob, Requester, StorageJob } from '../model/storage-job.ts'
import { branchJobs } from '../services/branches/branches.jobs.ts'
import { branchesRoutes } from '../services/branches/branches.routes.ts'
import { createBranches } from '../services/branches/branches.ts'
import { createComponentsLoop } from '../services/components/components.loop.ts'
import { componentsRoutes, published } from '../services/components/components.routes.ts'
import { createComponents, type UnknownComponents } from '../services/components/components.ts'
import { createSharedComponentsStore } from '../services/components/shared-components.store.ts'
import { createSharedComponents } from '../services/components/shared-components.ts'
import { createWorkerComponents } from '../services/components/worker-components.ts'
import { branchCopiesRoutes } from '../services/configurations/branch-copies.routes.ts'
import { createBranchCopies } from '../services/configurations/branch-copies.ts'
import { createBranchMerging } from '../services/configurations/branch-merging.ts'
import { configurationsRoutes } from '../services/configurations/configurations.routes.ts'
import { listComponentIds } from '../services/configurations/configurations.store.ts'
import { type ContentRules, createConfigurations } from '../services/configurations/configurations.ts'
import { type ConfigurationDryRunDeps, createConfigurationDryRuns } from '../services/configurations/dry-run.ts'
import { configurationMetadataRoutes } from '../services/configurations/metadata.routes.ts'
import { createConfigurationMetadata } from '../services/configurations/metadata.ts'
import { migrationRoutes } from '../services/configurations/migration.routes.ts'
import { createMigration } from '../services/configurations/migration.ts'
import { createReader } from '../services/configurations/reader.ts'
import { rowsRoutes } from '../services/configurations/rows.routes.ts'
import { createRows } from '../services/configurations/rows.ts'
import { createRunAccess, type RunAccess } from '../services/configurations/run-access.ts'
import { sealStored } from '../services/configurations/sealing.ts'
import { validationRoutes } from '../services/configurations/validation.routes.ts'
import { type ContentRule, createValidation } from '../services/configurations/validation.ts'
import { createVersions } from '../services/configurations/versions.ts'
import { encryptionRoutes } from '../services/encryption/encryption.routes.ts'
import { createEncryption } from '../services/encryption/encryption.ts'
import { createMerging, MERGE_REQUEST_JOB } from '../services/merge-requests/merge-requests.jobs.ts'
import { createMergeRequestsLoop } from '../services/merge-requests/merge-requests.loop.ts'
import { mergeRequestsRoutes } from '../services/merge-requests/merge-requests.routes.ts'
import { createMergeRequests } from '../services/merge-requests/merge-requests.ts'
import type { Core } from './core.ts'

export interface ConfigurationModulesDeps extends Core {
  readonly dataDir: string
  readonly objects: ObjectStore
  readonly unknownComponents?: UnknownComponents | undefined
  /** The name of this node as a worker; undefined when it is none. */
  readonly worker: string | undefined
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly createJob: (requester: Requester, job: NewStorageJob) => Promise<StorageJob>
  /** The same in a transaction, and what is called after it. */
  readonly insertJob: (trx: Trx, requester: Requester, job: NewStorageJob) => Promise<StorageJob>
  readonly wakeJobs: () => void
  /** What is said against a configuration before it is saved. */
  readonly checkContent: ContentRules['checkContent']
  /** All that is said against one, by the modules that run it. */
  readonly contentRules: readonly ContentRule[]
  /** Of schedules that run a configuration. */
  readonly nextRunsOf: ConfigurationDryRunDeps['nextRunsOf']
  /** Removes what a branch had outside of the database, when it is gone. */
  readonly afterBranchRemoval: (projectId: number, branchId: number) => Promise<void>
  /** Drops what other modules keep in a branch, before the branch goes. */
  readonly emptyBranch: (trx: Trx, branch: { readonly projectId: number; readonly id: number }) => Promise<void>
}

export type ConfigurationModules = Awaited<ReturnType<typeof createConfigurationModules>>

export async function createConfigurationModules(given: ConfigurationModulesDeps) {
  const { metadata, events, keyRing, dataDir, clock, log, createJob, emptyBranch } = given
  const { db, inTransaction } = metadata
  const components = createComponents({
    folder: createJsonFolder(join(dataDir, 'components')),
    log,
    ...defined({ unknown: given.unknownComponents }),
  })
  const workerComponents = createWorkerComponents({ inTransaction, components, worker: given.worker })
  const sharedComponents = createSharedComponents({
    store: createSharedComponentsStore(db),
    objects: given.objects,
    inTransaction,
    clock,
    components,
    cipher: {
      seal: async (text) => seal((await keyRing.keysOf(undefined)).current, text, 'components'),
      open: async (cipher) => openWith((await keyRing.keysOf(undefined)).byId, cipher, 'components'),
    },
    node: nodeIdOf(dataDir),
    folder: join(dataDir, 'components'),
    cache: join(dataDir, 'cache', 'components'),
    isAlone: metadata.dialect === 'sqlite',
    log,
  })
  const componentsLoop = createComponentsLoop({
    components,
    afterLook: async () => {
      await workerComponents.publish()
      await sharedComponents.exchange()
    },
    log,
  })
  await componentsLoop.tick()
  const encryption = createEncryption({ keyRing, componentNames: components.namesOf })
  const recordEvent = events.record
  const deps = { db, inTransaction, clock, components, recordEvent, secretsOf: encryption.secretsOf, newId: createUlids(clock) }
  const reader = createReader(deps)
  const versions = createVersions(deps)
  const configurations = createConfigurations({ ...deps, checkContent: given.checkContent })
  const rows = createRows(deps)
  const tried = { ...deps, inTransaction: undone(inTransaction) }
  const dryRuns = createConfigurationDryRuns({
    db,
    components,
    configurations: createConfigurations({ ...tried, checkContent: given.checkContent }),
    rows: createRows(tried),
    versions: createVersions(tried),
    nextRunsOf: given.nextRunsOf,
  })
  const branches = createBranches({
    db,
    inTransaction,
    clock,
    recordEvent,
    onCreate: (trx, from, into, source) => copies.copyAll(trx, into.projectId, from, into, source),
    isMerging: (projectId, id, from) => mergeRequests.isMerging(projectId, id, from),
    onDelete: async (trx, branch, source) => {
      await mergeRequests.cancelOf(trx, source, branch.id)
      await copies.dropAll(trx, branch.projectId, branch.id)
      await emptyBranch(trx, branch)
    },
  })
  const copies = createBranchCopies({ ...deps, defaultBranchId: async (projectId) => (await branches.findDefault(projectId)).id })

  const migrate = createMigration({
    ...deps,
    authenticate: given.tokens.authenticate,
    resolveBranch: async (projectId, name) => await branches.resolve(projectId, name),
  })

  const branchMerging = createBranchMerging({ db, branches, copies })
  const mergeRequests = createMergeRequests({
    db,
    inTransaction,
    clock,
    recordEvent,
    branches,
    changesOf: branchMerging.changesOf,
    people: given.tokens.listPeople,
  })
  const merging = createMerging({
    mergeRequests,
    inTransaction,
    insertJob: given.insertJob,
    wakeJobs: given.wakeJobs,
    log,
    ...branchMerging,
    removeBranch: branches.remove,
    afterRemoval: given.afterBranchRemoval,
  })
  const mergeRequestsLoop = createMergeRequestsLoop(merging, log)
  const sealing = once(
    (isStopped) => sealStored({ db, inTransaction, secretsOf: encryption.secretsOf, log }, isStopped),
    (error) => log.warn({ err: error }, 'Stored configurations could not be sealed; it is tried at the next start'),
  )

  return {
    components,
    /** Which components other workers have. */
    workerComponents,
    /** The folders of components, of this node and of others. */
    sharedComponents,
    encryption,
    branches,
    isMerging: mergeRequests.isMerging,
    merging,
    configurations,
    configurationsNaming: dryRuns.naming,
    /** For the queue and the runner: configurations as they run, and where their state is saved. */
    runAccess: createRunAccess(deps),
    /** The same in a transaction of another module: several changes as one. `check` looks at what the transaction sees. */
    inside: (trx: Trx, check: (access: RunAccess) => ContentRules['checkContent']) => {
      const inner = { ...deps, db: trx, inTransaction: <T>(work: (own: Trx) => Promise<T>) => work(trx) }
      const runAccess = createRunAccess(inner)
      return {
        runAccess,
        configurations: createConfigurations({ ...inner, checkContent: check(runAccess) }),
        rows: createRows(inner),
      }
    },
    /** Descriptions as the index publishes them. */
    publishedComponents: async (baseUrl: string) =>
      (await components.listed(() => listComponentIds(db))).map((component) => published(component, baseUrl)),
    /** Storage jobs of these modules, by operation name. */
    jobs: {
      ...branchJobs({
        branches,
        afterRemoval: given.afterBranchRemoval,
        merge: (trx, from, into, source) => copies.merge(trx, from.projectId, { from, into }, source),
      }),
      [MERGE_REQUEST_JOB]: merging.run,
    },
    registerRoutes(app: FastifyInstance): void {
      addRoutes(app, encryptionRoutes(encryption))
      addRoutes(app, migrationRoutes(migrate))
      addRoutes(
        app,
        componentsRoutes({
          components,
          configurationsOf: ({ actor, branch, origin }, isDeleted, include) =>
            reader.listAll({ actor, branch, origin }, isDeleted, include),
        }),
      )
      addRoutes(app, configurationsRoutes({ configurations, versions, dryRuns, reader }))
      addRoutes(app, rowsRoutes({ rows, versions, reader, dryRuns }))
      addRoutes(
        app,
        validationRoutes(createValidation({ components, findSchemas: components.find, rules: given.contentRules, reader })),
      )
      addRoutes(app, configurationMetadataRoutes(createConfigurationMetadata(deps)))
      addRoutes(app, branchCopiesRoutes(copies, reader))
      addRoutes(
        app,
        branchesRoutes({ branches, createJob, changes: (from, into) => copies.changes(db, from.projectId, from, into) }),
      )
      addRoutes(app, mergeRequestsRoutes({ mergeRequests, merging }))
    },
    componentsLoop,
    /** Refuses a configuration that is not there or that the actor may not see. */
    checkConfiguration: async (actor: Actor, branch: Branch, componentId: string, configurationId: string): Promise<void> => {
      await reader.get({ actor, branch, origin: NO_ORIGIN }, componentId, configurationId)
    },
    start() {
      componentsLoop.start()
      mergeRequestsLoop.start()
      sealing.start()
    },
    async stop() {
      await sealing.stop()
      await componentsLoop.stop()
      await mergeRequestsLoop.stop()
    },
  }
}
