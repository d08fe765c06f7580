// The log of a job, for clients that wait: a list, or a stream of server-sent events that ends with the job.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { stringifyWithRaw } from '../../../kit/text/json-text.ts'
import type { Actor } from '../../../model/actor.ts'
import type { JobFollower } from './job-notifier.ts'
import { isFinished } from './job-states.ts'
import type { JobRow } from './queue.schema.ts'

/** Filled by the events module: oldest first, after `sinceId`. */
export interface JobEventList {
  list(
    actor: Actor,
    job: JobRow,
    page: { readonly sinceId: string | undefined; readonly limit: number },
    baseUrl: string,
  ): Promise<Record<string, unknown>[]>
}

export interface Follow {
  readonly follower: JobFollower
  list(sinceId: string | undefined, limit: number): Promise<Record<string, unknown>[]>
  /** Undefined: the caller is no longer allowed to follow. */
  current(): Promise<JobRow | undefined>
  view(job: JobRow): Record<string, unknown>
  readonly since: string | undefined
}

/** Changes on this node arrive immediately; jobs of other nodes are polled this often. */
const LOOK_MS = 300
const ALIVE_MS = 15_000
const PAGE = 1_000

/** Sends `log` for every event, `status` for every change of the job, `end` when it is finished; ends when the client goes, its token is gone, or the node stops. */
export async function followJob(response: ServerResponse, follow: Follow, lookMs = LOOK_MS): Promise<void> {
  let since = follow.since
  let shown = ''
  let silentMs = 0
  let gone = false
  response.once('close', () => {
    gone = true
  })
  const write = async (name: string, data: unknown, id?: unknown): Promise<void> => {
    silentMs = 0
    const text = `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${stringifyWithRaw(data)}\n\n`
    // A client that reads slowly is waited for; one that is gone is not.
    if (!response.write(text)) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  while (!gone && !follow.follower.isOver()) {
    // The job first: its lines before the end are then certainly in the list that follows.
    const job = await follow.current()
    if (!job) break
    let page: readonly Record<string, unknown>[]
    do {
      page = await follow.list(since, PAGE)
      for (const event of page) {
        since = String(event.id)
        await write('log', event, event.id)
      }
    } while (page.length === PAGE && !gone)
    if (job.status !== shown) await write('status', { id: String(job.id), status: job.status, waitingReason: job.waiting_reason })
    shown = job.status
    if (isFinished(job.status)) {
      await write('end', follow.view(job))
      break
    }
    if (silentMs >= ALIVE_MS) {
      response.write(': alive\n\n')
      silentMs = 0
    }
    if (!(await follow.follower.next(lookMs))) silentMs += lookMs
  }
  response.end()
}
