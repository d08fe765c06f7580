// The thread behind background-hash.ts: hashes what lies in the shared buffers, in the order of the requests.

import { createHash, type Hash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { HashAnswer, HashOrder } from './background-hash.ts'

interface Body {
  readonly hashes: readonly Hash[]
  readonly views: readonly Uint8Array[]
}

const bodies = new Map<number, Body>()
const port = parentPort
if (!port) throw new Error('This file is the body of a thread.')
const answer = (message: HashAnswer) => port.postMessage(message)

port.on('message', (order: HashOrder) => {
  const { id } = order
  const { hashes = [], views = [] } = bodies.get(id) ?? {}
  switch (order.kind) {
    case 'open':
      bodies.set(id, {
        hashes: order.algorithms.map((algorithm) => createHash(algorithm)),
        views: order.buffers.map((buffer) => new Uint8Array(buffer)),
      })
      break
    case 'update':
      for (const hash of hashes) hash.update(views[order.which]!.subarray(0, order.length))
      answer({ kind: 'hashed', id })
      break
    case 'digest':
      answer({ kind: 'digests', id, digests: hashes.map((hash) => hash.digest()) })
      bodies.delete(id)
      break
    case 'drop':
      bodies.delete(id)
  }
})
