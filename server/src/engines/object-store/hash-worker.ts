// The thread behind background-hash.ts: hashes what it is sent, in the order it is sent, and gives the buffers back.

import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { HashAnswer, HashOrder } from './background-hash.ts'

const running = new Map<number, Hash[]>()
const port = parentPort
if (!port) throw new Error('This file is the body of a thread.')
const answer = (message: HashAnswer, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)

port.on('message', (order: HashOrder) => {
  const hashes = running.get(order.id) ?? []
  switch (order.kind) {
    case 'open':
      running.set(
        order.id,
        order.algorithms.map((algorithm) => createHash(algorithm)),
      )
      break
    case 'update':
      for (const hash of hashes) hash.update(new Uint8Array(order.buffer, 0, order.length))
      answer({ kind: 'returned', id: order.id, buffer: order.buffer }, [order.buffer])
      break
    case 'digest':
      answer({ kind: 'digests', id: order.id, digests: hashes.map((hash) => hash.digest()) })
      running.delete(order.id)
      break
    case 'drop':
      running.delete(order.id)
  }
})
