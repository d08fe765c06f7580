import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { messagesOf, startModelServer } from '../../../../../tests/support/servers/model-server.ts'
import { shellStack } from '../../../../../tests/support/shell-stack.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import type { InnerApi } from '../../../http/inner/inner-api.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { promptFor } from './model-tasks.ts'
import { queryPrompt, sqlIn } from './prompts.ts'

const KEY = 'a-key-that-stays-here'
const settings = (url: string, more: object = {}) => ({
  url,
  model: 'small',
  key: KEY,
  timeoutMs: 30_000,
  callsPerDay: 50,
  ...more,
})

interface Sent {
  readonly role: string
  readonly content: string
}

test('a model of the operator answers questions, explains a failed job and writes a query, and each shows what was sent', async (t) => {
  const model = await startModelServer(t, 'Set a cron expression.')
  const stack = await shellStack(t, { ai: settings(model.url) })
  const ask = async (query: string) =>
    (await stack.request('POST', '/ai/docs/question', { json: { query } })).json<{
      text: string
      sourceUrls: string[]
      sent?: Sent[]
    }>()
  assert.deepEqual((await stack.request('GET', '/ai/model')).json(), {
    isAvailable: true,
    model: 'small',
    host: new URL(model.url).host,
  })
  const query = 'How do I run a configuration on a cron schedule?'
  const written = await ask(query)
  assert.equal(written.text, 'Set a cron expression.')
  assert.ok(written.sourceUrls.length > 0)
  const [question] = model.received
  assert.equal(question!.path, '/v1/chat/completions')
  assert.equal(question!.headers.authorization, `Bearer ${KEY}`)
  assert.deepEqual(written.sent, messagesOf(question!))
  assert.match(written.sent![1]!.content, /^How do I run[\s\S]*schedule/)
  assert.match((await ask('zzzzqqqq')).text, /no passage/)
  assert.equal(model.received.length, 1, 'nothing to write from')

  // A failed job: first what would be sent, then exactly that.
  await stack.add(
    'test.fail',
    'echo "calling https://ann:not-for-a-model@example.com/?token=not-for-a-model"; echo "the column price is missing" >&2; exit 1',
  )
  const config = await stack.configure('test.fail', { parameters: { '#password': 'not-for-a-model', plain: 'not-for-a-model' } })
  const job = await stack.wait(
    (await stack.request('POST', '/queue/jobs', { json: { component: 'test.fail', config, mode: 'run' } })).json(),
  )
  assert.equal(job.status, 'error')
  const explain = { task: 'explain-job', jobId: job.id }
  const prompt = (await stack.request('POST', '/ai/prompts', { json: explain })).json<{ promptId: string; messages: Sent[] }>()
  assert.equal(model.received.length, 1, 'nothing was sent')
  assert.match(prompt.messages[1]!.content, /test\.fail[\s\S]*the column price is missing/)
  assert.doesNotMatch(JSON.stringify(prompt), /not-for-a-model/)
  model.say('The price is missing.')
  const wrong = await stack.request('POST', '/ai/answers', { json: { ...explain, promptId: 'another' } })
  assert.equal(wrong.status, 409, wrong.text)
  assert.match(wrong.text, /ai\.promptChanged/)
  assert.equal(model.received.length, 1, 'nothing was sent')
  const answer = await stack.request('POST', '/ai/answers', { json: { ...explain, promptId: prompt.promptId } })
  const explained = answer.json<{ text: string; sql: null; sent: Sent[]; callsLeft: number }>()
  assert.equal(explained.text, 'The price is missing.', answer.text)
  assert.equal(explained.callsLeft, 48)
  assert.deepEqual(explained.sent, prompt.messages)
  assert.deepEqual(messagesOf(model.received[1]!), prompt.messages)

  // A query: names and types of columns, no rows.
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'shop' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', {
    form: { name: 'orders', dataString: 'id,city\n1,never-sent-town\n', primaryKey: 'id' },
  })
  model.say('Here it is:\n```sql\nSELECT "city" FROM "in.c-shop"."orders"\n```\n')
  const wanted = { task: 'write-query', question: 'Which cities are there?' }
  const shown = (await stack.request('POST', '/ai/prompts', { json: wanted })).json<{ promptId: string; messages: Sent[] }>()
  assert.match(shown.messages[1]!.content, /"in\.c-shop"\."orders" \("id", "city", primary key \(id\)\)/)
  const made = (await stack.request('POST', '/ai/answers', { json: { ...wanted, promptId: shown.promptId } })).json<{
    sql: string
  }>()
  assert.equal(made.sql, 'SELECT "city" FROM "in.c-shop"."orders"')
  assert.ok(model.received.every(({ body }) => !/never-sent-town|not-for-a-model/.test(body)))

  const events = await until('the calls are recorded', async () => {
    const found = (await stack.request('GET', '/v2/storage/events?q=event:storage.modelCalled&limit=50')).json<
      { params: Record<string, unknown> }[]
    >()
    return found.length === 3 && found
  })
  assert.ok(
    events.some(({ params }) => params.task === 'explain-job' && params.subject === job.id && params.outcome === 'answered'),
  )
  assert.ok(!JSON.stringify(events).includes(KEY))

  // Who may: what the caller cannot read is not sent, and viewers send nothing.
  const other = await stack.newProject()
  const stranger = await stack.request('POST', '/ai/prompts', { token: other.masterToken, json: explain })
  assert.equal(stranger.status, 404, stranger.text)
  const nothing = await stack.request('POST', '/ai/prompts', { token: other.masterToken, json: wanted })
  assert.doesNotMatch(nothing.text, /orders/)
  const viewer = await newMember(stack, await newStackAdmin(stack), { projectId: stack.projectId, role: 'viewer' })
  assert.equal((await viewer.in(stack.projectId).call('POST', '/ai/prompts', { json: explain })).status, 403)
  for (const json of [
    { task: 'explain-job' },
    { task: 'write-query', question: ' ' },
    { task: 'sing' },
    { task: 'explain-job', jobId: '..' },
    { task: 'write-query', question: 'a', branchId: '..' },
    {},
  ])
    assert.equal((await stack.request('POST', '/ai/prompts', { json })).status, 400, JSON.stringify(json))
  assert.equal((await stack.request('POST', '/ai/prompts', { json: { task: 'explain-job', jobId: '999999' } })).status, 404)
})

test('a model that fails, hangs or answers nonsense gives one sentence, and a caller has a limit for the day', async (t) => {
  const model = await startModelServer(t)
  const stack = await startTestStack(t, { ai: settings(model.url, { timeoutMs: 400, callsPerDay: 10 }) })
  const wanted = { task: 'write-query', question: 'How many?' }
  const { promptId } = (await stack.request('POST', '/ai/prompts', { json: wanted })).json<{ promptId: string }>()
  const ask = (token?: string) => stack.request('POST', '/ai/answers', { json: { ...wanted, promptId }, ...(token && { token }) })
  const json = (value: unknown) => (response: ServerResponse) => response.end(JSON.stringify(value))
  const ways: readonly (readonly [(response: ServerResponse) => void, RegExp])[] = [
    [(response) => response.writeHead(500).end('broken'), /returned 500\.$/],
    [
      (response) => response.writeHead(404).end(`{"error":{"message":"no model small, Bearer ${KEY}"}}`),
      /returned 404: no model small, Bearer \*\*\*\.$/,
    ],
    [
      (response) => response.writeHead(400).end(JSON.stringify({ error: `${'x'.repeat(188)} ${KEY}` })), // the reason is cut at 200
      /returned 400: x{188} \*{3}\.$/,
    ],
    [(response) => response.end('<html>'), /not a chat completion/],
    [json({ choices: [] }), /not a chat completion/],
    [json(null), /not a chat completion/],
    [json({ choices: [{ message: { content: ' ' } }] }), /no text/],
    [json({ choices: [{ message: { content: 'x'.repeat(300 << 10) } }] }), /more than 256 kB/],
    [() => {}, /within 0\.4 s/],
  ]
  for (const [answer, sentence] of ways) {
    model.answerWith(answer)
    const failed = await ask()
    assert.equal(failed.status, 503, failed.text)
    const { error } = failed.json<{ error: string }>()
    assert.match(failed.text, /ai\.modelFailed/)
    assert.match(error, sentence)
    assert.ok(!failed.text.includes(KEY), failed.text)
  }
  // A question about the documentation has its passages anyway.
  const plain = (
    await stack.request('POST', '/ai/docs/question', { json: { query: 'How do I run a configuration on a cron schedule?' } })
  ).json<{ text: string; sent?: unknown }>()
  assert.match(plain.text, /^The model at 127\.0\.0\.1:\d+ did not respond: .* These passages match:[\s\S]*schedule/)
  assert.equal(plain.sent, undefined)
  model.say('SELECT 1')
  const spent = await ask()
  assert.equal(spent.status, 429, spent.text)
  assert.match(spent.text, /daily limit of 10 requests to the model/)
  const { token } = (
    await stack.request('POST', '/v2/storage/tokens', { json: { description: 'other', canManageBuckets: true } })
  ).json<{ token: string }>()
  assert.equal((await ask(token)).status, 200, 'another token has its own')
})

test('without a model nothing is offered', async (t) => {
  const { request } = await startTestStack(t)
  assert.deepEqual((await request('GET', '/ai/model')).json(), { isAvailable: false, model: null, host: null })
  const refused = await request('POST', '/ai/prompts', { json: { task: 'write-query', question: 'a' } })
  assert.equal(refused.status, 404)
  assert.match(refused.text, /MILLRACE_AI_URL/)
})

test('tables are read page by page, in smaller pages where they are wide, up to a limit', async () => {
  const asked: string[] = []
  const projectOf = (count: number, most: number) => {
    const get = async (_path: string, { limit = 0, offset = 0 }: { limit?: number; offset?: number } = {}) => {
      asked.push(`${limit} from ${offset}`)
      if (limit > most) throw new PlatformError('mcp.answerTooLarge', { max: '8 MB' })
      const ids = Array.from({ length: Math.max(0, Math.min(limit, count - offset)) }, (_, n) => `in.c-main.t${offset + n}`)
      return ids.map((id) => ({ id, primaryKey: [], columns: ['a'] }))
    }
    return { get } as unknown as InnerApi // the only call of it
  }
  const model = { name: 'm', host: 'h', complete: async () => '' }
  const written = async (api: InnerApi) => {
    asked.length = 0
    const { messages } = await promptFor(model, api, async () => [], { task: 'write-query', question: 'How many?' })
    return messages[1]!.content
  }
  const few = await written(projectOf(60, 30))
  assert.deepEqual(asked, ['100 from 0', '25 from 0', '25 from 25', '25 from 50'])
  assert.equal(few.match(/^"in\.c-main"/gm)?.length, 60)
  assert.match(await written(projectOf(1e6, 1e6)), /\(at least \d{4} more tables are left out\)$/)
  await assert.rejects(written(projectOf(1, 0)), { code: 'mcp.answerTooLarge' })
})

test('the tables that a question is about are sent first, and what does not fit is counted', () => {
  const many = Array.from({ length: 2_000 }, (_, n) => ({
    ...{ id: `in.c-main.table_${n}`, primaryKey: [] },
    columns: [{ name: 'city', type: undefined }],
  }))
  const wanted = { id: 'in.c-zoo.animals', primaryKey: [], columns: [{ name: 'weight', type: 'INTEGER' }] }
  const [, user] = queryPrompt('How heavy are the animals?', [...many, wanted])
  assert.match(user!.content, /Tables:\n"in\.c-zoo"\."animals" \("weight" INTEGER\)\n/)
  assert.match(user!.content, /\(\d+ more tables are left out\)$/)
  assert.ok(user!.content.length < 30_000)
  assert.equal(sqlIn('SELECT 1'), 'SELECT 1')
  assert.equal(sqlIn('```\nSELECT 2;\n```'), 'SELECT 2;')
})
