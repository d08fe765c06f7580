import { join } from 'node:path'
import { createTableEngine } from '../../../engines/table-engine/engine.ts'
import { createTableObjects, localKey } from '../../../engines/table-engine/objects-and-local-files.ts'
import type { TableEngineSettings } from '../../../engines/table-engine/table-engine.ts'
import type { Core } from '../../../model/core.ts'
import type { CheckLoad } from '../../../model/load-check.ts'
import { defineModule } from '../../../model/module.ts'
import type { Scope } from '../../../model/scope.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { EventsApiModule } from '../../stack/events/events-api.module.ts'
import type { BucketsModule } from '../buckets/buckets.module.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { FreshnessModule } from '../lineage/freshness.module.ts'
import type { ObjectsModule } from '../s3/s3.module.ts'
import type { StorageJobsModule } from '../storage-jobs/storage-jobs.module.ts'
import type { StorageMetadataModule } from '../storage-metadata/storage-metadata.module.ts'
import type { UsageModule } from '../usage/usage.module.ts'
import { tableBrowseRoutes } from './catalog/table-browse.routes.ts'
import { createTableBrowse } from './catalog/table-browse.ts'
import { createTableParts } from './catalog/table-catalog.ts'
import { createTableSearch } from './catalog/table-search.ts'
import { createDefinitionChanges } from './changes/plan-definition-change.ts'
import { createStructureChanges } from './changes/plan-structure-change.ts'
import { type ChangeDeps, createTableChanges } from './changes/table-changes.ts'
import { createTableCommits } from './changes/table-commits.ts'
import { tableDefinitionRoutes } from './changes/table-definition.routes.ts'
import { createTableDryRuns } from './changes/table-dry-run.ts'
import { tableStructureRoutes } from './changes/table-structure.routes.ts'
import { createProposedTables } from './proposed/proposed-tables.ts'
import { createLocalTables } from './rows/local-tables.ts'
import { createOpenTables } from './rows/open-tables.ts'
import { createRunTables } from './rows/run-tables.ts'
import { createSqlTables } from './rows/sql-tables.ts'
import { createLoadStarter } from './rows/start-load.ts'
import { tableDataRoutes } from './rows/table-data.routes.ts'
import { createTableExports } from './rows/table-export.ts'
import { createTableLoads, type LoadDeps } from './rows/table-load.ts'
import { tableRowsRoutes } from './rows/table-rows.routes.ts'
import { createTableRows } from './rows/table-rows.ts'
import { createSnapshotJobs } from './snapshots/table-snapshot-jobs.ts'
import { tableSnapshotsRoutes } from './snapshots/table-snapshots.routes.ts'
import { createTableSnapshots } from './snapshots/table-snapshots.ts'
import { createTablesLoop } from './tables.loop.ts'
import { tablesRoutes } from './tables.routes.ts'
import { createTables } from './tables.ts'
import { tableAliasesRoutes } from './views/table-aliases.routes.ts'
import { createTableAliases } from './views/table-aliases.ts'
import { tableMetadataRoutes } from './views/table-metadata.routes.ts'
import { createTableMetadata } from './views/table-metadata.ts'
import { createTableViewLoader } from './views/table-view-loader.ts'

export interface TableSettings extends TableEngineSettings {
  /** How many days back the states of a table are kept. */
  readonly retentionDays?: number
}

/** Of workspaces, which are created later: they read tables. */
export interface WorkspacesOfTables {
  readonly check: (scope: Scope, workspaceId: number) => Promise<void>
  readonly openTable: LoadDeps['openWorkspaceTable']
  readonly readColumn: ChangeDeps['readWorkspaceColumn']
}

export interface TablesModuleDeps {
  readonly core: Core
  readonly objects: ObjectsModule
  readonly tokens: TokensModule
  readonly usage: UsageModule
  readonly branches: BranchesModule
  readonly files: FilesModule
  readonly storageJobs: StorageJobsModule
  readonly storageMetadata: StorageMetadataModule
  readonly freshness: FreshnessModule
  readonly buckets: BucketsModule
  readonly configurations: ConfigurationsModule
  readonly eventsApi: EventsApiModule
  readonly workspaces: WorkspacesOfTables
  /** Of data tests, which are created later: they read tables. */
  readonly checkLoad: CheckLoad
  readonly settings: TableSettings
}

export type TablesModule = Awaited<ReturnType<typeof createTablesModule>>

export async function createTablesModule(deps: TablesModuleDeps) {
  const { core, objects, buckets, files, storageJobs, settings } = deps
  const { inTransaction, clock, log, publish, subscribe } = core
  // On the disk of the object store, so that finished files are moved instead of copied.
  const scratchDir = join(core.dataDir, 'table-scratch')
  const uriPrefix = `s3://${objects.access.bucket}/`
  const engine = await createTableEngine({
    objects: createTableObjects(objects.store),
    scratchDir,
    uriPrefix,
    settings,
    onNotLoaded: (reason) =>
      log.error({ reason }, 'a table worker could not load DuckDB; install Millrace again if this persists'),
  })
  const parts = createTableParts({
    db: core.db,
    inTransaction,
    clock,
    recordEvent: core.recordEvent,
    buckets: buckets.ofTables,
    metadata: deps.storageMetadata.ofTables,
    projectName: async (id) => (await deps.tokens.projectName(id)) ?? '',
    backendName: deps.tokens.backendName,
    usage: deps.usage.port,
    freshnessAt: deps.freshness.freshnessAt,
  })
  const tables = createTables(parts, storageJobs.create)
  const views = createTableViewLoader(parts)
  const loads = createTableLoads({
    parts,
    engine,
    checkLoad: deps.checkLoad,
    openFile: files.open,
    openWorkspaceTable: deps.workspaces.openTable,
  })
  const exports = createTableExports({ parts, engine, files: filesOfExports(deps), scratchDir })
  const snapshotJobs = createSnapshotJobs(parts, exports)
  const proposed = createProposedTables(parts, core.db, buckets.ofTables.ofProposals)
  const changes = createTableChanges({ parts, engine, readWorkspaceColumn: deps.workspaces.readColumn, proposed })
  const local = createLocalTables({
    parts,
    loads,
    exports,
    engine,
    runInline: storageJobs.runInline,
    localKey,
    createBucket: buckets.ofTables.createForLoad,
  })
  const loop = createTablesLoop({
    parts,
    engine,
    objects: objects.store,
    alsoNeeded: {
      tidy: () => publish('tables.sweeping'),
      keysOf: async function* (projectId) {
        for (const keys of await publish('tables.keysInUseListed', projectId)) yield* keys
      },
    },
    inTransaction,
    clock,
    log,
    settings,
  })
  const dryRuns = createTableDryRuns({
    parts,
    rehearse: storageJobs.rehearse,
    configurationsNaming: deps.configurations.naming,
  })

  subscribe('proposal.changesListed', proposed.list)
  subscribe('proposal.accepted', proposed.apply)
  subscribe('proposal.undone', proposed.undo)
  subscribe('branch.deleted', proposed.forget)
  subscribe('bucket.emptied', tables.dropAllOfBucket)
  subscribe('bucket.unlinked', tables.dropAliasesInto)
  subscribe('bucket.aliasesListed', tables.listAliasesInto)
  subscribe('project.measured', async (projectId, at) => ({
    bytes: (await tables.usageOfProject(projectId, at)).dataSizeBytes,
    files: 0,
  }))

  return defineModule({
    name: 'tables',
    routes: routesOfTables(deps, { parts, proposed, engine, tables, views, exports, dryRuns }),
    jobHandlers: {
      tableCreate: loads.create,
      tableImport: loads.load,
      tableExport: exports.run,
      tableSnapshotCreate: snapshotJobs.create,
      ...changes.heavy,
      ...createTableCommits({ parts, engine, objects: objects.store, uriPrefix, checkLoad: deps.checkLoad }),
    },
    lightJobHandlers: { tableRestore: snapshotJobs.restore, tableSnapshotDelete: snapshotJobs.remove, ...changes.light },
    background: [{ stop: engine.close }, { role: 'worker', start: loop.start, stop: loop.stop }],
    ...tables,
    parts,
    views,
    engine,
    loop,
    dryRuns,
    search: createTableSearch(parts),
    /** The job that brings a table of the default branch into a development branch. */
    pull: createStructureChanges(parts, deps.workspaces.check).pull,
    /** Tables as the catalogue of Iceberg reads and commits them. */
    open: createOpenTables({
      parts,
      engine,
      uriPrefix,
      createJob: storageJobs.create,
      waitForJob: storageJobs.waitForSuccess,
      startRemoval: tables.startRemoval,
    }),
    /** Loads and exports of files on this machine. */
    local,
    /** For the job runner: tables as a run of a component sees them. */
    runTables: createRunTables({ parts, local, scratchDir, waitForStore: files.waitForStore }),
    /** For SQL: tables as selects over their files. */
    sqlTables: createSqlTables(parts),
  })
}

function filesOfExports({ files, branches }: TablesModuleDeps): Parameters<typeof createTableExports>[0]['files'] {
  return {
    reserve: async (source, file, runId, branchId) => {
      const isDefault = branchId === undefined || branchId === (await branches.defaultId(source.projectId))
      return files.reserve(source, file, runId, { id: branchId ?? 0, isDefault })
    },
    writeManifest: files.slices.writeManifest,
    publish: files.publish,
    findVisible: files.findVisible,
    forget: files.forget,
    giveAgain: files.giveAgain,
  }
}

interface PartsOfRoutes {
  readonly parts: ReturnType<typeof createTableParts>
  readonly proposed: ReturnType<typeof createProposedTables>
  readonly engine: Awaited<ReturnType<typeof createTableEngine>>
  readonly tables: ReturnType<typeof createTables>
  readonly views: ReturnType<typeof createTableViewLoader>
  readonly exports: ReturnType<typeof createTableExports>
  readonly dryRuns: ReturnType<typeof createTableDryRuns>
}

function routesOfTables(deps: TablesModuleDeps, { parts, proposed, engine, tables, views, exports, dryRuns }: PartsOfRoutes) {
  const { files, storageJobs, workspaces, branches, eventsApi } = deps
  const createJob = storageJobs.create
  const dryRun = dryRuns.ofJob
  return [
    tablesRoutes({
      tables,
      views,
      dryRun,
      eventsOfTable: (req, objectId, query) =>
        eventsApi.list(req.actor, query, { branch: req.branch, objectType: 'table', objectId }, req.baseUrl),
    }),
    tableDataRoutes({
      tables,
      starter: createLoadStarter({
        parts,
        createJob,
        findBranch: branches.findByName,
        checkFile: files.checkReadable,
        checkWorkspace: workspaces.check,
      }),
      exports,
      createJob,
      dryRun,
      dryRunOfCreate: dryRuns.ofCreate,
      waitForJob: storageJobs.waitForSuccess,
      storeFile: (scope, name, body, origin) => files.save(scope, name, body, origin, ['file-import']),
    }),
    tableBrowseRoutes(createTableBrowse(parts)),
    tableRowsRoutes({ rows: createTableRows({ parts, engine }) }),
    tableMetadataRoutes({ metadata: createTableMetadata(parts, proposed), views }),
    tableDefinitionRoutes({ definitions: createDefinitionChanges(parts, proposed), createJob, dryRun }),
    tableStructureRoutes({ changes: createStructureChanges(parts, workspaces.check), createJob, dryRun }),
    tableAliasesRoutes({ aliases: createTableAliases(parts), views }),
    tableSnapshotsRoutes({ snapshots: createTableSnapshots(parts), createJob, dryRun }),
  ]
}
