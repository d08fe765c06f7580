// Every end of paging has its reason in the log. Children end by the thousand, so theirs are logged at DEBUG.

import { counted } from '../../../../contract/counted.ts'
import type { Log } from '../log.ts'
import type { JobDefinition } from './job.ts'

export interface StopLog {
  /** The pagination, or the lack of one, decides that there is no further page. */
  ended(job: JobDefinition, endpoint: string, depth: number, pages: number, reason: string): void
  /** The page with this number equals the one before it. */
  repeated(job: JobDefinition, endpoint: string, depth: number, page: number): void
}

export function createStopLog(log: Log): StopLog {
  const repeating = new Set<JobDefinition>()

  function say(level: 'info' | 'debug', job: JobDefinition, endpoint: string, pages: number, reason: string): void {
    log[level](`Job '${endpoint}' stops after ${counted(pages, 'page')}: ${reason}.`, { job: job.id })
  }

  return {
    ended: (job, endpoint, depth, pages, reason) =>
      say(depth === 0 && reason !== '' ? 'info' : 'debug', job, endpoint, pages, reason || 'there is no pagination'),
    repeated(job, endpoint, depth, page) {
      // Seldom what the API means: logged for each job once, for children too.
      const level = depth === 0 || !repeating.has(job) ? 'info' : 'debug'
      repeating.add(job)
      say(level, job, endpoint, page - 1, `the response of page ${page} equals the one before it and is not stored`)
    },
  }
}
