// Records changes in the transactions that make them. The feed over them is changes-api.module.ts.

import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createChanges } from './changes.ts'

export type ChangesModule = ReturnType<typeof createChangesModule>

export function createChangesModule({ db, clock, subscribe }: Pick<Core, 'db' | 'clock' | 'subscribe'>) {
  const changes = createChanges({ db, clock })
  subscribe('event.recorded', changes.recordEvent)
  return defineModule({ name: 'changes', record: changes.record, store: changes.store })
}
