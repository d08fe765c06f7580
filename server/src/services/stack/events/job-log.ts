// The events of a queue job, as its log shows them.

import { defined } from '../../../kit/defined.ts'
import type { Actor } from '../../../model/actor.ts'
import { eventView } from './event-view.ts'
import type { Events } from './events.ts'

export interface JobLogPage {
  readonly sinceId: string | undefined
  readonly limit: number
}

/** Who may see a job may see what it logged. */
export async function eventsOfJob(
  events: Pick<Events, 'list'>,
  actor: Actor,
  jobId: number,
  { sinceId, limit }: JobLogPage,
  baseUrl: string,
) {
  const query = { runId: String(jobId), sortOrder: 'asc', limit, ...defined({ sinceId }) }
  const rows = await events.list({ ...actor, canReadAllProjectEvents: true }, query)
  return rows.map((row) => ({ ...eventView(row, baseUrl), createdMs: row.created_at }))
}
