// What a run has around it: its folders, the log, and a way to start the program.

import type { Log } from '../../http-extractor/src/log.ts'
import type { ChildOptions } from './child.ts'

export interface Runtime {
  /** The data folder. */
  readonly folder: string
  /** Files for the program; they do not outlive the run. */
  readonly work: string
  readonly log: Log
  run(command: readonly string[], handlers: Pick<ChildOptions, 'onLine' | 'onError' | 'input'>): Promise<void>
}
