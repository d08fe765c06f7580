// A client of the PostgreSQL protocol that shows the bytes it gets: drivers decode them, and node-postgres reads binary values as text.

import { connect } from 'node:net'
import { type FrameSocket, frameSocket } from '../../../server/src/engines/pg-wire/frames.ts'
import { frame, int16, int32, reader } from '../../../server/src/engines/pg-wire/messages.ts'

export interface WireClient {
  /** One statement in the extended protocol; values of the answer in one format. */
  query(sql: string, format: 0 | 1, values?: readonly WireValue[]): Promise<{ types: number[]; rows: (Buffer | null)[][] }>
  /** Sends bytes as they are. */
  write(bytes: Buffer): Promise<boolean>
  /** The next message of the server. */
  next(): ReturnType<FrameSocket['next']>
  end(): void
}

/** A parameter with its type, in binary. */
export interface WireValue {
  readonly oid: number
  readonly bytes: Buffer
}

const text = (value: string): Buffer => Buffer.from(`${value}\0`)

export async function wireClient(port: number, user: string, password: string, database = 'default'): Promise<WireClient> {
  const raw = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => raw.once('connect', resolve).once('error', reject))
  const socket = frameSocket(raw)
  const next = () => socket.next(true, 1 << 26)
  const start = Buffer.concat([int32(196_608), text('user'), text(user), text('database'), text(database), Buffer.from([0])])
  await socket.write(Buffer.concat([int32(start.length + 4), start, frame('p', text(password))]))
  for (let message = await next(); message?.kind !== 'Z'; message = await next())
    if (!message || message.kind === 'E') throw new Error(message?.content.toString() ?? 'the server is gone')

  return {
    next,
    write: socket.write,
    end: () => raw.destroy(),
    query: async (sql, format, values = []) => {
      const parse = frame('P', text(''), text(sql), int16(values.length), ...values.map(({ oid }) => int32(oid)))
      const given = values.flatMap(({ bytes }) => [int32(bytes.length), bytes])
      const bind = frame('B', text(''), text(''), int16(1), int16(1), int16(values.length), ...given, int16(1), int16(format))
      const describe = frame('D', Buffer.from('P'), text(''))
      await socket.write(Buffer.concat([parse, bind, describe, frame('E', text(''), int32(0)), frame('S')]))
      const rows: (Buffer | null)[][] = []
      let types: number[] = []
      for (let message = await next(); message?.kind !== 'Z'; message = await next()) {
        if (!message || message.kind === 'E') throw new Error(message?.content.toString() ?? 'the server is gone')
        const read = reader(message.content)
        if (message.kind === 'D')
          rows.push(
            Array.from({ length: read.int16() }, () => {
              const length = read.int32()
              return length === -1 ? null : Buffer.from(read.bytes(length))
            }),
          )
        if (message.kind === 'T')
          types = Array.from({ length: read.int16() }, () => {
            read.text()
            read.bytes(6)
            const oid = read.int32()
            read.bytes(8)
            return oid
          })
      }
      return { types, rows }
    },
  }
}
