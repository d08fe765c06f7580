// The stack's own core on its data folder. It is loaded when a command opens it: loading takes longer than most commands run.

import type * as Place from '../../server/src/start/backup-place.ts'
import type * as Drill from '../../server/src/start/drill.ts'
import type * as OpenCore from '../../server/src/start/open-core.ts'
import type * as Restore from '../../server/src/start/restore.ts'

const load = () => import('../../server/src/start/open-core.ts')
const loadRestore = () => import('../../server/src/start/restore.ts')

export const withCore: typeof OpenCore.withCore = async (config, work) => (await load()).withCore(config, work)

export const backUpStopped: typeof OpenCore.backUpStopped = async (config, order, onProgress) =>
  (await load()).backUpStopped(config, order, onProgress)

export const restore: typeof Restore.restore = async (order, progress) => (await loadRestore()).restore(order, progress)

export const drill: typeof Drill.drill = async (order, progress) =>
  (await import('../../server/src/start/drill.ts')).drill(order, progress)

export const withBackupSource: typeof Place.withBackupSource = async (place, bucket, work) =>
  (await import('../../server/src/start/backup-place.ts')).withBackupSource(place, bucket, work)

export const resume: typeof Restore.resume = async (config) => (await loadRestore()).resume(config)
