// What every module is given.

import type { FastifyBaseLogger } from 'fastify'
import type { Db, Trx } from '../engines/metadata-db/dialects.ts'
import type { MetadataDb } from '../engines/metadata-db/metadata-db.ts'
import type { Clock } from '../kit/clock.ts'
import type { RecordChange } from './change.ts'
import type { RecordEvent } from './event.ts'
import type { Publish, Subscribe } from './hooks.ts'

export interface Core {
  readonly metadata: MetadataDb
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  /** The time of the stack: on PostgreSQL that of the database. */
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly dataDir: string
  readonly recordEvent: RecordEvent
  readonly recordChange: RecordChange
  readonly subscribe: Subscribe
  readonly publish: Publish
}
