// Folders for the Python environments of programs that users name: one for each configuration, which no other one sees, for a program can
// change what it runs with. They outlive runs, and are removed when they were not used for a month.

import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'

/** `owner`: what names the configuration. */
export type Environments = (owner: readonly string[]) => Promise<string>

const UNUSED_MS = 30 * 24 * 3600 * 1000

export function createEnvironments(folder: string, now: () => number = Date.now): Environments {
  async function forgetUnused(): Promise<void> {
    for (const name of await readdir(folder)) {
      const path = join(folder, name)
      const used = await stat(path).catch(() => undefined) // another run was faster
      if (used && now() - used.mtimeMs > UNUSED_MS) await rm(path, { recursive: true, force: true })
    }
  }

  return async (owner) => {
    const path = join(folder, createHash('sha256').update(JSON.stringify(owner)).digest('hex').slice(0, 32))
    await mkdir(path, { recursive: true, mode: 0o700 })
    await utimes(path, now() / 1000, now() / 1000)
    await forgetUnused()
    return path
  }
}
