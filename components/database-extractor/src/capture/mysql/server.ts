// What the server reports of itself, of its binary log and of the captured tables; and the log itself, up to its end.

import mysql, { type Connection } from 'mysql2'
import type { EgressGuard } from '../../../../../contract/egress-guard.ts'
import { mysqlOptions } from '../../../../connector-kit/src/database/clients.ts'
import { openWay } from '../../../../connector-kit/src/database/connect.ts'
import type { ServerSettings } from '../../../../connector-kit/src/database/connection.ts'
import { quoted } from '../../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../../http-extractor/src/errors.ts'
import type { CapturedTable } from '../settings.ts'
import { checkKey, type KeyColumn } from './keys.ts'

export interface Position {
  readonly file: string
  readonly at: number
}

export const positionText = ({ file, at }: Position): string => `${file}:${at}`

export function positionOf(text: string): Position {
  const [, file = '', at = '4'] = /^(.*):(\d+)$/.exec(text) ?? []
  return { file, at: Number(at) }
}

export type AskServer = (sql: string, values?: readonly string[]) => Promise<(string | null)[][]>

export interface Server {
  readonly ask: AskServer
  readonly connection: Connection
  close(): void
}

export async function connectServer(db: ServerSettings, guard: EgressGuard): Promise<Server> {
  const way = await openWay(db, guard)
  const connection = mysql.createConnection({ ...mysqlOptions(db, way), typeCast: (field) => field.string() })
  connection.on('error', () => {}) // the statement that runs fails with it
  const close = () => {
    connection.destroy()
    way.close()
  }
  const ask: AskServer = (sql, values = []) =>
    new Promise((done, fail) => {
      connection.query(
        { sql, values: [...values] },
        (error, rows) => (error ? fail(error) : done((Array.isArray(rows) ? rows : []) as unknown as (string | null)[][])), // by rowsAsArray
      )
    })
  try {
    await new Promise<void>((resolve, fail) => connection.connect((error) => (error ? fail(error) : resolve())))
    await ask("set session time_zone = '+00:00', sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'")
  } catch (error) {
    close()
    throw error
  }
  return { ask, connection, close }
}

/** Its identity, so that a position of another server is not taken for one of this. */
export async function checkServer(ask: AskServer): Promise<string> {
  const [row = []] = await ask('select @@global.log_bin, @@global.binlog_format, @@global.server_id')
  const [isOn, format, id] = row
  if (isOn !== '1') throw new UserError('The server writes no binary log. Set log_bin in its configuration and restart it.')
  if (format !== 'ROW')
    throw new UserError(`The server has binlog_format "${format}". Set binlog_format = ROW, so that changed rows are in its log.`)
  const uuid = await ask('select @@global.server_uuid').catch(() => [[]]) // MariaDB has none
  return `mysql/${uuid[0]?.[0] ?? id}`
}

/** Of the end of the log. The statement has another name from MySQL 8.4 on. */
export async function currentPosition(ask: AskServer): Promise<Position> {
  const [row] = await ask('show master status').catch((error: { code?: string }) => {
    if (error.code === 'ER_PARSE_ERROR') return ask('show binary log status')
    if (/ACCESS_DENIED/.test(error.code ?? ''))
      throw new UserError(
        'The user may not see the position of the log. Run GRANT REPLICATION CLIENT, REPLICATION SLAVE ON *.* for it.',
        {},
        error,
      )
    throw error
  })
  if (!row) throw new UserError('The server writes no binary log. Set log_bin in its configuration and restart it.')
  return { file: row[0] ?? '', at: Number(row[1]) }
}

/** A captured table as it is now. */
export interface MysqlShape {
  readonly table: CapturedTable
  readonly key: readonly KeyColumn[]
  /** Changes when a column does. */
  readonly signature: string
  readonly columns: number
}

export async function shapeOf(ask: AskServer, table: CapturedTable): Promise<MysqlShape> {
  const name = `${quoted(table.schema)}.${quoted(table.name)}`
  const rows = await ask(
    `select column_name, column_type, character_set_name, ordinal_position from information_schema.columns
     where table_schema = ? and table_name = ? order by ordinal_position`,
    [table.schema, table.name],
  )
  if (rows.length === 0) throw new UserError(`The table ${name} does not exist, or the user may not read it. Check tables.`)
  const keys = await ask(
    `select column_name from information_schema.statistics where table_schema = ? and table_name = ? and index_name = 'PRIMARY' order by seq_in_index`,
    [table.schema, table.name],
  )
  if (keys.length === 0)
    throw new UserError(
      `${name} has no primary key, which change capture needs. Add one, or read the table with the database extractor.`,
    )
  const key = keys.map(([column]): KeyColumn => {
    const at = rows.findIndex(([one]) => one === column)
    const [, native = '', charset = null] = rows[at] ?? []
    return { name: column ?? '', place: at, native: (native ?? '').toLowerCase(), charset }
  })
  checkKey(name, key)
  return { table, key, signature: JSON.stringify([rows, keys]), columns: rows.length }
}

/** Not among the types of mysql2, which has a command for the log that fails: its parts of the protocol are used by one of our own. */
interface Packet {
  readonly buffer: Buffer
  readonly offset: number
  readonly end: number
  isEOF(): boolean
  isError(): boolean
  asError(encoding: string): Error
}

interface Command {
  /** Without a packet when it starts; true ends it. */
  execute(packet: Packet | undefined): boolean
  onResult(error: Error): void
}

interface Internals {
  addCommand(command: Command): void
  write(bytes: Buffer): void
  _resetSequenceId(): void
  _bumpSequenceId(packets: number): void
}

const BINLOG_DUMP = 0x12
const TO_THE_END = 1

function dumpRequest(file: string, at: number, serverId: number): Buffer {
  const name = Buffer.from(file)
  const bytes = Buffer.alloc(4 + 11 + name.length)
  bytes.writeUIntLE(bytes.length - 4, 0, 3)
  bytes.writeUInt8(BINLOG_DUMP, 4)
  bytes.writeUInt32LE(at, 5)
  bytes.writeUInt16LE(TO_THE_END, 9)
  bytes.writeUInt32LE(serverId, 11)
  name.copy(bytes, 15)
  return bytes
}

/** Every event from a position to the end of the log. False of `take` ends it before. */
export async function readLog(
  { ask, connection, close }: Server,
  { file, at }: Position,
  serverId: number,
  take: (event: Buffer) => boolean,
): Promise<void> {
  const raw = connection as unknown as Internals
  try {
    // Without the checksum of each event, and with the events that MariaDB has in addition.
    await ask("set @master_binlog_checksum = 'NONE', @source_binlog_checksum = 'NONE', @mariadb_slave_capability = 4")
    await new Promise<void>((done, fail) => {
      connection.on('error', fail)
      const execute = (packet: Packet | undefined): boolean => {
        if (!packet) {
          raw._resetSequenceId()
          raw._bumpSequenceId(1)
          raw.write(dumpRequest(file, at, serverId))
          return false
        }
        if (packet.isError()) {
          fail(packet.asError('utf8'))
          return true
        }
        try {
          if (!packet.isEOF() && take(packet.buffer.subarray(packet.offset + 1, packet.end))) return false
          done()
        } catch (error) {
          fail(error as Error)
        }
        return true
      }
      raw.addCommand({ execute, onResult: fail })
    })
  } finally {
    close()
  }
}
