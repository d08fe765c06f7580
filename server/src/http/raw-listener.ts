// A listener without the kernel, for protocols that need the bare request (the object store's wire).

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `proceed` tells a client that waits with `Expect: 100-continue` to send its body. */
export type RawHandler = (message: IncomingMessage, response: ServerResponse, proceed: () => void) => void

export interface RawListener {
  /** Port 0 takes a free one; resolves to the port. */
  listen(port: number, host: string): Promise<number>
  /** Stops accepting, waits for running requests up to that long, then ends them. */
  close(graceMs?: number): Promise<void>
}

/** A transfer that does not move for this long is given up. */
const IDLE_MS = 120_000

export function createRawListener(handle: RawHandler): RawListener {
  // No limit on how long a body takes, only on standing still.
  const server = createServer({ requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 30_000, maxHeaderSize: 32 * 1024 })
  server.setTimeout(IDLE_MS)
  server.on('request', (message, response) => handle(message, response, () => {}))
  // Another expectation is ignored, as RFC 9110 (10.1.1) allows; node would answer 417 without a body.
  server.on('checkExpectation', (message, response) => handle(message, response, () => {}))
  server.on('checkContinue', (message, response) => handle(message, response, () => response.writeContinue()))

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        // An AddressInfo, because it listens on TCP.
        server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
      }),

    close: (graceMs = 10_000) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}
