// Debug mode (spec platform 1.26): the data folder before each program and at the end, as an archive among the project's files.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { zipFolder } from '../../../engines/runner/archive.ts'
import type { DataFolder } from '../../../engines/runner/data-folder.ts'
import type { Mask } from '../../../engines/runner/mask.ts'
import type { RunFiles, RunScope } from '../../../model/run-ports.ts'

export interface DebugArchive {
  readonly scope: RunScope
  readonly files: RunFiles
  readonly tags: readonly string[]
  readonly signal: AbortSignal
  publish<T>(work: (trx: Trx) => Promise<T>): Promise<T>
}

/** Secrets are hidden in every small text file of the folder, the configuration and the state above all. */
export async function saveStage(archive: DebugArchive, folder: DataFolder, name: string, mask: Mask): Promise<void> {
  const path = await zipFolder(folder, name, mask)
  const file = {
    name,
    path,
    slices: undefined,
    tags: archive.tags,
    isPublic: false,
    isPermanent: false,
    isEncrypted: true,
    notify: false,
  }
  const staged = await archive.files.stage(archive.scope, file, archive.signal)
  await archive.publish((trx) => staged.publish(trx))
}
