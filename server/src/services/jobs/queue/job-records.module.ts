// The records of jobs, for modules that the queue itself needs: usage, lineage and the job runner.

import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createJobFinder } from './find-jobs.ts'
import { createJobNotifier } from './job-notifier.ts'
import { createJobSearchStore } from './job-search.store.ts'
import { createQueueStore } from './queue.store.ts'
import { createStateHistory } from './state-history.store.ts'
import { lastGoodRun, usualDuration } from './usual-duration.ts'

export type JobRecordsModule = ReturnType<typeof createJobRecordsModule>

export function createJobRecordsModule({ core: { db, recordChange } }: { readonly core: Core }) {
  const store = createQueueStore(db, recordChange)
  return defineModule({
    name: 'job-records',
    store,
    notifier: createJobNotifier(),
    stateHistory: createStateHistory(db),
    find: store.find,
    lastGood: (job: Parameters<typeof lastGoodRun>[1]) => lastGoodRun(db, job),
    /** Of whole runs of a configuration: the median of the last good ones. */
    usualDuration: (place: {
      readonly projectId: number
      readonly branchId: number
      readonly componentId: string
      readonly configurationId: string
    }) =>
      usualDuration(db, {
        ...{ id: Number.MAX_SAFE_INTEGER, project_id: place.projectId, branch_id: place.branchId, row_ids: null },
        ...{ component_id: place.componentId, configuration_id: place.configurationId, type: 'standard' },
      }),
    newestEnded: createJobSearchStore(db).newestEnded,
    deliveriesOf: createJobSearchStore(db).deliveriesOf,
    /** Jobs by words of a search. */
    search: (canonicalId: (componentId: string) => string) => createJobFinder(db, canonicalId),
  })
}
