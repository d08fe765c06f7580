// Run ids are paths: `7` started `7.12`, which started `7.12.13`. Everything below a run lies between `7.` and `7/`, because '/'
// follows '.' in the character set, so an index finds it.

import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Rows whose `run_id` is below a run: its children and theirs. */
export const belowRun = (runId: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(run_id >= ${`${runId}.`} and run_id < ${`${runId}/`})`

/** Rows of a run and of everything below it: within one range, or SQLite reads every row of the project in the requested order. */
export const ofRun = (runId: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(run_id >= ${runId} and run_id < ${`${runId}/`} and (run_id = ${runId} or run_id >= ${`${runId}.`}))`
