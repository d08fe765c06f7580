// The records of jobs, for modules that the queue itself needs: usage, lineage and the job runner.

import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import { createJobFinder } from './find-jobs.ts'
import { createJobNotifier } from './job-notifier.ts'
import { createJobSearchStore } from './job-search.store.ts'
import { createQueueStore } from './queue.store.ts'
import { createStateHistory } from './state-history.store.ts'
import { lastGoodRun } from './usual-duration.ts'

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
    newestEnded: createJobSearchStore(db).newestEnded,
    startsOf: createJobSearchStore(db).startsOf,
    /** Jobs by words of a search. */
    search: (canonicalId: (componentId: string) => string) => createJobFinder(db, canonicalId),
  })
}
