// Requests and websockets, passed on to a program behind a socket.
//  (1) Bodies stream both ways: nothing is held.
//  (2) Headers that belong to one connection stay there.
//  (3) When one side leaves, the other is let go.

import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import { HOP_BY_HOP, namedBy } from './reverse-proxy.ts'

export type Dial = () => Socket

export interface Forwarded {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
}

export interface ForwardedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/** Without those of the connection, of HTTP/2 (they begin with a colon), and those that the caller names. */
export function endToEnd(headers: IncomingHttpHeaders, without: ReadonlySet<string> = new Set()): OutgoingHttpHeaders {
  const named = namedBy(headers)
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !HOP_BY_HOP.has(name) && !named.has(name) && !name.startsWith(':') && !without.has(name),
    ),
  )
}

/** Resolves with the head of the answer; its body follows as a stream. Rejects when there is no answer. */
export function forward(
  dial: Dial,
  { method, path, headers }: Forwarded,
  body: Readable | undefined,
  signal: AbortSignal,
): Promise<ForwardedAnswer> {
  return new Promise((resolve, reject) => {
    const out = request({ method, path, headers: { ...headers, connection: 'close' }, createConnection: dial, signal })
    out.once('response', (answer) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: answer }))
    out.once('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(new Error('it switched protocols without being asked to'))
    })
    out.on('error', reject)
    if (!body) return void out.end()
    body.once('error', (error) => out.destroy(error))
    body.pipe(out)
  })
}

/** The connection of a client that requested a websocket, joined with one to the program. */
export function forwardUpgrade(
  dial: Dial,
  { method, path, headers }: Forwarded,
  client: Duplex,
  head: Buffer,
  onEnd: () => void,
): { close(): void } {
  const program = dial()
  let isOpen = true
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    client.destroy()
    program.destroy()
    onEnd()
  }
  for (const side of [client, program]) {
    side.on('error', close)
    side.on('close', close)
  }
  program.write(headOf(method, path, headers))
  if (head.length > 0) program.write(head)
  client.pipe(program)
  program.pipe(client)
  return { close }
}

/** Headers of a request for a websocket: those of the connection are part of the handshake. */
export const upgradeHeaders = (message: IncomingMessage, without: ReadonlySet<string>): OutgoingHttpHeaders => ({
  ...endToEnd(message.headers, without),
  connection: 'Upgrade',
  upgrade: message.headers.upgrade ?? 'websocket',
})

function headOf(method: string, path: string, headers: OutgoingHttpHeaders): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${name}: ${String(one)}`),
  )
  return [`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}

/** Whether there is any response, whatever it is. */
export async function answers(dial: Dial, signal: AbortSignal): Promise<boolean> {
  try {
    const { body } = await forward(dial, { method: 'HEAD', path: '/', headers: { host: 'localhost' } }, undefined, signal)
    body.resume()
    return true
  } catch {
    return false
  }
}
