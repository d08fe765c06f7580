// An empty PostgreSQL in memory. To make its system tables takes five seconds of a processor; the first one is kept beside the compiled
// code of this installation, and later ones load it in a quarter of the time.

import { createHash, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'

export async function openCatalogDatabase(folder = getCompileCacheDir(), create = createEmpty): Promise<PGlite> {
  if (folder === undefined) return create()
  const kept = keptDatabase(folder)
  return (await load(kept)) ?? (await createAndKeep(kept, create))
}

const createEmpty = (): Promise<PGlite> => PGlite.create('memory://')

/** Undefined when there is none, or a damaged one. */
async function load(path: string): Promise<PGlite | undefined> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0))
  const tar = bytes.subarray(HASH_BYTES)
  if (tar.length === 0 || !hashOf(tar).equals(bytes.subarray(0, HASH_BYTES))) return undefined
  return PGlite.create('memory://', { loadDataDir: new Blob([tar], { type: 'application/x-tar' }) })
}

async function createAndKeep(path: string, create: () => Promise<PGlite>): Promise<PGlite> {
  const database = await create()
  const tar = Buffer.from(await (await database.dumpDataDir('none')).arrayBuffer())
  const written = `${path}.${randomUUID()}`
  try {
    await writeFile(written, [hashOf(tar), tar])
    await rename(written, path)
  } catch {
    await rm(written, { force: true }) // a folder that cannot be written costs time, nothing else
  }
  return database
}

/** The file begins with the hash of the rest. */
const HASH_BYTES = 32
const hashOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

/** System tables of one build of PostgreSQL are of no use to another. */
export function keptDatabase(folder: string): string {
  const { size, mtimeMs } = statSync(fileURLToPath(import.meta.resolve('@electric-sql/pglite/pglite.wasm')))
  return join(folder, `empty-postgres-${size}-${Math.round(mtimeMs)}.tar`)
}
