// What configurations and rows are found by, written with every change of them (spec storage 2.12).

import type { Insertable } from 'kysely'
import type { Db } from '../../engines/metadata-db/dialects.ts'
import { statement } from '../../engines/metadata-db/statement.ts'
import { searchable, searchableLines } from '../../kit/searchable-text.ts'
import { tables, type WordsTable } from './configurations.schema.ts'
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

export const saveConfigurationWords = (
  trx: Db,
  record: Owner & Pick<ConfigurationRecord, 'configurationId' | 'name' | 'configuration'>,
) => save(trx, record, '', `${record.name}\n${record.configurationId}`, record.configuration)

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
