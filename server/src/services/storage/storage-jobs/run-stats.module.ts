import { defineModule } from '../../../model/module.ts'
import type { FilesModule } from '../files/files.module.ts'
import { runStatsRoutes } from './run-stats.routes.ts'
import type { StorageJobsModule } from './storage-jobs.module.ts'

export interface RunStatsModuleDeps {
  readonly storageJobs: StorageJobsModule
  readonly files: FilesModule
}

export const createRunStatsModule = ({ storageJobs, files }: RunStatsModuleDeps) =>
  defineModule({
    name: 'run-stats',
    routes: [
      runStatsRoutes({
        jobs: storageJobs,
        filesOfRun: (actor, runId) => files.list(actor, { runId, limit: 10_000, showExpired: true }),
      }),
    ],
  })
