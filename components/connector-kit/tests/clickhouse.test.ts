// What the HTTP interface of ClickHouse answers, without the server: rows and errors as versions 18 and 26 write them, TLS, and a lost connection.
// The real servers are in tests/engines/clickhouse.ts.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { createEgressGuard } from '../../../contract/egress-guard.ts'
import { ensureLocalCertificate } from '../../../server/src/engines/tls/local-authority.ts'
import { systemClock } from '../../../server/src/kit/clock.ts'
import { OPEN } from '../../http-extractor/src/http/egress-policy.ts'
import { type Clickhouse, createClickhouse, fieldOf, NotUtf8 } from '../src/database/clickhouse.ts'
import { readDatabase, type ServerSettings } from '../src/database/connection.ts'

const guard = createEgressGuard({ policy: OPEN, refusal: (host) => new Error(`refused: ${host}`) })

type Answer = (response: ServerResponse, statement: string, request: IncomingMessage) => void

async function serve(t: TestContext, answer: Answer, tls?: object): Promise<number> {
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    } catch {
      return // the client has given up
    }
    answer(response, Buffer.concat(chunks).toString(), request)
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port // a TCP listener has one
}

const settingsOf = (port: number, others: object = {}): ServerSettings =>
  readDatabase(
    { db: { type: 'clickhouse', host: '127.0.0.1', port, user: 'ada', '#password': 'pä:ss', database: 'shop', ...others } },
    ['clickhouse'],
  ) as ServerSettings // by its type

async function allRows(clickhouse: Clickhouse): Promise<(string | null)[][]> {
  const all: (string | null)[][] = []
  for await (const rows of clickhouse.read(['a', 'b'], 't')) all.push(...rows)
  return all
}

/** The last field that the client has added to the statement. */
const markOf = (statement: string): string => /'(end\w+)'/.exec(statement)?.[1] ?? ''

test('rows arrive as they were sent, in pieces of any size', async (t) => {
  const rows = [
    ['1', 'a\tb\nc\\d\r\0'],
    ['\\N', null],
    ['', 'ž漢😀'],
    ['x'.repeat(70_000), '\ufeff'],
  ]
  for (const size of [1, 7, 65_536]) {
    const port = await serve(t, async (response, statement) => {
      const text = rows.map((row) => `${row.map((one) => fieldOf(one)).join('\t')}\t${markOf(statement)}\n`).join('')
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += size)
        if (!response.write(bytes.subarray(at, at + size))) await once(response, 'drain')
      response.end()
    })
    assert.deepEqual(await allRows(createClickhouse(settingsOf(port), guard)), rows)
  }
})

test('an error after the first rows is no row, whichever version writes it, and neither is a part of one', async (t) => {
  const errors = [
    [
      'Code: 241, e.displayText() = DB::Exception: Memory limit\n(total) exceeded, e.what() = DB::Exception\n',
      /^Memory limit\n\(total\) exceeded$/,
      'CLICKHOUSE_241',
    ],
    [
      'Code: 395. DB::Exception: Value is non-zero. (FUNCTION_THROW) (version 26.9.2.1)',
      /^Value is non-zero\. \(FUNCTION_THROW\)$/,
      'CLICKHOUSE_395',
    ],
    [
      '\r\n__exception__\r\nabcdefghijklmnop\r\nCode: 395. DB::Exception: Value is non-zero. (FUNCTION_THROW) (version 26.9.2.1)\n90 abcdefghijklmnop\r\n__exception__\r\n',
      /^Value is non-zero\. \(FUNCTION_THROW\)$/,
      'CLICKHOUSE_395',
    ],
    ['2\ty', /^Connection lost/, 'ECONNRESET'],
    [Buffer.from([0xc5]), /^Connection lost/, 'ECONNRESET'],
    ['2\ty\n', /^Connection lost/, 'ECONNRESET'],
  ] as const
  for (const [text, message, code] of errors) {
    const port = await serve(t, (response, statement) =>
      response.end(Buffer.concat([Buffer.from(`1\tx\t${markOf(statement)}\n`), Buffer.from(text)])),
    )
    await assert.rejects(allRows(createClickhouse(settingsOf(port), guard)), { message, code })
  }
})

test('a connection that is cut at any byte is an error', async (t) => {
  const length = `1\tx\tend12345678\n2\ty\tend12345678\n`.length
  for (let cut = 0; cut < length; cut++) {
    const port = await serve(t, (response, statement) => {
      const text = `1\tx\t${markOf(statement)}\n2\ty\t${markOf(statement)}\n`
      response.writeHead(200, { 'content-length': text.length })
      response.write(text.slice(0, cut), () => response.destroy())
    })
    await assert.rejects(allRows(createClickhouse(settingsOf(port), guard)), { code: 'ECONNRESET' }, `cut at ${cut}`)
  }
})

test('bytes that are no text name their field, and a server of another kind is named', async (t) => {
  const bytes = await serve(t, (response, statement) => {
    response.write(`1\tx\t${markOf(statement)}\n2\t`)
    response.end(Buffer.from([0xff, 0x0a]))
  })
  await assert.rejects(allRows(createClickhouse(settingsOf(bytes), guard)), (error) => error instanceof NotUtf8 && error.at === 1)
  const other = await serve(t, (response) => response.writeHead(404).end('<html>'))
  await assert.rejects(createClickhouse(settingsOf(other), guard).ask('select 1'), /status 404, but not as ClickHouse does/)
})

test('an error of the rows that are sent is reported, not the connection that it closes', async (t) => {
  const port = await serve(t, (response) => response.end())
  async function* lines(): AsyncGenerator<string> {
    yield '1\n'
    throw new Error('row 2 does not fit')
  }
  await assert.rejects(createClickhouse(settingsOf(port), guard).execute('insert into t', lines()), /row 2 does not fit/)
})

test('TLS verifies the server and presents a certificate; names and passwords may have any characters', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-clickhouse-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { authorityFile, certFile, keyFile } = await ensureLocalCertificate(folder, ['127.0.0.1'], systemClock)
  const [ca, cert, key] = [authorityFile, certFile, keyFile].map((file) => readFileSync(file, 'utf8'))
  const seen: string[] = []
  const answer: Answer = (response, _, request) => {
    const [, given = ''] = (request.headers.authorization ?? '').split(' ')
    seen.push(
      Buffer.from(given, 'base64').toString(),
      (request.socket as TLSSocket).getPeerX509Certificate()?.fingerprint256 ?? '',
    ) // by createTlsServer
    response.end('1\n')
  }
  const port = await serve(t, answer, { cert, key, requestCert: true, rejectUnauthorized: false })
  const ssl = { enabled: true, ca, cert, '#key': key }
  assert.deepEqual(await createClickhouse(settingsOf(port, { ssl }), guard).ask('select 1'), [['1']])
  assert.equal(seen[0], 'ada:pä:ss')
  assert.match(seen[1] ?? '', /^[0-9A-F:]{95}$/)
  await assert.rejects(createClickhouse(settingsOf(port, { ssl: { enabled: true } }), guard).ask('select 1'), /certificate/)
})
