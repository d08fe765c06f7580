// Backups on request of a stack admin. The node that gets the request does the work; what others see of it is in the database.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type EventSource, eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { EventName, EventParams } from '../../../model/event-definitions.ts'
import type { Person } from '../../../model/person.ts'
import type { Backups, Drilled } from './backups.ts'

/** What the program can do, which has the whole stack. */
export interface BackupWork {
  /** Undefined: no place for backups is configured. */
  readonly plan:
    | { readonly place: string; readonly everyHours: number; readonly keep: number; readonly withKey: boolean }
    | undefined
  /** A backup in the place of the plan; older ones are removed as by the plan. `onBegun` is called when it is recorded. */
  backUp(onBegun: () => void): Promise<void>
  drill(folder: string): Promise<Drilled>
}

export interface BackupOrdersDeps {
  readonly backups: Pick<Backups, 'list' | 'drill'>
  /** Undefined where nothing but the platform runs, such as in tests. */
  readonly work: BackupWork | undefined
  readonly isPausedCopy: boolean
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly recordEvent: RecordEvent
  readonly sourceOf: (person: Person) => Promise<EventSource | undefined>
  readonly onError: (error: unknown) => void
}

const LISTED = 50

export type BackupOrders = ReturnType<typeof createBackupOrders>

export function createBackupOrders({ backups, work, isPausedCopy, ...deps }: BackupOrdersDeps) {
  async function backUp(person: Person, origin: Origin): Promise<void> {
    const source = await deps.sourceOf(person)
    if (!work?.plan) throw new PlatformError('backup.noPlace')
    if (isPausedCopy) throw new PlatformError('backup.pausedCopy')
    if ((await backups.list(LISTED)).some(({ state }) => state === 'running')) throw new PlatformError('backup.runs')
    await new Promise<void>((resolve, reject) => {
      let isBegun = false
      const onBegun = () => {
        isBegun = true
        resolve()
      }
      // What fails later is in the record of the backup.
      work.backUp(onBegun).catch((error: unknown) => (isBegun ? deps.onError(error) : reject(error)))
    })
    await record(source, 'storage.backupStarted', {}, origin)
  }

  async function testRestore(person: Person, id: number, origin: Origin): Promise<void> {
    const source = await deps.sourceOf(person)
    if (!work) throw new PlatformError('backup.noPlace')
    await backups.drill(id, work.drill, deps.onError)
    await record(source, 'storage.backupDrillStarted', { backupId: id }, origin)
  }

  async function record<N extends EventName>(
    source: EventSource | undefined,
    name: N,
    params: EventParams<N>,
    origin: Origin,
  ): Promise<void> {
    if (!source) return
    const event = eventOf(name, params, { objectId: String(source.projectId) })
    await deps.inTransaction((trx) => deps.recordEvent(trx, source, event, origin))
  }

  return {
    list: async () => ({ plan: work?.plan, backups: await backups.list(LISTED) }),
    backUp,
    testRestore,
  }
}
