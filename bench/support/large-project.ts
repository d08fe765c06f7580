// A project of 100,000 jobs, 10,000 tables, 10,000 configurations with 20,000 rows and 10,000 files.

import { sql } from 'kysely'
import { type Db, withTables } from '../../server/src/engines/metadata-db/dialects.ts'
import { fillConfigurationWords } from '../../server/src/engines/metadata-db/migrations/0960-configuration-words.ts'
import type { TestStack } from '../../tests/support/test-stack.ts'

export const HTTP = 'keboola.ex-generic-v2'

type Row = Readonly<Record<string, unknown>>
type AnyTable = Record<string, Record<string, unknown>>

/** So many copies of the newest record of a table, each changed by its number. */
async function multiply(db: Db, table: string, count: number, change: (i: number) => Row): Promise<void> {
  const open = withTables<AnyTable>(db)
  const { id: _, ...template } = await open.selectFrom(table).selectAll().orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow()
  const AT_ONCE = 400
  for (let from = 0; from < count; from += AT_ONCE) {
    const values = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => ({ ...template, ...change(from + i) }))
    await open.insertInto(table).values(values).execute()
  }
}

const city = (i: number) => ['Praha', 'Brno', 'Wien', 'Berlin', 'Zürich'][i % 5]

export async function fillLargeProject({ request, platform }: TestStack): Promise<void> {
  const ok = async (path: string, json: object) => {
    const answer = await request('POST', path, { json })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  }
  const { db } = platform.metadata
  await ok('/v2/storage/buckets', { name: 'main', stage: 'in' })
  await ok('/v2/storage/buckets/in.c-main/tables', { name: 'orders', dataString: 'id,customer_name,city\n1,x,y\n' })
  await multiply(db, 'data_table', 9_999, (i) => ({ name: `customer-${i}`, display_name: `customer-${i}` }))
  const configs = `/v2/storage/components/${HTTP}/configs`
  await ok(configs, { name: 'first', configurationId: 'first', configuration: contentOf(0) })
  await ok(`${configs}/first/rows`, { rowId: 'r0', name: 'row', configuration: contentOf(0) })
  await multiply(db, 'configuration', 9_999, (i) => ({ configuration_id: `shop-${i}`, name: `Shop of ${city(i)} ${i}` }))
  const owners = await withTables<AnyTable>(db).selectFrom('configuration').select('id').orderBy('id').execute()
  const texts = (i: number) => JSON.stringify(contentOf(i))
  const own = (table: string, change: (owner: unknown, i: number) => Row) => copies(db, table, owners.slice(1), change)
  await own('configuration_version', (owner_id, i) => ({ owner_id, content: texts(i) }))
  for (const at of ['a', 'b'])
    await own('configuration_row', (owner_id, i) => ({
      owner_id,
      row_id: `${at}${i}`,
      name: `Row ${at} ${i}`,
      content: texts(i),
    }))
  await platform.metadata.inTransaction(async (trx) => {
    await sql`delete from configuration_words`.execute(trx)
    await fillConfigurationWords(trx)
    await sql`update configuration set words_stale = 0`.execute(trx)
  })
  await ok('/v2/storage/files/prepare', { name: 'export.csv' })
  await multiply(db, 'file', 9_999, (i) => ({
    name: `export-${city(i)}-${i}.csv`,
    object_key: `bench/${i}`,
    size_bytes: 100,
    is_size_confirmed: 1,
  }))
  await ok('/queue/jobs', { component: HTTP, config: 'first', delay: '86400' })
  const [now, statuses] = [Date.now(), ['success', 'success', 'success', 'error', 'terminated']]
  await multiply(db, 'queue_job', 99_999, (i) => ({
    run_id: String(i + 2),
    status: statuses[i % 5],
    configuration_id: `shop-${i % 10_000}`,
    created_at: now - i * 1000,
    started_at: now - i * 1000,
    ended_at: now - i * 1000 + 500,
    lock_key: null,
    cause_kind: i % 5 === 3 ? 'http.unauthorized' : null,
  }))
  if (platform.metadata.dialect === 'postgres') await sql`vacuum analyze`.execute(db)
}

const contentOf = (i: number) => ({
  parameters: {
    api: { baseUrl: `https://${city(i)}.example.com` },
    endpoint: `warehouse/${i}`,
    '#token': `KBC::ProjectSecure::${i}`,
  },
  storage: { output: { tables: [{ source: 'items', destination: `in.c-main.customer-${i}` }] } },
})

/** One copy of the first record for each owner. */
async function copies(db: Db, table: string, owners: readonly Row[], change: (owner: unknown, i: number) => Row): Promise<void> {
  const open = withTables<AnyTable>(db)
  const template = await open.selectFrom(table).selectAll().limit(1).executeTakeFirstOrThrow()
  const { id: _, ...rest } = template
  for (let from = 0; from < owners.length; from += 400)
    await open
      .insertInto(table)
      .values(owners.slice(from, from + 400).map(({ id }, i) => ({ ...rest, ...change(id, from + i) })))
      .execute()
}
