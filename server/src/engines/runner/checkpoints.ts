// Folders that outlive a failed run: what a program has done so far, for the next run of the same configuration.
//  (1) One folder for each project, branch, configuration and row; no program ever sees another one's.
//  (2) They end: when the run succeeds, when they were not written to for a while, and the oldest first when all of them are too large.
//  (3) Nothing depends on them. A run without its folder starts from the beginning.

import { createHash } from 'node:crypto'
import { lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../kit/clock.ts'
import { sizeOf } from './data-folder.ts'

export interface CheckpointOwner {
  readonly projectId: number
  readonly branchId: number
  readonly componentId: string
  readonly configurationId: string
  readonly rowId: string | null
}

export interface Checkpoint {
  readonly folder: string
  /** It is no longer needed. */
  remove(): Promise<void>
  /** The run is over; what it left stays for the next one. */
  close(): Promise<void>
}

export interface Checkpoints {
  /** The folder of a run, with what an earlier one has left in it. */
  open(owner: CheckpointOwner): Promise<Checkpoint>
  sweep(): Promise<void>
  start(): void
  stop(): Promise<void>
}

export interface CheckpointSettings {
  readonly folder: string
  readonly clock: Clock
  /** How long an unused folder is kept. */
  readonly keepMs: number
  /** Of all folders together. */
  readonly maxBytes: number
  readonly onError: (error: unknown) => void
}

const SWEEP_MS = 600_000

export function createCheckpoints({ folder, clock, keepMs, maxBytes, onError }: CheckpointSettings): Checkpoints {
  const inUse = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()

  const isOver = (writtenAt: number): boolean => clock.now().getTime() - writtenAt > keepMs
  const removed = (path: string): Promise<void> => rm(path, { recursive: true, force: true }).catch(onError)

  async function open(owner: CheckpointOwner): Promise<Checkpoint> {
    const path = join(folder, String(owner.projectId), nameOf(owner))
    inUse.add(path)
    if (isOver(await lastWrite(path, clock.now().getTime()))) await removed(path)
    await mkdir(path, { recursive: true, mode: 0o700 })
    return {
      folder: path,
      remove: () => removed(path),
      async close() {
        await rmdir(path).catch(() => {}) // as long as there is something in it, it stays
        inUse.delete(path)
      },
    }
  }

  async function sweep(): Promise<void> {
    const found = await Promise.all((await foldersIn(folder)).map(async (project) => foldersIn(project)))
    const kept: { readonly path: string; readonly writtenAt: number; readonly bytes: number }[] = []
    for (const path of found.flat().filter((one) => !inUse.has(one))) {
      const writtenAt = await lastWrite(path, 0)
      if (isOver(writtenAt)) await removed(path)
      else kept.push({ path, writtenAt, bytes: await sizeOf(path) })
    }
    let total = kept.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const { path, bytes } of kept.toSorted((a, b) => a.writtenAt - b.writtenAt)) {
      if (total <= maxBytes) return
      await removed(path)
      total -= bytes
    }
  }

  const sweepNext = (): void => {
    sweeping = sweeping.then(sweep).catch(onError)
  }

  return {
    open,
    sweep,
    start() {
      sweepNext()
      timer = setInterval(sweepNext, SWEEP_MS).unref()
    },
    async stop() {
      clearInterval(timer)
      await sweeping
    },
  }
}

/** Ids are of the users' choice, and no names of folders. */
const nameOf = ({ branchId, componentId, configurationId, rowId }: CheckpointOwner): string =>
  createHash('sha256')
    .update(JSON.stringify([branchId, componentId, configurationId, rowId]))
    .digest('hex')

async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}

/** Of the newest file directly in the folder; `otherwise` when there is none. */
async function lastWrite(path: string, otherwise: number): Promise<number> {
  const names = await readdir(path).catch(() => [])
  const times = await Promise.all(
    names.map(async (name) => (await lstat(join(path, name))).mtimeMs).map((one) => one.catch(() => 0)),
  )
  return times.length === 0 ? otherwise : Math.max(...times)
}
