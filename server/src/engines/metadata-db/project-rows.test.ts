import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { migratedPostgres } from '../../../../tests/support/fresh-databases.ts'
import { untilSomebodyWaits } from '../../../../tests/support/lock-waits.ts'
import { newProjectRow } from '../../../../tests/support/project-row.ts'
import { openMetadataDb } from './metadata-db.ts'
import { deleteRowsOfProject } from './project-rows.ts'

test('what another transaction is just writing for a project goes with the project', async (t) => {
  const database = await migratedPostgres()
  const metadata = await openMetadataDb(database.location)
  t.after(async () => {
    await metadata.close()
    await database.remove()
  })
  const projectId = await newProjectRow(metadata.db)
  let deleting: Promise<void> | undefined
  await metadata.inTransaction(async (trx) => {
    await sql`insert into branch (project_id, name, description, is_default, created_at)
      values (${projectId}, 'b', '', 1, 0)`.execute(trx)
    deleting = metadata.inTransaction((other) => deleteRowsOfProject(other, projectId))
    await untilSomebodyWaits(metadata.db, 'the deletion waits for what is being written')
  })
  await deleting
  const { rows } = await sql`select 1 from project where id = ${projectId}`.execute(metadata.db)
  assert.deepEqual(rows, [])
})
