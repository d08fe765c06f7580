// What a component does that tries to get to forbidden addresses, and a listener that counts who came.

import { type AddressInfo, createServer } from 'node:net'
import type { TestScope } from './test-stack.ts'

/** A program for Node: tries every form in each way a program has: by itself, through the proxy with a plain request, with CONNECT, and with SOCKS5. */
export const TRY_ADDRESSES = `import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
const { forms, port } = JSON.parse(readFileSync(process.env.KBC_DATADIR + '/config.json', 'utf8')).parameters
const proxy = new URL(process.env.HTTP_PROXY)
const say = (target, messages) =>
  new Promise((done) => {
    const socket = connect(target)
    const end = () => done(socket.destroy())
    socket.setTimeout(3000, end).on('error', end).on('close', end)
    socket.on('connect', () => socket.write(messages.shift()))
    socket.on('data', () => (messages.length > 0 ? socket.write(messages.shift()) : end()))
  })
const through = { host: proxy.hostname, port: Number(proxy.port) }
const bytes = (text) => Buffer.from(text)
const socks = (form) => {
  const name = bytes(form.replace(/[[\\]]/g, '').slice(0, 255))
  return [Buffer.from([5, 1, 0]), Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([port >> 8, port & 255])]), bytes('GET / HTTP/1.0\\r\\n\\r\\n')]
}
const left = [...forms]
let tried = 0
const tryNext = async () => {
  const form = left.pop()
  if (form === undefined) return
  await Promise.all([
    // Names are for the proxy: there is no resolver in here, and each would be waited for.
    /^[0-9a-fx.:[\\]]+$/i.test(form) && say({ host: form.replace(/[[\\]]/g, ''), port }, [bytes('GET / HTTP/1.0\\r\\n\\r\\n')]),
    say(through, [bytes('GET http://' + form + ':' + port + '/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')]),
    say(through, [bytes('CONNECT ' + form + ':' + port + ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'), bytes('GET / HTTP/1.0\\r\\n\\r\\n')]),
    say(through, socks(form)),
    fetch('http://' + form + ':' + port + '/', { signal: AbortSignal.timeout(3000) }).then((answer) => answer.text(), () => {}),
  ])
  tried++
  await tryNext()
}
await Promise.all(Array.from({ length: 40 }, tryNext))
console.log('tried ' + tried)`

/** Counts connections: a handshake would be enough to map a network. */
export async function connectionCounter(t: TestScope) {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => {}).end('HTTP/1.0 200 OK\r\n\r\nreached')
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo // it listens on a port
  return { port, connections: () => connections }
}
