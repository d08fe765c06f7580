// The stack's own core on its data folder. It is loaded when a command opens it: loading takes longer than most commands run.

import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type * as Place from '../../server/src/start/backup-place.ts'
import type { Config } from '../../server/src/start/config.ts'
import type * as Drill from '../../server/src/start/drill.ts'
import type * as OpenCore from '../../server/src/start/open-core.ts'
import type * as Restore from '../../server/src/start/restore.ts'
import { METADATA_FILE } from '../../server/src/wiring/data-files.ts'
import { UserError } from './output.ts'

const load = () => import('../../server/src/start/open-core.ts')
const loadRestore = () => import('../../server/src/start/restore.ts')

/** Only the start of a stack creates one: a command in the wrong folder creates nothing. */
export const withCore: typeof OpenCore.withCore = async (config, work) => {
  refuseWithoutStack(config)
  return (await load()).withCore(config, work)
}

export const upgradeOf: typeof OpenCore.upgradeOf = async (config) => {
  refuseWithoutStack(config)
  return (await load()).upgradeOf(config)
}

export function refuseWithoutStack({ dataDir, database }: Config): void {
  if (database.url === undefined && !existsSync(join(dataDir, METADATA_FILE)))
    throw new UserError(`There is no stack in ${asTyped(dataDir)}; set MILLRACE_DATA_DIR.`)
}

/** As a person in this folder would write it. */
function asTyped(folder: string): string {
  const below = relative('', folder)
  return below === '' ? '.' : below.startsWith('..') ? folder : `./${below}`
}

export const backUpStopped: typeof OpenCore.backUpStopped = async (config, order, onProgress) =>
  (await load()).backUpStopped(config, order, onProgress)

export const restore: typeof Restore.restore = async (order, progress) => (await loadRestore()).restore(order, progress)

export const drill: typeof Drill.drill = async (order, progress) =>
  (await import('../../server/src/start/drill.ts')).drill(order, progress)

export const withBackupSource: typeof Place.withBackupSource = async (place, bucket, work) =>
  (await import('../../server/src/start/backup-place.ts')).withBackupSource(place, bucket, work)

export const resume: typeof Restore.resume = async (config) => {
  refuseWithoutStack(config)
  return (await loadRestore()).resume(config)
}
