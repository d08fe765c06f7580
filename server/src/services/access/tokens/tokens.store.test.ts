import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { createTokensStore, type NewToken, type Permissions } from './tokens.store.ts'

const NOTHING: Permissions = {
  canManageBuckets: false,
  canManageTokens: false,
  canReadAllFileUploads: false,
  canPurgeTrash: false,
  canManageProtectedDefaultBranch: false,
  canCreateJobs: false,
  canReadAllProjectEvents: false,
  canManageDevBranches: false,
  bucketPermissions: { 'in.c-a': 'read' },
  componentAccess: ['x'],
}
const createdAt = new Date('2026-01-02T03:04:05.678Z')

await onBothDatabases('tokens store', ({ db, inTransaction }) => {
  const store = createTokensStore(db)
  const newProject = () => inTransaction((trx) => store.insertProject(trx, { name: 'P', features: ['f'], createdAt }))
  const newToken = (projectId: number, hash: string): NewToken => ({
    projectId,
    hash,
    description: 'ünïcode 🐦',
    permissions: NOTHING,
    isMasterToken: false,
    creatorToken: { id: 7, description: 'someone' },
    createdAt,
    expiresAt: new Date('2030-01-01T00:00:00Z'),
  })

  test('a token comes back as it was written, by hash and by id', async () => {
    const project = await newProject()
    const written = await inTransaction((trx) => store.insert(trx, newToken(project.id, 'hash-1')))
    assert.deepEqual(await store.findByHash('hash-1'), written)
    assert.deepEqual(await store.find(project.id, written.id), written)
    assert.deepEqual(written.permissions, NOTHING)
    assert.deepEqual(written.expiresAt, new Date('2030-01-01T00:00:00Z'))
  })

  test('the last use is written for tokens of the project alone', async () => {
    const [mine, other] = [await newProject(), await newProject()]
    const [a, b] = [
      await inTransaction((trx) => store.insert(trx, newToken(mine.id, 'used-1'))),
      await inTransaction((trx) => store.insert(trx, newToken(other.id, 'used-2'))),
    ]
    const at = new Date('2026-02-03T04:05:00Z')
    await inTransaction((trx) => store.markUsed(trx, mine.id, [a.id, b.id], at))
    assert.deepEqual((await store.find(mine.id, a.id))?.lastUsedAt, at)
    assert.equal((await store.find(other.id, b.id))?.lastUsedAt, undefined)
  })

  test('settings of a project are kept, those of another stay', async () => {
    const [mine, other] = [await newProject(), await newProject()]
    assert.deepEqual(mine.settings, {})
    await inTransaction((trx) => store.saveSettings(trx, mine.id, { backend: 'bigquery' }))
    assert.deepEqual((await store.findProject(mine.id))?.settings, { backend: 'bigquery' })
    assert.deepEqual((await store.findProject(other.id))?.settings, {})
  })

  test('no function reaches a token of another project', async () => {
    const [mine, other] = [await newProject(), await newProject()]
    const token = await inTransaction((trx) => store.insert(trx, newToken(mine.id, 'hash-2')))
    assert.equal(await store.find(other.id, token.id), undefined)
    assert.deepEqual(await store.list(other.id), [])
    await inTransaction(async (trx) => {
      assert.equal(await store.update(trx, other.id, token.id, { description: 'x', permissions: NOTHING }), undefined)
      assert.equal(await store.replaceHash(trx, other.id, token.id, 'stolen', createdAt), undefined)
      assert.equal(await store.remove(trx, other.id, token.id), false)
    })
    assert.deepEqual(await store.find(mine.id, token.id), token)
  })

  test('ids rise and are not given twice, not even after a delete', async () => {
    const project = await newProject()
    const first = await inTransaction((trx) => store.insert(trx, newToken(project.id, 'hash-3')))
    await inTransaction((trx) => store.remove(trx, project.id, first.id))
    const second = await inTransaction((trx) => store.insert(trx, newToken(project.id, 'hash-3')))
    assert.ok(second.id > first.id)
  })

  test('nodes that start together make one first project', async () => {
    await inTransaction((trx) => store.insertProject(trx, { name: 'not counted', features: [], createdAt }))
    const isFirst = () =>
      inTransaction(async (trx) => {
        const before = await store.countProjectsAlone(trx)
        await store.insertProject(trx, { name: 'P', features: [], createdAt })
        return before
      })
    const counts = await Promise.all([isFirst(), isFirst(), isFirst(), isFirst()])
    assert.equal(new Set(counts).size, 4, String(counts))
  })

  test('what a failed transaction wrote is not there', async () => {
    const project = await newProject()
    const failing = inTransaction(async (trx) => {
      await store.insert(trx, newToken(project.id, 'hash-4'))
      throw new Error('half way')
    })
    await assert.rejects(failing, /half way/)
    assert.equal(await store.findByHash('hash-4'), undefined)
  })
})
