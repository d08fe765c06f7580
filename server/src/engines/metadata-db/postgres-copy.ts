// All rows of a PostgreSQL database as lines of JSON, and back. One transaction reads them all, so the copy is one state of the database,
// however long it takes and whatever is written meanwhile. PostgreSQL itself writes and reads the values: none passes through a number of ours.

import type pg from 'pg'
import { doubleQuoted } from '../../kit/text/double-quoted.ts'

export interface TableRows {
  readonly table: string
  /** Each row is one line. */
  readonly lines: AsyncIterable<Uint8Array>
}

/** A table in a copy, to be read again. */
export interface CopiedTable {
  readonly table: string
  readonly lines: AsyncIterable<string>
}

const ROWS_AT_ONCE = 200
const CHARS_AT_ONCE = 1_000_000
const PUBLIC_TABLES = `select table_name as "table" from information_schema.tables
  where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1`

/** Passes each table to `take`, in the order of their names; `take` reads its rows to the end. */
export async function copyRows(pool: pg.Pool, take: (rows: TableRows) => Promise<void>): Promise<void> {
  await onOneClient(pool, async (client) => {
    await client.query('begin transaction isolation level repeatable read read only')
    const { rows } = await client.query<{ table: string }>(PUBLIC_TABLES)
    for (const { table } of rows) await take({ table, lines: linesOf(client, table) })
    await client.query('commit')
  })
}

async function* linesOf(client: pg.PoolClient, table: string): AsyncIterable<Uint8Array> {
  await client.query(`declare copied no scroll cursor for select row_to_json(t)::text as line from ${doubleQuoted(table)} t`)
  for (;;) {
    const { rows } = await client.query<{ line: string }>(`fetch ${ROWS_AT_ONCE} from copied`)
    if (rows.length === 0) break
    yield Buffer.from(rows.map(({ line }) => `${line}\n`).join(''))
  }
  await client.query('close copied')
}

/** Fills a migrated database that holds nothing yet; all or nothing. References between rows are checked again at the end. */
export async function restoreRows(pool: pg.Pool, tables: readonly CopiedTable[]): Promise<void> {
  await onOneClient(pool, async (client) => {
    await client.query('begin')
    const references = await dropReferences(client)
    for (const { table, lines } of tables) {
      await client.query(`delete from ${doubleQuoted(table)}`)
      const insert = `insert into ${doubleQuoted(table)} overriding system value select * from json_populate_recordset(null::${doubleQuoted(table)}, $1::json)`
      for await (const batch of batchesOf(lines)) await client.query(insert, [`[${batch.join(',')}]`])
    }
    for (const { table, name, definition } of references)
      await client.query(`alter table ${table} add constraint ${doubleQuoted(name)} ${definition}`)
    await continueIds(client)
    await client.query('commit')
  })
}

/** The tables there are; none in a new database. */
export const listTables = async (pool: pg.Pool): Promise<readonly string[]> =>
  (await pool.query<{ table: string }>(PUBLIC_TABLES)).rows.map(({ table }) => table)

/** So that tables can be filled in any order; only a superuser could switch the checks off instead. */
async function dropReferences(client: pg.PoolClient) {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as "table", conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`,
  )
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${doubleQuoted(name)}`)
  return rows
}

/** The next id of each table comes after all that are there. */
async function continueIds(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `select table_name as "table", column_name as "column" from information_schema.columns
     where table_schema = current_schema() and is_identity = 'YES'`,
  )
  for (const { table, column } of rows)
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), greatest(max(${doubleQuoted(column)}), 1), max(${doubleQuoted(column)}) is not null) from ${doubleQuoted(table)}`,
      [doubleQuoted(table), column],
    )
}

async function* batchesOf(lines: AsyncIterable<string>): AsyncIterable<readonly string[]> {
  let batch: string[] = []
  let chars = 0
  for await (const line of lines) {
    batch.push(line)
    chars += line.length
    if (chars < CHARS_AT_ONCE) continue
    yield batch
    batch = []
    chars = 0
  }
  if (batch.length > 0) yield batch
}

/** A transaction that is left open ends with its connection. */
async function onOneClient(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  let failure: unknown
  try {
    await work(client)
  } catch (error) {
    failure = error
    throw error
  } finally {
    client.release(failure !== undefined)
  }
}
