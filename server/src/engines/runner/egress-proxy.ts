// The one way out of an isolated component: an HTTP proxy (CONNECT and plain requests) and a SOCKS5 proxy on one socket of the file system.
//  (1) Every name is resolved here, every answer of the resolver is checked, and the connection goes to a checked address.
//  (2) A refusal is answered in the words of the protocol and reported once to the component runner.
//  (3) A relay leads to one port of this machine that the run was given, its log, and to nothing else.

import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, isIP, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EgressPolicy, egressRules, unbracketed } from '../../../../contract/egress-rules.ts'

export interface EgressProxy {
  /** The socket in the file system. */
  readonly path: string
  /** For a socket on which the program behind this proxy is reached. */
  readonly inboundFolder: string
  /** The program that leads to it from inside a network of its own (egress-forwarder.mjs). */
  readonly forwarder: string
  close(): Promise<void>
}

/** What leads from inside an empty network to the proxy. */
export interface Forwarder {
  /** The socket of the proxy. */
  readonly socket: string
  /** The program, egress-forwarder.mjs. */
  readonly forwarder: string
  /** Where the program listens, for clients of the proxy. */
  readonly port: number
  readonly relays: readonly string[]
}

/** The way in to a port of a program in a network of its own: the folder of a socket, which the forwarder has and the program never sees. */
export interface Inbound {
  readonly folder: string
  readonly port: number
}

export interface EgressProxyOptions {
  /** Undefined: nothing may be reached but the relays. */
  readonly policy: EgressPolicy | undefined
  /** `tcp:PORT` and `udp:PORT` of this machine's loopback. */
  readonly relays: readonly string[]
  onRefused(target: string, reason: string): void
}

interface Target {
  readonly host: string
  readonly port: number
}

const HEAD_BYTES = 64 * 1024
const CONNECT_MS = 30_000
/** For a client that was answered to close its side, too. */
const LEAVE_MS = 5_000
const MAX_CONNECTIONS = 512
const MAX_REFUSALS_REPORTED = 20

const FORWARDER = fileURLToPath(new URL('./egress-forwarder.mjs', import.meta.url))

class Refused extends Error {}

export async function openEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const rules = options.policy && egressRules(options.policy)
  const reported = new Set<string>()
  const open = new Set<Socket>()

  /** Connects to a checked address, or returns the reason why not. */
  async function reach({ host, port }: Target): Promise<Socket> {
    const refuse = (reason: string): never => {
      const target = `${host}:${port}`
      if (reported.size < MAX_REFUSALS_REPORTED && !reported.has(target)) options.onRefused(target, reason)
      reported.add(target)
      throw new Refused(`Millrace does not allow connections to ${target}: ${reason}.`)
    }
    if (host === '127.0.0.1' && options.relays.includes(`tcp:${port}`)) return connected(host, port) // by (3), through the proxy
    if (!rules) return refuse('the component has no network')
    const name = unbracketed(host)
    const byName = rules.refuseName(name, port)
    if (byName !== undefined) refuse(byName)
    const found = isIP(name) ? [name] : await lookup(name, { all: true }).then((all) => all.map(({ address }) => address))
    for (const address of found) {
      const reason = rules.refuseAddress(address, name, port)
      if (reason !== undefined) refuse(reason)
    }
    return connected(found[0] ?? refuse('the name has no address'), port)
  }

  const server = createServer({ allowHalfOpen: true }, (client): void => {
    if (open.size >= MAX_CONNECTIONS) return void client.destroy()
    open.add(client)
    client.on('close', () => open.delete(client))
    client.on('error', () => {})
    serve(client, reach, options.relays).catch(() => client.destroy())
  })
  const folder = await mkdtemp(join(tmpdir(), 'millrace-egress-'))
  const path = join(folder, 's')
  const inboundFolder = join(folder, 'in')
  await mkdir(inboundFolder)
  await chmod(inboundFolder, 0o777) // as with the socket
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  await chmod(path, 0o666) // the folder around it is ours alone; the run sees the socket only
  return {
    path,
    inboundFolder,
    forwarder: FORWARDER,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of open) socket.destroy()
      await closed
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const connected = (host: string, port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: CONNECT_MS, allowHalfOpen: true })
    socket.once('connect', () => resolve(socket.setTimeout(0)))
    socket.once('timeout', () => socket.destroy(new Error('it took too long')))
    socket.once('error', reject)
  })

type Reach = (target: Target) => Promise<Socket>

async function serve(client: Socket, reach: Reach, relays: readonly string[]): Promise<void> {
  const reader = createReader(client)
  const [first] = await reader.peek(1)
  if (first === 5) return serveSocks(client, reader, reach)
  const { line, headers } = readHead(await reader.head())
  const [method = '', address = ''] = line.split(' ')
  if (method === 'RELAY') return relay(client, reader, address, relays)
  const target = targetOf(method, address)
  if (!target) return answer(client, reader, '400 Bad Request', 'Send CONNECT host:port, or a request with a whole http address.')
  try {
    const upstream = await reach(target)
    if (method === 'CONNECT') client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    else upstream.write(plainRequest(line, headers))
    reader.pipeTo(upstream)
  } catch (error) {
    const isRefused = error instanceof Refused
    answer(
      client,
      reader,
      isRefused ? '403 Forbidden' : '502 Bad Gateway',
      isRefused ? error.message : `${target.host} cannot be reached.`,
    )
  }
}

function answer(client: Socket, reader: Reader, status: string, text: string): void {
  const body = `${text}\n`
  reader.leave()
  client.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

function targetOf(method: string, address: string): Target | undefined {
  if (method === 'CONNECT' && !/:\d+$/.test(address)) return undefined
  const text = method === 'CONNECT' ? `http://${address}` : address
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' || url.hostname === '' || url.username !== '') return undefined
  return { host: url.hostname, port: Number(url.port || 80) }
}

/** One request for each connection: the next one may be meant for another host. */
function plainRequest(line: string, headers: readonly string[]): string {
  const [method = '', address = '', version = 'HTTP/1.1'] = line.split(' ')
  const { pathname, search } = new URL(address)
  const kept = headers.filter((header) => !/^(proxy-[a-z-]+|connection|keep-alive)\s*:/i.test(header))
  return [`${method} ${pathname}${search} ${version}`, ...kept, 'Connection: close', '', ''].join('\r\n')
}

function readHead(text: string): { readonly line: string; readonly headers: readonly string[] } {
  const [line = '', ...headers] = text.trimEnd().split('\r\n')
  return { line, headers }
}

// SOCKS5 (RFC 1928), without authentication, CONNECT only.

const SOCKS = { granted: 0, failed: 1, refused: 2, unreachable: 4, unknownCommand: 7, unknownAddress: 8 }

async function serveSocks(client: Socket, reader: Reader, reach: Reach): Promise<void> {
  const [, methods = 0] = await reader.take(2)
  await reader.take(methods)
  client.write(Buffer.from([5, 0]))
  const reply = (code: number) => client.write(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
  const [, command, , kind] = await reader.take(4)
  const host = await socksHost(reader, kind)
  const port = (await reader.take(2)).readUInt16BE()
  if (host === undefined || command !== 1) {
    reply(host === undefined ? SOCKS.unknownAddress : SOCKS.unknownCommand)
    reader.leave()
    return void client.end()
  }
  try {
    const upstream = await reach({ host, port })
    reply(SOCKS.granted)
    reader.pipeTo(upstream)
  } catch (error) {
    reply(error instanceof Refused ? SOCKS.refused : SOCKS.unreachable)
    reader.leave()
    client.end()
  }
}

async function socksHost(reader: Reader, kind: number | undefined): Promise<string | undefined> {
  if (kind === 1) return [...(await reader.take(4))].join('.')
  if (kind === 3) return (await reader.take((await reader.take(1))[0]!)).toString('latin1')
  if (kind !== 4) return undefined
  const bytes = await reader.take(16)
  return Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16)).join(':')
}

async function relay(client: Socket, reader: Reader, address: string, relays: readonly string[]): Promise<void> {
  const [kind, port] = address.split(':')
  if (!relays.includes(address)) return void client.destroy()
  if (kind === 'tcp') return reader.pipeTo(await connected('127.0.0.1', Number(port)))
  const out = createSocket('udp4')
  try {
    for (;;) {
      const length = (await reader.take(2)).readUInt16BE()
      out.send(await reader.take(length), Number(port), '127.0.0.1')
    }
  } finally {
    out.close()
  }
}

// The first bytes of a connection, then the rest as it comes.

interface Reader {
  peek(bytes: number): Promise<Buffer>
  take(bytes: number): Promise<Buffer>
  /** Up to and including the empty line. */
  head(): Promise<string>
  pipeTo(upstream: Socket): void
  /** Reads and drops the rest: without a reader the end of the connection would not be noticed, and it would keep its slot. */
  leave(): void
}

function createReader(client: Socket): Reader {
  const chunks = client.iterator({ destroyOnReturn: false })
  let rest: Buffer = Buffer.alloc(0)

  async function more(): Promise<void> {
    const { value, done } = await chunks.next()
    if (done) throw new Error('the client has left')
    rest = Buffer.concat([rest, value as Buffer]) // a socket without an encoding reads buffers
  }
  async function peek(bytes: number): Promise<Buffer> {
    while (rest.length < bytes) await more()
    return rest.subarray(0, bytes)
  }
  async function take(bytes: number): Promise<Buffer> {
    const taken = await peek(bytes)
    rest = rest.subarray(bytes)
    return taken
  }
  return {
    peek,
    take,
    async head() {
      let end = rest.indexOf('\r\n\r\n')
      while (end < 0) {
        if (rest.length > HEAD_BYTES) throw new Error('the head of the request is too long')
        await more()
        end = rest.indexOf('\r\n\r\n')
      }
      return (await take(end + 4)).toString('latin1')
    },
    leave() {
      client.setTimeout(LEAVE_MS, () => client.destroy())
      void chunks.return?.(undefined).then(() => client.resume())
    },
    pipeTo(upstream) {
      void chunks.return?.(undefined)
      upstream.on('error', () => client.destroy())
      upstream.on('close', () => upstream.readableEnded || client.destroy()) // what was read whole is still on its way
      client.on('close', () => upstream.destroy())
      upstream.write(rest)
      client.pipe(upstream)
      upstream.pipe(client)
    },
  }
}
