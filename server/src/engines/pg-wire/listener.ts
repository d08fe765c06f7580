// The listener: start of a connection (TLS, cancel requests, the password), its limits, and its end.

import { randomInt } from 'node:crypto'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { type Connection, createConnection } from './connection.ts'
import { type FrameSocket, FrameTooLong, frameSocket } from './frames.ts'
import * as say from './messages.ts'
import { type Startup, WireError, type WireSession } from './wire-session.ts'

const PROTOCOL_3 = 196_608
const [SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST] = [80_877_103, 80_877_104, 80_877_102]
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/
const MAX_STARTUP_BYTES = 10_000
/** How long a client may take to sign in. */
const START_MS = 10_000
/** Connections that have not signed in, of one address and in all: one more closes the one that has waited longest. */
const MAX_WAITING = { perAddress: 20, all: 100 }
/** How long the notice of a stop to connections may take. */
const GOODBYE_MS = 200

export interface WireListenerDeps {
  /** Undefined: without TLS. */
  readonly tls?: { current(): { readonly cert: string; readonly key: string } } | undefined
  readonly maxConnections: number
  /** Throws when the client may not come in. */
  login(startup: Startup, password: string): Promise<WireSession>
  wireError(error: unknown): WireError
}

export interface WireListener {
  /** Port 0 takes a free one; resolves to the port. */
  listen(port: number, host: string): Promise<number>
  close(): Promise<void>
}

export function createWireListener({ tls, maxConnections, login, wireError }: WireListenerDeps): WireListener {
  const open = new Map<number, { readonly key: number; readonly connection: Connection }>()
  const sockets = new Set<Socket>()
  /** Not signed in yet, the oldest first, by their address. */
  const waiting = new Map<Socket, string>()
  const server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {}) // the end of it is seen by its close
    void welcome(socket).catch(() => socket.destroy())
  })

  async function welcome(raw: Socket): Promise<void> {
    const address = raw.remoteAddress ?? ''
    waiting.set(raw, address)
    raw.once('close', () => waiting.delete(raw))
    makeRoom(address)
    const timer = setTimeout(() => raw.destroy(), START_MS)
    try {
      const { socket, content, isEncrypted } = await firstMessage(raw)
      if (!socket || !content) return
      const isPrivate = isEncrypted || LOOPBACK.test(address)
      const started = await start(socket, content, address, isPrivate)
      clearTimeout(timer)
      waiting.delete(raw)
      await started?.()
    } finally {
      clearTimeout(timer)
    }
  }

  /** Clients that only hold connections cannot keep others from signing in, which takes a moment. */
  function makeRoom(address: string): void {
    const same = [...waiting].flatMap(([socket, other]) => (other === address ? [socket] : []))
    if (same.length > MAX_WAITING.perAddress) same[0]?.destroy()
    else if (waiting.size > MAX_WAITING.all) waiting.keys().next().value?.destroy()
  }

  /** Before it, a client may request encryption. */
  async function firstMessage(raw: Socket): Promise<{ socket?: FrameSocket; content?: Buffer; isEncrypted?: boolean }> {
    let socket = frameSocket(raw)
    let isEncrypted = false
    for (;;) {
      const frame = await socket.next(false, MAX_STARTUP_BYTES).catch((error: unknown) => {
        if (error instanceof FrameTooLong) raw.destroy() // no client of this protocol
        return undefined
      })
      if (!frame || frame.content.length < 4) return {}
      const code = frame.content.readInt32BE(0)
      if (code === SSL_REQUEST && tls && !isEncrypted) {
        socket = await encrypted(raw, socket, tls.current())
        isEncrypted = true
      } else if (code === SSL_REQUEST || code === GSS_REQUEST) await socket.write(Buffer.from('N'))
      else if (code === CANCEL_REQUEST) {
        cancel(frame.content)
        socket.end()
        return {}
      } else return { socket, content: frame.content, isEncrypted }
    }
  }

  async function encrypted(
    raw: Socket,
    plain: FrameSocket,
    pair: { readonly cert: string; readonly key: string },
  ): Promise<FrameSocket> {
    // Bytes that came before the response were not encrypted, and may come from an attacker.
    if (plain.release().length > 0) throw new Error('data before the TLS handshake')
    raw.write('S')
    const secure = new TLSSocket(raw, { isServer: true, secureContext: createSecureContext(pair) })
    secure.on('error', () => raw.destroy())
    return frameSocket(secure)
  }

  function cancel(content: Buffer): void {
    if (content.length < 12) return
    const found = open.get(content.readInt32BE(4))
    if (found?.key === content.readInt32BE(8)) found.connection.cancel()
  }

  async function start(
    socket: FrameSocket,
    content: Buffer,
    address: string,
    isPrivate: boolean,
  ): Promise<(() => Promise<void>) | undefined> {
    const refuse = (error: WireError) => socket.end(say.errorResponse(error, 'FATAL'))
    let session: WireSession | undefined
    try {
      const version = content.readInt32BE(0)
      if (version >> 16 !== 3) throw new WireError('08P01', 'Only version 3 of the PostgreSQL protocol is spoken here.')
      // Before the password, which could be read in transit.
      if (!isPrivate) throw new WireError('28000', 'Connections from other machines need TLS here. Use sslmode=require.')
      const startup = startupFrom(content, address)
      const unknown = Object.keys(startup.parameters).filter((name) => name.startsWith('_pq_.'))
      if (version > PROTOCOL_3 || unknown.length > 0) await socket.write(say.negotiateVersion(unknown))
      if (open.size >= maxConnections)
        throw new WireError('53300', `There are ${maxConnections} connections already. Close one, or try again later.`)
      await socket.write(say.askForPassword())
      const answer = await socket.next(true, MAX_STARTUP_BYTES)
      if (answer?.kind !== 'p') return undefined
      session = await login(startup, say.reader(answer.content).text())
    } catch (error) {
      refuse(
        error instanceof RangeError || error instanceof FrameTooLong ? new WireError('08P01', error.message) : wireError(error),
      )
      return undefined
    }
    return () => serve(socket, session)
  }

  async function serve(socket: FrameSocket, session: WireSession): Promise<void> {
    const id = freeId()
    const key = randomInt(-(2 ** 31), 2 ** 31 - 1)
    const connection = createConnection({ socket, session, wireError })
    open.set(id, { key, connection })
    try {
      const parameters = Object.entries(session.parameters).map(([name, value]) => say.parameterStatus(name, value))
      await socket.write(
        Buffer.concat([say.authenticationOk(), ...parameters, say.backendKey(id, key), say.readyForQuery(session.status())]),
      )
      await connection.serve()
    } finally {
      open.delete(id)
    }
  }

  function freeId(): number {
    for (;;) {
      const id = randomInt(1, 2 ** 31 - 1)
      if (!open.has(id)) return id
    }
  }

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        // An AddressInfo, because it listens on TCP.
        server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const { connection } of open.values()) connection.end(new WireError('57P01', 'The stack is stopping.'))
        setTimeout(() => {
          for (const socket of sockets) socket.destroy()
        }, GOODBYE_MS)
      }),
  }
}

function startupFrom(content: Buffer, address: string): Startup {
  const read = say.reader(content.subarray(4))
  const parameters: Record<string, string> = {}
  for (let name = read.text(); name !== ''; name = read.text()) parameters[name] = read.text()
  const { user, database } = parameters
  if (!user) throw new WireError('28000', 'The client names no user.')
  return { user, database: database || user, parameters, address }
}
