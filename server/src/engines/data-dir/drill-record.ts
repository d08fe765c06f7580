// The last successful restore drill (`millrace restore --verify`): a file in the data folder, because the
// proof is made by a program of its own, whether the stack runs or not.

import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const FILE = 'last-drill.json'

export interface DrillRecord {
  readonly at: string
  /** When the backup was made. */
  readonly backupOf: string
  /** False: files were damaged, or the copy did not open. */
  readonly isGood: boolean
  readonly tablesRead: number
}

export async function writeDrill(dataDir: string, record: DrillRecord): Promise<void> {
  const path = join(dataDir, FILE)
  await writeFile(`${path}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

export async function readDrill(dataDir: string): Promise<DrillRecord | undefined> {
  const text = await readFile(join(dataDir, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  return text === undefined ? undefined : (JSON.parse(text) as DrillRecord) // written above
}
