// The wiring of streams: one part of platform.ts, in a file of its own for its length.

import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import type { RunTables } from '../model/run-ports.ts'
import { createBatches } from '../services/streams/batches.ts'
import { otlpRoutes } from '../services/streams/otlp.routes.ts'
import { receivingRoutes } from '../services/streams/receiving.routes.ts'
import { createReceiving } from '../services/streams/receiving.ts'
import { createSources } from '../services/streams/sources.ts'
import { createStreamsLoop } from '../services/streams/streams.loop.ts'
import { streamsRoutes } from '../services/streams/streams.routes.ts'
import { createStreamsStore } from '../services/streams/streams.store.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'

export interface StreamModulesDeps extends Core {
  readonly dataDir: string
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly configurations: ConfigurationModules
  readonly tables: RunTables
  /** The stack's own address, for what no request caused. */
  readonly baseUrl: () => string
}

export function createStreamModules({ metadata, dataDir, clock, log, configurations, tables, baseUrl }: StreamModulesDeps) {
  const { db, inTransaction } = metadata
  const { encryption, branches } = configurations
  const folder = join(dataDir, 'streams')
  const store = createStreamsStore(db)

  const sources = createSources({
    db,
    inTransaction,
    clock,
    encrypt: (projectId, secret) => encryption.encryptBody(secret, false, { projectId: String(projectId) }),
    decrypt: encryption.decryptForProject,
  })
  const receiving = createReceiving({ db, clock, folder })
  const batches = createBatches({
    db,
    inTransaction,
    clock,
    scratchFolder: join(folder, 'scratch'),
    tables,
    isDefaultBranch: async (projectId, branchId) => (await branches.findDefault(projectId)).id === branchId,
    baseUrl,
  })
  const loop = createStreamsLoop({
    receiving,
    batches,
    clock,
    onError: (err, sourceKey) => log.warn({ err, sourceKey }, 'a batch of a stream could not be loaded; it is tried again'),
  })

  return {
    loop,
    registerRoutes(app: FastifyInstance): void {
      addRoutes(app, receivingRoutes(receiving))
      addRoutes(app, otlpRoutes(receiving))
      addRoutes(
        app,
        streamsRoutes({
          sources,
          clock,
          findBranch: async (projectId, name) => branches.resolve(projectId, name),
          saveTask: (projectId, taskId, content) =>
            inTransaction((trx) => store.insertTask(trx, projectId, taskId, content, clock.now().getTime())),
          findTask: store.findTask,
        }),
      )
    },
  }
}
