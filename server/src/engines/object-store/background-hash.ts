// MD5 and SHA-256 of large bodies in a thread of their own: an ETag costs about two seconds per gigabyte, and the event loop has
// others to serve meanwhile. A body that fits into one buffer is hashed on the spot; the thread starts with the first that does not.

import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'

export type HashName = 'md5' | 'sha256'

export type HashOrder =
  | { readonly kind: 'open'; readonly id: number; readonly algorithms: readonly HashName[] }
  | { readonly kind: 'update'; readonly id: number; readonly buffer: ArrayBuffer; readonly length: number }
  | { readonly kind: 'digest' | 'drop'; readonly id: number }

export type HashAnswer =
  | { readonly kind: 'returned'; readonly id: number; readonly buffer: ArrayBuffer }
  | { readonly kind: 'digests'; readonly id: number; readonly digests: readonly Uint8Array[] }

export interface BodyHashes {
  /** The chunk may be reused at once. Wait for it: this is where a slow thread slows the sender down. */
  update(chunk: Uint8Array): Promise<void>
  /** In the order of the names. */
  digest(): Promise<Buffer[]>
  /** Forgets a body that will not be finished. Fine after digest() too. */
  drop(): void
}

export interface HashThread {
  /** `expectedBytes`, when known, spares a small body the buffer. */
  open(algorithms: readonly HashName[], expectedBytes?: number): BodyHashes
  close(): Promise<void>
}

const BUFFER_BYTES = 256 * 1024
/** Per body: what may lie between the sender and the thread. */
const BUFFERS = 4

export function createHashThread(): HashThread {
  let worker: Worker | undefined
  let lastId = 0
  const listeners = new Map<number, (answer: HashAnswer) => void>()

  function start(): Worker {
    const started = new Worker(new URL('./hash-worker.ts', import.meta.url))
    started.unref() // it must not keep the process
    started.on('message', (answer: HashAnswer) => listeners.get(answer.id)?.(answer))
    return started
  }
  const order = (message: HashOrder, transfer: ArrayBuffer[] = []) => {
    worker ??= start()
    worker.postMessage(message, transfer)
  }

  function open(algorithms: readonly HashName[], expectedBytes = Number.POSITIVE_INFINITY): BodyHashes {
    return algorithms.length === 0 || expectedBytes <= BUFFER_BYTES ? hashHere(algorithms) : hashInThread(algorithms)
  }

  function hashInThread(algorithms: readonly HashName[]): BodyHashes {
    const id = ++lastId
    const free: ArrayBuffer[] = []
    let made = 1
    let current = new Uint8Array(BUFFER_BYTES)
    let filled = 0
    let inThread = false
    let onFree: (() => void) | undefined
    let onDigests: ((digests: Buffer[]) => void) | undefined

    function listen(answer: HashAnswer): void {
      if (answer.kind === 'digests') {
        onDigests?.(answer.digests.map((digest) => Buffer.from(digest)))
        return
      }
      free.push(answer.buffer)
      onFree?.()
      onFree = undefined
    }

    function send(): void {
      if (!inThread) {
        inThread = true
        listeners.set(id, listen)
        order({ kind: 'open', id, algorithms })
      }
      const { buffer } = current
      order({ kind: 'update', id, buffer, length: filled }, [buffer])
      filled = 0
    }

    async function nextBuffer(): Promise<Uint8Array<ArrayBuffer>> {
      if (free.length === 0 && made < BUFFERS) {
        made++
        return new Uint8Array(BUFFER_BYTES)
      }
      if (free.length === 0)
        await new Promise<void>((resolve) => {
          onFree = resolve
        })
      return new Uint8Array(free.pop()!)
    }

    return {
      async update(chunk) {
        let rest = chunk
        while (rest.length > 0) {
          const taken = rest.subarray(0, BUFFER_BYTES - filled)
          current.set(taken, filled)
          filled += taken.length
          rest = rest.subarray(taken.length)
          if (filled < BUFFER_BYTES) return
          send()
          current = await nextBuffer()
        }
      },
      async digest() {
        if (!inThread) return algorithms.map((algorithm) => createHash(algorithm).update(current.subarray(0, filled)).digest())
        if (filled > 0) send()
        const digests = await new Promise<Buffer[]>((resolve) => {
          onDigests = resolve
          order({ kind: 'digest', id })
        })
        listeners.delete(id)
        return digests
      },
      drop() {
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
