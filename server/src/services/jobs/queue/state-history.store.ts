// What each row of a job remembered before and after its run. Equal texts of a project are stored once.

import { createHash } from 'node:crypto'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import type { StateOfRun } from '../../../model/job-progress.ts'

interface JobStateTables {
  job_state_text: { project_id: number; hash: string; content: string }
  job_state: {
    project_id: number
    job_id: number
    row_id: string
    before_bytes: number
    before_hash: string | null
    /** Null: the run saved no state. */
    after_bytes: number | null
    after_hash: string | null
  }
}

/** Of a larger state only its size is kept: a history of such states would become too large. */
const MAX_BYTES = 256 * 1024

/** `content` is null where it was too large to be kept, or is not there. */
export interface KeptState {
  readonly rowId: string | null
  readonly before: { readonly bytes: number; readonly content: string | null }
  readonly after: { readonly bytes: number; readonly content: string | null } | null
}

const tables = (db: Db) => withTables<JobStateTables>(db)

const keepText = statement((db, row: JobStateTables['job_state_text']) =>
  tables(db)
    .insertInto('job_state_text')
    .values(row)
    .onConflict((conflict) => conflict.columns(['project_id', 'hash']).doNothing())
    .returning('hash'),
)

const keepState = statement((db, row: JobStateTables['job_state']) =>
  tables(db)
    .insertInto('job_state')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'job_id', 'row_id']).doUpdateSet((e) => ({
        before_bytes: e.ref('excluded.before_bytes'),
        before_hash: e.ref('excluded.before_hash'),
        after_bytes: e.ref('excluded.after_bytes'),
        after_hash: e.ref('excluded.after_hash'),
      })),
    )
    .returning('job_id'),
)

/** Puts other texts in the place of those that a job refers to; their hashes stay, since they are what refers to them. */
export async function rewriteStates(trx: Trx, projectId: number, jobId: number, change: (text: string) => string): Promise<void> {
  const texts = await tables(trx)
    .selectFrom('job_state_text')
    .innerJoin('job_state', (join) =>
      join
        .onRef('job_state.project_id', '=', 'job_state_text.project_id')
        .on((e) => e.or([e('before_hash', '=', e.ref('hash')), e('after_hash', '=', e.ref('hash'))])),
    )
    .select(['hash', 'content'])
    .distinct()
    .where('job_state.project_id', '=', projectId)
    .where('job_id', '=', jobId)
    .execute()
  for (const { hash, content } of texts) {
    const text = change(content)
    if (text === content) continue
    await tables(trx)
      .updateTable('job_state_text')
      .set({ content: text })
      .where('project_id', '=', projectId)
      .where('hash', '=', hash)
      .execute()
  }
}

export function createStateHistory(db: Db) {
  async function keep(trx: Trx, projectId: number, content: string): Promise<{ bytes: number; hash: string | null }> {
    const bytes = Buffer.byteLength(content)
    if (bytes > MAX_BYTES) return { bytes, hash: null }
    const hash = createHash('sha256').update(content).digest('base64url')
    await keepText(trx, { project_id: projectId, hash, content })
    return { bytes, hash }
  }

  return {
    async record(trx: Trx, { projectId, jobId, rowId, before, after }: StateOfRun): Promise<void> {
      const was = await keep(trx, projectId, before)
      const is = after === null ? undefined : after === before ? was : await keep(trx, projectId, after)
      await keepState(trx, {
        project_id: projectId,
        job_id: jobId,
        row_id: rowId ?? '',
        before_bytes: was.bytes,
        before_hash: was.hash,
        after_bytes: is?.bytes ?? null,
        after_hash: is?.hash ?? null,
      })
    },

    async listOfJob(projectId: number, jobId: number): Promise<readonly KeptState[]> {
      const rows = await tables(db)
        .selectFrom('job_state')
        .leftJoin('job_state_text as was', (join) =>
          join.onRef('was.project_id', '=', 'job_state.project_id').onRef('was.hash', '=', 'job_state.before_hash'),
        )
        .leftJoin('job_state_text as is', (join) =>
          join.onRef('is.project_id', '=', 'job_state.project_id').onRef('is.hash', '=', 'job_state.after_hash'),
        )
        .select(['row_id', 'before_bytes', 'after_bytes', 'was.content as before', 'is.content as after'])
        .where('job_state.project_id', '=', projectId)
        .where('job_id', '=', jobId)
        .orderBy('row_id')
        .execute()
      return rows.map((row) => ({
        rowId: row.row_id || null,
        before: { bytes: Number(row.before_bytes), content: row.before },
        after: row.after_bytes === null ? null : { bytes: Number(row.after_bytes), content: row.after },
      }))
    },
  }
}
