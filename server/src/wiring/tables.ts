// The wiring of buckets, tables and their metadata: three rooms, the table engine and the jobs they do. No logic here.

import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Db, Trx } from '../engines/metadata-db/dialects.ts'
import type { ObjectStore } from '../engines/object-store/object-store.ts'
import { createTableEngine } from '../engines/table-engine/engine.ts'
import type { TableEngineSettings } from '../engines/table-engine/table-engine.ts'
import type { EventListQuery } from '../http/record-schemas.ts'
import { type Clock, formatTimestamp } from '../kit/clock.ts'
import { PlatformError } from '../kit/errors.ts'
import type { Actor } from '../model/actor.ts'
import type { RecordEvent } from '../model/event.ts'
import { failureOf } from '../model/storage-job.ts'
import { createBucketJobs } from '../services/buckets/bucket-jobs.ts'
import { bucketSharingRoutes } from '../services/buckets/bucket-sharing.routes.ts'
import { bucketView } from '../services/buckets/bucket-view.ts'
import { bucketsRoutes } from '../services/buckets/buckets.routes.ts'
import { type BucketsDeps, createBuckets } from '../services/buckets/buckets.ts'
import { createSharing, type Project } from '../services/buckets/sharing.ts'
import { createFileSlices } from '../services/files/file-slices.ts'
import type { Files } from '../services/files/files.ts'
import type { StorageJobsLoop } from '../services/storage-jobs/storage-jobs.loop.ts'
import type { StorageJobs } from '../services/storage-jobs/storage-jobs.ts'
import { createStorageMetadata } from '../services/storage-metadata/storage-metadata.ts'
import { createLocalTables } from '../services/tables/local-tables.ts'
import { tableAliasesRoutes } from '../services/tables/table-aliases.routes.ts'
import { createTableChanges, LIGHT_OPERATIONS } from '../services/tables/table-changes.ts'
import { tableDataRoutes } from '../services/tables/table-data.routes.ts'
import { tableDefinitionRoutes } from '../services/tables/table-definition.routes.ts'
import { createTableExports } from '../services/tables/table-export.ts'
import { createTableLoads } from '../services/tables/table-load.ts'
import { tableMetadataRoutes } from '../services/tables/table-metadata.routes.ts'
import { tableSnapshotsRoutes } from '../services/tables/table-snapshots.routes.ts'
import { tableStructureRoutes } from '../services/tables/table-structure.routes.ts'
import { metadataView } from '../services/tables/table-view.ts'
import { createTablesLoop } from '../services/tables/tables.loop.ts'
import { createTableViews, tablesRoutes } from '../services/tables/tables.routes.ts'
import { createTables } from '../services/tables/tables.ts'
import { createTableObjects, localKey } from './table-objects.ts'

export interface TableModulesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly recordEvent: RecordEvent
  readonly objects: ObjectStore
  readonly objectBucket: string
  /** For work in progress; on the disk of the object store, so that finished files move instead of being copied. */
  readonly scratchDir: string
  readonly files: Files
  readonly jobs: StorageJobs
  readonly jobsLoop: StorageJobsLoop
  readonly defaultBranchId: (projectId: number) => Promise<number>
  readonly findBranch: (
    projectId: number,
    name: string,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
  readonly findProject: (id: number) => Promise<Project | undefined>
  readonly bucketPermissions: BucketsDeps['permissions']
  readonly findHolder: BucketsDeps['findHolder']
  readonly isHolder: (user: string) => Promise<boolean>
  readonly listEvents: (
    actor: Actor,
    query: Static<typeof EventListQuery>,
    scope: { objectType: string; objectId: string },
    baseUrl: string,
  ) => Promise<unknown[]>
  readonly settings?: TableSettings | undefined
}

export interface TableSettings extends TableEngineSettings {
  /** How far back a table can be travelled to. */
  readonly retentionDays?: number
}

const DAY_MS = 24 * 3_600_000

export type TableModules = Awaited<ReturnType<typeof createTableModules>>

export async function createTableModules(deps: TableModulesDeps) {
  const { db, inTransaction, clock, log, recordEvent, objects, files, jobs, jobsLoop, findProject } = deps
  const engine = await createTableEngine({
    objects: createTableObjects(objects),
    scratchDir: deps.scratchDir,
    ...(deps.settings && { settings: deps.settings }),
  })
  const slices = createFileSlices(objects, deps.objectBucket)
  const metadata = createStorageMetadata(db)

  const buckets = createBuckets({
    db,
    inTransaction,
    clock,
    recordEvent,
    defaultBranchId: deps.defaultBranchId,
    tables: {
      usage: (keys) => tables.usage(keys),
      dropAll: (trx, projectId, bucket) => tables.dropAllOfBucket(trx, projectId, bucket),
      listAliasesInto: (projectId, bucket) => tables.listAliasesInto(projectId, bucket),
      dropAliasesInto: (trx, projectId, bucket) => tables.dropAliasesInto(trx, projectId, bucket),
    },
    metadata: {
      set: (trx, projectId, object, provider, pairs, now) =>
        metadata.set(trx, projectId, { kind: 'bucket', object }, provider, pairs, now),
      remove: (trx, projectId, object, id) => metadata.remove(trx, projectId, { kind: 'bucket', object }, id),
      forget: (trx, object) => metadata.forget(trx, { kind: 'bucket', object }),
    },
    findHolder: deps.findHolder,
    permissions: deps.bucketPermissions,
  })
  const sharing = createSharing({ buckets, inTransaction, clock, recordEvent, findProject, isHolder: deps.isHolder })

  const tables = createTables({
    db,
    inTransaction,
    clock,
    recordEvent,
    buckets: {
      get: buckets.get,
      getForChange: buckets.getForChange,
      list: buckets.list,
      findByKey: (key) => buckets.store.findByKey(key),
      getInDefaultBranch: buckets.getInDefaultBranch,
      ensureInBranch: (scope, { id }, origin) => buckets.ensureInBranch(scope, id, origin),
      touch: buckets.touch,
      view: async ({ key }, baseUrl, trx) => {
        const bucket = await buckets.store.findByKey(key, trx)
        if (!bucket) throw new PlatformError('storage.tables.dropped')
        const shown = bucket.sourceKey ?? bucket.key
        return bucketView(bucket, baseUrl, {
          usage: (await tables.usage([shown], trx)).get(shown),
          source: await sharing.sourceOf(bucket),
        })
      },
    },
    metadata: {
      listTables: (projectId, keys, trx) => metadata.listMany(projectId, 'table', keys, trx),
      listColumns: metadata.listColumns,
      findTables: metadata.findTables,
      set: (trx, projectId, object, column, provider, pairs, now) =>
        metadata.set(trx, projectId, { kind: 'table', object, ...(column !== undefined && { column }) }, provider, pairs, now),
      remove: (trx, projectId, object, column, id) =>
        metadata.remove(trx, projectId, { kind: 'table', object, ...(column !== undefined && { column }) }, id),
      forget: (trx, object, column) => metadata.forget(trx, { kind: 'table', object, ...(column !== undefined && { column }) }),
    },
    projectName: async (id) => (await findProject(id))?.name ?? '',
  })

  const openFile = async (projectId: number, fileId: number) => {
    const file = await files.find(projectId, fileId)
    const found = await slices.of(file)
    return {
      name: file.name,
      isSliced: file.isSliced,
      slices: await Promise.all(
        found.map(async (slice) => ({
          ...slice,
          gzip: await slices.isPacked(file, slice),
          name: file.isSliced ? `${file.name} (${slice.key.slice(file.key.length)})` : file.name,
        })),
      ),
      attachment: {
        id: file.id,
        name: file.name,
        isSliced: file.isSliced,
        sizeBytes: found.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        created: formatTimestamp(file.createdAt),
      },
    }
  }
  const loads = createTableLoads({ tables, engine, openFile })
  const exports = createTableExports({
    tables,
    engine,
    files: {
      reserve: files.reserve,
      writeManifest: slices.writeManifest,
      publish: files.publish,
      findVisible: files.findVisible,
      addRunId: files.store.addRunId,
    },
  })
  const retentionMs = (deps.settings?.retentionDays ?? 7) * DAY_MS
  const loop = createTablesLoop({ tables, engine, objects, inTransaction, clock, log, settings: { retentionMs } })

  jobsLoop.registerHandler('tableCreate', loads.create)
  jobsLoop.registerHandler('tableImport', loads.load)
  jobsLoop.registerHandler('tableExport', exports.run)
  for (const [name, run] of Object.entries(createTableChanges({ tables, engine })))
    jobsLoop.registerHandler(name, run, LIGHT_OPERATIONS.has(name) ? 'light' : 'heavy')
  for (const [name, run] of Object.entries(createBucketJobs(buckets, sharing))) jobsLoop.registerHandler(name, run, 'light')

  const views = createTableViews(tables)
  const waitForJob = async ({ projectId, id }: { readonly projectId: number; readonly id: number }) => {
    const job = await jobs.waitFor(projectId, id)
    if (job.status === 'success') return job
    throw failureOf(job)
  }

  function registerRoutes(app: FastifyInstance): void {
    const eventsOf = (objectType: string) => (req: FastifyRequest, objectId: string, query: Static<typeof EventListQuery>) =>
      deps.listEvents(req.actor, query, { objectType, objectId }, req.baseUrl)
    const metadataViews = async (projectId: number, keys: readonly number[]) =>
      new Map([...(await metadata.listMany(projectId, 'bucket', keys))].map(([key, items]) => [key, items.map(metadataView)]))
    app.register(
      bucketsRoutes({
        buckets,
        sharing,
        createJob: jobs.create,
        tableViews: async (req, bucket, include) => {
          const shown = new Set([...include, 'metadata'])
          return views.many(await tables.listOfBucket(bucket), shown, req.baseUrl)
        },
        metadataViews,
        eventsOfBucket: eventsOf('bucket'),
      }),
    )
    app.register(
      bucketSharingRoutes({
        buckets,
        sharing,
        createJob: jobs.create,
        metadataViews,
        tableNames: async (bucket) =>
          (await tables.listOfBucket(bucket)).map(({ id, row }) => ({ id, name: row.name, displayName: row.displayName })),
      }),
    )
    app.register(tablesRoutes({ tables, createJob: jobs.create, eventsOfTable: eventsOf('table') }))
    app.register(
      tableDataRoutes({
        tables,
        exports,
        createJob: jobs.create,
        findBranch: deps.findBranch,
        waitForJob,
        checkFile: async (actor, id) => {
          await files.get(actor, id)
        },
        storeFile: async (actor, name, body, origin) =>
          (await files.upload(actor, name, body, async () => ({ name, tags: ['file-import'] }), origin)).id,
      }),
    )
    app.register(tableMetadataRoutes(tables))
    app.register(tableDefinitionRoutes({ tables, createJob: jobs.create }))
    app.register(tableStructureRoutes({ tables, createJob: jobs.create }))
    app.register(tableAliasesRoutes(tables))
    app.register(tableSnapshotsRoutes({ tables, createJob: jobs.create }))
  }

  return {
    buckets,
    tables,
    engine,
    loop,
    /** For the queue: loads and exports of files on this machine. */
    local: createLocalTables({
      tables,
      loads,
      exports,
      engine,
      runInline: jobsLoop.runInline,
      localKey,
      createBucket: async (requester, bucketId, metadata) => {
        const [stage = '', name = ''] = bucketId.split('.')
        const bucket = await buckets.create(requester, { stage, name }, requester.origin)
        for (const { provider, whenCreated = [] } of metadata)
          if (whenCreated.length > 0) await buckets.setMetadata(requester.actor, bucket, provider, whenCreated, requester.origin)
      },
    }),
    emptyBranch: buckets.removeOfBranch,
    registerRoutes,
    start: loop.start,
    stop: loop.stop,
    close: engine.close,
  }
}
