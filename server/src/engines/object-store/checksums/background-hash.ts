// MD5 and SHA-256 of large bodies in a thread of their own: an ETag costs about two seconds per gigabyte, and the event loop has
// others to serve meanwhile. A body that fits into one buffer is hashed on the spot; the thread starts with the first that does not.
//
// Body and thread share two buffers: one is filled while the other is hashed. What travels between them are small messages only;
// handing the bytes over (a transfer) costs as much as the hashing of some of them.

import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'

export type HashName = 'md5' | 'sha256'

export type HashOrder =
  | { readonly kind: 'open'; readonly id: number; readonly algorithms: readonly HashName[]; readonly buffers: Buffers }
  | { readonly kind: 'update'; readonly id: number; readonly which: number; readonly length: number }
  | { readonly kind: 'digest' | 'drop'; readonly id: number }

export type HashAnswer =
  | { readonly kind: 'hashed'; readonly id: number }
  | { readonly kind: 'digests'; readonly id: number; readonly digests: readonly Uint8Array[] }

export type Buffers = readonly [SharedArrayBuffer, SharedArrayBuffer]

export interface BodyHashes {
  /** The chunk may be reused at once. Wait for it: this is where a slow thread slows the sender down. */
  update(chunk: Uint8Array): Promise<void>
  /** In the order of the names. */
  digest(): Promise<Buffer[]>
  /** Drops a body that will not be finished. Allowed after digest(), too. */
  drop(): void
}

export interface HashThread {
  /** `expectedBytes`, when known, spares a small body the buffers. */
  open(algorithms: readonly HashName[], expectedBytes?: number): BodyHashes
  close(): Promise<void>
}

const BUFFER_BYTES = 512 * 1024
/** A body up to here does not slow others down, and is not worth the way to the thread. */
const HERE_BYTES = 256 * 1024
/** Buffers of bodies that are done, kept for the next ones. */
const KEPT_PAIRS = 8

export function createHashThread(): HashThread {
  let worker: Worker | undefined
  let lastId = 0
  const kept: Buffers[] = []
  const listeners = new Map<number, (answer: HashAnswer) => void>()

  function start(): Worker {
    const started = new Worker(new URL('./hash-worker.ts', import.meta.url))
    started.unref() // it must not keep the process
    started.on('message', (answer: HashAnswer) => listeners.get(answer.id)?.(answer))
    return started
  }
  const order = (message: HashOrder) => {
    worker ??= start()
    worker.postMessage(message)
  }

  function open(algorithms: readonly HashName[], expectedBytes = Number.POSITIVE_INFINITY): BodyHashes {
    return algorithms.length === 0 || expectedBytes <= HERE_BYTES ? hashHere(algorithms) : hashInThread(algorithms)
  }

  function hashInThread(algorithms: readonly HashName[]): BodyHashes {
    const id = ++lastId
    const buffers = kept.pop() ?? ([new SharedArrayBuffer(BUFFER_BYTES), new SharedArrayBuffer(BUFFER_BYTES)] as const)
    const views = buffers.map((buffer) => new Uint8Array(buffer))
    let which = 0
    let filled = 0
    let waiting = 0
    let inThread = false
    let onHashed: (() => void) | undefined
    let onDigests: ((digests: Buffer[]) => void) | undefined

    function listen(answer: HashAnswer): void {
      if (answer.kind === 'digests') {
        onDigests?.(answer.digests.map((digest) => Buffer.from(digest)))
        return
      }
      waiting--
      onHashed?.()
      onHashed = undefined
    }

    function send(): void {
      if (!inThread) {
        inThread = true
        listeners.set(id, listen)
        order({ kind: 'open', id, algorithms, buffers })
      }
      order({ kind: 'update', id, which, length: filled })
      waiting++
      which = 1 - which
      filled = 0
    }

    /** Until the buffer that comes next is free again. */
    const otherIsFree = async (): Promise<void> => {
      if (waiting < buffers.length) return
      await new Promise<void>((resolve) => {
        onHashed = resolve
      })
    }

    return {
      async update(chunk) {
        for (let rest = chunk; rest.length > 0; ) {
          const taken = rest.subarray(0, BUFFER_BYTES - filled)
          views[which]!.set(taken, filled)
          filled += taken.length
          rest = rest.subarray(taken.length)
          if (filled < BUFFER_BYTES) return
          send()
          await otherIsFree()
        }
      },
      async digest() {
        if (!inThread) return algorithms.map((name) => createHash(name).update(views[0]!.subarray(0, filled)).digest())
        if (filled > 0) send()
        const digests = await new Promise<Buffer[]>((resolve) => {
          onDigests = resolve
          order({ kind: 'digest', id })
        })
        listeners.delete(id)
        if (kept.length < KEPT_PAIRS) kept.push(buffers)
        return digests
      },
      drop() {
        // Its buffers may still be read by the thread: they are not kept.
        if (listeners.delete(id)) order({ kind: 'drop', id })
      },
    }
  }

  return {
    open,
    async close() {
      await worker?.terminate()
    },
  }
}

function hashHere(algorithms: readonly HashName[]): BodyHashes {
  const hashes = algorithms.map((algorithm) => createHash(algorithm))
  return {
    async update(chunk) {
      for (const hash of hashes) hash.update(chunk)
    },
    digest: async () => hashes.map((hash) => hash.digest()),
    drop() {},
  }
}
