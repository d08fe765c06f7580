// Brings the database to the code's version. Every migration is one transaction under one lock, so that
// an interrupted start leaves the state before or after a migration, and nodes that start together take turns.
// An empty database gets all of them in one: it is not in use, and the disk syncs once instead of with each.

import { sql } from 'kysely'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import { type Db, dialectOf, type Trx, withTables } from './dialects.ts'
import type { Migration } from './migrations/list.ts'

interface MigrationTables {
  migration: { number: number; name: string; applied_at: number; only_adds: number }
}

/** Any fixed number: who holds it may migrate. */
const ADVISORY_LOCK = 7_164_723

export async function migrate(db: Db, migrations: readonly Migration[], clock: Clock): Promise<readonly string[]> {
  const known = new Map(migrations.map((migration) => [numberOf(migration.name), migration]))
  if (known.size !== migrations.length) throw new Error('Two migrations share a number.')

  let applied: ReadonlyMap<number, Applied> = new Map()
  await underLock(db, async (trx) => {
    await createMigrationTable(trx)
    applied = await appliedIn(trx)
    refuseForeign(applied, known)
  })
  const missing = [...known].filter(([number]) => !applied.has(number))
  const transactions = applied.size === 0 ? [missing] : missing.map((migration) => [migration])
  const ran: string[] = []
  for (const together of transactions) {
    await underLock(db, async (trx) => {
      const doneMeanwhile = await appliedIn(trx) // by another node that starts now
      for (const [number, migration] of together) {
        if (doneMeanwhile.has(number)) continue
        await run(trx, number, migration, clock)
        ran.push(migration.name)
      }
    })
  }
  return ran
}

/** What a start would run, found out without changing anything. Refuses a database of a newer version, as a start does. */
export async function pendingMigrations(db: Db, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const known = new Map(migrations.map((migration) => [numberOf(migration.name), migration]))
  return db.transaction().execute(async (trx) => {
    const columns = await columnsOf(trx, 'migration')
    if (columns.length === 0) return migrations
    const applied = await appliedIn(trx, columns.includes('only_adds'))
    refuseForeign(applied, known)
    return [...known].flatMap(([number, migration]) => (applied.has(number) ? [] : [migration]))
  })
}

async function run(trx: Trx, number: number, migration: Migration, clock: Clock): Promise<void> {
  await migration.up(trx, dialectOf(trx))
  await withTables<MigrationTables>(trx)
    .insertInto('migration')
    .values({ number, name: migration.name, applied_at: clock.now().getTime(), only_adds: migration.changesOld ? 0 : 1 })
    .execute()
}

/** On SQLite the transaction is the lock: it takes the one writer of the file, across processes. */
const underLock = (db: Db, work: (trx: Trx) => Promise<void>): Promise<void> =>
  db.transaction().execute(async (trx) => {
    if (dialectOf(trx) === 'postgres') await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(trx)
    await work(trx)
  })

async function createMigrationTable(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('migration')
    .ifNotExists()
    .addColumn('number', 'bigint', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'bigint', (column) => column.notNull())
    .addColumn('only_adds', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await addOnlyAdds(trx)
}

/** Databases of earlier releases have the table without it. */
async function addOnlyAdds(trx: Trx): Promise<void> {
  const columns = await columnsOf(trx, 'migration')
  if (columns.includes('only_adds')) return
  await trx.schema
    .alterTable('migration')
    .addColumn('only_adds', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}

async function columnsOf(trx: Trx, table: string): Promise<readonly string[]> {
  const rows =
    dialectOf(trx) === 'postgres'
      ? await sql<{ name: string }>`select column_name as name from information_schema.columns
          where table_schema = current_schema() and table_name = ${table}`.execute(trx)
      : await sql<{ name: string }>`select name from pragma_table_info(${table})`.execute(trx)
  return rows.rows.map(({ name }) => name)
}

interface Applied {
  readonly name: string
  readonly only_adds: number
}

async function appliedIn(trx: Trx, hasOnlyAdds = true): Promise<ReadonlyMap<number, Applied>> {
  const rows = await withTables<MigrationTables>(trx)
    .selectFrom('migration')
    .select(['number', 'name', hasOnlyAdds ? 'only_adds' : sql<number>`0`.as('only_adds')])
    .execute()
  return new Map(rows.map((row) => [row.number, row]))
}

/** What a newer node has added beyond our last migration is passed over, so that nodes of two releases work side by side. */
function refuseForeign(applied: ReadonlyMap<number, Applied>, known: ReadonlyMap<number, Migration>): void {
  const last = Math.max(...known.keys())
  const foreign = [...applied]
    .filter(([number, { name }]) => known.get(number)?.name !== name)
    .filter(([number, { only_adds }]) => only_adds !== 1 || number <= last)
    .map(([, { name }]) => name)
  if (foreign.length === 0) return
  throw new PlatformError('stack.databaseNewer', { migrations: foreign.join(', ') })
}

const numberOf = (name: string): number => {
  const number = Number(name.match(/^(\d{4})-[a-z0-9-]+$/)?.[1])
  if (!number) throw new Error(`Migration "${name}" is not named NNNN-what-it-does.`)
  return number
}
