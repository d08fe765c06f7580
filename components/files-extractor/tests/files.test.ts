// Files of every place and format in a whole stack: each becomes the same table, and only what is new is read.

import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { DuckDBInstance } from '@duckdb/node-api'
import avro from 'avsc'
import writeExcel from 'write-excel-file/node'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { startFtp, startSftp } from '../../../tests/support/servers/file-servers.ts'
import { BUCKET, startS3 } from '../../../tests/support/servers/start-s3.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { zip } from '../../../tests/support/zip.ts'

const home = mkdtempSync(join(tmpdir(), 'millrace-files-'))
const [inbox, outside] = [join(home, 'inbox'), join(home, 'outside')]
for (const folder of [inbox, outside]) mkdirSync(folder)
writeFileSync(join(outside, 'secret.csv'), 'word\ncanary\n')
symlinkSync(join(outside, 'secret.csv'), join(inbox, 'link.csv'))
test.after(() => rmSync(home, { recursive: true, force: true }))
const startProject = shareShellStack({
  worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'], folders: { read: { inbox }, write: {} } },
})
const COMPONENT = 'platform.ex-files'

const configure = (stack: ShellStack, source: object, row: object): Promise<string> =>
  stack.configure(COMPONENT, { parameters: { source } }, [
    { name: 'row', configuration: { parameters: { outputTable: 'items', ...row } } },
  ])

async function run(stack: ShellStack, config: string): Promise<Job> {
  const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return stack.wait(answer.json<Job>())
}

async function good(stack: ShellStack, config: string): Promise<void> {
  const job = await run(stack, config)
  assert.equal(job.status, 'success', job.result.message)
}

async function rowsOf(stack: ShellStack, config: string, select: string, table = 'items'): Promise<unknown[]> {
  const sql = `select ${select} from "in.c-platform-ex-files-${config}"."${table}" order by all`
  const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ rows: unknown[] }>().rows
}

const FILES = {
  'in/a.csv': 'id,name\n1,one\n',
  'in/deep/b.csv.gz': gzipSync('name,id\n"two, ""quoted""",2\n'),
  'in/c.txt': 'not taken',
}
const ITEMS = [
  ['1', 'one', 'in/a.csv'],
  ['2', 'two, "quoted"', 'in/deep/b.csv.gz'],
]
const PATH = 'in/**/*.csv*'

test('files of S3, SFTP, FTP and folders become the same table', async (t) => {
  const stack = await startProject()
  const [s3, sftp, ftp] = [await startS3(), await startSftp(FILES), await startFtp(FILES)]
  t.after(async () => Promise.all([s3.close(), sftp.close(), ftp.close()]))
  for (const [Key, Body] of Object.entries(FILES)) {
    await s3.client().send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }))
    mkdirSync(join(inbox, Key, '..'), { recursive: true })
    writeFileSync(join(inbox, Key), Body)
  }
  const { accessKeyId, secretAccessKey } = await s3.client().config.credentials()
  const login = { host: '127.0.0.1', user: 'reader', '#password': 'open-sesame' }
  const sources = {
    s3: { type: 's3', endpoint: s3.endpoint, bucket: BUCKET, accessKeyId, '#secretKey': secretAccessKey },
    sftp: { type: 'sftp', port: sftp.port, ...login },
    ftp: { type: 'ftp', port: ftp.port, ...login },
    folder: { type: 'folder', folder: 'inbox' },
  }
  for (const [name, source] of Object.entries(sources)) {
    const config = await configure(stack, source, { path: PATH })
    await good(stack, config)
    assert.deepEqual(await rowsOf(stack, config, 'id, name, file_name'), ITEMS, name)
    const ask = async (action: string) =>
      (
        await stack.request('POST', '/sync-actions/actions', {
          json: { componentId: COMPONENT, action, configData: { parameters: { source, path: PATH } } },
        })
      ).json()
    assert.deepEqual(await ask('testConnection'), { status: 'success' }, name)
    assert.deepEqual((await ask('listFiles')).count, 2, name)
    assert.deepEqual((await ask('preview')).rows, [['1', 'one']], name)
  }
  const wrong = await run(stack, await configure(stack, { ...sources.sftp, '#password': 'wrong-word' }, { path: PATH }))
  assert.match(wrong.result.message, /SFTP server 127\.0\.0\.1:\d+ refused the connection/)
  assert.doesNotMatch(JSON.stringify(wrong), /wrong-word/)
  const forbidden = await run(stack, await configure(stack, { ...sources.ftp, host: '10.0.0.1' }, { path: PATH }))
  assert.match(forbidden.result.message, /not allowed: .*MILLRACE_EGRESS_ALLOW/)
})

test('files at addresses are read over HTTP, with redirects and versions', async (t) => {
  const stack = await startProject()
  let [tag, reads] = ['"1"', 0]
  const server = createServer((request, response) => {
    if (request.url === '/items.csv' && request.method === 'GET') reads++
    if (request.url === '/moved.csv') response.writeHead(302, { location: '/items.csv' }).end()
    else if (request.url !== '/items.csv') response.writeHead(404).end('<b>no such file</b>')
    else response.writeHead(200, { etag: tag }).end('id,name\n1,one\n')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = await configure(stack, { type: 'http' }, { urls: [`${base}/moved.csv`], primaryKey: ['id'] })
  await good(stack, config)
  await good(stack, config)
  assert.equal(reads, 1)
  tag = '"2"'
  await good(stack, config)
  assert.equal(reads, 2)
  assert.deepEqual(await rowsOf(stack, config, 'id, name'), [['1', 'one']])
  const lost = await run(stack, await configure(stack, { type: 'http' }, { urls: [`${base}/lost.csv`] }))
  assert.match(lost.result.message, /lost\.csv answered 404: no such file\. Check the address/)
})

test('JSON, JSON lines, XML and Excel files have their values exactly, and columns may differ', async () => {
  const stack = await startProject()
  const folder = join(inbox, 'formats')
  mkdirSync(folder)
  const write = (name: string, bytes: string | Uint8Array) => writeFileSync(join(folder, name), bytes)
  write('a.jsonl', '{"id": 12345678901234567890.10, "tags": ["x", 1.50]}\n{"id": 2, "late": true, "gone": null}\n')
  const source = { type: 'folder', folder: 'inbox' }
  const lines = await configure(stack, source, { path: 'formats/*.jsonl', addLine: true })
  await good(stack, lines)
  assert.deepEqual(await rowsOf(stack, lines, 'file_line, id, tags, late, gone'), [
    ['1', '12345678901234567890.10', '["x",1.50]', null, null],
    ['2', '2', null, 'true', null],
  ])
  write('z.zip', zip({ 'one.csv': 'id\n1\n', 'deep/two.csv': 'id\n2\n' }))
  const archive = await configure(stack, source, { path: 'formats/*.zip' })
  await good(stack, archive)
  assert.deepEqual(await rowsOf(stack, archive, 'id, file_name'), [
    ['1', 'formats/z.zip/one.csv'],
    ['2', 'formats/z.zip/deep/two.csv'],
  ])
  write('b.json', '{"data": {"rows": [{"id": 1}, {"id": 2}]}}')
  const json = await configure(stack, source, { path: 'formats/b.json', recordPath: 'data.rows' })
  await good(stack, json)
  assert.deepEqual(await rowsOf(stack, json, 'id'), [['1'], ['2']])
  write('c.xml', '<shop><item id="007"><name>a &amp; b</name></item><item id="8"/></shop>')
  const xml = await configure(stack, source, { path: 'formats/c.xml', recordPath: 'shop.item', addFileName: false })
  await good(stack, xml)
  assert.deepEqual((await rowsOf(stack, xml, '*')).length, 2)
  const excel = await writeExcel([
    [{ value: 'id' }, { value: 'day' }],
    [{ value: 1.5 }, { value: new Date('2026-02-28T00:00:00Z'), format: 'yyyy-mm-dd' }],
  ]).toBuffer()
  write('d.xlsx', excel)
  const sheet = await configure(stack, source, { path: 'formats/d.xlsx' })
  await good(stack, sheet)
  assert.deepEqual(await rowsOf(stack, sheet, 'id, day'), [['1.5', '2026-02-28']])
})

test('rows that cannot be read stop the run with their line, or go to a table of their own', async () => {
  const stack = await startProject()
  mkdirSync(join(inbox, 'bad'))
  writeFileSync(join(inbox, 'bad', 'a.csv'), 'id,name\n1,one\n2\n3,"three\nlines"\n4,four,4\n5,five\n')
  const source = { type: 'folder', folder: 'inbox' }
  const strict = await run(stack, await configure(stack, source, { path: 'bad/*.csv' }))
  assert.match(strict.result.message, /bad\/a\.csv, line 3: the row has 1 fields instead of 2\. Set badRows to "aside"/)
  const config = await configure(stack, source, { path: 'bad/*.csv', badRows: 'aside' })
  await good(stack, config)
  assert.deepEqual(await rowsOf(stack, config, 'id, name'), [
    ['1', 'one'],
    ['3', 'three\nlines'],
    ['5', 'five'],
  ])
  assert.deepEqual(await rowsOf(stack, config, 'file_line, text', 'items_rejected'), [
    ['3', '2'],
    ['6', '4,four,4'],
  ])
})

test('only files that are new or have changed are read', async () => {
  const stack = await startProject()
  mkdirSync(join(inbox, 'grows'))
  const write = (name: string, text: string) => writeFileSync(join(inbox, 'grows', name), text)
  write('1.csv', 'id,n\n1,1\n')
  const config = await configure(stack, { type: 'folder', folder: 'inbox' }, { path: 'grows/*.csv', primaryKey: ['id'] })
  await good(stack, config)
  write('2.csv', 'id,n\n2,1\n')
  await good(stack, config)
  assert.deepEqual(await rowsOf(stack, config, 'id, n'), [
    ['1', '1'],
    ['2', '1'],
  ])
  write('1.csv', 'id,n,more\n1,22,x\n')
  await good(stack, config)
  assert.deepEqual(await rowsOf(stack, config, 'id, n, more'), [
    ['1', '22', 'x'],
    ['2', '1', null],
  ])
  write('3.csv', 'id\n3\n')
  await good(stack, config)
  assert.deepEqual((await rowsOf(stack, config, 'id, n, more'))[2], ['3', null, null])
})

test('nothing outside of the named folder is read', async () => {
  const stack = await startProject()
  for (const path of ['link.csv', '../outside/secret.csv', '**/secret.csv']) {
    const config = await configure(stack, { type: 'folder', folder: 'inbox' }, { path })
    const job = await run(stack, config)
    assert.doesNotMatch(JSON.stringify(job), /canary/, path)
    const sql = `select * from "in.c-platform-ex-files-${config}".items`
    assert.notEqual((await stack.request('POST', '/v2/storage/query', { json: { sql } })).status, 200, path)
  }
})

test('Parquet files of every compression have their values exactly', async () => {
  const stack = await startProject()
  const folder = join(inbox, 'parquet')
  mkdirSync(folder)
  const duck = await (await DuckDBInstance.create(':memory:')).connect()
  await duck.run(`create table kinds as select * from (values
    (1::bigint, 9223372036854775807::bigint, 12345678901234567890123456789.123456789::decimal(38,9), -0.05::decimal(4,2), 0.1::double, true,
     date '2026-02-28', timestamp '2026-02-28 23:59:59.123456', 'ž "x",', '\\x00\\xFF'::blob, [1, null, 3], {'a': 1.5::double}),
    (2, null, null, null, null, null, null, timestamp '1969-12-31 23:59:59.5', '', null, null, null))
    as t (id, big, wide, small, float, yes, day, moment, word, bytes, list, record)`)
  const columns = 'id, big, wide, small, float, yes, day, moment, word, bytes, list, record'
  const expected = [
    ...[['1', '9223372036854775807', '12345678901234567890123456789.123456789', '-0.05', '0.1', 'true', '2026-02-28']],
    ...[['2026-02-28 23:59:59.123456', 'ž "x",', '0x00ff', '[1,null,3]', '{"a":1.5}']],
  ].flat()
  const second = ['2', null, null, null, null, null, null, '1969-12-31 23:59:59.5', '', null, null, null]
  for (const codec of ['snappy', 'gzip', 'zstd', 'brotli', 'uncompressed'])
    await duck.run(`copy kinds to '${folder}/${codec}.parquet' (format parquet, compression ${codec})`)
  writeFileSync(join(folder, 'packed.parquet.zst'), zstdCompressSync(readFileSync(join(folder, 'snappy.parquet'))))
  const source = { type: 'folder', folder: 'inbox' }
  const config = await configure(stack, source, { path: 'parquet/*.parquet*', addFileName: true, addLine: true })
  await good(stack, config)
  for (const name of [
    'snappy.parquet',
    'gzip.parquet',
    'zstd.parquet',
    'brotli.parquet',
    'uncompressed.parquet',
    'packed.parquet.zst',
  ]) {
    const rows = (await rowsOf(stack, config, `file_name, ${columns}`)) as unknown[][]
    const own = rows.filter(([file]) => file === `parquet/${name}`).map((row) => row.slice(1))
    assert.deepEqual(own, [expected, second], name)
  }
  writeFileSync(join(folder, 'broken.parquet'), 'PAR1 no parquet')
  const broken = await run(stack, await configure(stack, source, { path: 'parquet/broken.parquet' }))
  assert.match(broken.result.message, /broken\.parquet cannot be read as parquet: /)
})

test('Avro files and files packed by zstd have their values exactly', async () => {
  const stack = await startProject()
  const folder = join(inbox, 'avro')
  mkdirSync(folder)
  const schema = {
    type: 'record',
    name: 'Row',
    fields: [
      { name: 'id', type: 'int' },
      { name: 'price', type: { type: 'bytes', logicalType: 'decimal', precision: 10, scale: 2 } },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-micros' } },
      { name: 'big', type: 'long' },
      { name: 'word', type: ['null', 'string'] },
      { name: 'tags', type: { type: 'array', items: 'string' } },
    ],
  } as unknown as avro.Schema
  // As it stands here: the schema that avsc would write itself lacks logical types.
  const metadata = { 'avro.schema': Buffer.from(JSON.stringify(schema)) }
  for (const codec of ['null', 'deflate']) {
    const encoder = avro.createFileEncoder(join(folder, `${codec}.avro`), schema, { codec, metadata } as never)
    encoder.write({
      id: 1,
      price: Buffer.from([0xff, 0x85]),
      at: 1_772_323_199_123_456,
      big: 9_007_199_254_740_990,
      word: 'č',
      tags: ['a'],
    })
    encoder.end({ id: 2, price: Buffer.from([0x7b]), at: 0, big: -5, word: null, tags: [] })
    await new Promise((done) => encoder.once('finish', done))
  }
  const source = { type: 'folder', folder: 'inbox' }
  const config = await configure(stack, source, { path: 'avro/*.avro' })
  await good(stack, config)
  assert.deepEqual(await rowsOf(stack, config, 'id, price, "at", big, word, tags, file_name'), [
    ['1', '-1.23', '2026-02-28 23:59:59.123456', '9007199254740990', 'č', '["a"]', 'avro/deflate.avro'],
    ['1', '-1.23', '2026-02-28 23:59:59.123456', '9007199254740990', 'č', '["a"]', 'avro/null.avro'],
    ['2', '1.23', '1970-01-01 00:00:00', '-5', null, '[]', 'avro/deflate.avro'],
    ['2', '1.23', '1970-01-01 00:00:00', '-5', null, '[]', 'avro/null.avro'],
  ])
  writeFileSync(join(folder, 'a.csv.zst'), zstdCompressSync('id,name\n1,one\n'))
  writeFileSync(join(folder, 'b.csv.zst'), 'not packed')
  const packed = await configure(stack, source, { path: 'avro/a.csv.zst' })
  await good(stack, packed)
  assert.deepEqual(await rowsOf(stack, packed, 'id, name'), [['1', 'one']])
  const broken = await run(stack, await configure(stack, source, { path: 'avro/b.csv.zst' }))
  assert.match(broken.result.message, /b\.csv\.zst cannot be read as csv/)
})

test('of files that grow only new whole rows are read', async () => {
  const stack = await startProject()
  const folder = join(inbox, 'logs')
  mkdirSync(folder)
  const file = join(folder, 'a.csv')
  const source = { type: 'folder', folder: 'inbox' }
  const config = await configure(stack, source, { path: 'logs/*.csv', growing: true, addLine: true })
  const lines = async () => (await rowsOf(stack, config, 'file_line::int, id, word')).map(String)
  writeFileSync(file, 'id,word\n1,one\n2,"tw')
  await good(stack, config)
  assert.deepEqual(await lines(), ['2,1,one'])
  appendFileSync(file, 'o\nlines"\n3,thr')
  await good(stack, config)
  assert.deepEqual(await lines(), ['2,1,one', '4,2,two\nlines'])
  appendFileSync(file, 'ee\n')
  await good(stack, config)
  await good(stack, config)
  assert.deepEqual(await lines(), ['2,1,one', '4,2,two\nlines', '5,3,three'])
  writeFileSync(file, 'id,word\n9,another file of the same name, which is longer than the first\n')
  assert.match((await run(stack, config)).result.message, /line 2: the row has 3 fields instead of 2/)
  writeFileSync(file, 'id,word\n9,new\n')
  await good(stack, config)
  assert.equal((await lines()).at(0), '2,1,one')
  assert.equal((await lines()).length, 4, 'a file that was replaced is read from its start')
  writeFileSync(join(folder, 'b.csv.gz'), gzipSync('id,word\n1,x\n'))
  const packed = await run(stack, await configure(stack, source, { path: 'logs/*.gz', growing: true }))
  assert.match(packed.result.message, /growing is for CSV and JSON lines that are not packed/)
  const whole = await run(stack, await configure(stack, source, { path: 'logs/*.csv', growing: true, newOnly: false }))
  assert.match(whole.result.message, /growing needs newOnly/)
})

test('a range of a sheet is read, and a wrong one is refused', async () => {
  const stack = await startProject()
  mkdirSync(join(inbox, 'sheets'))
  const rows = [
    ['Report', null, null],
    [null, null, null],
    [null, 'id', 'name'],
    [null, 1, 'one'],
    [null, 2, 'two'],
    ['sum', 3, null],
  ]
  const sheet = rows.map((row) => row.map((value) => (value === null ? null : { value })))
  writeFileSync(
    join(inbox, 'sheets', 'a.xlsx'),
    await writeExcel(sheet as unknown as Parameters<typeof writeExcel>[0]).toBuffer(),
  )
  const source = { type: 'folder', folder: 'inbox' }
  const config = await configure(stack, source, { path: 'sheets/a.xlsx', range: 'B3:C5' })
  await good(stack, config)
  assert.deepEqual(await rowsOf(stack, config, 'id, name'), [
    ['1', 'one'],
    ['2', 'two'],
  ])
  for (const range of ['B3:C3', 'C3:B9', 'B', '3:4'])
    assert.match(
      (await run(stack, await configure(stack, source, { path: 'sheets/a.xlsx', range }))).result.message,
      /range must /,
      range,
    )
})
