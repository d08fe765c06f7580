// A listener without the framework, for protocols that need the bare request (the object store's wire).

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TlsPair, withHost } from './tls.ts'

/** `proceed` sends `100 Continue` to a client that waits with its body. */
export type RawHandler = (message: IncomingMessage, response: ServerResponse, proceed: () => void) => void

export interface RawListener {
  /** Port 0 takes a free one; resolves to the port. */
  listen(port: number, host: string): Promise<number>
  /** Stops accepting, waits for running requests up to that long, then ends them. */
  close(graceMs?: number): Promise<void>
}

/** A transfer that does not move for this long is given up. */
const IDLE_MS = 120_000

/** With `tls` the listener serves HTTP/2 and HTTP/1.1 over TLS, else plain HTTP/1.1. */
export function createRawListener(handle: RawHandler, tls?: TlsPair): RawListener {
  const { server, end, endIdle } = tls ? secure(tls) : plain()
  const listen = (event: string, proceed: (response: ServerResponse) => void) =>
    server.on(event, (message: IncomingMessage, response: ServerResponse) =>
      handle(withHost(message), response, () => proceed(response)),
    )
  server.setTimeout(IDLE_MS)
  listen('request', () => {})
  // Another expectation is ignored, as RFC 9110 (10.1.1) allows; node would answer 417 without a body.
  listen('checkExpectation', () => {})
  listen('checkContinue', (response) => response.writeContinue())

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        // An AddressInfo, because it listens on TCP.
        server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
      }),

    close: (graceMs = 10_000) =>
      new Promise((resolve) => {
        const timer = setTimeout(end, graceMs)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
        endIdle()
      }),
  }
}

function plain() {
  // No limit on how long a body takes, only on standing still.
  const server = createServer({ requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 30_000, maxHeaderSize: 32 * 1024 })
  return { server, end: () => server.closeAllConnections(), endIdle: () => server.closeIdleConnections() }
}

function secure(tls: TlsPair) {
  const server: Http2SecureServer = createSecureServer({ ...tls.current(), allowHTTP1: true })
  tls.onChange((pair) => server.setSecureContext(pair))
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  return {
    server,
    end: () => {
      for (const session of sessions) session.destroy()
    },
    /** A session without requests closes at once, one with requests when they have ended. */
    endIdle: () => {
      for (const session of sessions) session.close()
    },
  }
}
