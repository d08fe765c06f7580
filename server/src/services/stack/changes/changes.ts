// What other modules pass: a change, in the transaction that makes it.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { RecordChange } from '../../../model/change.ts'
import type { EventSource, NewEvent } from '../../../model/event.ts'
import { createChangesStore } from './changes.store.ts'
import { changeOfEvent } from './event-changes.ts'

export type Changes = ReturnType<typeof createChanges>

export function createChanges({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
  const store = createChangesStore(db)

  const record: RecordChange = (trx, changes) => store.insert(trx, changes, clock.now().getTime())

  /** Of an event about a change. */
  async function recordEvent(trx: Trx, source: EventSource, event: NewEvent): Promise<void> {
    const change = changeOfEvent(source, event)
    if (change) await record(trx, [change])
  }

  return { record, recordEvent, store }
}
