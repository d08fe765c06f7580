// Drivers open a socket themselves and set it up. What they get here is open already, and may be a channel of SSH, which has nothing to set up.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export function asSocket(stream: Duplex): Socket {
  const socket = stream as Socket // completed below
  const itself = () => socket
  socket.connect = () => {
    setImmediate(() => socket.emit('connect'))
    return socket
  }
  for (const name of ['setNoDelay', 'setKeepAlive', 'setTimeout', 'ref', 'unref'] as const) socket[name] ??= itself
  return socket
}
