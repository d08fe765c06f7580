// A way to a server that can be frozen: from then on nothing passes, nothing is closed and nothing is refused, as when a machine stands still or a
// network swallows packets. Or cut: every connection is closed and none is accepted until it is joined again, as when the server restarts.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

interface Loss {
  readonly isSent: boolean
  /** Done when the server has lost the connection and the client does not notice it yet; not with `isSent`. */
  readonly meanwhile?: () => Promise<unknown>
}

export interface FrozenProxy {
  /** The address of the server, with this way to it in place of its own. */
  readonly url: string
  freeze(): void
  cut(): void
  join(): void
  /** Cuts the connection that next sends these words: before the server gets them, or (`isSent`) before its answer comes back. */
  loseNext(words: string, how: Loss): void
  /** Connections are refused, as while a server restarts, until `accept`. */
  refuse(): void
  accept(): void
  /** Cuts a connection when the server has sent so many bytes through it; each number is for one cut. */
  cutAt(bytes: readonly number[]): void
  close(): Promise<void>
}

export async function frozenProxy(serverUrl: string): Promise<FrozenProxy> {
  const url = new URL(serverUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  const sockets = new Set<Socket>()
  let isFrozen = false
  let isCut = false
  const cuts: number[] = []
  let lose: ({ readonly words: string } & Loss) | undefined
  const server = createServer((near) => {
    sockets.add(near.on('error', () => {}))
    if (isCut) near.destroy()
    if (isFrozen || isCut) return
    const far = connect(port, host)
    sockets.add(far.on('error', () => near.destroy()))
    let isLost = false
    near
      .on('data', (bytes) => {
        isLost = lose !== undefined && bytes.includes(lose.words)
        if (isLost && !lose?.isSent) far.destroy()
        else if (!isFrozen) far.write(bytes)
        if (!isLost) return
        const { isSent, meanwhile } = lose ?? { isSent: true }
        lose = undefined
        if (!isSent) void Promise.resolve(meanwhile?.()).finally(() => near.destroy())
      })
      .on('end', () => isFrozen || far.end())
    far
      .on('data', (bytes) => {
        const [left] = cuts
        if (left !== undefined && left <= bytes.length) {
          cuts.shift()
          near.end(bytes.subarray(0, left), () => near.destroy())
          far.destroy()
          return
        }
        if (left !== undefined) cuts[0] = left - bytes.length
        if (isLost) near.destroy()
        else if (!isFrozen) near.write(bytes)
      })
      .on('end', () => isFrozen || near.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port) // a TCP listener has one
  return {
    url: url.href,
    freeze: () => {
      isFrozen = true
    },
    cut: () => {
      isCut = true
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    join: () => {
      isCut = false
    },
    loseNext: (words, how) => {
      lose = { words, ...how }
    },
    refuse: () => void server.close(),
    accept: () => void server.listen(Number(url.port), '127.0.0.1'),
    cutAt: (bytes) => {
      cuts.splice(0, cuts.length, ...bytes)
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
}
