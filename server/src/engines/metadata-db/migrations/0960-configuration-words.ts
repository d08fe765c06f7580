// What configurations and rows are found by: their names and ids, and what stands in them, in small letters and without secrets. Apart from
// the configurations, because a search reads all of it: the rows there are wide, and most of their bytes are ciphers and signs of JSON.

import { sql } from 'kysely'
import { searchable, searchableLines } from '../../../kit/text/searchable-text.ts'
import { type DialectName, type Trx, withTables } from '../dialects.ts'

interface Words {
  configuration_words: {
    project_id: number
    branch_id: number
    is_row: number
    owner_id: number
    row_id: string
    label: string
    words: string
  }
}

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('configuration_words')
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('is_row', 'integer', (c) => c.notNull())
    .addColumn('owner_id', 'bigint', (c) => c.notNull().references('configuration.id').onDelete('cascade'))
    .addColumn('row_id', 'text', (c) => c.notNull())
    .addColumn('label', 'text', (c) => c.notNull())
    .addColumn('words', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('configuration_words_key', ['project_id', 'branch_id', 'is_row', 'owner_id', 'row_id'])
    // In the order of the key, so that the words of a branch are read one after the other.
    .$call((table) => (dialect === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table))
    .execute()
  await trx.schema.createIndex('configuration_words_by_owner').on('configuration_words').columns(['owner_id', 'row_id']).execute()
  await fillConfigurationWords(trx)
}

const AT_ONCE = 500

interface Found {
  readonly project_id: number
  readonly branch_id: number
  readonly owner_id: number
  readonly row_id: string
  readonly id: string
  readonly name: string
  readonly content: string | null
}

export async function fillConfigurationWords(trx: Trx): Promise<void> {
  const heads = (after: number) => sql<Found>`
    select c.project_id, c.branch_id, c.id as owner_id, '' as row_id, c.configuration_id as id, c.name, v.content
    from configuration c join configuration_version v on v.owner_id = c.id and v.version = c.content_version
    where c.id > ${after} order by c.id limit ${AT_ONCE}`
  const rows = (after: number, afterRow: string) => sql<Found>`
    select c.project_id, c.branch_id, r.owner_id, r.row_id, r.row_id as id, r.name, r.content
    from configuration_row r join configuration c on c.id = r.owner_id
    where r.is_deleted = 0 and (r.owner_id > ${after} or (r.owner_id = ${after} and r.row_id > ${afterRow}))
    order by r.owner_id, r.row_id limit ${AT_ONCE}`
  for (const [page, is_row] of [
    [heads, 0],
    [rows, 1],
  ] as const) {
    let last: Found | undefined
    do {
      const { rows: found } = await page(last?.owner_id ?? 0, last?.row_id ?? '').execute(trx)
      last = found.at(-1)
      if (found.length > 0)
        await withTables<Words>(trx)
          .insertInto('configuration_words')
          .values(found.map((one) => wordsOf(one, is_row)))
          .execute()
    } while (last)
  }
}

const wordsOf = ({ id, name, content, ...at }: Found, is_row: number) => ({
  ...at,
  is_row,
  label: searchable(`${name}\n${id}`),
  words: searchableLines(content ?? '{}'),
})
