// One connection after its start: messages are handled one by one, each to its end. Simple queries and the extended protocol lead to
// the same portals. After an error the extended protocol skips to the next Sync.

import { nextTurn } from '../../kit/next-turn.ts'
import { type FrameSocket, FrameTooLong } from './frames.ts'
import * as say from './messages.ts'
import { NamedItems } from './named-items.ts'
import { cutRows } from './rows.ts'
import { textOf } from './values.ts'
import {
  type Format,
  WireError,
  type WirePortal,
  type WireReceiver,
  type WireResult,
  type WireSession,
  type WireStatement,
} from './wire-session.ts'

const MAX_MESSAGE_BYTES = 32 << 20
const MAX_STATEMENT_BYTES = 8 << 20
const MAX_PORTAL_BYTES = 2 * MAX_MESSAGE_BYTES
/** Handled one after the other before everything else in the process has its turn. */
const FRAMES_PER_TURN = 20
/** Small messages wait for each other up to this. */
const FLUSH_BYTES = 32 * 1024

interface OpenPortal {
  readonly portal: WirePortal
  readonly formats: readonly Format[]
  result?: WireResult
  /** Frames that were read and not sent, of a result that is fetched in parts. */
  rest: Buffer
}

export interface Connection {
  /** Until the client leaves or the session ends. */
  serve(): Promise<void>
  /** Ends the statement that runs, if one does. */
  cancel(): void
  /** Sends the reason, and closes. */
  end(reason: WireError): void
}

export interface ConnectionDeps {
  readonly socket: FrameSocket
  readonly session: WireSession
  /** Any error as the client may see it. */
  readonly wireError: (error: unknown) => WireError
}

export function createConnection({ socket, session, wireError }: ConnectionDeps): Connection {
  const statements = new NamedItems<WireStatement>(MAX_STATEMENT_BYTES, TOO_MUCH_TEXT)
  const portals = new NamedItems<OpenPortal>(MAX_PORTAL_BYTES, TOO_MANY_VALUES)
  let running: WirePortal | undefined
  let isSkipping = false
  let reason: WireError | undefined
  let unsent: Buffer[] = []
  let unsentBytes = 0

  async function send(bytes: Buffer): Promise<void> {
    unsent.push(bytes)
    unsentBytes += bytes.length
    if (unsentBytes >= FLUSH_BYTES) await flush()
  }

  /** The bytes may change afterwards. */
  async function sendLent(bytes: Buffer): Promise<void> {
    if (bytes.length < FLUSH_BYTES) return send(Buffer.from(bytes))
    await flush()
    await send(bytes)
  }

  async function flush(): Promise<void> {
    if (unsentBytes === 0) return
    const bytes = unsent.length === 1 ? unsent[0]! : Buffer.concat(unsent) // not empty: unsentBytes > 0
    unsent = []
    unsentBytes = 0
    if (!(await socket.write(bytes))) throw new ClientGone()
  }

  /** Runs `work` on a portal, which a cancel request or the end of the client cancels. */
  async function cancellable<T>(portal: WirePortal, work: () => Promise<T>): Promise<T> {
    running = portal
    try {
      if (socket.gone.aborted) throw new ClientGone()
      if (reason) throw reason // the end came while the statement was read: there was nothing to cancel yet
      return await work()
    } finally {
      running = undefined
    }
  }

  const cancel = () => running?.cancel()

  // -------------------------------------------------------------------------------------------------------------- simple query

  async function simpleQuery(sql: string): Promise<void> {
    await closePortal('')
    const texts = await session.split(sql)
    if (texts.length === 0) await send(say.emptyQuery())
    for (const { text, offset } of texts) {
      await nextTurn() // a text may hold many thousands that are done at once, such as SET
      await placed(sql, offset, async () => runSimple(await session.parse(text, [])))
    }
  }

  async function runSimple(statement: WireStatement): Promise<void> {
    const open: OpenPortal = { portal: statement.bind([], []), formats: [], rest: Buffer.alloc(0) }
    try {
      await run(open, 0, true)
    } finally {
      await open.portal.close()
    }
  }

  /** Places in errors are those of the text that the client sent, which may begin with a comment, in characters. */
  async function placed<T>(sql: string, offset: number, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof ClientGone) throw cause
      const error = wireError(cause)
      if (error.position === undefined) throw error
      const position = charactersOf(sql.slice(0, offset + error.position - 1)) + 1
      throw new WireError(error.code, error.message, { position, ...(error.hint !== undefined && { hint: error.hint }) })
    }
  }

  // ---------------------------------------------------------------------------------------------------------- extended protocol

  const handlers: Readonly<Record<string, (content: Buffer) => Promise<void>>> = {
    P: parse,
    B: bind,
    D: describe,
    E: execute,
    C: close,
    H: flush,
  }

  async function parse(content: Buffer): Promise<void> {
    const read = say.reader(content)
    const name = read.text()
    const sql = read.text()
    const types = say.listOf(read.int16(), read.int32)
    const texts = await session.split(sql)
    if (texts.length > 1) throw new WireError('42601', `A prepared statement is one statement; the text has ${texts.length}.`)
    if (name !== '' && statements.has(name)) throw new WireError('42P05', `The prepared statement "${name}" exists already.`)
    statements.checkRoom(name, content.length)
    const [only] = texts
    const statement = only ? inText(sql, only.offset, await session.parse(only.text, types)) : EMPTY
    statements.set(name, statement, content.length)
    await send(say.parseComplete())
  }

  /** A prepared statement whose errors have their place in the text that was sent. */
  function inText(sql: string, offset: number, statement: WireStatement): WireStatement {
    return {
      describe: () => placed(sql, offset, statement.describe),
      bind: (values, formats) => {
        const portal = statement.bind(values, formats)
        return {
          ...portal,
          columns: () => placed(sql, offset, portal.columns),
          open: () => placed(sql, offset, portal.open),
        }
      },
    }
  }

  async function bind(content: Buffer): Promise<void> {
    const read = say.reader(content)
    const name = read.text()
    const statement = statementNamed(read.text())
    const valueFormats = say.listOf(read.int16(), () => formatFrom(read.int16()))
    const raw = say.listOf(read.int16(), () => {
      const length = read.int32()
      return length === -1 ? null : read.bytes(length)
    })
    const formats = say.listOf(read.int16(), () => formatFrom(read.int16()))
    if (name !== '' && portals.has(name)) throw new WireError('42P03', `The portal "${name}" exists already.`)
    await closePortal(name)
    portals.checkRoom(name, content.length)
    const values = await valuesFrom(statement, raw, valueFormats)
    portals.set(name, { portal: statement.bind(values, formats), formats, rest: Buffer.alloc(0) }, content.length)
    await send(say.bindComplete())
  }

  /** Types are only looked up where a value is binary: the text format is the same for every type. */
  async function valuesFrom(
    statement: WireStatement,
    raw: readonly (Buffer | null)[],
    formats: readonly Format[],
  ): Promise<(string | null)[]> {
    const isBinary = raw.some((_, i) => say.formatOf(formats, i) === 1)
    const { parameters } = isBinary ? await statement.describe() : { parameters: [] }
    return raw.map((bytes, i) => {
      if (bytes === null) return null
      return say.formatOf(formats, i) === 1 ? textOf(parameters[i] ?? 0, bytes) : bytes.toString()
    })
  }

  async function describe(content: Buffer): Promise<void> {
    const read = say.reader(content)
    const kind = read.byte()
    const name = read.text()
    if (kind === 'S') {
      const { parameters, columns } = await statementNamed(name).describe()
      await send(say.parameterDescription(parameters))
      return send(columns ? say.rowDescription(columns, []) : say.noData())
    }
    const cursor = portals.has(name) ? undefined : session.cursor(name)
    if (cursor) return send(say.rowDescription((await cursor.columns()) ?? [], []))
    const open = portalNamed(name)
    const columns = await cancellable(open.portal, open.portal.columns)
    await send(columns ? say.rowDescription(columns, open.formats) : say.noData())
  }

  async function execute(content: Buffer): Promise<void> {
    const read = say.reader(content)
    const name = read.text()
    await run(portalNamed(name), read.int32(), false)
  }

  async function close(content: Buffer): Promise<void> {
    const read = say.reader(content)
    if (read.byte() === 'S') statements.delete(read.text())
    else await closePortal(read.text())
    await send(say.closeComplete())
  }

  // ------------------------------------------------------------------------------------------------------------------- results

  /** Sends up to `most` rows of a portal, all when it is 0. */
  async function run(open: OpenPortal, max: number, withColumns: boolean): Promise<void> {
    await cancellable(open.portal, async () => {
      open.result ??= await open.portal.open()
      const { columns, copy, receive, frames, tag, forget } = open.result
      if (copy && receive) {
        await send(say.copyIn(copy.format, copy.columns))
        return send(say.commandComplete(await received(receive)))
      }
      if (copy) await send(say.copyOut(copy.format, copy.columns))
      else if (columns && withColumns) await send(say.rowDescription(columns, open.formats))
      const limit = max > 0 && !copy ? max : Number.POSITIVE_INFINITY
      const { rows, isEnd } = await sendFrames(open, frames, limit)
      if (!isEnd) return send(say.portalSuspended())
      if (copy) await send(say.copyDone())
      if (forget) forgetStatements(forget)
      await send(tag(rows) === '' ? say.emptyQuery() : say.commandComplete(tag(rows)))
    })
  }

  /** Takes the data of a copy from the client; answers the tag of the command. */
  async function received(receiver: WireReceiver): Promise<string> {
    let frames = 0
    try {
      await flush()
      for (;;) {
        const frame = await socket.next(true, MAX_MESSAGE_BYTES)
        if (!frame) throw reason ?? new ClientGone()
        if (++frames % FRAMES_PER_TURN === 0) await nextTurn()
        if (frame.kind === 'd') await receiver.write(frame.content)
        else if (frame.kind === 'c') return await receiver.end()
        else if (frame.kind === 'f') throw gaveUp(say.reader(frame.content).text())
        else if (frame.kind !== 'S' && frame.kind !== 'H')
          throw protocolError(`Messages of kind "${frame.kind}" are not part of a copy.`)
      }
    } catch (error) {
      await receiver.abort()
      throw error
    }
  }

  async function sendFrames(
    open: OpenPortal,
    frames: AsyncIterator<Buffer>,
    limit: number,
  ): Promise<{ readonly rows: number; readonly isEnd: boolean }> {
    let rows = 0
    for (;;) {
      if (open.rest.length === 0) {
        const next = await frames.next()
        if (next.done) return { rows, isEnd: true }
        open.rest = next.value
      }
      if (rows === limit) return { rows, isEnd: false }
      const cut = cutRows(open.rest, limit - rows)
      rows += cut.rows
      await sendLent(open.rest.subarray(0, cut.end))
      open.rest = open.rest.subarray(cut.end)
    }
  }

  // ----------------------------------------------------------------------------------------------------------------------- names

  function statementNamed(name: string): WireStatement {
    const statement = statements.get(name)
    if (!statement) throw new WireError('26000', `Prepared statement "${name}" does not exist.`)
    return statement
  }

  function portalNamed(name: string): OpenPortal {
    const portal = portals.get(name)
    if (!portal) throw new WireError('34000', `Portal "${name}" does not exist.`)
    return portal
  }

  async function closePortal(name: string): Promise<void> {
    const open = portals.get(name)
    portals.delete(name)
    await open?.portal.close()
  }

  function forgetStatements(forget: NonNullable<WireResult['forget']>): void {
    if (forget === 'all') statements.clear()
    else if (!statements.delete(forget.name)) throw new WireError('26000', `Prepared statement "${forget.name}" does not exist.`)
  }

  // ------------------------------------------------------------------------------------------------------------------- the loop

  /** Portals live as long as their transaction; without one, until Sync. */
  async function ready(): Promise<void> {
    if (session.status() !== 'T') for (const name of portals.names()) await closePortal(name)
    await send(say.readyForQuery(session.status()))
    await flush()
  }

  async function fail(error: unknown): Promise<void> {
    if (error instanceof ClientGone || socket.gone.aborted) throw new ClientGone()
    if (reason) throw reason // the client gets why its connection ends, not that its statement was cancelled
    session.failed()
    await send(say.errorResponse(wireError(error instanceof RangeError ? protocolError(error.message) : error)))
  }

  async function handle(kind: string, content: Buffer): Promise<void> {
    if (kind === 'S') {
      isSkipping = false
      return ready()
    }
    if (kind === 'Q') {
      isSkipping = false
      await simpleQuery(say.reader(content).text()).catch(fail)
      return ready()
    }
    if (isSkipping || 'dcf'.includes(kind)) return // data of a copy that failed
    const handler = handlers[kind]
    if (!handler) throw protocolError(`Messages of kind "${kind}" are not known.`)
    await handler(content).catch(async (error: unknown) => {
      isSkipping = true
      await fail(error)
      await flush() // a client may wait for the error before it sends Sync
    })
  }

  async function serve(): Promise<void> {
    socket.gone.addEventListener('abort', cancel)
    session.ended.then(end)
    let handled = 0
    try {
      for (;;) {
        const frame = await socket.next(true, MAX_MESSAGE_BYTES)
        if (!frame && reason) throw reason
        if (!frame || frame.kind === 'X') return socket.end()
        if (++handled % FRAMES_PER_TURN === 0) await nextTurn() // a client may send many ahead
        await handle(frame.kind, frame.content)
      }
    } catch (error) {
      if (error instanceof ClientGone) return
      const last = error instanceof FrameTooLong ? new WireError('54000', error.message) : wireError(error)
      socket.end(say.errorResponse(last, 'FATAL'))
    } finally {
      for (const name of portals.names()) await closePortal(name)
      await session.close()
    }
  }

  function end(why: WireError): void {
    reason = why
    cancel()
    socket.stopReading()
  }

  return { serve, end, cancel }
}

class ClientGone extends Error {}

/** Pairs of surrogates are one. */
const charactersOf = (text: string): number => text.replaceAll(/[\ud800-\udbff][\udc00-\udfff]/g, '_').length

const protocolError = (message: string) => new WireError('08P01', message)

const gaveUp = (why: string) => new WireError('57014', `COPY was aborted by the client: ${why.slice(0, 200)}`)

const formatFrom = (code: number): Format => {
  if (code === 0 || code === 1) return code
  throw protocolError(`The format ${code} is not known: 0 is text, 1 is binary.`)
}

const TOO_MUCH_TEXT = `The prepared statements of a connection have at most ${MAX_STATEMENT_BYTES >> 20} MiB of text in all. Close those that are no longer used (DEALLOCATE), or use another connection.`
const TOO_MANY_VALUES = `The portals of a connection have at most ${MAX_PORTAL_BYTES >> 20} MiB of values in all. Close those that are no longer used, or end the transaction.`

/** A text without a statement. */
const EMPTY: WireStatement = {
  describe: async () => ({ parameters: [], columns: undefined }),
  bind: () => ({
    columns: async () => undefined,
    open: async () => ({ columns: undefined, frames: (async function* (): AsyncGenerator<Buffer, void> {})(), tag: () => '' }),
    cancel: () => {},
    close: async () => {},
  }),
}
