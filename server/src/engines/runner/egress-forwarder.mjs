// Runs inside the network of an isolated component, where nothing else is: accepts connections on loopback and forwards them, byte for byte,
// to the egress proxy of the server, through the one socket that leads out. Decides nothing. Plain JavaScript: every run starts one, and a
// process that has to take types out first starts twice as slowly.
//
//     egress-forwarder.mjs SOCKET PORT [tcp:PORT | udp:PORT | in:PORT:SOCKET | stdin]...
//
// A relay represents a port of the server's own loopback (the component's log): what comes to it goes there, by a CONNECT of its own.
// `in` leads the other way: what the server sends to a socket of the file system goes to a port in here.
// `stdin`: ends when its standard input does, for callers that cannot end it otherwise.

import { createSocket } from 'node:dgram'
import { connect, createServer } from 'node:net'

const [socket = '', proxyPort = '', ...relays] = process.argv.slice(2)

function join(one, other) {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ]) {
    from.on('error', () => to.destroy())
    from.on('close', () => from.readableEnded || to.destroy()) // what was read whole is still on its way
    from.pipe(to)
  }
}

const listen = (port, preamble) =>
  new Promise((resolve) => {
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const out = connect({ path: socket, allowHalfOpen: true })
      if (preamble !== '') out.write(preamble)
      join(client, out)
    })
    server.listen(port, '127.0.0.1', resolve)
  })

const listenForServer = (port, path) =>
  new Promise((resolve) => {
    const server = createServer({ allowHalfOpen: true }, (client) => {
      join(client, connect({ host: '127.0.0.1', port, allowHalfOpen: true }))
    })
    server.listen({ path, writableAll: true }, resolve) // the server may be another user; the folder around it is the server's alone
  })

/** Datagrams keep their borders: each is sent with its length before it. */
function listenForDatagrams(port) {
  const out = connect(socket)
  out.on('error', () => {})
  out.write(`RELAY udp:${port} HTTP/1.1\r\n\r\n`)
  const inside = createSocket('udp4')
  inside.on('message', (message) => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(message.length)
    out.write(Buffer.concat([length, message]))
  })
  return new Promise((resolve) => inside.bind(port, '127.0.0.1', resolve))
}

await listen(Number(proxyPort), '')
for (const relay of relays) {
  const [kind, port, path] = relay.split(':')
  if (kind === 'stdin') process.stdin.on('end', () => process.exit()).resume()
  else if (kind === 'in') await listenForServer(Number(port), path)
  else if (kind === 'udp') await listenForDatagrams(Number(port))
  else await listen(Number(port), `RELAY tcp:${port} HTTP/1.1\r\n\r\n`)
}
process.stdout.write('ready\n')
