// Messages with a table and a chart, to servers that imitate Slack, Teams and webhooks, and to a real mail server.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../../../tests/support/project-table.ts'
import { startMailServer } from '../../../tests/support/servers/mail-server.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'

const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
const COMPONENT = 'platform.wr-messages'
const SALES = 'out.c-shop.sales'

async function startServer(t: TestContext) {
  const got: { path: string; headers: NodeJS.Dict<string | string[]>; body: Buffer }[] = []
  const server = createServer(async (request, response) => {
    const one = { path: request.url ?? '', headers: request.headers, body: await buffer(request) }
    got.push(one)
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/upload`
    const isWrong = one.headers.authorization === 'Bearer wrong'
    const message = { text: '<https://example.com|a link> and words '.repeat(200) } // as Slack repeats what it posted
    response.end(
      JSON.stringify(isWrong ? { ok: false, error: 'invalid_auth' } : { ok: true, message, upload_url: url, file_id: 'F1' }),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got }
}

async function sales(stack: ShellStack): Promise<void> {
  await makeTable(stack, SALES, { columns: { day: 'DATE', revenue: 'INTEGER', note: 'STRING' }, primaryKey: ['day'] })
  await fillTable(
    stack,
    SALES,
    ['day', 'revenue', 'note'],
    [
      ['2026-01-01', '100', '<b>&</b>'],
      ['2026-01-02', '250', null],
      ['2026-01-03', '-20', 'žluť'],
    ],
  )
}

const configurationOf = (channel: object, parameters: object) => ({
  parameters: {
    ...{ channel, title: 'Sales of {{date}}: {{revenue}}', text: 'Of {{rows}} days', maxRows: 2 },
    ...parameters,
  },
  storage: { input: { tables: [{ query: `select * from "out.c-shop"."sales" order by day`, destination: 'sales' }] } },
})
const CHART = { kind: 'line', x: 'day', y: ['revenue'] }

async function run(stack: ShellStack, configuration: object): Promise<Job & { config: string }> {
  const config = await stack.configure(COMPONENT, configuration)
  const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return { ...(await stack.wait(answer.json<Job>())), config }
}

/** Width and height; its parts fit. */
function sizeOfPng(bytes: Buffer): readonly [number, number] {
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG')
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  const length = bytes.readUInt32BE(33)
  assert.equal(inflateSync(bytes.subarray(41, 41 + length)).length, (width * 3 + 1) * height)
  return [width, height]
}

test('a table and a chart reach Slack, Teams, a webhook and a mail', async (t) => {
  const stack = await startProject()
  await sales(stack)
  const { url, got } = await startServer(t)
  const mail = await startMailServer(t)
  const good = async (channel: object, parameters: object = {}) => {
    got.length = 0
    const job = await run(stack, configurationOf(channel, parameters))
    assert.equal(job.status, 'success', job.result.message)
    return job
  }
  await good({ type: 'slack', '#url': `${url}/services/T0/secret` })
  const plain = JSON.parse(String(got[0]?.body)) as { text: string; blocks: { text?: { text: string } }[] }
  assert.match(plain.text, /^Sales of \d{4}-\d\d-\d\d: 100$/)
  const table = plain.blocks.find(({ text }) => text?.text.startsWith('```'))?.text?.text
  assert.equal(
    table,
    '```day         revenue  note\n----------  -------  --------\n2026-01-01  100      &lt;b&gt;&amp;&lt;/b&gt;\n2026-01-02  250```',
  )

  await good({ type: 'slack', '#botToken': 'xoxb-1', channelId: 'C1', apiUrl: `${url}/api` }, { chart: CHART })
  assert.deepEqual(
    got.map(({ path }) => path),
    ['/api/chat.postMessage', '/api/files.getUploadURLExternal', '/upload', '/api/files.completeUploadExternal'],
  )
  assert.equal(got[0]?.headers.authorization, 'Bearer xoxb-1')
  assert.deepEqual(sizeOfPng(got[2]!.body), [960, 480])
  assert.equal((JSON.parse(String(got[3]?.body)) as { channel_id: string }).channel_id, 'C1')

  await good({ type: 'teams', '#url': `${url}/workflow` }, { chart: { ...CHART, kind: 'bar' } })
  const [attachment] = (
    JSON.parse(String(got[0]?.body)) as {
      attachments: { content: { body: { type: string; url?: string; rows?: unknown[] }[] } }[]
    }
  ).attachments
  const parts = attachment?.content.body ?? []
  assert.deepEqual(
    parts.map(({ type }) => type),
    ['TextBlock', 'TextBlock', 'Image', 'Table', 'TextBlock'],
  )
  assert.equal(parts[3]?.rows?.length, 3)
  sizeOfPng(Buffer.from(parts[2]?.url?.split(',')[1] ?? '', 'base64'))

  const job = await good({ type: 'webhook', '#url': `${url}/hook` }, { columns: ['note', 'day'], maxRows: 10 })
  const { rows, rowsCount } = JSON.parse(String(got[0]?.body)) as { rows: unknown; rowsCount: number }
  assert.equal(rowsCount, 3)
  assert.deepEqual(rows, [
    ['<b>&</b>', '2026-01-01'],
    [null, '2026-01-02'],
    ['žluť', '2026-01-03'],
  ])
  const sql = `select channel, rows from "out.c-platform-wr-messages-${job.config}".messages_sent`
  const sent = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  assert.deepEqual(sent.json<{ rows: unknown }>().rows, [['webhook', 3]])

  const port = Number(new URL(mail.url).port)
  const to = { host: '127.0.0.1', port, security: 'none', from: 'mill@example.com', to: ['a@example.com'] }
  await good({ type: 'mail', ...to }, { chart: CHART })
  const [{ text = '' } = {}] = mail.received
  assert.match(text, /Subject: Sales of \d{4}-\d\d-\d\d: 100/)
  assert.match(text, /cid:chart/)
  assert.match(text, /Content-ID: <chart>/i)
  assert.match(text, /&lt;b&gt;&amp;&lt;\/b&gt;/)
})

test('what cannot be sent is refused with a sentence, and a dry run, a preview and no rows send nothing', async (t) => {
  const stack = await startProject()
  await sales(stack)
  const { url, got } = await startServer(t)
  const hook = { type: 'webhook', '#url': `${url}/hook` }
  for (const [channel, parameters, words] of [
    [{ type: 'slack', '#url': `${url}/x` }, { chart: CHART }, /takes no pictures/],
    [hook, { chart: { ...CHART, y: ['note'] } }, /in the column note of the chart is not a number/],
    [hook, { chart: { ...CHART, y: ['nothing'] } }, /chart.y names "nothing"/],
    [hook, { title: '{{wrong}}' }, /"\{\{wrong\}\}" is not known/],
    [hook, { maxRows: 1000 }, /maxRows must be a whole number from 0 to 100/],
    [hook, { title: '', text: '', maxRows: 0 }, /The message is empty/],
    [{ type: 'webhook' }, {}, /channel.#url is missing/],
  ] as const) {
    const job = await run(stack, configurationOf(channel, parameters))
    assert.equal(job.status, 'error')
    assert.match(job.result.message, words)
    assert.equal(job.result.error?.type, 'user')
  }
  const dry = await run(stack, configurationOf(hook, { dryRun: true }))
  assert.equal(dry.status, 'success')
  const configuration = configurationOf(hook, { onlyWithRows: true })
  const nothing = {
    ...configuration,
    storage: { input: { tables: [{ source: SALES, where_column: 'day', where_values: ['1999-01-01'] }] } },
  }
  assert.equal((await run(stack, nothing)).status, 'success')
  const preview = await stack.request('POST', '/sync-actions/actions', {
    json: { componentId: COMPONENT, action: 'preview', configData: configurationOf(hook, { chart: CHART }) },
  })
  const { chart, rows } = preview.json<{ chart: string; rows: unknown[] }>()
  assert.match(chart, /^data:image\/png;base64,/)
  assert.equal(rows.length, 2)
  assert.equal(got.length, 0)
  const wrong = await run(
    stack,
    configurationOf({ type: 'slack', '#botToken': 'wrong', channelId: 'C1', apiUrl: `${url}/api` }, {}),
  )
  assert.match(wrong.result.message, /Slack refused chat.postMessage: invalid_auth/)
})
