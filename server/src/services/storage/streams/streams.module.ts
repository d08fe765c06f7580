import { join } from 'node:path'
import { PlatformError } from '../../../kit/errors.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { TablesModule } from '../tables/tables.module.ts'
import { createBatches } from './batches.ts'
import { otlpRoutes } from './otlp.routes.ts'
import { receivingRoutes } from './receiving.routes.ts'
import { createReceiving } from './receiving.ts'
import { createSources } from './sources.ts'
import { createStreamsLoop } from './streams.loop.ts'
import { streamsRoutes } from './streams.routes.ts'
import { createStreamsStore } from './streams.store.ts'

export interface StreamsModuleDeps {
  readonly core: Core
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
  readonly tables: TablesModule
  /** The stack's own address, for what no request caused. */
  readonly baseUrl: () => string
}

export function createStreamsModule({ core, encryption, branches, tables, baseUrl }: StreamsModuleDeps) {
  const { db, inTransaction, clock, log, subscribe } = core
  const folder = join(core.dataDir, 'streams')
  const store = createStreamsStore(db)
  const sources = createSources({
    db,
    inTransaction,
    clock,
    encrypt: encryption.encryptForProject,
    decrypt: encryption.decryptForProject,
    findTable: async ({ actor, branchId }, tableId) => {
      const branch = { id: branchId, isDefault: (await branches.defaultId(actor.projectId)) === branchId }
      const table = await tables.get({ actor, branch }, tableId).catch(undefinedIfMissing)
      return table && { isAlias: table.source !== undefined, isTyped: table.data.isTyped, columns: table.columns }
    },
  })
  const receiving = createReceiving({ db, clock, folder })
  const batches = createBatches({
    db,
    inTransaction,
    clock,
    scratchFolder: join(folder, 'scratch'),
    tables: tables.runTables,
    isDefaultBranch: async (projectId, branchId) => (await branches.defaultId(projectId)) === branchId,
    baseUrl,
  })
  const loop = createStreamsLoop({
    receiving,
    batches,
    clock,
    onError: (err, sourceKey) => log.warn({ err, sourceKey }, 'a batch of a stream could not be loaded; it is tried again'),
  })
  subscribe('event.recorded', async (trx, { projectId }, { event, objectId, branchId, params }) => {
    if (event !== 'storage.tableColumnsUpdated' || params?.renamedTo === undefined || objectId === undefined) return
    const renamed = { tableId: objectId, from: String(params.column), to: String(params.renamedTo) }
    await store.renameColumn(trx, projectId, { branchId: branchId ?? (await branches.defaultId(projectId)), ...renamed })
  })
  return defineModule({
    name: 'streams',
    routes: [
      receivingRoutes(receiving),
      otlpRoutes(receiving),
      streamsRoutes({
        sources,
        clock,
        findBranch: branches.findByName,
        saveTask: (projectId, taskId, content) =>
          inTransaction((trx) => store.insertTask(trx, projectId, taskId, content, clock.now().getTime())),
        findTask: store.findTask,
      }),
    ],
    background: [{ role: 'api', start: loop.start, stop: loop.stop }],
  })
}

function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof PlatformError && error.kind === 'not-found')) throw error
}
