import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masterActor } from '../../../../../tests/support/master-actor.ts'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { type CredentialsRecord, createOauthStore } from './oauth.store.ts'

const NOW = 1_800_000_000_000

await onBothDatabases('oauth store', ({ db, inTransaction }) => {
  const store = createOauthStore(db)

  async function stored(): Promise<CredentialsRecord> {
    const record: CredentialsRecord = {
      projectId: await newProjectRow(db),
      componentId: 'c',
      credentialsId: 'shop',
      authorizedFor: 'The "shop"',
      creator: { id: 7, description: 'me' },
      createdAt: NOW,
      providerId: 'google',
      oauthVersion: '2.0',
      appKey: null,
      appSecret: null,
      userData: { shop: 'acme' },
      data: 'cipher 1',
      dataVersion: 1,
      expiresAt: NOW + 1000,
      refreshedAt: null,
      problem: null,
    }
    assert.equal(await inTransaction((trx) => store.insert(trx, record)), true)
    return record
  }

  test('credentials come back as they were stored, once for an id, for their project alone', async () => {
    const record = await stored()
    assert.deepEqual(await store.find(record), record)
    assert.deepEqual(await store.list(record.projectId, 'c'), [record])
    assert.equal(await inTransaction((trx) => store.insert(trx, { ...record, data: 'other' })), false)
    const other = { ...record, projectId: await newProjectRow(db) }
    assert.equal(await store.find(other), undefined)
    assert.equal(await inTransaction((trx) => store.remove(trx, other)), false)
    assert.equal(await inTransaction((trx) => store.remove(trx, record)), true)
    assert.equal(await store.find(record), undefined)
  })

  test('of many that want to refresh one holds the lease, and only its holder ends it', async () => {
    const record = await stored()
    const lease = (holder: string, now = NOW, version = 1) =>
      inTransaction((trx) => store.lease(trx, record, version, { holder, until: now + 30 }, now))
    const held = await Promise.all(['a', 'b', 'c', 'd'].map((holder) => lease(holder)))
    assert.equal(held.filter(Boolean).length, 1)
    const holder = ['a', 'b', 'c', 'd'][held.indexOf(true)]!
    const change = { data: 'cipher 2', expiresAt: null, refreshedAt: NOW }
    assert.equal(await inTransaction((trx) => store.endLease(trx, record, 'nobody', change)), false)
    assert.equal(await lease('late', NOW + 20), false, 'while the lease holds')
    assert.equal(await lease('later', NOW + 31), true, 'of a process that is gone')
    assert.equal(await inTransaction((trx) => store.endLease(trx, record, holder, change)), false, 'the lease was lost')
    assert.equal(await inTransaction((trx) => store.endLease(trx, record, 'later', change)), true)
    const after = await store.find(record)
    assert.deepEqual([after?.data, after?.dataVersion, after?.refreshedAt], ['cipher 2', 2, NOW])
    assert.equal(await lease('old', NOW + 99), false, 'of data that was replaced')
    assert.equal(await lease('new', NOW + 99, 2), true)
    await inTransaction((trx) => store.replace(trx, { ...record, data: 'cipher 3' }))
    assert.equal(await inTransaction((trx) => store.endLease(trx, record, 'new', change)), false, 'authorised anew meanwhile')
    assert.equal((await store.find(record))?.data, 'cipher 3')
  })

  test('a round trip is taken once, and those that are over go with the next', async () => {
    const projectId = await newProjectRow(db)
    const trip = (stateHash: string, expiresAt: number) => ({
      stateHash: `${projectId} ${stateHash}`,
      projectId,
      componentId: 'c',
      credentialsId: 'x',
      authorizedFor: '',
      providerId: 'google',
      appKey: null,
      appSecret: null,
      userData: {},
      returnUrl: null,
      configurationId: null,
      redirectUrl: 'https://example.com/cb',
      proof: 'cipher',
      browserHash: 'b',
      actor: masterActor(projectId),
      expiresAt,
    })
    await inTransaction((trx) => store.insertRoundTrip(trx, trip('old', NOW - 1), NOW - 2))
    await inTransaction((trx) => store.insertRoundTrip(trx, trip('new', NOW + 1), NOW))
    assert.equal(await store.findRoundTrip(`${projectId} old`), undefined)
    const taken = await Promise.all([1, 2].map(() => inTransaction((trx) => store.takeRoundTrip(trx, `${projectId} new`))))
    assert.deepEqual(taken.filter(Boolean), [trip('new', NOW + 1)])
  })
})
