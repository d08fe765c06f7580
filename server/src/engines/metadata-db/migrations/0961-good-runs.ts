// The runs that ended well, by configuration: every job asks for the last of its own when it starts, and others may lie between by the thousand.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  // As usual-duration.ts asks for them: a condition in other words would not use it.
  await sql`create index queue_job_good_runs on queue_job (project_id, component_id, configuration_id, branch_id, type, id)
    where status in ('success', 'warning') and (parent_job_id is null or step_group is not null)`.execute(trx)
}
