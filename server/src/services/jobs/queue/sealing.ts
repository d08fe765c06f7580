// Seals what jobs brought along, and the states of their runs, in clear before objects below # were encrypted (corrections-2, Z1). Migration 1180
// marks what may hold such; once after a start each of them is sealed and loses its mark, in one transaction.

import { sql } from 'kysely'
import { type Db, lockRows, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import type { MetadataDb } from '../../../engines/metadata-db/metadata-db.ts'
import type { QueueTables } from './queue.schema.ts'
import { rewriteStates } from './state-history.store.ts'

export interface SealingDeps extends Pick<MetadataDb, 'db' | 'inTransaction'> {
  readonly encrypterOf: (projectId: number) => Promise<(text: string, componentId: string) => string>
  readonly log: { warn(details: object, text: string): void }
}

const AT_ONCE = 50

/** Returns when every marked job was checked; `isStopped` is called between two of them. */
export async function sealStoredJobs(deps: SealingDeps, isStopped: () => boolean = () => false): Promise<void> {
  for (let last = 0; ; ) {
    const stale = await listStale(deps.db, last)
    if (stale.length === 0) return
    for (const { id, project_id } of stale) {
      if (isStopped()) return
      const encrypt = await deps.encrypterOf(project_id) // outside of the transaction: it may have to read keys
      await deps
        .inTransaction((trx) => sealOne(trx, project_id, id, encrypt))
        .catch((error: unknown) => {
          deps.log.warn({ err: error, projectId: project_id, id }, 'A job could not be sealed; it is tried at the next start')
        })
      last = id
    }
  }
}

const listStale = (db: Db, after: number) =>
  withTables<QueueTables>(db)
    .selectFrom('queue_job')
    .select(['id', 'project_id'])
    .where('secrets_stale', '=', sql.lit(1)) // written out, or SQLite does not take the index for it
    .where('id', '>', after)
    .orderBy('id')
    .limit(AT_ONCE)
    .execute()

async function sealOne(trx: Trx, projectId: number, id: number, encrypt: (text: string, componentId: string) => string) {
  const job = await withTables<QueueTables>(trx)
    .selectFrom('queue_job')
    .select(['component_id', 'config_data'])
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .where('secrets_stale', '=', 1)
    .$call(lockRows(trx))
    .executeTakeFirst()
  if (!job) return // sealed by another node
  await withTables<QueueTables>(trx)
    .updateTable('queue_job')
    .set({ config_data: job.config_data === null ? null : encrypt(job.config_data, job.component_id), secrets_stale: 0 })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
  await rewriteStates(trx, projectId, id, (text) => encrypt(text, job.component_id))
}
