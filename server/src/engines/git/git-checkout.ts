// The files of a branch, tag or commit of a git repository, in a folder of this machine. What was fetched stays in use until something
// newer is complete, also when the host is unreachable or the stack restarts.

import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EgressPolicy } from '../../../../contract/egress-rules.ts'
import type { Clock } from '../../kit/clock.ts'
import type { FetchAnswer, FetchOrder, GitAddress } from './fetch-repository.ts'
import { createThreads } from './in-thread.ts'

export interface GitCheckoutOptions extends GitAddress {
  readonly folder: string
  readonly policy: EgressPolicy
  readonly credentialsIn: string
  readonly clock: Clock
  readonly timeoutMs?: number
  /** How a fetch is done: in a thread, by default. */
  readonly fetchWith?: (order: FetchOrder, signal: AbortSignal) => Promise<FetchAnswer>
}

export interface GitCheckout {
  /** What is there now; `path` is undefined until something was fetched. */
  current(): { readonly path?: string; readonly commit?: string; readonly refreshedAt?: Date; readonly problem?: string }
  /** Fetches what is new. Never throws: `current().problem` has the reason of a failure. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

/** `current.json`. */
interface Stored {
  readonly object: string
  readonly commit: string
  readonly refreshedAt: string
}

const TIMEOUT_MS = 120_000

export async function openGitCheckout(options: GitCheckoutOptions): Promise<GitCheckout> {
  const { url, ref, credentials, credentialsIn, folder, policy, clock } = options
  const { timeoutMs = TIMEOUT_MS, fetchWith = fetchInThread } = options
  const file = join(folder, 'current.json')
  let stored = await readStored(file)
  let problem: string | undefined
  let running: Promise<void> | undefined
  const stopping = new AbortController()

  async function fetchNewer(): Promise<void> {
    await mkdir(folder, { recursive: true })
    const known = stored && existsSync(join(folder, stored.commit)) ? stored.object : undefined
    const answer = await fetchWith({ url, ref, credentials, credentialsIn, policy, timeoutMs, folder, known }, stopping.signal)
    if ('problem' in answer) {
      problem = answer.problem
      return
    }
    const commit = answer.commit ?? stored!.commit // without a commit nothing changed
    const next = { object: answer.object, commit, refreshedAt: clock.now().toISOString() }
    await writeFile(`${file}.new`, JSON.stringify(next))
    await rename(`${file}.new`, file)
    const kept = [commit, stored?.commit] // the previous one may still be in use
    stored = next
    problem = undefined
    await removeOthers(folder, kept)
  }

  function refresh(): Promise<void> {
    running ??= fetchNewer()
      .catch((error: Error) => {
        problem = error.message // of the disk
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  return {
    current: () => ({
      ...(stored && { path: join(folder, stored.commit), commit: stored.commit, refreshedAt: new Date(stored.refreshedAt) }),
      ...(problem !== undefined && { problem }),
    }),
    refresh,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

export type LookOrder = Omit<FetchOrder, 'known' | 'folder'>
export interface FetchIntoOrder extends LookOrder {
  readonly folder: string
}

/** Why the repository cannot be used, without fetching it; undefined when it can. */
export async function lookAtRepository(order: LookOrder): Promise<string | undefined> {
  const signal = AbortSignal.timeout(order.timeoutMs * 2)
  const answer = await fetchInThread({ ...order, folder: undefined, known: undefined }, signal)
  return 'problem' in answer ? answer.problem : undefined
}

/** Writes the files of a commit to `folder`, which must not exist yet. */
export async function fetchOnce(
  { folder, ...order }: FetchIntoOrder,
  signal: AbortSignal,
  fetchWith = fetchInThread,
): Promise<{ readonly commit: string } | { readonly problem: string }> {
  const work = `${folder}.fetched`
  await mkdir(work)
  const answer = await fetchWith({ ...order, folder: work, known: undefined }, signal)
  if ('problem' in answer) return answer
  const commit = answer.commit! // there is a folder to write to, and nothing is known
  await rename(join(work, commit), folder)
  await rm(work, { recursive: true })
  return { commit }
}

const fetchInThread = createThreads<FetchOrder, FetchAnswer>(new URL('./fetch.thread.ts', import.meta.url))

async function readStored(file: string): Promise<Stored | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Stored)
  } catch {
    return undefined // a damaged disk: it is fetched again
  }
}

/** Unused commits, and what an interrupted fetch left. */
async function removeOthers(folder: string, kept: readonly (string | undefined)[]): Promise<void> {
  for (const name of await readdir(folder))
    if (!kept.includes(name) && name !== 'current.json') await rm(join(folder, name), { recursive: true, force: true })
}
