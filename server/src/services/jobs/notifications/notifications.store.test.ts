import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { createNotificationsStore, type NewDelivery, type Recipient } from './notifications.store.ts'

const NOW = 1_800_000_000_000
const HOUR_MS = 3_600_000
const recipient: Recipient = { channel: 'webhook', address: 'https://example.com/a', template: { a: 1 }, signingSecret: 'cipher' }

await onBothDatabases('notifications store', ({ db, inTransaction }) => {
  const newProject = () => newProjectRow(db)
  const store = createNotificationsStore(db)
  const attempt = { attemptedAt: new Date(NOW), durationMs: 5, statusCode: 500, answer: 'no', error: 'It answered 500.' }

  async function subscribed(event = 'job-failed', expiresAt?: Date) {
    const projectId = await newProject()
    const subscription = await inTransaction((trx) =>
      store.insertSubscription(trx, {
        projectId,
        event,
        filters: [{ field: 'job.id', operator: '>', value: 7 }],
        recipient,
        expiresAt,
        createdAt: new Date(NOW),
        creator: { tokenId: 1, description: 'me' },
      }),
    )
    return { projectId, subscription }
  }
  const delivery = (projectId: number, subscriptionId: number, more: Partial<NewDelivery> = {}): NewDelivery => ({
    projectId,
    subscriptionId,
    messageId: 'msg_1',
    event: 'job-failed',
    recipient,
    payload: { eventType: 'job-failed', 'a"b': ['ž'] },
    uniqueKey: undefined,
    nextAttemptAt: NOW,
    giveUpAt: NOW + 24 * HOUR_MS,
    createdAt: NOW,
    ...more,
  })

  test('a subscription comes back as it was written, in its own project only', async () => {
    const { projectId, subscription } = await subscribed('own-event', new Date(NOW + HOUR_MS))
    const other = await newProject()
    assert.deepEqual(await store.findSubscription(projectId, subscription.id), subscription)
    assert.deepEqual(await store.listSubscriptions(projectId), [subscription])
    assert.deepEqual(await store.subscribersTo(db, projectId, 'own-event'), [subscription])
    assert.deepEqual(await store.subscribersTo(db, projectId, 'other-event'), [])
    assert.equal(await store.findSubscription(other, subscription.id), undefined)
    assert.deepEqual(await store.subscribersToAny(['own-event']), [subscription])
    assert.equal(await inTransaction((trx) => store.countSubscriptions(trx, projectId)), 1)
    assert.equal(await inTransaction((trx) => store.removeSubscription(trx, other, subscription.id, NOW)), false)
  })

  test('a key makes one delivery for each subscription; without a key each is one of its own', async () => {
    const { projectId, subscription } = await subscribed()
    const put = (uniqueKey: string | undefined) =>
      inTransaction((trx) => store.insertDelivery(trx, delivery(projectId, subscription.id, { uniqueKey })))
    assert.notEqual(await put('a'), undefined)
    assert.equal(await put('a'), undefined)
    assert.notEqual(await put('b'), undefined)
    assert.notEqual(await put(undefined), undefined)
    assert.notEqual(await put(undefined), undefined)
    assert.equal((await store.listDeliveries(projectId, {}, 10)).length, 4)
  })

  test('what is due is claimed once, an attempt that another node repeated is not written, and what ended is swept', async () => {
    const { projectId, subscription } = await subscribed()
    const id = await inTransaction((trx) => store.insertDelivery(trx, delivery(projectId, subscription.id, { nextAttemptAt: 5 })))
    assert.equal(await store.hasDue(5), true)
    assert.equal(await store.hasDue(4), false)
    const claim = (at: number, busy: string[] = []) => inTransaction((trx) => store.claimDue(trx, at, at + HOUR_MS, busy, 10))
    assert.deepEqual(await claim(5, [recipient.address]), [])
    const [first] = await claim(5)
    assert.deepEqual([first!.id, first!.attempts, first!.payload], [id, 1, { eventType: 'job-failed', 'a"b': ['ž'] }])
    assert.deepEqual(await claim(5), [])
    const [second] = await claim(5 + HOUR_MS)
    const outcome = { status: 'waiting', nextAttemptAt: NOW, endedAt: null } as const
    await inTransaction((trx) => store.recordAttempt(trx, first!, attempt, outcome)) // by the node that lost it
    assert.deepEqual((await store.listAttempts(projectId, [id!])).get(id!), [])
    await inTransaction((trx) => store.recordAttempt(trx, second!, attempt, { ...outcome, status: 'failed', endedAt: NOW }))
    assert.deepEqual((await store.listAttempts(projectId, [id!])).get(id!), [attempt])
    assert.deepEqual((await store.findDelivery(projectId, id!))!.endedAt, new Date(NOW))
    await inTransaction((trx) => store.sweep(trx, NOW, NOW))
    assert.notEqual(await store.findDelivery(projectId, id!), undefined)
    await inTransaction((trx) => store.sweep(trx, NOW + 1, NOW))
    assert.equal(await store.findDelivery(projectId, id!), undefined)
    assert.deepEqual((await store.listAttempts(projectId, [id!])).get(id!), [])
  })

  test('a deleted subscription cancels what it had to send, and an expired one is swept', async () => {
    const { projectId, subscription } = await subscribed('job-failed', new Date(NOW))
    const id = await inTransaction((trx) => store.insertDelivery(trx, delivery(projectId, subscription.id)))
    await inTransaction((trx) => store.sweep(trx, 0, NOW + 1))
    assert.equal(await store.findSubscription(projectId, subscription.id), undefined)
    const { subscription: kept, projectId: own } = await subscribed()
    const waiting = await inTransaction((trx) => store.insertDelivery(trx, delivery(own, kept.id)))
    assert.equal(await inTransaction((trx) => store.removeSubscription(trx, own, kept.id, NOW)), true)
    assert.equal((await store.findDelivery(own, waiting!))!.status, 'cancelled')
    assert.equal((await store.findDelivery(projectId, id!))!.status, 'waiting')
  })
})
