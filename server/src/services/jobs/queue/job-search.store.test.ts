import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { createJobSearchStore } from './job-search.store.ts'

const NOW = Date.parse('2026-05-01T12:00:00Z')

await onBothDatabases('ended jobs', ({ db }) => {
  test('every job that ended is counted once, however late it is seen', async () => {
    await sql`insert into project (name, features, created_at) values ('p', '[]', 0)`.execute(db)
    const ends = (status: string, at: number | null) =>
      sql`insert into queue_job (project_id, branch_id, is_default_branch, component_id, type, mode, status, run_id, parent_run_id, tag, token_id,
          token_description, actor, request, created_at, start_after, updated_at, ended_at, result, usage, metrics)
        values (1, 1, 1, 'c', 'standard', 'run', ${status}, '1', '', '1', 1, '', '{}', '{}', 0, 0, 0, ${at}, '{}', '[]', '[]')`.execute(
        db,
      )
    const { workload } = createJobSearchStore(db)
    const counts = async (now: number) => {
      const { open, ended } = await workload(now)
      return [open.processing, ended.success, ended.error]
    }
    await ends('success', NOW - 86_400_000)
    await ends('error', NOW - 1000)
    await ends('processing', null)
    assert.deepEqual(await counts(NOW), [1, 1, 1])
    await ends('success', NOW - 30_000) // its transaction took long, or its node's clock is behind
    assert.deepEqual(await counts(NOW), [1, 2, 1])
    const later = NOW + 3_600_000
    assert.deepEqual(await counts(later), [1, 2, 1])
    await ends('error', later)
    assert.deepEqual(await counts(later + 1), [1, 2, 2])
    assert.deepEqual(await counts(later + 7_200_000), [1, 2, 2])
    assert.deepEqual(
      await (async () => (await createJobSearchStore(db).workload(later)).ended.success)(),
      2,
      'after a start, too',
    )
  })
})
