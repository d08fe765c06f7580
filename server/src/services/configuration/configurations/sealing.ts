// Seals what was stored in clear before objects below # were encrypted (corrections-2, Z1): in heads, rows, states and every version, without a
// new version. Migration 1180 marks what may hold such; once after a start each of them is sealed and loses its mark, in one transaction.

import { sql } from 'kysely'
import { type Db, lockRows, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { MetadataDb } from '../../../engines/metadata-db/metadata-db.ts'
import type { ConfigurationsDeps, SecretBox } from './configurations.ts'
import { tables } from './records/configurations.schema.ts'

export interface SealingDeps extends Pick<MetadataDb, 'db' | 'inTransaction'> {
  readonly secretsOf: ConfigurationsDeps['secretsOf']
  readonly log: { warn(details: object, text: string): void }
}

const AT_ONCE = 20

/** Returns when every marked configuration was checked; `isStopped` is called between two of them. */
export async function sealStored(deps: SealingDeps, isStopped: () => boolean = () => false): Promise<void> {
  // Equal texts stay equal: branches are compared with each other by text.
  const sealedTexts = new Map<string, string>()
  const sealedBy = (secrets: SecretBox, projectId: number) => (text: string, componentId: string) => {
    const key = JSON.stringify([projectId, componentId, text])
    const sealed = sealedTexts.get(key) ?? secrets.encrypt(text, componentId)
    if (sealed !== text) sealedTexts.set(key, sealed)
    return sealed
  }
  for (let last = 0; ; ) {
    const stale = await listStale(deps.db, last)
    if (stale.length === 0) return
    for (const { id, project_id } of stale) {
      if (isStopped()) return
      const secrets = await deps.secretsOf(project_id) // outside of the transaction: it may have to read keys
      await deps
        .inTransaction((trx) => sealOne(trx, project_id, id, sealedBy(secrets, project_id)))
        .catch((error: unknown) => {
          deps.log.warn(
            { err: error, projectId: project_id, id },
            'A configuration could not be sealed; it is tried at the next start',
          )
        })
      last = id
    }
  }
}

const listStale = (db: Db, after: number) =>
  tables(db)
    .selectFrom('configuration')
    .select(['id', 'project_id'])
    .where('secrets_stale', '=', sql.lit(1)) // written out, or SQLite does not take the index for it
    .where('id', '>', after)
    .orderBy('id')
    .limit(AT_ONCE)
    .execute()

async function sealOne(trx: Trx, projectId: number, id: number, encrypt: (text: string, componentId: string) => string) {
  const head = await tables(trx)
    .selectFrom('configuration')
    .select(['component_id', 'state', 'revision', 'rows_revision'])
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .where('secrets_stale', '=', 1)
    .$call(lockRows(trx))
    .executeTakeFirst()
  if (!head) return // sealed by another node, or purged
  const sealed = (text: string): string => encrypt(text, head.component_id)
  await tables(trx)
    .updateTable('configuration')
    .set({ state: sealed(head.state), secrets_stale: 0, revision: head.revision + 1, rows_revision: head.rows_revision + 1 })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
  await sealVersions(trx, projectId, id, sealed)
  await sealRows(trx, projectId, id, sealed)
}

async function sealVersions(trx: Trx, projectId: number, ownerId: number, sealed: (text: string) => string) {
  const versions = await tables(trx)
    .selectFrom('configuration_version')
    .select(['version', 'content'])
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('content', 'is not', null)
    .execute()
  for (const { version, content } of versions) {
    const text = sealed(content!) // by the filter
    if (text === content) continue
    await tables(trx)
      .updateTable('configuration_version')
      .set({ content: text })
      .where('project_id', '=', projectId)
      .where('owner_id', '=', ownerId)
      .where('version', '=', version)
      .execute()
  }
}

async function sealRows(trx: Trx, projectId: number, ownerId: number, sealed: (text: string) => string) {
  const rows = await tables(trx)
    .selectFrom('configuration_row')
    .select(['row_id', 'content', 'state'])
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .execute()
  for (const { row_id, content, state } of rows) {
    const change = { content: sealed(content), state: sealed(state) }
    if (change.content === content && change.state === state) continue
    await tables(trx)
      .updateTable('configuration_row')
      .set(change)
      .where('project_id', '=', projectId)
      .where('owner_id', '=', ownerId)
      .where('row_id', '=', row_id)
      .execute()
  }
  const versions = await tables(trx)
    .selectFrom('configuration_row_version')
    .select(['row_id', 'version', 'content'])
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .execute()
  for (const { row_id, version, content } of versions) {
    const text = sealed(content)
    if (text === content) continue
    await tables(trx)
      .updateTable('configuration_row_version')
      .set({ content: text })
      .where('project_id', '=', projectId)
      .where('owner_id', '=', ownerId)
      .where('row_id', '=', row_id)
      .where('version', '=', version)
      .execute()
  }
}
