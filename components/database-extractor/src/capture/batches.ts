// Batches that the platform stores during the run (server/src/engines/runner/batches.ts has the other side).

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const LOOK_MS = 15

export interface Batches {
  /** An empty folder for the next batch. What was in it before does not count. */
  begin(): string
  /** Ends when rows and state of the batch are committed. */
  store(): Promise<void>
  /** How many are stored. */
  readonly stored: number
}

export function openBatches(dataDir: string): Batches {
  let number = 1
  const folder = () => join(dataDir, 'out', 'batches', String(number))
  return {
    begin() {
      rmSync(folder(), { recursive: true, force: true })
      const out = join(folder(), 'out')
      mkdirSync(join(out, 'tables'), { recursive: true })
      return out
    },
    async store() {
      writeFileSync(`${folder()}.ready`, '')
      const stored = join(dataDir, 'in', 'batches', `${number}.stored`)
      while (!existsSync(stored)) await wait(LOOK_MS) // the platform ends the program when the batch is refused
      number++
    },
    get stored() {
      return number - 1
    },
  }
}
