import type { Static } from 'typebox'
import type { EventListQuery } from '../../../http/record-schemas.ts'
import type { Actor } from '../../../model/actor.ts'
import { defineModule } from '../../../model/module.ts'
import type { FilesModule } from '../../storage/files/files.module.ts'
import { eventViews } from './event-view.ts'
import type { EventsModule } from './events.module.ts'
import { eventsRoutes } from './events.routes.ts'
import type { EventScope } from './events.ts'
import { eventsOfJob, type JobLogPage } from './job-log.ts'

export interface EventsApiDeps {
  readonly events: EventsModule
  readonly files: FilesModule
}

export type EventsApiModule = ReturnType<typeof createEventsApiModule>

export function createEventsApiModule({ events, files }: EventsApiDeps) {
  return defineModule({
    name: 'events-api',
    routes: [eventsRoutes(events, files.statesAt)],
    /** Events as the API shows them. */
    list: async (actor: Actor, query: Static<typeof EventListQuery>, scope: EventScope, baseUrl: string) =>
      eventViews(await events.list(actor, query, scope), { actor, baseUrl }, files.statesAt),
    ofJob: (actor: Actor, jobId: number, page: JobLogPage, baseUrl: string) => eventsOfJob(events, actor, jobId, page, baseUrl),
  })
}
