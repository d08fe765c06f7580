// A GELF receiver for the time of one program (spec platform 1.15): TCP (messages end with NUL), UDP (one datagram, or chunks)
// or HTTP (POST). A message without the required fields is dropped; one that is too long fails the run.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { gunzipSync, inflateSync } from 'node:zlib'

export type GelfTransport = 'tcp' | 'udp' | 'http'

export interface GelfMessage {
  /** Syslog: 0 emergency to 7 debug. */
  readonly level: number
  readonly message: string
  readonly fullMessage: string | undefined
  readonly fields: Readonly<Record<string, unknown>>
}

export interface GelfServer {
  readonly port: number
  close(): Promise<void>
}

const MESSAGE_BYTES = 200 * 1024

export interface GelfHandlers {
  onMessage(message: GelfMessage): void
  /** A message over the limit arrived; the run has to fail. */
  onTooLong(): void
}

export async function startGelfServer(transport: GelfTransport, host: string, handlers: GelfHandlers): Promise<GelfServer> {
  const receive = (bytes: Buffer): void => {
    const message = bytes.length > MESSAGE_BYTES ? undefined : parseGelf(bytes)
    if (bytes.length > MESSAGE_BYTES) handlers.onTooLong()
    else if (message) handlers.onMessage(message)
  }
  if (transport === 'udp') return startUdp(host, receive)
  const server = transport === 'tcp' ? tcpServer(receive, handlers) : httpServer(receive, handlers)
  return listen(server, host)
}

async function listen(server: Server, host: string): Promise<GelfServer> {
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port, // a listening TCP server has an address with a port
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

function tcpServer(receive: (bytes: Buffer) => void, { onTooLong }: GelfHandlers): Server {
  return createTcpServer((socket) => {
    let rest = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
        receive(rest.subarray(0, end))
        rest = rest.subarray(end + 1)
      }
      if (rest.length > MESSAGE_BYTES) {
        onTooLong()
        socket.destroy()
      }
    })
    socket.on('error', () => {})
  })
}

function httpServer(receive: (bytes: Buffer) => void, { onTooLong }: GelfHandlers): Server {
  return createHttpServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of request) {
      size += (chunk as Buffer).length // no encoding is set on the request, so chunks are buffers
      if (size > MESSAGE_BYTES) {
        onTooLong()
        response.writeHead(413).end()
        return
      }
      chunks.push(chunk as Buffer)
    }
    receive(Buffer.concat(chunks))
    response.writeHead(202).end()
  })
}

async function startUdp(host: string, receive: (bytes: Buffer) => void): Promise<GelfServer> {
  const socket = createSocket('udp4')
  const chunked = new Map<string, Map<number, Buffer>>()
  socket.on('message', (datagram) => {
    if (datagram[0] !== 0x1e || datagram[1] !== 0x0f) return receive(unpack(datagram))
    // GELF chunk: 8 bytes of message id, number and count, then the piece. Unfinished messages are few and go with the socket.
    const id = datagram.toString('hex', 2, 10)
    const count = datagram[11] ?? 0
    const pieces = chunked.get(id) ?? new Map<number, Buffer>()
    pieces.set(datagram[10] ?? 0, datagram.subarray(12))
    chunked.set(id, pieces)
    if (pieces.size === count) {
      chunked.delete(id)
      receive(unpack(Buffer.concat([...pieces].sort(([a], [b]) => a - b).map(([, piece]) => piece))))
    } else if (chunked.size > 100) chunked.delete(chunked.keys().next().value!)
  })
  socket.bind(0, host)
  await once(socket, 'listening')
  return { port: socket.address().port, close: () => new Promise((resolve) => socket.close(() => resolve())) }
}

function unpack(bytes: Buffer): Buffer {
  const options = { maxOutputLength: MESSAGE_BYTES + 1 }
  try {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync(bytes, options)
    if (bytes[0] === 0x78) return inflateSync(bytes, options)
  } catch {
    return Buffer.alloc(0) // damaged or far too long: not a message
  }
  return bytes
}

function parseGelf(bytes: Buffer): GelfMessage | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const { short_message, full_message, level, host, version, timestamp, ...rest } = parsed as Record<string, unknown>
  if (typeof short_message !== 'string' || typeof host !== 'string' || timestamp === undefined || !isLevel(level))
    return undefined
  return { level, message: short_message, fullMessage: typeof full_message === 'string' ? full_message : undefined, fields: rest }
}

const isLevel = (level: unknown): level is number =>
  typeof level === 'number' && Number.isInteger(level) && level >= 0 && level <= 7
