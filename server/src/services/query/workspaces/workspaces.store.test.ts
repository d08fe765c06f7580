import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { createWorkspacesStore, type Workspace } from './workspaces.store.ts'

const NOW = new Date(Date.UTC(2026, 0, 31))

await onBothDatabases('workspaces store', (metadata) => {
  const { db, inTransaction } = metadata
  const store = createWorkspacesStore(db)

  async function newProject(): Promise<number> {
    const { rows } = await sql<{
      id: number
    }>`insert into project (name, features, created_at) values ('p', '[]', 0) returning id`.execute(db)
    return rows[0]?.id ?? assert.fail('no project')
  }

  const newWorkspace = (projectId: number) => ({
    projectId,
    branchId: 7,
    componentId: null,
    configurationId: null,
    configurationVersion: null,
    backendSize: 'small',
    loginType: 'default',
    readOnlyStorageAccess: true,
    statementTimeoutSeconds: 60,
    passwordHash: 'a',
    createdAt: NOW,
    usedAt: NOW,
    creator: { tokenId: 1, description: 'me' },
  })

  async function insert(): Promise<Workspace> {
    const projectId = await newProject()
    return inTransaction((trx) => store.insert(trx, newWorkspace(projectId)))
  }

  test('workspaces that are made at the same time are counted one after the other', async () => {
    const projectId = await newProject()
    const make = () =>
      inTransaction(async (trx) => {
        const { ofProject } = await store.count(trx, projectId, 1)
        if (ofProject >= 3) return false
        await store.insert(trx, newWorkspace(projectId))
        return true
      })
    const made = await Promise.all(Array.from({ length: 8 }, make))
    assert.equal(made.filter(Boolean).length, 3)
  })

  test('a workspace is found in its project only, and comes back as it was stored', async () => {
    const made = await insert()
    const other = await insert()
    assert.deepEqual(await store.find(made.projectId, made.id), made)
    assert.equal(await store.find(other.projectId, made.id), undefined)
    assert.deepEqual(await store.list(made.projectId, 7), [made])
    assert.deepEqual(await store.list(made.projectId, 8), [])
    assert.equal(await inTransaction((trx) => store.remove(trx, { ...made, projectId: other.projectId })), false)
    assert.equal(await inTransaction((trx) => store.remove(trx, made)), true)
    assert.equal((await store.listIds()).has(made.id), false)
    assert.equal((await store.listIds()).has(other.id), true)
  })

  test('use and passwords are changed in one project, and unused workspaces are found', async () => {
    const made = await insert()
    const other = await insert()
    const later = new Date(NOW.getTime() + 1000)
    await inTransaction(async (trx) => {
      await store.touch(trx, made, later)
      await store.setPassword(trx, { ...made, projectId: other.projectId }, 'wrong', 7)
      await store.setPassword(trx, made, 'b', 8)
    })
    assert.deepEqual(await store.find(made.projectId, made.id), { ...made, usedAt: later, passwordHash: 'b', actingTokenId: 8 })
    const unused = (await store.listUnusedSince(later)).map(({ id }) => id)
    assert.deepEqual([unused.includes(made.id), unused.includes(other.id)], [false, true])
  })
})
