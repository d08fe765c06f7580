import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { openEgressProxy } from './egress-proxy.ts'

/** More than the proxy serves at once. */
const MANY = 600

test('connections that were refused take no place from those that follow', async (t) => {
  const reached = createServer((socket) => socket.end('reached'))
  await new Promise<void>((ready) => reached.listen(0, '127.0.0.1', ready))
  t.after(() => reached.close())
  const { port } = reached.address() as AddressInfo // it listens on a port
  const policy = { mode: 'guarded', allow: [`127.0.0.1:${port}`] } as const
  const proxy = await openEgressProxy({ policy, relays: [], onRefused: () => {} })
  t.after(proxy.close)
  /** Continues to send after the answer, as programs do that do not read it. */
  const ask = async (hello: string | Buffer): Promise<string> => {
    const socket = connect({ path: proxy.path, allowHalfOpen: true })
    socket.write(hello)
    socket.once('data', () => socket.end('GET / HTTP/1.0\r\n\r\n'))
    return text(socket)
  }
  const socks = Buffer.from([5, 1, 0, 5, 1, 0, 1, 10, 0, 0, 1, 0, 80])
  for (let n = 0; n < MANY; n += 2) {
    assert.match(await ask('CONNECT 10.0.0.1:80 HTTP/1.1\r\n\r\n'), /^HTTP\/1.1 403/)
    assert.equal((await ask(socks)).charCodeAt(3), 2)
  }
  assert.match(await ask(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`), /200 Connection established\r\n\r\nreached$/)
})
