// What configurations and rows are found by (spec storage 2.12). The words of a row are written with every change of it. Those of a
// configuration are written by the next search: a change only marks them as stale, because changes are many and searches are few.

import { type Insertable, sql } from 'kysely'
import { type Db, lockRows } from '../../../../engines/metadata-db/dialects.ts'
import type { MetadataDb } from '../../../../engines/metadata-db/metadata-db.ts'
import { statement } from '../../../../engines/metadata-db/statement.ts'
import { searchable, searchableLines } from '../../../../kit/text/searchable-text.ts'
import { tables, type WordsTable } from './configurations.schema.ts'
import { listConfigurations } from './configurations.store.ts'
import type { ConfigurationRecord, RowRecord } from './records.ts'

export type Owner = Pick<ConfigurationRecord, 'projectId' | 'branchId' | 'ownerId'>

const putWords = statement((db, row: Insertable<WordsTable>) =>
  tables(db)
    .insertInto('configuration_words')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'branch_id', 'is_row', 'owner_id', 'row_id'])
        .doUpdateSet({ label: row.label, words: row.words }),
    ),
)

export const saveRowWords = (trx: Db, owner: Owner, row: Pick<RowRecord, 'id' | 'name' | 'configuration'>) =>
  save(trx, owner, row.id, `${row.name}\n${row.id}`, row.configuration)

const save = (trx: Db, { projectId, branchId, ownerId }: Owner, rowId: string, label: string, content: string) =>
  putWords(trx, {
    project_id: projectId,
    branch_id: branchId,
    is_row: rowId === '' ? 0 : 1,
    owner_id: ownerId,
    row_id: rowId,
    label: searchable(label),
    words: searchableLines(content),
  })

export async function deleteRowWords(trx: Db, projectId: number, ownerId: number, rowIds: readonly string[]): Promise<void> {
  await tables(trx)
    .deleteFrom('configuration_words')
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('is_row', '=', 1)
    .where('row_id', 'in', rowIds)
    .execute()
}

const AT_ONCE = 50

/**
 * Updates the search index of every configuration of the branch that has changed since it was indexed. Each of them once: a caller that continues
 * changing configurations does not keep a search from ending.
 */
export async function refreshWords(
  { db, inTransaction }: Pick<MetadataDb, 'db' | 'inTransaction'>,
  projectId: number,
  branchId: number,
): Promise<void> {
  for (let last = 0; ; ) {
    const stale = await listStale(db, { projectId, branchId, after: last })
    if (stale.length === 0) return
    const ids = stale.map(({ id }) => id)
    await inTransaction((trx) => writeWords(trx, projectId, ids))
    last = ids.at(-1)!
  }
}

const listStale = statement((db, { projectId, branchId, after }: { projectId: number; branchId: number; after: number }) =>
  tables(db)
    .selectFrom('configuration')
    .select('id')
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .where('words_stale', '=', sql.lit(1)) // written out, or SQLite does not take the index for it
    .where('id', '>', after)
    .orderBy('id')
    .limit(AT_ONCE),
)

/**
 * The heads are held first: words of an older version would otherwise be written over those of a newer one, and stay. What another
 * search has written meanwhile is left out; one search queries names and contents in parallel.
 */
async function writeWords(trx: Db, projectId: number, ids: readonly number[]): Promise<void> {
  const heads = tables(trx).selectFrom('configuration').select('id').where('project_id', '=', projectId).where('id', 'in', ids)
  const stale = (await heads.where('words_stale', '=', 1).orderBy('id').$call(lockRows(trx)).execute()).map(({ id }) => id)
  if (stale.length === 0) return
  for (const record of await listConfigurations(trx, projectId, stale))
    await save(trx, record, '', `${record.name}\n${record.configurationId}`, record.configuration)
  await tables(trx)
    .updateTable('configuration')
    .set({ words_stale: 0 })
    .where('project_id', '=', projectId)
    .where('id', 'in', stale)
    .execute()
}
