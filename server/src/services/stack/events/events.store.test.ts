import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { dialectOf, withTables } from '../../../engines/metadata-db/dialects.ts'
import { ofRun } from '../../../engines/metadata-db/run-ids.ts'
import { createEventsStore, type NewEventRow } from './events.store.ts'

const exactly = (value: string) => ({ value, isPattern: false, isNegated: false })

await onBothDatabases('events store', ({ db, inTransaction }) => {
  const store = createEventsStore(db)
  let count = 0

  const newProject = async (): Promise<number> => {
    const projects = withTables<{ project: { id: number; name: string; features: string; created_at: number } }>(db)
    const row = { name: 'P', features: '[]', created_at: 0 }
    return (
      await projects
        .insertInto('project')
        .values(row as never)
        .returning('id')
        .executeTakeFirstOrThrow()
    ).id
  }
  const add = (projectId: number, change: Partial<NewEventRow> = {}) =>
    inTransaction((trx) =>
      store.insert(trx, {
        project_id: projectId,
        uuid: `uuid-${++count}`,
        event: 'storage.tokenCreated',
        component: 'storage',
        type: 'info',
        message: 'Created',
        description: '',
        run_id: null,
        configuration_id: null,
        object_id: null,
        object_name: null,
        object_type: null,
        params: '{}',
        results: '{}',
        performance: '{}',
        context: '{}',
        token_id: 1,
        token_description: 't',
        branch_id: null,
        attachments: '[]',
        created_at: 1,
        ...change,
      }),
    )
  const ALL = { limit: 100, offset: 0, newestFirst: true, terms: [], words: [] }

  test('a run id finds the run and its children, not its neighbours', async () => {
    const project = await newProject()
    for (const run_id of ['1', '1.2', '1.2.3', '12', '11.1', '1-2', null]) await add(project, { run_id })
    const found = await store.list(project, { ...ALL, runId: '1' })
    assert.deepEqual(found.map((row) => row.run_id).sort(), ['1', '1.2', '1.2.3'])
  })

  test('events of a run are found without reading those of every other', async () => {
    const project = await newProject()
    for (let i = 0; i < 20; i++) await add(project)
    await add(project, { run_id: '5' })
    if (dialectOf(db) === 'postgres') return // decides by how many rows there are
    const { rows } = await sql<{
      detail: string
    }>`explain query plan select * from event where project_id = ${project} and ${ofRun('5')}
      order by id desc limit 100`.execute(db)
    assert.match(rows[0]!.detail, /USING INDEX event_by_run/)
  })

  test('words are searched without regard to case, and their wildcards mean themselves', async () => {
    const project = await newProject()
    await add(project, { message: '100% of Table_A' })
    await add(project, { message: '1000 of tablexa' })
    assert.equal((await store.list(project, { ...ALL, words: ['100%'].map(exactly) })).length, 1)
    assert.equal((await store.list(project, { ...ALL, words: ['TABLE_a'].map(exactly) })).length, 1)
    assert.equal((await store.list(project, { ...ALL, words: ['of', 'table'].map(exactly) })).length, 2)
    assert.equal(
      (await store.list(project, { ...ALL, words: [{ value: '100*table_', isPattern: true, isNegated: false }] })).length,
      1,
    )
  })

  test('events of another project are not found', async () => {
    const [mine, other] = [await newProject(), await newProject()]
    const row = await add(mine)
    assert.equal(await store.find(other, row.id), undefined)
    assert.equal(await store.findByUuid(other, row.uuid), undefined)
    assert.deepEqual(await store.list(other, ALL), [])
    assert.deepEqual({ ...(await store.find(mine, row.id)) }, row)
  })

  test('tickets asked for at once are all different', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => inTransaction(store.nextTicket)))
    assert.equal(new Set(ids).size, 10)
  })
})
