// Extensions of DuckDB: fetched, refused without DuckDB's signature, listed with their hashes, removed. None is in the package, and no test fetches one:
// the whole way with signed files is `npm run test:readers`.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { METADATA_FILE } from '../../../server/src/wiring/data-files.ts'
import { runCli } from '../../../tests/support/run-cli.ts'

test('an extension that DuckDB has not signed is not added; one that was placed is listed and removed', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-extensions-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const isKnown = request.url?.includes('sqlite_scanner')
    response.statusCode = isKnown ? 200 : 404
    response.end(isKnown ? gzipSync(Buffer.alloc(4096, 'no extension')) : '')
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/copy/` // a TCP listener has one
  const millrace = (...args: string[]) =>
    runCli(['extension', ...args], { MILLRACE_DATA_DIR: dataDir, MILLRACE_EXTENSIONS_URL: url })

  const elsewhere = await millrace('add', 'sqlite')
  assert.deepEqual([elsewhere.code, elsewhere.err], [1, `millrace: There is no stack in ${dataDir}; set MILLRACE_DATA_DIR.\n`])
  assert.deepEqual([await readdir(dataDir), asked], [[], []], 'nothing is fetched, nothing is written')
  await writeFile(join(dataDir, METADATA_FILE), '') // of a stack

  const unsigned = await millrace('add', 'sqlite')
  assert.equal(unsigned.code, 1)
  assert.match(unsigned.err, /sqlite_scanner\.duckdb_extension\.gz was not added: DuckDB refuses it/)
  const [, version = '', platform = ''] =
    /^\/copy\/(v[\d.]+)\/(\w+)\/sqlite_scanner\.duckdb_extension\.gz$/.exec(asked[0] ?? '') ?? []
  assert.ok(version && platform, asked[0])
  const folder = join(dataDir, 'extensions', version, platform)
  assert.deepEqual(await readdir(folder), [], 'nothing is left of it')
  assert.match(
    (await millrace('add', 'mysql')).err,
    /could not be fetched: the server returned 404\. Check MILLRACE_EXTENSIONS_URL/,
  )
  assert.match((await millrace('add', 'spatial')).err, /not an extension that Millrace uses\. Use postgres, mysql, sqlite/)
  assert.match((await millrace('add', 'mysql', '--file', join(dataDir, 'none'))).err, /none does not exist/)
  assert.match((await millrace('list')).out, /No extensions: databases are read by their drivers/)

  const placed = join(folder, 'postgres_scanner.duckdb_extension')
  const old = join(dataDir, 'extensions', 'v1.0.0', platform, 'postgres_scanner.duckdb_extension')
  await mkdir(dirname(old), { recursive: true })
  for (const path of [placed, old]) await writeFile(path, 'placed by the operator')
  await writeFile(`${placed}.json`, JSON.stringify({ sha256: 'of another file', from: 'somewhere' }))
  const listed = (await millrace('list', '--json')).json<{ name: string; state: string; sha256: string }[]>()
  assert.deepEqual(listed.map(({ state }) => state).toSorted(), ['changed', 'other-version'])
  assert.match(listed[0]?.sha256 ?? '', /^[0-9a-f]{64}$/)
  assert.equal((await millrace('remove', 'postgres')).code, 0)
  assert.ok(!existsSync(placed) && !existsSync(old))
  assert.match((await millrace('remove', 'postgres')).err, /does not exist in the data folder/)
})
