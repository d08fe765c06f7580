// Backups side by side in one folder, each named by its time: the oldest go when there are enough newer ones.

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { contentOf } from './backup-folder.ts'
import { MANIFEST_FILE } from './manifest.ts'

const NAME = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/

/** Sorts as its time does, and is a name on every file system. */
export const backupName = (time: Date): string => `${time.toISOString().slice(0, 19).replaceAll(':', '-')}Z`

/** Removes all but the newest backups, and what interrupted ones older than these have left. Whatever has another name stays. */
export async function keepNewest(folder: string, count: number): Promise<readonly string[]> {
  const names = (await contentOf(folder)).filter((name) => NAME.test(name)).sort()
  const kept = names.filter((name) => existsSync(join(folder, name, MANIFEST_FILE))).slice(-count)
  const newest = kept.at(-1) ?? ''
  const gone = names.filter((name) => !kept.includes(name) && name < newest)
  for (const name of gone) await rm(join(folder, name), { recursive: true, force: true })
  return gone
}
