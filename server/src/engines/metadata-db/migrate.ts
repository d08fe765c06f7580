// Brings the database to the code's version. Every migration is one transaction under one lock, so that
// an interrupted start leaves the state before or after a migration, and nodes that start together take turns.

import { sql } from 'kysely'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import { type Db, dialectOf, type Trx, withTables } from './dialects.ts'
import type { Migration } from './migrations/list.ts'

interface MigrationTables {
  migration: { number: number; name: string; applied_at: number }
}

/** Any fixed number: who holds it may migrate. */
const ADVISORY_LOCK = 7_164_723

export async function migrate(db: Db, migrations: readonly Migration[], clock: Clock): Promise<readonly string[]> {
  const known = new Map(migrations.map((migration) => [numberOf(migration.name), migration]))
  if (known.size !== migrations.length) throw new Error('Two migrations share a number.')

  await underLock(db, async (trx) => {
    await createMigrationTable(trx)
    refuseForeign(await appliedIn(trx), known)
  })
  const ran: string[] = []
  for (const [number, migration] of known) {
    await underLock(db, async (trx) => {
      if ((await appliedIn(trx)).has(number)) return // in an earlier start, or by another node a moment ago
      await migration.up(trx, dialectOf(trx))
      await withTables<MigrationTables>(trx)
        .insertInto('migration')
        .values({ number, name: migration.name, applied_at: clock.now().getTime() })
        .execute()
      ran.push(migration.name)
    })
  }
  return ran
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
    .execute()
}

async function appliedIn(trx: Trx): Promise<Map<number, string>> {
  const rows = await withTables<MigrationTables>(trx).selectFrom('migration').select(['number', 'name']).execute()
  return new Map(rows.map((row) => [row.number, row.name]))
}

function refuseForeign(applied: ReadonlyMap<number, string>, known: ReadonlyMap<number, Migration>): void {
  const foreign = [...applied].filter(([number, name]) => known.get(number)?.name !== name).map(([, name]) => name)
  if (foreign.length === 0) return
  throw new PlatformError('stack.databaseNewer', { migrations: foreign.join(', ') })
}

const numberOf = (name: string): number => {
  const number = Number(name.match(/^(\d{4})-[a-z0-9-]+$/)?.[1])
  if (!number) throw new Error(`Migration "${name}" is not named NNNN-what-it-does.`)
  return number
}
