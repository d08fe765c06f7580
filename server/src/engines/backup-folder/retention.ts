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
  const names = await contentOf(folder)
  const gone = chooseGone(
    names.map((name) => ({ name, isWhole: existsSync(join(folder, name, MANIFEST_FILE)) })),
    count,
  )
  for (const name of gone) await rm(join(folder, name), { recursive: true, force: true })
  return gone
}

export function chooseGone(
  backups: readonly { readonly name: string; readonly isWhole: boolean }[],
  count: number,
): readonly string[] {
  const ours = backups.filter(({ name }) => NAME.test(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const kept = ours.filter(({ isWhole }) => isWhole).slice(-count)
  const newest = kept.at(-1)?.name ?? ''
  return ours.filter((one) => !kept.includes(one) && one.name < newest).map(({ name }) => name)
}
