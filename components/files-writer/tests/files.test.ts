// Tables as files of every place and format, in a whole stack: what arrives is read by other programs.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { DuckDBInstance } from '@duckdb/node-api'
import { strFromU8, unzipSync } from 'fflate'
import readExcel from 'read-excel-file/node'
import writeExcel from 'write-excel-file/node'
import { createEgressGuard } from '../../../contract/egress-guard.ts'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../../../tests/support/project-table.ts'
import { type Files, startFtp, startSftp, UNKNOWN } from '../../../tests/support/servers/file-servers.ts'
import { startMailServer } from '../../../tests/support/servers/mail-server.ts'
import { BUCKET, startS3 } from '../../../tests/support/servers/start-s3.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { OPEN } from '../../http-extractor/src/http/egress-policy.ts'
import { openFtpTarget } from '../src/targets/ftp.ts'
import { openSftpTarget } from '../src/targets/sftp.ts'

const home = mkdtempSync(join(tmpdir(), 'millrace-files-out-'))
const [outbox, outside] = [join(home, 'outbox'), join(home, 'outside')]
for (const folder of [outbox, outside]) mkdirSync(folder)
symlinkSync(outside, join(outbox, 'link'))
test.after(() => rmSync(home, { recursive: true, force: true }))
const startProject = shareShellStack({
  worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'], folders: { read: {}, write: { outbox } } },
})
const COMPONENT = 'platform.wr-files'
const ORDERS = 'in.c-shop.orders'
const COLUMNS = {
  ...{ id: 'INTEGER', name: 'STRING', price: 'NUMERIC', country: 'STRING', paid: 'BOOLEAN', day: 'DATE', at: 'TIMESTAMP' },
} as const
const ROWS = [
  ['9007199254740993', 'a "b", c', '12.50', 'CZ', 'true', '2026-01-31', '2026-01-31 12:00:00.123456'],
  ['2', '', '0.10', 'a/b', 'false', null, null],
  ['3', null, null, null, null, '1899-12-31', '2026-02-01 00:00:00'],
]

async function orders(stack: ShellStack): Promise<void> {
  await makeTable(stack, ORDERS, { columns: COLUMNS, primaryKey: ['id'] })
  await fillTable(stack, ORDERS, Object.keys(COLUMNS), ROWS)
}

const configurationOf = (target: object, parameters: object, storage: object = { tables: [{ source: ORDERS }] }) => ({
  parameters: { target, ...parameters },
  storage: { input: storage },
})

async function run(stack: ShellStack, config: string): Promise<Job> {
  const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return stack.wait(answer.json<Job>())
}

async function write(stack: ShellStack, ...parts: Parameters<typeof configurationOf>): Promise<string> {
  const config = await stack.configure(COMPONENT, configurationOf(...parts))
  const job = await run(stack, config)
  assert.equal(job.status, 'success', job.result.message)
  return config
}

const FOLDER = { type: 'folder', folder: 'outbox' }
const CSV = [
  'id,name,price,country,paid,day,at',
  '9007199254740993,"a ""b"", c",12.500000000,CZ,true,2026-01-31,2026-01-31 12:00:00.123456',
  '2,"",0.100000000,a/b,false,,',
  '3,,,,,1899-12-31,2026-02-01 00:00:00',
]

test('a table is the same CSV file on S3, SFTP, FTP, in a folder, by webhook and by mail', async (t) => {
  const stack = await startProject()
  await orders(stack)
  const [onSftp, onFtp]: Files[] = [{}, {}]
  const [s3, sftp, ftp] = [await startS3(), await startSftp(onSftp!), await startFtp(onFtp!)]
  const mail = await startMailServer(t)
  const posted: { path: string; headers: NodeJS.Dict<string | string[]>; body: Buffer }[] = []
  let refusals = 1
  const hook = createServer(async (request, response) => {
    const body = await buffer(request)
    const isRefused = refusals-- > 0
    if (!isRefused) posted.push({ path: request.url ?? '', headers: request.headers, body })
    response.writeHead(isRefused ? 503 : 204, { 'retry-after': '0' }).end()
  })
  await new Promise<void>((done) => hook.listen(0, '127.0.0.1', done))
  t.after(async () => {
    hook.closeAllConnections()
    hook.close()
    await Promise.all([s3.close(), sftp.close(), ftp.close()])
  })
  const { accessKeyId, secretAccessKey } = await s3.client().config.credentials()
  const login = { host: '127.0.0.1', user: 'reader', '#password': 'open-sesame' }
  const mailPort = Number(new URL(mail.url).port)
  const targets = {
    s3: { type: 's3', endpoint: s3.endpoint, bucket: BUCKET, accessKeyId, '#secretKey': secretAccessKey },
    sftp: { type: 'sftp', port: sftp.port, ...login },
    ftp: { type: 'ftp', port: ftp.port, ...login },
    folder: FOLDER,
    webhook: { type: 'webhook', url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/in`, '#bearerToken': 'sesame' },
    mail: {
      ...{ type: 'mail', host: '127.0.0.1', port: mailPort, security: 'none', from: 'mill@example.com' },
      to: ['a@example.com', 'b@example.com'],
    },
  }
  const parameters = { path: 'daily/{{year}}/orders.csv', subject: 'Orders of {{date}}' }
  const sortedLines = (text: string) => text.trim().split('\n').toSorted()
  const year = new Date().getUTCFullYear()
  const path = `daily/${year}/orders.csv`
  const texts: Record<string, string> = {}
  for (const [kind, target] of Object.entries(targets)) {
    const action = async (name: string) =>
      (
        await stack.request('POST', '/sync-actions/actions', {
          json: { componentId: COMPONENT, action: name, configData: configurationOf(target, parameters) },
        })
      ).json<{ status: string; files?: { path: string; rows: number }[] }>()
    assert.equal((await action('testConnection')).status, 'success', kind)
    const preview = await action('preview')
    assert.deepEqual(
      preview.files?.map(({ path: name, rows }) => [name, rows]),
      [[path, 3]],
      kind,
    )
    const config = await write(stack, target, parameters)
    const sql = `select path, rows, source from "out.c-platform-wr-files-${config}".files_written`
    const written = await stack.request('POST', '/v2/storage/query', { json: { sql } })
    assert.deepEqual(written.json<{ rows: unknown }>().rows, [[path, 3, ORDERS]], kind)
    await write(stack, target, parameters) // it exists now, and is replaced
  }
  const object = await s3.client().send(new GetObjectCommand({ Bucket: BUCKET, Key: path }))
  texts.s3 = (await object.Body?.transformToString()) ?? ''
  texts.sftp = String(onSftp?.[path])
  texts.ftp = String(onFtp?.[path])
  texts.folder = readFileSync(join(outbox, path), 'utf8')
  texts.webhook = String(posted[0]?.body)
  const { text: message = '', to, from } = mail.received[0] ?? {}
  const [, encoded = ''] = /filename=orders\.csv[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(message) ?? []
  texts.mail = Buffer.from(encoded, 'base64').toString() || encoded
  assert.deepEqual([from, to], ['mill@example.com', ['a@example.com', 'b@example.com']])
  assert.match(message, new RegExp(`Subject: Orders of ${year}-`))
  assert.deepEqual(Object.keys(onSftp ?? {}), [path], 'no part is left')
  assert.deepEqual(Object.keys(onFtp ?? {}), [path])
  assert.equal(posted[0]?.headers.authorization, 'Bearer sesame')
  assert.match(String(posted[0]?.headers['content-disposition']), /orders\.csv$/)
  for (const [kind, text] of Object.entries(texts)) {
    if (kind === 'mail' && !text.startsWith('id,')) assert.fail(`the attachment: ${message}`)
    assert.deepEqual(sortedLines(text), CSV.toSorted(), kind)
  }
})

test('Parquet has the types of the table and partitions that other engines read', async () => {
  const stack = await startProject()
  await orders(stack)
  await write(stack, FOLDER, { path: 'lake/orders.parquet', format: 'parquet', partitionBy: ['country'], manifest: true })
  await write(stack, FOLDER, { path: 'whole.parquet', format: 'parquet' })
  const db = await (await DuckDBInstance.create()).connect()
  const rows = async (sql: string) => (await db.runAndReadAll(sql)).getRowsJson()
  assert.deepEqual(
    await rows(`select * exclude (country, price), price::double from '${outbox}/whole.parquet' order by id desc`),
    [
      ['9007199254740993', 'a "b", c', true, '2026-01-31', '2026-01-31 12:00:00.123456', 12.5],
      ['3', null, null, '1899-12-31', '2026-02-01 00:00:00', null],
      ['2', '', false, null, null, 0.1],
    ],
  )
  const types = await rows(`describe from '${outbox}/whole.parquet'`)
  assert.deepEqual(
    types.map((row) => String(row[1]).replace(/\(.*/, '').replace(' WITH TIME ZONE', '')),
    ['BIGINT', 'VARCHAR', 'DECIMAL', 'VARCHAR', 'BOOLEAN', 'DATE', 'TIMESTAMP'],
  )
  const parts = `read_parquet('${outbox}/lake/*/*.parquet', hive_partitioning = true)`
  assert.deepEqual(await rows(`select id, country from ${parts} order by id`), [
    ['2', 'a/b'],
    ['3', null],
    ['9007199254740993', 'CZ'],
  ])
  const manifest = JSON.parse(readFileSync(join(outbox, 'lake/orders.parquet.manifest.json'), 'utf8')) as {
    files: { rows: number; sha256: string }[]
  } // written by the run
  assert.deepEqual(
    manifest.files.map(({ rows: count, sha256 }) => [count, sha256.length]),
    [
      [1, 64],
      [1, 64],
      [1, 64],
    ],
  )
  db.closeSync()
})

test('Excel: a new workbook, and rows in the sheet of a template that keeps the rest', async () => {
  const stack = await startProject()
  await orders(stack)
  await write(stack, FOLDER, { path: 'orders.xlsx', format: 'excel', sheet: 'Orders' })
  const read = async (path: string, sheet: string): Promise<unknown[][]> =>
    (await readExcel(join(outbox, path))).find((one) => one.sheet === sheet)?.data ?? []
  const made = await read('orders.xlsx', 'Orders')
  assert.deepEqual(made[0], Object.keys(COLUMNS))
  const byId = new Map(made.slice(1).map((row) => [String(row[0]), row]))
  assert.deepEqual(byId.get('9007199254740993')?.slice(1, 5), ['a "b", c', 12.5, 'CZ', true])
  assert.deepEqual(byId.get('9007199254740993')?.[5], new Date('2026-01-31T00:00:00Z'))
  assert.equal(byId.get('3')?.[5], '1899-12-31', 'a day before the calendar of Excel is a text')

  const template = join(home, 'template.xlsx')
  const cell = (value: string | number) => ({ value, ...(typeof value === 'number' && { format: '0.00' }) })
  const rowsOfTemplate = [
    [cell('My report')],
    ['id', 'name', 'price'].map(cell),
    [cell(0), cell('old'), cell(1.5)],
    [cell(1), cell('old'), cell(2)],
  ]
  await writeExcel([
    { data: rowsOfTemplate, sheet: 'Rows' },
    { data: [[cell('Other sheet')]], sheet: 'Notes' },
  ]).toFile(template)
  const form = new FormData()
  form.append('data', new Blob([readFileSync(template)]), 'template.xlsx')
  form.append('tags[]', 'report')
  const stored = await stack.request('POST', '/import/upload-file', { body: form })
  assert.ok(stored.status < 300, stored.text)
  const files = { tables: [{ source: ORDERS, columns: ['id', 'name', 'price'] }], files: [{ tags: ['report'] }] }
  await write(stack, FOLDER, { path: 'report.xlsx', format: 'excel', template: 'template.xlsx', startCell: 'A3' }, files)
  const [title, header, ...rows] = await read('report.xlsx', 'Rows')
  assert.deepEqual([title?.[0], header], ['My report', ['id', 'name', 'price']])
  assert.deepEqual(
    rows.toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
    [
      [2, null, 0.1],
      [3, null, null],
      ['9007199254740993', 'a "b", c', 12.5],
    ],
  )
  assert.deepEqual(await read('report.xlsx', 'Notes'), [['Other sheet']])
  const sheets = unzipSync(readFileSync(join(outbox, 'report.xlsx')))
  const [, style] = / s="(\d+)"[^>]*><v>12.500000000</.exec(strFromU8(sheets['xl/worksheets/sheet1.xml']!)) ?? []
  assert.ok(style, 'a price looks as the prices of the template did')
})

test('appended, packed, split and changed files; a file that exists, and names that lead out', async () => {
  const stack = await startProject()
  await orders(stack)
  const config = await stack.configure(
    COMPONENT,
    configurationOf(
      FOLDER,
      { path: 'log.jsonl', format: 'jsonl', ifExists: 'append', skipEmpty: true },
      { tables: [{ source: ORDERS, changes: true, columns: ['id', 'name', 'paid'] }] },
    ),
  )
  const good = async () => {
    const job = await run(stack, config)
    assert.equal(job.status, 'success', job.result.message)
  }
  await good()
  await fillTable(stack, ORDERS, Object.keys(COLUMNS), ROWS.slice(1))
  await good()
  await good()
  const lines = readFileSync(join(outbox, 'log.jsonl'), 'utf8').trim().split('\n')
  assert.deepEqual(lines.slice(0, 3).toSorted(), [
    '{"_change":"insert","id":2,"name":"","paid":false}',
    '{"_change":"insert","id":3,"name":null,"paid":null}',
    '{"_change":"insert","id":9007199254740993,"name":"a \\"b\\", c","paid":true}',
  ])
  assert.deepEqual(lines.slice(3), ['{"_change":"delete","id":9007199254740993,"name":"a \\"b\\", c","paid":true}'])

  await write(stack, FOLDER, { path: 'parts.csv.gz', gzip: true, maxRowsPerFile: 1, delimiter: ';', header: false })
  const packed = readdirSync(outbox).filter((name) => name.startsWith('parts'))
  assert.deepEqual(packed.toSorted(), ['parts-2.csv.gz', 'parts.csv.gz'])
  const all = packed.map((name) => gunzipSync(readFileSync(join(outbox, name))).toString())
  assert.deepEqual(all.toSorted(), ['2;"";0.100000000;a/b;false;;\n', '3;;;;;1899-12-31;2026-02-01 00:00:00\n'])

  const appended = { path: 'more.csv', ifExists: 'append', maxRowsPerFile: 2, partitionBy: ['paid'] }
  const few = { tables: [{ source: ORDERS, columns: ['id', 'paid'] }] }
  await fillTable(
    stack,
    ORDERS,
    Object.keys(COLUMNS),
    ['5', '6', '7'].map((id) => [id, 'n', null, null, 'true', null, null]),
  )
  for (let run = 0; run < 2; run++) await write(stack, FOLDER, appended, few)
  for (const [name, rows] of [
    ['more.csv', 2],
    ['more-2.csv', 1],
  ] as const) {
    const written = readFileSync(join(outbox, 'paid=true', name), 'utf8')
      .trim()
      .split('\n')
    assert.equal(written.length, 1 + 2 * rows, `${name} has one header and the rows of both runs`)
    assert.deepEqual(
      written.filter((line) => line === 'id'),
      ['id'],
    )
  }

  for (const [parameters, words] of [
    [{ path: 'log.jsonl', ifExists: 'fail' }, /log.jsonl already exists/],
    [{ path: '../x.csv' }, /cannot be the name of a file/],
    [{ path: '/etc/x.csv' }, /cannot be the name of a file/],
    [{ path: 'link/x.csv' }, /leads through a link/],
    [{ path: 'a-{{week}}.csv' }, /"\{\{week\}\}" is not known/],
    [{ path: 'a.csv', partitionBy: ['nope'] }, /partitionBy names "nope"/],
    [{ path: 'a.parquet', format: 'parquet', gzip: true }, /gzip is for csv and jsonl/],
    [{ path: 'a.xlsx', format: 'excel', template: 'none.xlsx' }, /is not among the files/],
    [{ path: 'a.csv', other: 1 }, /"other" in parameters is not known/],
  ] as const) {
    const refused = await run(stack, await stack.configure(COMPONENT, configurationOf(FOLDER, parameters)))
    assert.equal(refused.status, 'error')
    assert.match(refused.result.message, words)
    assert.equal(refused.result.error?.type, 'user')
  }
  assert.deepEqual(readdirSync(outside), [])
  const dry = await write(stack, FOLDER, { path: 'dry.csv', dryRun: true })
  assert.ok(dry && !existsSync(join(outbox, 'dry.csv')))
})

test('only the answer that there is no such file means that it does not exist', async (t) => {
  const [sftp, ftp] = [await startSftp({ 'a.csv': '' }), await startFtp({ 'a.csv': '' })]
  t.after(() => Promise.all([sftp.close(), ftp.close()]))
  const guard = createEgressGuard({ policy: OPEN, refusal: (host) => new Error(`refused: ${host}`) })
  const login = { host: '127.0.0.1', user: 'reader', password: 'open-sesame' }
  const onSftp = { ...login, port: sftp.port, privateKey: '' }
  const other = `SHA256:${'A'.repeat(43)}`
  const refusal: Error = await openSftpTarget({ ...onSftp, hostKey: other }, guard).then(
    () => assert.fail('a server with another key was accepted'),
    (error: Error) => error,
  )
  const [, hostKey = ''] = /has the host key (SHA256:\S{43}), not SHA256:A/.exec(refusal.message) ?? []
  for (const target of [
    await openSftpTarget({ ...onSftp, hostKey }, guard),
    await openFtpTarget({ ...login, port: ftp.port, isTls: false }, guard),
  ]) {
    assert.equal(await target.exists('a.csv'), true)
    assert.equal(await target.exists('b.csv'), false)
    await assert.rejects(target.exists(UNKNOWN), /It is not known whether unknown.csv exists/)
    target.close()
  }
})
