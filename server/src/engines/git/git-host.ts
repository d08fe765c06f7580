// Hosts repositories without a git program. A repository is one pack and the names of its branches and tags; both belong to the caller.

import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { limitConcurrency } from '../../kit/limit-concurrency.ts'
import { ALL_FILES } from './file-rules.ts'
import type { HostAnswer, HostOrder, Sent } from './hosted-repository.ts'
import { createThreads } from './in-thread.ts'
import { type FetchRequest, type PushRequest, readPushRequest } from './requests.ts'

export const HOST_LIMITS = {
  /** Of a push. */
  maxPushBytes: 64 * 2 ** 20,
  /** Of the whole repository. */
  maxPackBytes: 128 * 2 ** 20,
  maxObjects: 100_000,
  maxObjectBytes: 64 * 2 ** 20,
  maxBytes: 2 ** 30,
}
/** The names and commits of a push, before its pack. */
const MAX_HEAD_BYTES = 2 ** 20
const WORK_MS = 120_000
const THREADS = 2

export interface Push {
  /** Undefined: what was sent is not a push. */
  readonly request: PushRequest | undefined
  /** The pack as a file; undefined when nothing was sent but names. */
  readonly pack: string | undefined
  /** Why the pack cannot be taken. */
  readonly problem: string | undefined
}

export interface HostFolder {
  readonly path: string
  remove(): Promise<void>
}

export type GitHost = ReturnType<typeof createGitHost>

export function createGitHost({ tempDir, limits = HOST_LIMITS }: { tempDir: string; limits?: typeof HOST_LIMITS }) {
  const inTurn = limitConcurrency(THREADS)
  const inThread = createThreads<HostOrder, HostAnswer>(new URL('./host.thread.ts', import.meta.url))
  const run = (order: HostOrder, signal = AbortSignal.timeout(WORK_MS)): Promise<HostAnswer> =>
    inTurn(() => inThread(order, signal))

  return {
    /** A folder on the disk of the objects. */
    async openFolder(): Promise<HostFolder> {
      const path = await mkdtemp(join(tempDir, 'repository-'))
      return { path, remove: () => rm(path, { recursive: true, force: true }) }
    },

    /** Reads the body of a push to its end, also when it is too large, so that the response can report it. */
    async readPush(body: Readable, folder: string): Promise<Push> {
      const path = join(folder, 'pushed.pack')
      const file = await open(path, 'w')
      let head = Buffer.alloc(0)
      let request: PushRequest | undefined
      let size = 0
      try {
        for await (const chunk of body as AsyncIterable<Buffer>) {
          let bytes = chunk
          if (!request) {
            if (head.length > MAX_HEAD_BYTES) continue
            head = Buffer.concat([head, chunk])
            request = readPushRequest(head)
            bytes = head.subarray(request?.packAt ?? head.length)
          }
          size += bytes.length
          if (size <= limits.maxPushBytes) await file.write(bytes)
        }
      } finally {
        await file.close()
      }
      const problem = size > limits.maxPushBytes ? `the pack is larger than ${limits.maxPushBytes / 2 ** 20} MB` : undefined
      return { request, pack: size === 0 ? undefined : path, problem }
    },

    /** Writes the pack of the repository after a push; answers its path, or why not. */
    async receive(
      change: { readonly pack: string | undefined; readonly pushed: string | undefined; readonly tips: readonly string[] },
      folder: string,
    ): Promise<{ readonly path: string } | { readonly problem: string }> {
      const path = join(folder, `${crypto.randomUUID()}.pack`)
      const answer = await run({ kind: 'receive', ...change, out: path, limits })
      return 'problem' in answer ? answer : { path }
    },

    async send(
      pack: string,
      request: FetchRequest,
      folder: string,
    ): Promise<{ readonly sent: Sent; readonly pack: () => Readable } | { readonly problem: string }> {
      const out = join(folder, 'sent.pack')
      const answer = await run({ kind: 'send', pack, request, out })
      return 'problem' in answer ? answer : { sent: answer.sent!, pack: () => createReadStream(out) } // of this kind of order
    },

    /** The files of a commit, into a folder that must not exist yet. */
    async write(
      pack: string,
      object: string,
      folder: string,
      signal: AbortSignal,
    ): Promise<{ readonly commit: string } | { readonly problem: string }> {
      const answer = await run({ kind: 'write', pack, object, folder, files: ALL_FILES }, signal)
      return 'problem' in answer ? answer : { commit: answer.commit! } // of this kind of order
    },
  }
}
