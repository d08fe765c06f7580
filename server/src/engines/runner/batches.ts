// Batches of a program that runs on: it writes one complete batch after the other, and continues when a batch is stored.
//
//   out/batches/<n>/out/tables, out/batches/<n>/out/state.json   are written first, n from 1 on,
//   out/batches/<n>.ready                                        then this file, when the batch is whole;
//   in/batches/<n>.stored                                        appears when rows and state are committed.
//
//  (1) A batch is stored once and in order; the next one is looked for when it is.
//  (2) A batch that cannot be stored ends the program, and its error is the one of the run.

import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { DataFolder } from './data-folder.ts'

const LOOK_MS = 40

/** Runs `program`, whose signal aborts when a batch could not be stored, and stores what it leaves meanwhile. */
export async function withBatches<T>(
  folder: DataFolder,
  signal: AbortSignal,
  store: (batch: DataFolder) => Promise<void>,
  program: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [left, told] = [join(folder.data, 'out', 'batches'), join(folder.data, 'in', 'batches')]
  await Promise.all([left, told].map((path) => mkdir(path, { recursive: true })))
  const refused = new AbortController()
  let isOver = false

  async function storeNext(number: number): Promise<boolean> {
    const ready = join(left, `${number}.ready`)
    if (!existsSync(ready)) return false
    const path = join(left, String(number))
    await store({ root: path, data: path, tmp: path, withArtifacts: false })
    await rm(path, { recursive: true, force: true })
    await rm(ready)
    await writeFile(join(told, `${number}.stored`), '')
    await rm(join(told, `${number - 1}.stored`), { force: true })
    return true
  }

  async function storeAll(): Promise<void> {
    for (let number = 1; !signal.aborted; ) {
      const wasOver = isOver // what the program left before its end is stored, too
      if (await storeNext(number)) number++
      else if (wasOver) return
      else await wait(LOOK_MS)
    }
  }

  const storing = storeAll().then(
    () => undefined,
    (error: unknown) => {
      refused.abort()
      return { error }
    },
  )
  const result = await program(AbortSignal.any([signal, refused.signal])).finally(() => {
    isOver = true
  })
  const problem = await storing
  if (problem) throw problem.error
  return result
}
