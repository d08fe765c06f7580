import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Branch } from '../../../http/server.ts'
import { once } from '../../../kit/once.ts'
import { createUlids } from '../../../kit/ulid.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Core } from '../../../model/core.ts'
import { undone } from '../../../model/dry-run.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import { defineModule } from '../../../model/module.ts'
import type { Scope } from '../../../model/scope.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../branches/branches.module.ts'
import type { ComponentsModule } from '../components/components.module.ts'
import { mayUse, usableComponent } from './access.ts'
import { branchCopiesRoutes } from './branch-copies.routes.ts'
import { createBranchCopies } from './branch-copies.ts'
import { createBranchMerging } from './branch-merging.ts'
import { configurationBrowseRoutes } from './browse.routes.ts'
import { configurationsRoutes } from './configurations.routes.ts'
import { type ContentRules, createConfigurations } from './configurations.ts'
import { listContents } from './contents.ts'
import { createConfigurationDryRuns } from './dry-run.ts'
import { listLinks } from './links.ts'
import { configurationMetadataRoutes } from './metadata.routes.ts'
import { createConfigurationMetadata } from './metadata.ts'
import { migrationRoutes } from './migration.routes.ts'
import { createMigration } from './migration.ts'
import { listNames } from './names.ts'
import { createReader } from './reader.ts'
import { listComponentIds, listConfigurationNames } from './records/configurations.store.ts'
import { createConfigurationSearch } from './records/search.store.ts'
import { rowsRoutes } from './rows.routes.ts'
import { createRows } from './rows.ts'
import { createRunAccess, type RunAccess } from './run-access.ts'
import { sealStored } from './sealing.ts'
import { validationRoutes } from './validation.routes.ts'
import { createValidation } from './validation.ts'
import { createVersions } from './versions.ts'

export interface ConfigurationsModuleDeps {
  readonly core: Core
  readonly components: ComponentsModule
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
  readonly tokens: TokensModule
}

export type ConfigurationsModule = ReturnType<typeof createConfigurationsModule>

export function createConfigurationsModule({ core, components, encryption, branches, tokens }: ConfigurationsModuleDeps) {
  const { db, inTransaction, clock, log, recordEvent, publish, subscribe } = core
  const deps = { db, inTransaction, clock, components, recordEvent, secretsOf: encryption.secretsOf, newId: createUlids(clock) }
  const checkContent: ContentRules['checkContent'] = async (...args) => (await publish('configuration.saving', ...args)).flat()
  const reader = createReader(deps)
  const versions = createVersions(deps)
  const configurations = createConfigurations({ ...deps, checkContent })
  const rows = createRows(deps)
  const tried = { ...deps, inTransaction: undone(inTransaction) }
  const dryRuns = createConfigurationDryRuns({
    db,
    components,
    configurations: createConfigurations({ ...tried, checkContent }),
    rows: createRows(tried),
    versions: createVersions(tried),
    nextRunsOf: async (...args) => (await publish('configuration.nextRunsListed', ...args)).flat(),
  })
  const validation = createValidation({
    components,
    findSchemas: components.find,
    rules: async (...args) => (await publish('configuration.validated', ...args)).flat(),
    reader,
  })
  const copies = createBranchCopies({ ...deps, defaultBranchId: branches.defaultId })
  const migrate = createMigration({ ...deps, authenticate: tokens.authenticateDirect, resolveBranch: branches.findByName })
  const sealing = once(
    (isStopped) => sealStored({ db, inTransaction, secretsOf: encryption.secretsOf, log }, isStopped),
    (error) => log.warn({ err: error }, 'Stored configurations could not be sealed; it is tried at the next start'),
  )

  subscribe('branch.created', (trx, from, into, source) => copies.copyAll(trx, into.projectId, from, into, source))
  subscribe('branch.deleted', (trx, branch) => copies.dropAll(trx, branch.projectId, branch.id))

  return defineModule({
    name: 'configurations',
    routes: [
      migrationRoutes(migrate),
      configurationsRoutes({ configurations, versions, dryRuns, reader }),
      configurationBrowseRoutes({ db, components }),
      rowsRoutes({ rows, versions, reader, dryRuns }),
      validationRoutes(validation),
      configurationMetadataRoutes(createConfigurationMetadata(deps)),
      branchCopiesRoutes(copies, reader),
    ],
    background: [{ start: sealing.start, stop: sealing.stop }],
    ...configurations,
    reader,
    copies,
    merging: createBranchMerging({ db, branches, copies }),
    /** Configurations that name a table or another object. */
    naming: dryRuns.naming,
    listComponentIds: () => listComponentIds(db),
    listNames: (scope: Scope) => listNames(db, components, scope),
    namesOfBranch: (projectId: number, branchId: number, componentIds?: readonly string[]) =>
      listConfigurationNames(db, projectId, branchId, componentIds),
    /** Tables and configurations that the configurations of a branch refer to. */
    links: (projectId: number, branchId: number, componentIds?: readonly string[]) =>
      listLinks(db, projectId, branchId, componentIds),
    /** Texts of all configurations and rows of a branch. */
    contents: (projectId: number, branchId: number) => listContents(db, projectId, branchId),
    search: createConfigurationSearch(core.metadata, components),
    usableComponent: (actor: Actor, componentId: string) => usableComponent(components, actor, componentId),
    mayUseComponent: (actor: Actor, componentId: string) => mayUse(components, actor, componentId),
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
        versions: createVersions(inner),
      }
    },
    /** Refuses a configuration that does not exist or that the actor may not see. */
    checkReadable: async (actor: Actor, branch: Branch, componentId: string, configurationId: string): Promise<void> => {
      await reader.get({ actor, branch, origin: NO_ORIGIN }, componentId, configurationId)
    },
  })
}

export type { RunAccess }
