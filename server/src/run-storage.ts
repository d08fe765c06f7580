// Tables and files as a run sees them. Until their rooms are part of the stack a run can neither read nor write them, and says so.

import { PlatformError } from './kit/errors.ts'
import type { RunFiles, RunTables } from './services/job-runner/storage.ts'

const absent = (what: string) => (): Promise<never> =>
  Promise.reject(new PlatformError('notImplemented', { what: `This stack has no ${what} yet, and the run needs them.` }))

export const absentTables: RunTables = {
  find: absent('tables'),
  download: absent('tables'),
  columnValues: absent('tables'),
  loadAll: absent('tables'),
}

export const absentFiles: RunFiles = {
  list: absent('files'),
  download: absent('files'),
  stage: absent('files'),
  addTags: absent('files'),
}
