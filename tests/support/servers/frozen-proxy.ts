// A way to a server that can be frozen: from then on nothing passes, nothing is closed and nothing is refused, as when a machine stands still or a
// network swallows packets.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export interface FrozenProxy {
  /** The address of the server, with this way to it in place of its own. */
  readonly url: string
  freeze(): void
  close(): Promise<void>
}

export async function frozenProxy(serverUrl: string): Promise<FrozenProxy> {
  const url = new URL(serverUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((near) => {
    sockets.add(near.on('error', () => {}))
    if (isFrozen) return
    const far = connect(port, host)
    sockets.add(far.on('error', () => near.destroy()))
    near.on('data', (bytes) => isFrozen || far.write(bytes)).on('end', () => isFrozen || far.end())
    far.on('data', (bytes) => isFrozen || near.write(bytes)).on('end', () => isFrozen || near.end())
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
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
