// Frames of one connection, strictly one after the other: the next is read on demand, whatever the client sends ahead.

import type { Socket } from 'node:net'

/** Bytes that a client may send ahead before its socket is not read any more. */
const AHEAD_BYTES = 1 << 20

export interface Frame {
  /** One letter; empty for the first message, which has none. */
  readonly kind: string
  readonly content: Buffer
}

export class FrameTooLong extends Error {}

export interface FrameSocket {
  /** The next frame; undefined when the client is gone, or after `stopReading`. Throws FrameTooLong. */
  next(hasKind: boolean, maxBytes: number): Promise<Frame | undefined>
  /** Resolves when the bytes are not needed any more; false when the client is gone. */
  write(bytes: Buffer): Promise<boolean>
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal
  /** Takes the bytes that were read and not used, and releases the socket to the caller. */
  release(): Buffer
  /** No frame follows the one that is being handled. */
  stopReading(): void
  end(last?: Buffer): void
}

export function frameSocket(socket: Socket): FrameSocket {
  const gone = new AbortController()
  let held: Buffer[] = []
  let size = 0
  let isStopped = false
  let wake = () => {}
  const onData = (chunk: Buffer) => {
    held.push(chunk)
    size += chunk.length
    if (size > AHEAD_BYTES) socket.pause()
    wake()
  }
  const onGone = () => {
    gone.abort()
    wake()
  }
  socket.on('data', onData)
  for (const event of ['end', 'close', 'error']) socket.on(event, onGone)

  /** The first `count` bytes, without taking them. */
  async function look(count: number): Promise<Buffer | undefined> {
    while (size < count) {
      if (gone.signal.aborted || isStopped) return undefined
      socket.resume()
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    if (held.length > 1) held = [Buffer.concat(held)]
    return held[0]
  }

  function take(count: number): void {
    const rest = (held[0] ?? Buffer.alloc(0)).subarray(count)
    held = rest.length > 0 ? [rest, ...held.slice(1)] : held.slice(1)
    size -= count
    if (size <= AHEAD_BYTES) socket.resume()
  }

  async function next(hasKind: boolean, maxBytes: number): Promise<Frame | undefined> {
    const headBytes = hasKind ? 5 : 4
    if (isStopped) return undefined
    const head = await look(headBytes)
    if (!head) return undefined
    const kind = hasKind ? head.toString('latin1', 0, 1) : ''
    const length = head.readInt32BE(headBytes - 4) - 4
    if (length < 0 || length > maxBytes) throw new FrameTooLong(`A message of ${length} bytes is longer than ${maxBytes}.`)
    const whole = await look(headBytes + length)
    if (!whole) return undefined
    const content = whole.subarray(headBytes, headBytes + length)
    take(headBytes + length)
    return { kind, content }
  }

  async function write(bytes: Buffer): Promise<boolean> {
    if (gone.signal.aborted || !socket.writable) return false
    await new Promise<void>((resolve) => {
      const done = () => {
        gone.signal.removeEventListener('abort', done)
        resolve()
      }
      gone.signal.addEventListener('abort', done)
      socket.write(bytes, done)
    })
    return !gone.signal.aborted
  }

  return {
    next,
    write,
    gone: gone.signal,
    release: () => {
      socket.off('data', onData)
      for (const event of ['end', 'close', 'error']) socket.off(event, onGone)
      return Buffer.concat(held)
    },
    stopReading: () => {
      isStopped = true
      wake()
    },
    end: (last) => {
      if (last) socket.end(last)
      else socket.end()
      // A client that reads nothing does not keep its connection.
      setTimeout(() => socket.destroy(), 1000).unref()
    },
  }
}
