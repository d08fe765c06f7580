import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createStorageJobsLoop } from './storage-jobs.loop.ts'
import { storageJobsRoutes } from './storage-jobs.routes.ts'
import { createStorageJobs } from './storage-jobs.ts'

export interface StorageJobsModuleDeps {
  readonly core: Core
  readonly workerId: string
  readonly storeWaitMs: number
}

export type StorageJobsModule = ReturnType<typeof createStorageJobsModule>

export function createStorageJobsModule({ core, workerId, storeWaitMs }: StorageJobsModuleDeps) {
  const { db, inTransaction, clock, log, metadata } = core
  const jobs = createStorageJobs({ db, inTransaction, clock })
  const loop = createStorageJobsLoop({
    jobs,
    inTransaction,
    clock,
    log,
    onlyNode: metadata.dialect === 'sqlite',
    worker: workerId,
    settings: { storeWaitMs },
  })
  jobs.internal.onCreated.add(() => metadata.hints.send('storage'))
  jobs.internal.onFinished.add(() => metadata.hints.send('storage-ended'))
  return defineModule({
    name: 'storage-jobs',
    routes: [storageJobsRoutes(jobs, clock)],
    background: [
      { role: 'worker', start: loop.start, stop: loop.stop },
      { start: () => metadata.hints.listen('storage-ended', jobs.lookNow) },
      { role: 'worker', start: () => metadata.hints.listen('storage', loop.wake) },
    ],
    ...jobs,
    runInline: loop.runInline,
    rehearse: loop.rehearse,
    /** How many run on this node. */
    running: loop.running,
    registerHandler: loop.registerHandler,
  })
}
