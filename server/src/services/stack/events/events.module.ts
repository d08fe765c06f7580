// Records events in the transactions that cause them. Their routes are in events-api.module.ts.

import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createEvents } from './events.ts'

export type EventsModule = ReturnType<typeof createEventsModule>

export function createEventsModule({ db, inTransaction, clock, log, publish }: Omit<Core, 'recordEvent' | 'recordChange'>) {
  const events = createEvents({
    db,
    inTransaction,
    clock,
    onRecorded: (trx, source, event) => publish('event.recorded', trx, source, event),
    onLost: (err) => log.warn({ err }, 'Events of reads could not be written'),
  })
  return defineModule({ name: 'events', ...events, background: [{ stop: events.stop }] })
}
