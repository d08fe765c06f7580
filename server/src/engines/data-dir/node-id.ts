// The name of a data folder, made once and kept: processes come and go, what a node has published stays its own.

import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const FILE = 'node-id'

/** Answers the same for as long as the folder lives. */
export function nodeIdOf(dataDir: string): () => Promise<string> {
  let known: Promise<string> | undefined
  const read = async (): Promise<string> => {
    const path = join(dataDir, FILE)
    await writeFile(path, randomUUID(), { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    return readFile(path, 'utf8')
  }
  return () => {
    known ??= read()
    return known
  }
}
