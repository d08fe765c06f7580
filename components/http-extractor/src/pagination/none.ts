// No pagination: one request per job.

import type { Scroller } from './scroller.ts'

export const createNone = (): Scroller => ({ first: (job) => job, next: () => ({ stop: '' }) })
