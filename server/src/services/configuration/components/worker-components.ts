// Stores in the database which components this worker has, when that changes.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Components } from './components.ts'
import { findAlive, replaceComponents } from './worker-components.store.ts'

export interface WorkerComponentsDeps {
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly components: Pick<Components, 'ownNames'>
  /** Undefined: this node runs no jobs. */
  readonly worker: string | undefined
}

export function createWorkerComponents({ inTransaction, components, worker }: WorkerComponentsDeps) {
  let said = '[]'

  return {
    findAlive,
    async publish(): Promise<void> {
      const names = components.ownNames()
      const text = JSON.stringify(names)
      if (worker === undefined || text === said) return
      await inTransaction((trx) => replaceComponents(trx, worker, names))
      said = text
    },
  }
}
