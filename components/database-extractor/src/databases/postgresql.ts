// PostgreSQL: everything is read in one transaction, so in one state of the database, and rows are copied as the server writes them.

import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { postgresqlOptions } from '../../../connector-kit/src/database/clients.ts'
import type { Way } from '../../../connector-kit/src/database/connect.ts'
import type { ServerSettings } from '../../../connector-kit/src/database/connection.ts'
import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import { postgresqlDialect } from '../compare/postgresql-dialect.ts'
import type { BaseType, Source, SourceColumn } from './columns.ts'
import type { Database, Description, ListedTable, ReadRequest } from './database.ts'
import { numericType } from './numeric-type.ts'
import { selected } from './postgresql-values.ts'
import { chosen, conditionOf, incrementOf, relation, tableOf } from './statements.ts'

/** A connection that writes every value in one way, whatever the server is set to. */
export async function connectPostgresql(settings: ServerSettings, way: Way, more: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ ...postgresqlOptions(settings, way), ...more })
  client.on('error', () => {}) // the statement that runs fails with it
  try {
    await client.connect()
    await client.query(
      `set time zone 'UTC'; set datestyle to 'ISO'; set intervalstyle to 'iso_8601'; set client_encoding to 'UTF8';
       set bytea_output to 'hex'; set extra_float_digits to 1; set standard_conforming_strings to on`,
    )
  } catch (error) {
    way.close()
    throw error
  }
  return client
}

export async function openPostgresql(settings: ServerSettings, way: Way): Promise<Database> {
  const client = await connectPostgresql(settings, way)
  const ask = async (text: string, values: readonly unknown[] = []): Promise<pg.QueryArrayResult<(string | null)[]>> =>
    client.query<(string | null)[]>({ text, values: [...values], rowMode: 'array' })
  await client.query('begin isolation level repeatable read read only').catch((error: unknown) => {
    way.close()
    throw error
  })

  async function describe(source: Source): Promise<Description> {
    const { fields } = await ask(`select * from ${relation(source)} limit 0`)
    const natives = await ask(
      'select format_type(oid, modifier) from unnest($1::oid[], $2::int[]) with ordinality as t (oid, modifier, at) order by at',
      [fields.map(({ dataTypeID }) => dataTypeID), fields.map(({ dataTypeModifier }) => dataTypeModifier)],
    )
    const columns = fields.map(({ name }, at) => columnOf(name, natives.rows[at]?.[0] ?? 'unknown'))
    return {
      columns: chosen(source, columns),
      primaryKey: source.kind === 'table' ? await keyOf(source) : [],
    }
  }

  async function keyOf(source: Source & { kind: 'table' }): Promise<readonly string[]> {
    const { rows } = await ask(
      `select a.attname from pg_index i join unnest(i.indkey) with ordinality as k (attnum, at) on true
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
       where i.indrelid = to_regclass($1) and i.indisprimary order by k.at`,
      [tableOf(source)],
    )
    return rows.map(([name]) => name ?? '')
  }

  return {
    describe,
    async listSchemas() {
      const { rows } = await ask(
        `select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
         and has_schema_privilege(oid, 'usage') order by 1`,
      )
      return rows.map(([name]) => name ?? '')
    },
    async listTables(schema) {
      const { rows } = await ask(
        `select n.nspname, c.relname, c.relkind, c.reltuples::bigint from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
         and ($1::text is null or n.nspname = $1) and has_table_privilege(c.oid, 'select') order by 1, 2`,
        [schema ?? null],
      )
      return rows.map(([owner, name, kind, estimate]): ListedTable => {
        const rowsThere = Number(estimate)
        return {
          schema: owner ?? '',
          name: name ?? '',
          kind: kind === 'v' || kind === 'm' ? 'view' : 'table',
          ...(rowsThere >= 0 && kind !== 'v' && { estimatedRows: rowsThere }), // -1: never counted
        }
      })
    },
    async greatest(source, column) {
      const { rows } = await ask(`select max(${quoted(column.name)})::text from ${relation(source)}`)
      return rows[0]?.[0] ?? undefined
    },
    async copyBinary(request) {
      const dialect = postgresqlDialect(request.invalidAsNull)
      const fields = request.columns.map((column) =>
        column.base === 'STRING' ? `(${dialect.text(column)})::text` : typed(column, request.invalidAsNull),
      )
      const copy = client.query(copyTo(`copy (${rowsOf(request, fields)}) to stdout (format binary)`))
      await pipeline(copy, createWriteStream(request.path))
    },
    async read(request) {
      const { columns, path, nullMarker, invalidAsNull, constants = [], isAppended } = request
      const fields = columns.map((column) => selected(column, invalidAsNull))
      fields.push(...constants.map((one) => (one === null ? 'null' : pg.escapeLiteral(one))))
      const rows = rowsOf(request, fields)
      const copy = client.query(copyTo(`copy (${rows}) to stdout (format csv, null ${pg.escapeLiteral(nullMarker)})`))
      await pipeline(copy, createWriteStream(path, { flags: isAppended ? 'a' : 'w' }))
      return copy.rowCount
    },
    async preview(source, columns, limit) {
      const wanted = columns.map(({ name }) => `${quoted(name)}::text`).join(', ')
      return (await ask(`select ${wanted} from ${relation(source)} limit ${limit}`)).rows
    },
    ask: async (sql) => (await ask(sql)).rows,
    relation,
    dialect: postgresqlDialect,
    async close() {
      await client.end().catch(() => {}) // it may be lost already
      way.close()
    },
  }
}

const rowsOf = ({ source, increment, where }: ReadRequest, fields: readonly string[]): string =>
  `select ${fields.join(', ')} from ${relation(source)}${conditionOf(incrementOf(increment, LITERALS), where)}`

/** The value in the one type of PostgreSQL that stands for the type of the column. A real number is the one that its digits stand for. */
function typed(column: SourceColumn, invalidAsNull: boolean): string {
  const { base, length, native } = column
  const value = `(${selected(column, invalidAsNull)})${native === 'real' ? '::text' : ''}`
  const types = { INTEGER: 'bigint', FLOAT: 'double precision', NUMERIC: `numeric(${length})`, STRING: 'text' } as const
  return `${value}::${base in types ? types[base as keyof typeof types] : base.toLowerCase()}` // boolean, date, timestamp
}

const LITERALS = {
  value: ({ native }: SourceColumn, text: string) => `${pg.escapeLiteral(text)}::${native}`,
  back: ({ native }: SourceColumn, lookback: number) =>
    `- ${/^(timestamp|date)/.test(native) ? `interval '${lookback} seconds'` : lookback}`,
}

const BASE: Readonly<Record<string, BaseType>> = {
  smallint: 'INTEGER',
  integer: 'INTEGER',
  bigint: 'INTEGER',
  real: 'FLOAT',
  'double precision': 'FLOAT',
  boolean: 'BOOLEAN',
  date: 'DATE',
}

export function columnOf(name: string, native: string): SourceColumn {
  if (Object.hasOwn(BASE, native)) return { name, native, base: BASE[native]! } // just looked up
  if (/^timestamp/.test(native)) return { name, native, base: 'TIMESTAMP' }
  if (/^numeric\b(?!.*\[\])/.test(native)) return { name, native, ...numericType(native) }
  const isText = /^(text|character varying|character|"char"|name|citext)\b(?!.*\[\])/.test(native)
  return { name, native, base: 'STRING', ...(!isText && { asText: 'tables have no such type' }) }
}
