import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { startMailServer } from '../../../../../tests/support/servers/mail-server.ts'
import { startReceiver } from '../../../../../tests/support/servers/webhook-receiver.ts'
import { type Job, shellStack } from '../../../../../tests/support/shell-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

interface Subscription {
  readonly id: string
  readonly event: string
  readonly recipient: { readonly address: string; readonly url?: string; readonly signingSecret?: string }
  readonly expiresAt: string | null
  readonly warnings: readonly string[]
}

interface Delivery {
  readonly id: string
  readonly messageId: string
  readonly status: string
  readonly event: string
  readonly nextAttemptAt: string | null
  readonly attempts: readonly { readonly statusCode: number | null; readonly answer: string; readonly error: string | null }[]
}

interface Payload {
  readonly eventType: string
  readonly errorMessage?: string
  readonly job: {
    readonly id: string
    readonly component: { readonly id: string; readonly name: string }
    readonly configuration: { readonly id: string; readonly name: string }
  }
  readonly project: { readonly id: string; readonly name: string }
}

const HOUR_MS = 3_600_000

/** A stack whose clock the test moves, with two components: one works, one fails. */
async function notifyingStack(t: TestContext, options: { readonly smtpUrl?: string } = {}) {
  let aheadMs = 0
  const stack = await shellStack(t, {
    clock: { now: () => new Date(Date.now() + aheadMs) },
    worker: { egressAllow: ['127.0.0.1'] },
    ...options,
  })
  await stack.add('test.works', 'true')
  await stack.add('test.fails', 'echo "the source is closed" >&2; exit 1')
  const subscribe = async (json: object): Promise<Subscription> => {
    const answer = await stack.request('POST', '/notification/project-subscriptions', { json })
    assert.equal(answer.status, 201, answer.text)
    return answer.json<Subscription>()
  }
  const run = async (component: string): Promise<{ job: Job; config: string }> => {
    const config = await stack.configure(component, {})
    const job = await stack.wait((await stack.request('POST', `/queue/${component}/run`, { json: { config } })).json<Job>())
    return { job, config }
  }
  const deliveries = async (query = ''): Promise<Delivery[]> =>
    (await stack.request('GET', `/notification/deliveries${query}`)).json<Delivery[]>()
  const advance = (ms: number): void => {
    aheadMs += ms
  }
  const now = (): number => Date.now() + aheadMs
  return { ...stack, subscribe, run, deliveries, advance, now }
}

test('the end of a job reaches a webhook once, signed, with what happened', async (t) => {
  const receiver = await startReceiver(t)
  const stack = await notifyingStack(t)
  const { recipient } = await stack.subscribe({
    event: 'job-failed',
    filters: [{ field: 'job.component.id', value: 'test.fails' }],
    recipient: { channel: 'webhook', url: `${receiver.url}/hook` },
  })
  await stack.run('test.works')
  const { job, config } = await stack.run('test.fails')
  await until('the message arrives', async () => receiver.received.length === 1)
  const { path, headers, body } = receiver.received[0]!
  const payload = JSON.parse(body) as Payload
  assert.equal(path, '/hook')
  assert.equal(payload.eventType, 'job-failed')
  assert.deepEqual(payload.job.configuration, { id: config, name: 'c' })
  assert.deepEqual([payload.job.id, payload.job.component.name], [job.id, 'test.fails'])
  assert.match(payload.errorMessage!, /the source is closed/)
  assert.deepEqual(payload.project, { id: String(stack.projectId), name: 'Test' })
  // As a library for Standard Webhooks checks it.
  const key = Buffer.from(recipient.signingSecret!.replace('whsec_', ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  await until('it counts as delivered', async () => (await stack.deliveries())[0]?.status === 'delivered')
  const [only, ...others] = await stack.deliveries()
  assert.deepEqual(others, [])
  assert.equal(only!.messageId, headers['webhook-id'])
  assert.deepEqual(
    only!.attempts.map(({ statusCode, answer, error }) => ({ statusCode, answer, error })),
    [{ statusCode: 200, answer: 'thanks', error: null }],
  )
})

test('a receiver that fails gets the same message again, later and later, for a day', async (t) => {
  const receiver = await startReceiver(t)
  const stack = await notifyingStack(t)
  await stack.subscribe({ event: 'job-succeeded', recipient: { channel: 'webhook', address: receiver.url } })
  receiver.answerWith((response) => response.writeHead(500).end('no'))
  await stack.run('test.works')
  const attempts = async () => (await stack.deliveries())[0]?.attempts.length ?? 0
  await until('the first attempt is recorded', async () => (await attempts()) === 1)
  assert.equal((await stack.deliveries())[0]!.status, 'waiting')
  stack.advance(HOUR_MS)
  await until('the second attempt is recorded', async () => (await attempts()) === 2)
  receiver.answerWith((response) => response.destroy())
  stack.advance(HOUR_MS)
  await until('the third attempt is recorded', async () => (await attempts()) === 3)
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  const [first, , third] = (await stack.deliveries())[0]!.attempts
  assert.equal(first!.error, 'It answered 500.')
  assert.match(third!.error!, /The connection failed/)
  stack.advance(24 * HOUR_MS)
  await until('it is given up', async () => (await stack.deliveries())[0]!.status === 'failed')
  stack.advance(24 * HOUR_MS)
  receiver.answerWith((response) => response.end())
  await stack.run('test.works')
  await until('the next message is delivered', async () => (await stack.deliveries('?status=delivered')).length === 1)
  assert.equal((await stack.deliveries('?status=failed'))[0]!.attempts.length, 4)
})

test('redirects are not followed, and addresses of the stack itself are refused', async (t) => {
  const receiver = await startReceiver(t)
  const stack = await notifyingStack(t)
  const { id } = await stack.subscribe({ event: 'job-failed', recipient: { channel: 'webhook', url: receiver.url } })
  receiver.answerWith((response) => response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end())
  const answer = await stack.request('POST', `/notification/project-subscriptions/${id}/test`)
  const delivery = answer.json<Delivery>()
  assert.equal(delivery.status, 'failed')
  assert.match(delivery.attempts[0]!.error!, /redirects are not followed/)
  assert.equal(receiver.received.length, 1)
  for (const url of ['http://10.0.0.1/', 'http://localhost:9/', 'http://[::1]/', 'http://169.254.169.254/latest']) {
    const refused = await stack.request('POST', '/notification/project-subscriptions', {
      json: { event: 'job-failed', recipient: { channel: 'webhook', url } },
    })
    assert.equal(refused.status, 400, url)
    assert.match(refused.json<{ error: string }>().error, /is not allowed/)
  }
})

test('a receiver that closes half-way, redirects to a private address, then fails for an hour gets its message once', async (t) => {
  const receiver = await startReceiver(t)
  const stack = await notifyingStack(t)
  await stack.subscribe({ event: 'pinged', recipient: { channel: 'webhook', url: receiver.url } })
  receiver.answerWith((response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('thank')
    response.socket!.end()
  })
  assert.deepEqual((await stack.request('POST', '/notification/events/pinged', { json: {} })).json(), { deliveries: 1 })
  const attempts = async () => (await stack.deliveries())[0]!.attempts
  const attempted = (count: number) => until(`attempt ${count} is recorded`, async () => (await attempts()).length >= count)
  await attempted(1)
  assert.match((await attempts())[0]!.error!, /The connection failed/)
  receiver.answerWith((response) => response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end())
  stack.advance(HOUR_MS / 12)
  await attempted(2)
  assert.match((await attempts())[1]!.error!, /redirects are not followed/)
  receiver.answerWith((response) => response.writeHead(500).end())
  let failures = 2
  for (let minutes = 5; minutes <= 60; minutes += 5) {
    stack.advance(HOUR_MS / 12)
    await until('it was tried, or is not due yet', async () => {
      const [delivery] = await stack.deliveries()
      return delivery!.attempts.length > failures || Date.parse(delivery!.nextAttemptAt!) > stack.now()
    })
    failures = (await attempts()).length
  }
  assert.ok(failures >= 4, `${failures} attempts`)
  receiver.answerWith((response) => response.end('thanks'))
  stack.advance(HOUR_MS)
  await until('it is delivered', async () => (await stack.deliveries())[0]!.status === 'delivered')
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.equal(receiver.received.length, (await attempts()).length)
})

test('a subscription is checked, shown without its secret, limited to its project and (G12) branch, and gone after its end', async (t) => {
  const stack = await notifyingStack(t)
  const subscriptions = '/notification/project-subscriptions'
  assert.deepEqual((await stack.request('GET', subscriptions)).json(), [])
  const made = await stack.subscribe({
    event: 'job-failed',
    filters: [{ field: 'branch.id', value: '1' }],
    recipient: { channel: 'webhook', address: 'https://example.com/a' },
    expiresAt: '+24 hours',
  })
  assert.equal(made.recipient.url, 'https://example.com/a')
  const shown = await stack.request('GET', `${subscriptions}/${made.id}`)
  assert.ok(!shown.text.includes('whsec_'))
  assert.deepEqual(shown.json<{ filters: unknown }>().filters, [{ field: 'branch.id', value: '1', operator: '==' }])
  const mail = await stack.subscribe({ event: 'no-such-event', recipient: { channel: 'email', address: 'a@example.com' } })
  assert.match(mail.warnings.join(' '), /MILLRACE_SMTP_URL.*does not emit "no-such-event"/)
  const plain = await stack.subscribe({ event: 'job-failed', recipient: { channel: 'email', address: 'a@example.com' } })
  const { id: main } = (await stack.request('GET', '/v2/storage/dev-branches/default')).json<{ id: number }>()
  const filters = async (id: string) =>
    (await stack.request('GET', `${subscriptions}/${id}`)).json<{ filters: unknown }>().filters
  assert.deepEqual(await filters(plain.id), [{ field: 'branch.id', value: String(main), operator: '==' }])
  assert.deepEqual(await filters(mail.id), [], 'an event of another kind has no branch')
  assert.equal((await stack.request('DELETE', `${subscriptions}/${plain.id}`)).status, 204)
  const other = await stack.newProject()
  assert.equal((await stack.request('GET', `${subscriptions}/${made.id}`, { token: other.masterToken })).status, 404)
  assert.deepEqual((await stack.request('GET', `${subscriptions}?event=job-failed`)).json<unknown[]>().length, 1)
  const webhook = { channel: 'webhook', url: 'https://example.com' }
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ event: 'job-failed', recipient: webhook, expiresAt: 'soon' }, /expiresAt.*"soon" is not a time/],
    [{ event: 'job-failed', recipient: webhook, expiresAt: '-1 hour' }, /in the past/],
    [{ event: 'job-failed', recipient: { channel: 'webhook', url: 'ftp://example.com' } }, /not an http or https address/],
    [{ event: 'job-failed', recipient: { channel: 'webhook', url: 'https://a:b@example.com' } }, /password/],
    [{ event: 'job-failed', recipient: { channel: 'webhook' } }, /recipient\.url/],
    [{ event: 'job-failed', recipient: { channel: 'email', address: 'nobody' } }, /is not an e-mail address/],
    [{ event: 'job-failed', recipient: { channel: 'pigeon', address: 'x' } }, /channel/],
    [{ event: 'job-failed', recipient: { ...webhook, signingSecret: 'short' } }, /whsec_/],
    [{ event: 'job-failed', recipient: webhook, filters: [{ field: 'job.id', value: 'a', operator: '<' }] }, /compares numbers/],
    [{ event: 'job-failed', recipient: webhook, filters: [{ field: 'project.name', value: 'a' }] }, /project\.id/],
    [{ event: 'job-failed', recipient: webhook, filters: [{ field: 'job.id', value: 'a', operator: '~' }] }, /operator/],
    [{ recipient: webhook }, /event/],
  ]
  for (const [json, reason] of wrong) {
    const answer = await stack.request('POST', subscriptions, { json })
    assert.equal(answer.status, 400, JSON.stringify(json))
    assert.match(answer.json<{ error: string }>().error, reason)
  }
  const limited = (await stack.request('POST', '/v2/storage/tokens', { json: { description: 'none' } })).json<{ token: string }>()
  const byLimited = await stack.request('POST', subscriptions, {
    json: { event: 'job-failed', recipient: webhook },
    token: limited.token,
  })
  assert.equal(byLimited.status, 403)
  stack.advance(25 * HOUR_MS)
  assert.equal((await stack.request('GET', `${subscriptions}/${made.id}`)).status, 404)
  assert.equal((await stack.request('DELETE', `${subscriptions}/${mail.id}`)).status, 204)
  assert.equal((await stack.request('DELETE', `${subscriptions}/${mail.id}`)).status, 404)
})

/** Until the event loop has read its sockets this many times. */
async function afterPolls(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}

test('a slow receiver holds up its own messages only, and what a deleted subscription had to send is not sent', async (t) => {
  const slow = await startReceiver(t)
  const quick = await startReceiver(t)
  let open = 0
  let maxOpen = 0
  slow.answerWith((response) => {
    open++ // and is never answered
    response.on('close', () => open--)
    // Requests that the sender has given up are closed first, even when this process sees their end after the next request.
    void afterPolls(3).then(() => (maxOpen = Math.max(maxOpen, open)))
  })
  const stack = await notifyingStack(t)
  const { id } = await stack.subscribe({ event: 'pinged', recipient: { channel: 'webhook', url: slow.url } })
  const emit = () => stack.request('POST', '/notification/events/pinged', { json: { text: 'hello' } })
  for (let i = 0; i < 10; i++) assert.deepEqual((await emit()).json(), { deliveries: 1 })
  await until('the slow receiver has four messages', () => open === 4)
  await stack.subscribe({
    event: 'pinged',
    recipient: { channel: 'webhook', url: quick.url, template: { note: 'It says {{text}}', of: '{{project.id}}' } },
  })
  assert.deepEqual((await emit()).json(), { deliveries: 2 })
  await until('the quick one has its message', async () => quick.received.length === 1)
  assert.deepEqual(JSON.parse(quick.received[0]!.body), { note: 'It says hello', of: String(stack.projectId) })
  assert.equal(maxOpen, 4)
  assert.equal((await stack.request('DELETE', `/notification/project-subscriptions/${id}`)).status, 204)
  assert.equal((await stack.deliveries('?status=cancelled')).length, 11)
})

test('mail goes out through the server of MILLRACE_SMTP_URL, and is tried again when it refuses', async (t) => {
  const mailServer = await startMailServer(t)
  const stack = await notifyingStack(t, { smtpUrl: `${mailServer.url}?from=robot@example.com` })
  const made = await stack.subscribe({ event: 'job-failed', recipient: { channel: 'email', address: 'people@example.com' } })
  assert.deepEqual(made.warnings, [])
  mailServer.refuseWith('The mailbox is full')
  const { job } = await stack.run('test.fails')
  await until('the refusal is recorded', async () => (await stack.deliveries())[0]?.attempts.length === 1)
  assert.match((await stack.deliveries())[0]!.attempts[0]!.error!, /The mailbox is full/)
  mailServer.refuseWith(undefined)
  stack.advance(HOUR_MS)
  await until('the mail arrives', async () => (await stack.deliveries('?status=delivered')).length === 1)
  const [mail, ...others] = mailServer.received
  assert.deepEqual(others, [])
  assert.deepEqual([mail!.from, mail!.to], ['robot@example.com', ['people@example.com']])
  assert.match(mail!.text, /^Subject: Job failed: c\r$/m)
  assert.match(mail!.text, new RegExp(`^Job: ${job.id}\\r$`, 'm'))
  assert.match(mail!.text, /the source is closed/)
})

test('a message for Slack or Teams has the shape those tools take', async (t) => {
  const receiver = await startReceiver(t)
  const stack = await notifyingStack(t)
  for (const template of ['slack', 'teams'])
    await stack.subscribe({
      event: 'job-failed',
      recipient: { channel: 'webhook', url: `${receiver.url}/${template}`, template },
    })
  await stack.run('test.fails')
  await until('both have their message', () => receiver.received.length === 2)
  const bodyOf = (path: string) => JSON.parse(receiver.received.find((one) => one.path === path)!.body)
  const slack = bodyOf('/slack') as { text: string; blocks: { text: { text: string } }[] }
  assert.equal(slack.text, 'Job failed: c')
  assert.match(slack.blocks[1]!.text.text, /Component: test\.fails\n.*Error: .*the source is closed/s)
  const { type, attachments } = bodyOf('/teams') as {
    type: string
    attachments: { content: { type: string; body: { text: string }[] } }[]
  }
  assert.equal(type, 'message')
  assert.equal(attachments[0]!.content.type, 'AdaptiveCard')
  assert.equal(attachments[0]!.content.body[0]!.text, 'Job failed: c')
})
