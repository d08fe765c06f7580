// The stack's own core on its data folder. It is loaded when a command opens it: loading takes longer than most commands run.

import type * as OpenCore from '../../server/src/start/open-core.ts'
import type * as Restore from '../../server/src/start/restore.ts'

const load = () => import('../../server/src/start/open-core.ts')
const loadRestore = () => import('../../server/src/start/restore.ts')

export const withCore: typeof OpenCore.withCore = async (config, work) => (await load()).withCore(config, work)

export const backUpStopped: typeof OpenCore.backUpStopped = async (config, order, onProgress) =>
  (await load()).backUpStopped(config, order, onProgress)

export const restore: typeof Restore.restore = async (order, progress) => (await loadRestore()).restore(order, progress)

export const resume: typeof Restore.resume = async (config) => (await loadRestore()).resume(config)
