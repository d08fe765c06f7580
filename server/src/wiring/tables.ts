// Buckets, tables and their metadata: three modules, the table engine and the jobs they do.

import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Db, Trx } from '../engines/metadata-db/dialects.ts'
import type { ObjectAccess } from '../engines/object-store/object-access.ts'
import type { ObjectStore } from '../engines/object-store/object-store.ts'
import { createTableEngine } from '../engines/table-engine/engine.ts'
import { createTableObjects, localKey } from '../engines/table-engine/objects-and-local-files.ts'
import type { TableEngineSettings } from '../engines/table-engine/table-engine.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { EventListQuery } from '../http/record-schemas.ts'
import type { Clock } from '../kit/clock.ts'
import type { Actor } from '../model/actor.ts'
import type { RecordEvent } from '../model/event.ts'
import type { Scope } from '../model/scope.ts'
import type { UsagePort } from '../model/usage-port.ts'
import { createBucketJobs } from '../services/buckets/bucket-jobs.ts'
import { bucketSharingRoutes } from '../services/buckets/bucket-sharing.routes.ts'
import { bucketsRoutes } from '../services/buckets/buckets.routes.ts'
import { type BucketsDeps, createBuckets } from '../services/buckets/buckets.ts'
import { createBucketsOfTables } from '../services/buckets/buckets-of-tables.ts'
import { createSharing, type Project, type SharingDeps } from '../services/buckets/sharing.ts'
import type { EventScope } from '../services/events/events.ts'
import { createFileSlices } from '../services/files/file-slices.ts'
import type { Files } from '../services/files/files.ts'
import { createFileOpener } from '../services/files/open-file.ts'
import { createIcebergStore } from '../services/iceberg/iceberg.store.ts'
import { createIceberg } from '../services/iceberg/iceberg.ts'
import { createRunCatalogue, withRunNamespace } from '../services/iceberg/run-namespace.ts'
import { createRunTablesStore } from '../services/iceberg/run-tables.store.ts'
import { createWrites } from '../services/iceberg/writes.ts'
import type { StorageJobsLoop } from '../services/storage-jobs/storage-jobs.loop.ts'
import type { StorageJobs } from '../services/storage-jobs/storage-jobs.ts'
import { createStorageMetadata } from '../services/storage-metadata/storage-metadata.ts'
import { createLocalTables } from '../services/tables/local-tables.ts'
import { createOpenTables } from '../services/tables/open-tables.ts'
import { createDefinitionChanges } from '../services/tables/plan-definition-change.ts'
import { createStructureChanges } from '../services/tables/plan-structure-change.ts'
import { createRunTables } from '../services/tables/run-tables.ts'
import { createSqlTables } from '../services/tables/sql-tables.ts'
import { createLoadStarter } from '../services/tables/start-load.ts'
import { tableAliasesRoutes } from '../services/tables/table-aliases.routes.ts'
import { createTableAliases } from '../services/tables/table-aliases.ts'
import { createTableParts, type TablesDeps } from '../services/tables/table-catalog.ts'
import { type ChangeDeps, createTableChanges, laneOf } from '../services/tables/table-changes.ts'
import { createTableCommits } from '../services/tables/table-commits.ts'
import { tableDataRoutes } from '../services/tables/table-data.routes.ts'
import { tableDefinitionRoutes } from '../services/tables/table-definition.routes.ts'
import { createTableDryRuns, type TableDryRunDeps } from '../services/tables/table-dry-run.ts'
import { createTableExports } from '../services/tables/table-export.ts'
import { createTableLoads, type LoadDeps } from '../services/tables/table-load.ts'
import { tableMetadataRoutes } from '../services/tables/table-metadata.routes.ts'
import { createTableMetadata } from '../services/tables/table-metadata.ts'
import { tableRowsRoutes } from '../services/tables/table-rows.routes.ts'
import { createTableRows } from '../services/tables/table-rows.ts'
import { createSnapshotJobs } from '../services/tables/table-snapshot-jobs.ts'
import { tableSnapshotsRoutes } from '../services/tables/table-snapshots.routes.ts'
import { createTableSnapshots } from '../services/tables/table-snapshots.ts'
import { tableStructureRoutes } from '../services/tables/table-structure.routes.ts'
import { createTableViews } from '../services/tables/table-views.ts'
import { createTablesLoop } from '../services/tables/tables.loop.ts'
import { tablesRoutes } from '../services/tables/tables.routes.ts'
import { createTables } from '../services/tables/tables.ts'

export interface TableModulesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly recordEvent: RecordEvent
  readonly objects: ObjectStore
  readonly access: ObjectAccess
  readonly authenticate: (token: string) => Promise<Actor | undefined>
  /** For work in progress; on the disk of the object store, so that finished files move instead of being copied. */
  readonly scratchDir: string
  readonly files: Files
  readonly jobs: StorageJobs
  readonly jobsLoop: StorageJobsLoop
  readonly configurationsNaming: TableDryRunDeps['configurationsNaming']
  readonly defaultBranchId: (projectId: number) => Promise<number>
  readonly findBranch: (
    projectId: number,
    name: string | undefined,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
  readonly findProject: (id: number) => Promise<Project | undefined>
  readonly backendName: BucketsDeps['backendName']
  readonly bucketPermissions: BucketsDeps['permissions']
  readonly findAdmin: BucketsDeps['findAdmin']
  readonly findAdminOfStack: SharingDeps['findAdmin']
  /** Of the workspaces, which stand on the tables. */
  readonly workspaces: {
    readonly check: (scope: Scope, workspaceId: number) => Promise<void>
    readonly openTable: LoadDeps['openWorkspaceTable']
    readonly readColumn: ChangeDeps['readWorkspaceColumn']
  }
  readonly listEvents: (
    actor: Actor,
    query: Static<typeof EventListQuery>,
    scope: EventScope,
    baseUrl: string,
  ) => Promise<unknown[]>
  readonly usage: UsagePort
  readonly freshnessAt: TablesDeps['freshnessAt']
  readonly settings?: TableSettings | undefined
}

export interface TableSettings extends TableEngineSettings {
  /** How far back a table can be travelled to. */
  readonly retentionDays?: number
}

export type TableModules = Awaited<ReturnType<typeof createTableModules>>

export async function createTableModules(deps: TableModulesDeps) {
  const { db, inTransaction, clock, log, recordEvent, objects, files, jobs, jobsLoop, findProject } = deps
  const uriPrefix = `s3://${deps.access.bucket}/`
  const engine = await createTableEngine({
    objects: createTableObjects(objects),
    scratchDir: deps.scratchDir,
    uriPrefix,
    ...(deps.settings && { settings: deps.settings }),
  })
  const slices = createFileSlices(objects, deps.access)
  const metadata = createStorageMetadata(db)

  const buckets = createBuckets({
    db,
    inTransaction,
    clock,
    recordEvent,
    defaultBranchId: deps.defaultBranchId,
    backendName: deps.backendName,
    tables: {
      usage: (keys) => tables.usage(keys),
      dropAll: (trx, projectId, bucket) => tables.dropAllOfBucket(trx, projectId, bucket),
      listAliasesInto: (projectId, bucket) => tables.listAliasesInto(projectId, bucket),
      dropAliasesInto: (trx, projectId, bucket) => tables.dropAliasesInto(trx, projectId, bucket),
    },
    metadata: metadata.ofBuckets,
    findAdmin: deps.findAdmin,
    permissions: deps.bucketPermissions,
  })
  const sharing = createSharing({ buckets, inTransaction, clock, recordEvent, findProject, findAdmin: deps.findAdminOfStack })

  const bucketsOfTables = createBucketsOfTables({
    buckets,
    sharing,
    usage: (keys, trx) => tables.usage(keys, trx),
    metadataViews: metadata.viewsOfBuckets,
  })

  const parts = createTableParts({
    db,
    inTransaction,
    clock,
    recordEvent,
    buckets: bucketsOfTables,
    metadata: metadata.ofTables,
    projectName: async (id) => (await findProject(id))?.name ?? '',
    usage: deps.usage,
    freshnessAt: deps.freshnessAt,
  })
  const tables = createTables(parts, jobs.create)
  const views = createTableViews(parts)
  const loads = createTableLoads({
    parts,
    engine,
    openFile: createFileOpener(files, slices),
    openWorkspaceTable: deps.workspaces.openTable,
  })
  const exports = createTableExports({
    parts,
    engine,
    files: {
      reserve: async (source, file, runId, branchId) =>
        files.reserve(source, file, runId, {
          id: branchId ?? 0,
          isDefault: [undefined, await deps.defaultBranchId(source.projectId)].includes(branchId),
        }),
      writeManifest: slices.writeManifest,
      publish: files.publish,
      findVisible: files.findVisible,
      forget: files.forget,
      giveAgain: files.giveAgain,
    },
    scratchDir: deps.scratchDir,
  })
  const openTables = createOpenTables({
    parts,
    engine,
    uriPrefix,
    createJob: jobs.create,
    waitForJob: jobs.waitForSuccess,
    startRemoval: tables.startRemoval,
  })
  const icebergStore = createIcebergStore(db)
  const iceberg = createIceberg({
    tables: openTables,
    store: icebergStore,
    objects,
    access: deps.access,
    inTransaction,
    findBranch: deps.findBranch,
    authenticate: deps.authenticate,
  })
  const runCatalogue = createRunCatalogue({
    store: createRunTablesStore(db),
    objects,
    catalogue: iceberg,
    inTransaction,
    clock,
  })
  const loop = createTablesLoop({
    parts,
    engine,
    objects,
    alsoNeeded: {
      tidy: async () => {
        await iceberg.removeUnused()
        await runCatalogue.removeOld()
      },
      keysOf: iceberg.everyKey,
    },
    inTransaction,
    clock,
    log,
    settings: deps.settings ?? {},
  })
  const local = createLocalTables({
    parts,
    loads,
    exports,
    engine,
    runInline: jobsLoop.runInline,
    localKey,
    createBucket: bucketsOfTables.createForLoad,
  })

  jobsLoop.registerHandler('tableCreate', loads.create)
  jobsLoop.registerHandler('tableImport', loads.load)
  jobsLoop.registerHandler('tableExport', exports.run)
  const snapshotJobs = createSnapshotJobs(parts, exports)
  jobsLoop.registerHandler('tableSnapshotCreate', snapshotJobs.create)
  jobsLoop.registerHandler('tableRestore', snapshotJobs.restore, 'light')
  jobsLoop.registerHandler('tableSnapshotDelete', snapshotJobs.remove, 'light')
  for (const [name, run] of Object.entries(
    createTableChanges({ parts, engine, readWorkspaceColumn: deps.workspaces.readColumn }),
  ))
    jobsLoop.registerHandler(name, run, laneOf(name))
  for (const [name, run] of Object.entries(createTableCommits({ parts, engine, objects, uriPrefix })))
    jobsLoop.registerHandler(name, run)
  for (const [name, run] of Object.entries(createBucketJobs(buckets, sharing))) jobsLoop.registerHandler(name, run, 'light')

  function registerRoutes(app: FastifyInstance): void {
    const createJob = jobs.create
    const dryRuns = createTableDryRuns({ parts, rehearse: jobsLoop.rehearse, configurationsNaming: deps.configurationsNaming })
    const dryRun = dryRuns.ofJob
    const eventsOf = (objectType: string) => (req: FastifyRequest, objectId: string, query: Static<typeof EventListQuery>) =>
      deps.listEvents(req.actor, query, { branch: req.branch, objectType, objectId }, req.baseUrl)
    addRoutes(
      app,
      bucketsRoutes({
        buckets,
        sharing,
        createJob,
        dryRun: async (req, job, bucket, signal) => dryRuns.ofTables(req, job, await tables.listOfBucket(bucket), signal),
        tableViews: async (req, bucket, include) =>
          views.many(await tables.listOfBucket(bucket), new Set([...include, 'metadata']), req.baseUrl),
        metadataViews: metadata.viewsOfBuckets,
        eventsOfBucket: eventsOf('bucket'),
      }),
    )
    addRoutes(
      app,
      bucketSharingRoutes({
        buckets,
        sharing,
        createJob,
        metadataViews: metadata.viewsOfBuckets,
        tableNames: async (bucket) =>
          // As whoever links it will see them.
          (await tables.listOfBucket({ ...bucket, sourceKey: bucket.key })).map(({ id, row }) => ({
            id,
            name: row.name,
            displayName: row.displayName,
          })),
      }),
    )
    addRoutes(app, tablesRoutes({ tables, views, dryRun, eventsOfTable: eventsOf('table') }))
    addRoutes(
      app,
      tableDataRoutes({
        tables,
        starter: createLoadStarter({
          parts,
          createJob,
          findBranch: deps.findBranch,
          checkFile: files.checkReadable,
          checkWorkspace: deps.workspaces.check,
        }),
        exports,
        createJob,
        dryRun,
        dryRunOfCreate: dryRuns.ofCreate,
        waitForJob: jobs.waitForSuccess,
        storeFile: async ({ actor, branch }, name, body, origin) =>
          (await files.upload(actor, name, body, async () => ({ name, tags: ['file-import'], branch }), origin)).id,
      }),
    )
    addRoutes(app, tableRowsRoutes({ rows: createTableRows({ parts, engine }) }))
    addRoutes(app, tableMetadataRoutes({ metadata: createTableMetadata(parts), views }))
    addRoutes(app, tableDefinitionRoutes({ definitions: createDefinitionChanges(parts), createJob, dryRun }))
    addRoutes(app, tableStructureRoutes({ changes: createStructureChanges(parts, deps.workspaces.check), createJob, dryRun }))
    addRoutes(app, tableAliasesRoutes({ aliases: createTableAliases(parts), views }))
    addRoutes(app, tableSnapshotsRoutes({ snapshots: createTableSnapshots(parts), createJob, dryRun }))
  }

  return {
    buckets,
    tables,
    parts,
    engine,
    /** For programs that read and write tables by their files. */
    catalogue: withRunNamespace(
      iceberg,
      createWrites({ tables: openTables, store: icebergStore, objects, catalogue: iceberg }),
      runCatalogue,
    ),
    /** For runs on other engines. */
    runNamespace: runCatalogue.ofRun,
    loop,
    /** For the queue: loads and exports of files on this machine. */
    local,
    /** For the job runner: tables as a run of a component sees them. */
    runTables: createRunTables({ parts, local, scratchDir: deps.scratchDir }),
    /** For SQL: tables as selects over their files. */
    sqlTables: createSqlTables(parts),
    emptyBranch: async (trx: Trx, projectId: number, branchId: number) => {
      await buckets.removeOfBranch(trx, projectId, branchId)
      await files.deleteOfBranch(trx, projectId, branchId)
    },
    registerRoutes,
    start: loop.start,
    stop: loop.stop,
    close: engine.close,
  }
}
