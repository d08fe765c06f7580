// Database files of sessions, and text of results on disk.

import { constants, createWriteStream } from 'node:fs'
import { copyFile, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export type DatabaseFiles = ReturnType<typeof createDatabaseFiles>

/** One file per number, with DuckDB's log beside it. */
export function createDatabaseFiles(folder: string) {
  const pathOf = (id: number) => join(folder, `${id}.duckdb`)
  const filesOf = (id: number) => [pathOf(id), `${pathOf(id)}.wal`]
  return {
    /** A path for a database, in a folder that is there. */
    open: async (id: number): Promise<string> => {
      await mkdir(folder, { recursive: true })
      return pathOf(id)
    },
    sizeMb: async (id: number): Promise<number> => {
      const sizes = await Promise.all(
        filesOf(id).map((path) =>
          stat(path).then(
            ({ size }) => size,
            () => 0,
          ),
        ),
      )
      return sizes.reduce((sum, size) => sum + size, 0) / (1 << 20)
    },
    /** Of a database that no statement changes meanwhile. */
    copy: async (from: number, to: number): Promise<void> => {
      const copies = filesOf(to)
      for (const [i, path] of filesOf(from).entries())
        await copyFile(path, copies[i] ?? '', constants.COPYFILE_FICLONE).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error // without changes there is no log
        })
    },
    remove: async (id: number): Promise<void> => {
      for (const path of filesOf(id)) await rm(path, { force: true })
    },
    list: async (): Promise<number[]> => {
      const names = await readdir(folder).catch(() => [])
      return names.flatMap((name) => (/^\d+\.duckdb$/.test(name) ? [Number.parseInt(name, 10)] : []))
    },
  }
}

/** The text of a result as a file; what was written before a failure is removed. */
export async function saveText(path: string, bytes: AsyncIterable<Buffer>): Promise<{ readonly sizeBytes: number }> {
  try {
    await pipeline(bytes, createWriteStream(path))
    return { sizeBytes: (await stat(path)).size }
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

/** Results that are read page by page for a while: one file each, a value per line. */
export function createResultFiles(folder: string) {
  const pathOf = (name: string) => join(folder, `${name}.jsonl`)
  return {
    save: async (name: string, bytes: AsyncIterable<Buffer>): Promise<void> => {
      await mkdir(folder, { recursive: true })
      await saveText(pathOf(name), bytes)
    },
    /** Lines from `offset` on; undefined when there is no such file any more. */
    read: async (name: string, offset: number, count: number): Promise<string[] | undefined> => {
      const file = await open(pathOf(name)).catch(() => undefined)
      if (!file) return undefined
      const lines: string[] = []
      let at = 0
      for await (const line of file.readLines()) {
        if (at >= offset + count) break
        if (at++ >= offset) lines.push(line)
      }
      await file.close().catch(() => {}) // closed already when it was read to its end
      return lines
    },
    removeOlderThan: async (moment: Date): Promise<void> => {
      for (const name of await readdir(folder).catch(() => [])) {
        const { mtimeMs } = await stat(join(folder, name))
        if (mtimeMs < moment.getTime()) await rm(join(folder, name), { force: true })
      }
    },
  }
}

export type ResultFiles = ReturnType<typeof createResultFiles>

export const removeFile = (path: string): Promise<void> => rm(path, { force: true })
