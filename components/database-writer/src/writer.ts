// What the program needs of a database.

import type { InputTable } from '../../connector-kit/src/input-table.ts'
import type { Delivery } from './configuration.ts'
import { type Delivered, deliver, tryOut } from './deliver.ts'
import type { Target } from './targets/target.ts'

export interface Writer {
  /** `onCommit` is called when it is no longer known whether a lost connection leaves the database as it was. */
  deliver(delivery: Delivery, input: InputTable, dataDir: string, onCommit: () => void): Promise<Delivered>
  /** What a delivery would do. */
  tryOut(delivery: Delivery, input: InputTable): Promise<Delivered>
  testConnection(): Promise<void>
  close(): Promise<void>
}

/** Of a database with transactions. */
export const writerOf = (target: Target): Writer => ({
  deliver: (delivery, input, dataDir, onCommit) => deliver(target, delivery, input, dataDir, onCommit),
  tryOut: (delivery, input) => tryOut(target, delivery, input),
  testConnection: async () => void (await target.ask('select 1')),
  close: target.close,
})
