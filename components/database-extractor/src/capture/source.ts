// What the catalogue of PostgreSQL has about the captured tables, the publication and the slot.

import type pg from 'pg'
import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { SourceColumn } from '../databases/columns.ts'
import { columnOf } from '../databases/postgresql.ts'
import type { CapturedTable } from './settings.ts'

/** A column, and what distinguishes it from an earlier one. */
export interface CaptureColumn extends SourceColumn {
  readonly number: number
  readonly typeId: number
  readonly modifier: number
  /** Rows that were there before the column may have got a value without a change of their own. */
  readonly hasDefault: boolean
}

/** A captured table as it is now. */
export interface TableShape {
  readonly table: CapturedTable
  readonly id: number
  /** Changes when the server rewrites all rows. */
  readonly fileNode: number
  readonly columns: readonly CaptureColumn[]
  /** Names of the key that changes carry. */
  readonly key: readonly string[]
  /** Changes carry the whole row as it was before. */
  readonly isWhole: boolean
}

export type Ask = (text: string, values?: readonly unknown[]) => Promise<(string | null)[][]>

export const askOf =
  (client: pg.Client): Ask =>
  async (text, values = []) =>
    (await client.query<(string | null)[]>({ text, values: [...values], rowMode: 'array' })).rows

export const nameOf = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
  `${quoted(schema)}.${quoted(name)}`

export async function shapeOf(ask: Ask, table: CapturedTable): Promise<TableShape> {
  const full = nameOf(table)
  const [found] = await ask('select oid, relkind, relreplident, relfilenode from pg_class where oid = to_regclass($1)', [full])
  if (!found) throw new UserError(`The table ${full} does not exist. Check tables.`)
  const [id, kind, identity, fileNode] = found
  if (kind !== 'r' && kind !== 'p') throw new UserError(`${full} is not a table. Changes of views cannot be captured.`)
  const columns = await ask(
    `select attnum, attname, format_type(atttypid, atttypmod), atttypid, atttypmod, atthasdef or atthasmissing from pg_attribute
     where attrelid = $1 and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [id],
  )
  const key = await ask(
    `select a.attname from pg_index i join unnest(i.indkey) with ordinality as k (attnum, at) on true
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
     where i.indrelid = $1 and case when $2 = 'i' then i.indisreplident else i.indisprimary end order by k.at`,
    [id, identity],
  )
  if (identity === 'n')
    throw new UserError(
      `${full} has REPLICA IDENTITY NOTHING, so updates and deletes cannot be told apart. Set another identity.`,
    )
  if (key.length === 0)
    throw new UserError(
      `${full} has no primary key, which change capture needs. Add one, or read the table with the database extractor.`,
    )
  return {
    table,
    id: Number(id),
    fileNode: Number(fileNode),
    key: key.map(([name]) => name ?? ''),
    isWhole: identity === 'f',
    columns: columns.map(([number, name, native, typeId, modifier, hasDefault]) => ({
      ...columnOf(name ?? '', native ?? ''),
      number: Number(number),
      typeId: Number(typeId),
      modifier: Number(modifier),
      hasDefault: hasDefault === 't',
    })),
  }
}

export async function checkServer(ask: Ask): Promise<void> {
  const [[level] = []] = await ask('show wal_level')
  if (level !== 'logical')
    throw new UserError(
      `The server has wal_level "${level}". Set wal_level = logical and restart it, so that changes can be captured.`,
    )
}

/** Makes sure that the publication has the tables; one of our own is made and kept up to date. */
export async function ensurePublication(
  ask: Ask,
  given: string | undefined,
  own: string,
  tables: readonly TableShape[],
): Promise<string> {
  const name = given ?? own
  const there = new Set(
    (await ask('select schemaname, tablename from pg_publication_tables where pubname = $1', [name])).map((row) =>
      row.join('\n'),
    ),
  )
  const missing = tables.filter(({ table }) => !there.has(`${table.schema}\n${table.name}`)).map(({ table }) => nameOf(table))
  const [exists] = await ask('select 1 from pg_publication where pubname = $1', [name])
  if (exists && missing.length === 0) return name
  const statement = exists
    ? `ALTER PUBLICATION ${quoted(name)} ADD TABLE ${missing.join(', ')}`
    : `CREATE PUBLICATION ${quoted(name)} FOR TABLE ${missing.join(', ')} WITH (publish_via_partition_root = true)`
  if (given !== undefined)
    throw new UserError(
      `The publication ${name} ${exists ? 'lacks tables' : 'does not exist'}. Have its owner run: ${statement};`,
    )
  try {
    await ask(statement)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    throw new UserError(
      `The user may not create the publication. Have the owner of the tables run: ${statement}; and set publication to "${name}".`,
      {},
      error,
    )
  }
  return name
}

export interface SlotStatus {
  readonly isActive: boolean
  readonly database: string
  readonly plugin: string
  readonly confirmed: string | null
  /** Bytes of WAL that the server keeps for the slot. */
  readonly keptBytes: number
  readonly isLost: boolean
}

export async function slotStatus(ask: Ask, slot: string): Promise<SlotStatus | undefined> {
  const [row] = await ask(
    `select active, database, plugin, confirmed_flush_lsn,
       coalesce(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, restart_lsn), 0),
       coalesce(wal_status = 'lost', false)
     from pg_replication_slots where slot_name = $1`,
    [slot],
  )
  if (!row) return undefined
  const [active, database, plugin, confirmed, kept, lost] = row
  return {
    isActive: active === 't',
    database: database ?? '',
    plugin: plugin ?? '',
    confirmed: confirmed ?? null,
    keptBytes: Number(kept),
    isLost: lost === 't',
  }
}

export async function listSlots(ask: Ask) {
  const rows = await ask(
    "select slot_name from pg_replication_slots where plugin = 'pgoutput' and database = current_database() order by 1",
  )
  const slots = []
  for (const [name = ''] of rows) {
    const status = await slotStatus(ask, name ?? '')
    if (status)
      slots.push({ name, isActive: status.isActive, confirmed: status.confirmed, keptMb: Math.round(status.keptBytes / 2 ** 20) })
  }
  return slots
}

export const dropSlot = (ask: Ask, slot: string): Promise<unknown> => ask('select pg_drop_replication_slot($1)', [slot])

/** Roles and servers that do not let a user write anything. */
const NO_WRITES = ['42501', '25006']

/**
 * Behind every transaction that has committed. The log of those with synchronous_commit = off may not be written yet: a message that is
 * committed synchronously takes it along. Where none can be sent, they are read by the next run.
 */
export async function currentPosition(ask: Ask): Promise<string> {
  await ask('set synchronous_commit = on')
  await ask("select case when pg_is_in_recovery() then null else pg_logical_emit_message(true, 'millrace', '') end").catch(
    (error: unknown) => {
      if (!NO_WRITES.includes(String((error as { code?: string }).code))) throw error
    },
  )
  const [[position] = []] = await ask(
    'select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end',
  )
  return position ?? '0/0'
}

/** What a stream can send now. A transaction whose log is not written yet belongs to the next round. */
export async function flushedPosition(ask: Ask): Promise<string> {
  const [[position] = []] = await ask(
    'select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end',
  )
  return position ?? '0/0'
}

/** The cluster and the database, so that a position of another one is not taken for one of this. */
export async function serverIdentity(ask: Ask): Promise<string> {
  const [[database] = []] = await ask('select current_database()')
  const [[system] = []] = await ask('select system_identifier from pg_control_system()').catch((error: unknown) => {
    if ((error as { code?: string }).code === '42501') return [['unknown']] // some hosts do not let users see it
    throw error
  })
  return `${system}/${database}`
}

/** Rows by their keys, as they are now. */
export async function rowsByKey(
  ask: Ask,
  { table, key, columns }: TableShape,
  select: readonly string[],
  keys: readonly (readonly string[])[],
): Promise<(string | null)[][]> {
  const types = key.map((name) => columns.find((column) => column.name === name)?.native ?? 'text')
  const lists = types.map((type, at) => `$${at + 1}::${type}[]`)
  const names = key.map((_, at) => `k${at}`)
  const same = key.map((name, at) => `t.${quoted(name)} = k.k${at}`).join(' and ')
  return ask(
    `select ${select.join(', ')} from ${nameOf(table)} t join unnest(${lists.join(', ')}) as k (${names.join(', ')}) on ${same}`,
    key.map((_, at) => keys.map((one) => one[at] ?? '')),
  )
}
