// The replication connection to PostgreSQL: a slot with a snapshot, and the stream of changes up to a position.

import type pg from 'pg'
import { type Message, positionFrom, positionText, readMessage } from './pgoutput.ts'

export interface NewSlot {
  /** Changes that were committed from here on are not in the snapshot. */
  readonly position: string
  readonly snapshot: string
}

/** The snapshot can be used until the next command of the client. The server waits for transactions that are open. */
export async function createSlot(
  client: pg.Client,
  name: string,
  { isTemporary }: { readonly isTemporary: boolean },
): Promise<NewSlot> {
  const { rows } = await client.query<{ consistent_point: string; snapshot_name: string }>(
    `CREATE_REPLICATION_SLOT "${name}" ${isTemporary ? 'TEMPORARY ' : ''}LOGICAL pgoutput EXPORT_SNAPSHOT`,
  )
  const [row] = rows
  if (!row) throw new Error('CREATE_REPLICATION_SLOT answered no row')
  return { position: row.consistent_point, snapshot: row.snapshot_name }
}

export interface StreamRequest {
  readonly slot: string
  readonly publication: string
  /** Where the last committed run has ended: the server may remove everything before it, and nothing after it. */
  readonly confirmed: string
  /** Where to begin. */
  readonly from: string
  readonly upTo: string
  /** False ends the stream; then the position is where the last whole transaction before has ended. */
  readonly onMessage: (message: Message) => boolean
}

/** How often the server is queried for its position, in a stream without changes. */
const ASK_MS = 200
const EPOCH_2000_MS = Date.UTC(2000, 0, 1)

interface ReplicationConnection {
  on(event: 'copyData', listener: (message: { readonly chunk: Buffer }) => void): void
  on(event: 'replicationStart', listener: () => void): void
  on(event: 'error' | 'end', listener: (error?: Error) => void): void
  sendCopyFromChunk(bytes: Buffer): void
}

/** Answers the position up to which every transaction was passed on. */
export async function streamChanges(client: pg.Client, request: StreamRequest): Promise<string> {
  const { slot, publication, from, onMessage } = request
  const [confirmed, stop] = [positionFrom(request.confirmed), positionFrom(request.upTo)]
  const connection = (client as unknown as { connection: ReplicationConnection }).connection // not among the types of pg
  let position = positionFrom(from)
  let received = position
  let isInTransaction = false
  const tell = (wantsAnswer: boolean) => connection.sendCopyFromChunk(statusOf(received, confirmed, wantsAnswer))
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<string>((done, fail) => {
      let isDone = false
      const finish = () => {
        isDone = true
        done(positionText(position))
      }
      connection.on('copyData', ({ chunk }) => {
        if (isDone) return
        try {
          if (chunk[0] === 0x6b) {
            const end = chunk.readBigUInt64BE(1)
            if (end > received) received = end
            if (!isInTransaction && end >= stop) {
              if (end > position) position = end
              return finish()
            }
            if (chunk[17] === 1) tell(false)
            return
          }
          const at = chunk.readBigUInt64BE(1)
          if (at > received) received = at
          const message = readMessage(chunk.subarray(25))
          if (message.kind === 'begin') isInTransaction = true
          if (!onMessage(message)) {
            if (message.kind === 'commit') position = message.end
            return finish()
          }
          if (message.kind !== 'commit') return
          isInTransaction = false
          position = message.end
          if (position >= stop) finish()
        } catch (error) {
          fail(error as Error)
        }
      })
      connection.on('error', (error) => fail(error ?? new Error('Connection terminated')))
      connection.on('end', () => fail(new Error('Connection terminated')))
      connection.on('replicationStart', () => {
        tell(true)
        timer = setInterval(() => tell(true), ASK_MS)
      })
      const options = `proto_version '1', publication_names '"${publication}"'`
      client.query(`START_REPLICATION SLOT "${slot}" LOGICAL ${from} (${options})`).catch(fail)
    })
  } finally {
    clearInterval(timer)
  }
}

/** Received up to here, and kept up to there: only what is before `kept` may be removed by the server. */
function statusOf(received: bigint, kept: bigint, wantsAnswer: boolean): Buffer {
  const bytes = Buffer.alloc(34)
  bytes.write('r', 0)
  bytes.writeBigUInt64BE(received, 1)
  bytes.writeBigUInt64BE(kept, 9)
  bytes.writeBigUInt64BE(kept, 17)
  bytes.writeBigInt64BE(BigInt(Date.now() - EPOCH_2000_MS) * 1000n, 25)
  bytes.writeUInt8(wantsAnswer ? 1 : 0, 33)
  return bytes
}
