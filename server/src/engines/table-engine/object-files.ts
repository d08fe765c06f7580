// Between objects and files: keys become local paths while work runs, finished files become objects, and whatever happens nothing is
// left open or lying about.

import { randomUUID } from 'node:crypto'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { PlatformError } from '../../kit/errors.ts'
import { mapBounded } from '../../kit/map-bounded.ts'
import type { LocalPaths } from './relation.ts'
import type { LocalFile, TableObjects } from './table-engine.ts'

/** A finished local file and the key it shall have. */
export interface FinishedFile {
  readonly key: string
  readonly path: string
}

export interface ObjectFiles {
  /** A folder for `work` alone, removed afterwards. */
  inScratch<T>(work: (dir: string) => Promise<T>): Promise<T>
  /** Local paths of objects while `work` runs. */
  withLocal<T>(keys: readonly string[], work: (local: LocalPaths) => Promise<T>): Promise<T>
  /** All or none: what was adopted before a failure is deleted again. */
  adoptAll(files: readonly FinishedFile[]): Promise<void>
  /** For objects of an operation that failed; one that cannot be deleted is unreferenced, and the sweeper's. */
  discard(keys: readonly string[]): Promise<void>
}

/** On S3 each is a download. */
const OPENED_AT_ONCE = 16

export function createObjectFiles(objects: TableObjects, scratchDir: string): ObjectFiles {
  async function inScratch<T>(work: (dir: string) => Promise<T>): Promise<T> {
    const dir = join(scratchDir, randomUUID())
    await mkdir(dir)
    try {
      return await work(dir)
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }

  async function withLocal<T>(keys: readonly string[], work: (local: LocalPaths) => Promise<T>): Promise<T> {
    const wanted = [...new Set(keys)]
    // Settled one by one: what was opened before a failure is let go below.
    const opened = await mapBounded(
      wanted,
      OPENED_AT_ONCE,
      async (key) => (await Promise.allSettled([objects.openLocal(key)]))[0],
    )
    const links: string[] = []
    try {
      const local: Record<string, string> = {}
      for (const [i, key] of wanted.entries()) {
        const file = settledFile(opened[i])
        if (!file) throw new PlatformError('tableEngine.objectMissing', { key })
        local[key] = LOOKS_LIKE_A_PATTERN.test(file.path) ? await linkTo(file.path, links) : file.path
      }
      return await work(local)
    } finally {
      const files = opened.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : []))
      await Promise.all([...files.map((file) => file.release()), ...links.map((link) => rm(link, { force: true }))])
    }
  }

  /** DuckDB reads paths as patterns; one that looks like a pattern gets a plain name. */
  async function linkTo(path: string, links: string[]): Promise<string> {
    const link = join(scratchDir, `${randomUUID()}.link`)
    await symlink(path, link)
    links.push(link)
    return link
  }

  const discard = async (keys: readonly string[]): Promise<void> => {
    await Promise.allSettled(keys.map((key) => objects.delete(key)))
  }

  async function adoptAll(files: readonly FinishedFile[]): Promise<void> {
    const adopted: string[] = []
    try {
      for (const { key, path } of files) {
        await objects.adopt(key, path)
        adopted.push(key)
      }
    } catch (error) {
      await discard(adopted)
      throw error
    }
  }

  return { inScratch, withLocal, adoptAll, discard }
}

const LOOKS_LIKE_A_PATTERN = /[*?[\]{}]/

function settledFile(result: PromiseSettledResult<LocalFile | undefined> | undefined): LocalFile | undefined {
  if (result?.status === 'rejected') throw result.reason
  return result?.value
}

export const newKey = (prefix: string): string => `${prefix}${randomUUID()}.parquet`
