// The few places where the two databases need different SQL, so that stores have one version of each statement.

import { type CreateTableBuilder, type Kysely, type SelectQueryBuilder, sql, type Transaction } from 'kysely'
import { MillraceSqliteAdapter } from './sqlite-dialect.ts'

export type DialectName = 'sqlite' | 'postgres'

/** Transactions are passed around without table types; each module types its own with withTables. */
export type NoTables = Record<never, never>
export type Db = Kysely<NoTables>
export type Trx = Transaction<NoTables>

/** The database, or the open transaction, as the module that owns `Tables` sees it. The migrations create these tables; the cast states it. */
export const withTables = <Tables>(db: Db): Kysely<Tables> => db as unknown as Kysely<Tables>

type AnyKysely = Pick<Kysely<unknown>, 'getExecutor'>

export const dialectOf = (db: AnyKysely): DialectName =>
  db.getExecutor().adapter instanceof MillraceSqliteAdapter ? 'sqlite' : 'postgres'

/**
 * Column `id`: numeric, rising, never given twice, not even after a delete.
 *
 *     db.schema.createTable('token').$call(idColumn(dialect)).addColumn('project_id', 'bigint', (c) => c.notNull())
 *
 * The other columns need no help: `bigint` for ids, counts and epoch milliseconds, `integer` for 0 and 1, `text`, `double precision`.
 */
export const idColumn =
  (dialect: DialectName) =>
  <T extends string, C extends string>(table: CreateTableBuilder<T, C>): CreateTableBuilder<T, C | 'id'> =>
    dialect === 'sqlite'
      ? table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      : table.addColumn('id', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity())

/**
 * Locks the selected rows until the transaction ends: `.$call(lockRows(trx))`.
 * SQLite has one writer, so a transaction already holds everything; PostgreSQL gets `for update`.
 */
export const lockRows =
  (db: AnyKysely) =>
  <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> =>
    dialectOf(db) === 'sqlite' ? query : query.forUpdate()

/** For queues: like lockRows, and rows that another worker holds right now are skipped instead of waited for. */
export const claimRows =
  (db: AnyKysely) =>
  <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O> =>
    dialectOf(db) === 'sqlite' ? query : query.forUpdate().skipLocked()

/** Locks the table for writes until the transaction ends: `await lockTable(trx, 'project')`. On SQLite a transaction is alone anyway. */
export const lockTable = async (trx: Trx, table: string): Promise<void> => {
  if (dialectOf(trx) === 'postgres') await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(trx)
}

/** A unique index refused: PostgreSQL's unique_violation, SQLite's extended codes for unique and primary key. */
export const isUniqueViolation = (error: unknown): boolean => {
  const { code, errcode } = error as { readonly code?: string; readonly errcode?: number } // whatever was thrown, these may be there
  return code === '23505' || errcode === 2067 || errcode === 1555
}

/** Something that a row refers to is gone. */
export const isForeignKeyViolation = (error: unknown): boolean => {
  const { code, errcode } = error as { readonly code?: string; readonly errcode?: number } // whatever was thrown, these may be there
  return code === '23503' || errcode === 787
}

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | undefined)?.code ?? '')

/** PostgreSQL's character_not_in_repertoire: text with NUL in it. SQLite takes it. */
export const isUnstorableText = (error: unknown): boolean => codeOf(error) === '22021'

/** PostgreSQL is not there: connection_exception, shutting down or starting, too many connections, no way to it, or the database itself is missing. */
export const isDatabaseAway = (error: unknown): boolean =>
  /^(08|57P0)|^(53300|3D000|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/.test(
    codeOf(error),
  ) ||
  (error instanceof Error &&
    /^(Connection terminated|timeout exceeded when trying to connect)|is not queryable$/.test(error.message))

/** Of a table with `project_id`: rows of projects in which something may start. Those of paused and deleted ones wait. */
export const ofWorkingProject = (table: string) =>
  sql<boolean>`not exists (select 1 from project where project.id = ${sql.ref(`${table}.project_id`)}
    and (project.paused_reason is not null or project.delete_after is not null))`
