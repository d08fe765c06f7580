import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { runCli } from '../../../tests/support/run-cli.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'

const SHOP = new URL('../../../components/manifest-connector/catalogue/sample-shop.yaml', import.meta.url)

test('a connector is found, added, read and updated from the command line', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-connector-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const shop = await readFile(SHOP, 'utf8')
  let served = shop.replace('Apache-2.0', 'ELv2').replace('version: 1.0.0', 'version: 2.0.0')
  const server = createServer((_, response) => response.end(served))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const manifestUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop.yaml` // a TCP server has an address with a port
  const { url, masterToken, request } = await startTestStack(t, {
    worker: { ...DEFAULT_WORKER, egressAllow: [new URL(manifestUrl).host] },
  })
  const millrace = (args: string[], input = '') => runCli(args, { MILLRACE_URL: url, MILLRACE_TOKEN: masterToken }, { input })

  const listed = await millrace(['connector', 'list'])
  assert.match(listed.out, /stripe +Stripe +1\.0\.0 +Apache-2\.0 +Millrace/, listed.err)
  assert.doesNotMatch((await millrace(['connector', 'list', 'shop'])).out, /Stripe/)
  assert.match(
    (await millrace(['connector', 'show', 'sample-shop'])).out,
    /#password +required +Password[\s\S]*Streams: customers, orders/,
  )
  assert.match((await millrace(['connector', 'show', 'sample-shops'])).err, /Did you mean 'sample-shop'\?/)

  const settings = JSON.stringify({ base_url: `${url}/sample`, '#password': 'lovelace' })
  const added = ['connector', 'add', 'sample-shop', '--id', 'shop', '--config', '-', '--stream', 'orders']
  assert.match(
    (await millrace([...added, '--stream', 'order'], settings)).err,
    /has no stream "order"\. It has: customers, orders/,
  )
  assert.match(
    (await millrace(added, settings)).out,
    /^Configuration platform\.ex-manifest\/shop created from Sample shop 1\.0\.0\.\nRun it/,
  )
  assert.match((await millrace(['connector', 'streams', 'shop'])).out, /orders +id +incremental/)
  const ran = await millrace(['job', 'run', 'platform.ex-manifest', 'shop'])
  assert.equal(ran.code, 0, ran.err)
  const table = (await request('GET', '/v2/storage/tables/in.c-platform-ex-manifest-shop.orders')).json<{
    rowsCount: number
    primaryKey: string[]
  }>()
  assert.deepEqual([table.rowsCount > 100, table.primaryKey], [true, ['id']])
  assert.match((await millrace(['connector', 'update', 'shop'])).out, /has the newest manifest/)

  assert.match((await millrace(['connector', 'add', manifestUrl])).err, /Elastic License 2\.0.*Add --accept-licence/)
  const more = ['connector', 'add', manifestUrl, '--id', 'far', '--accept-licence', '--config', '-']
  assert.match((await millrace(more, settings)).out, /created from Sample shop 2\.0\.0/)
  served = served
    .replace('version: 2.0.0', 'version: 2.1.0')
    .replace('name: customers', 'name: clients')
    .replace('[customers]\n', '[clients]\n')
  const newer = await millrace(['connector', 'update', 'far'])
  assert.match(newer.out, /^- {5}name: customers\n\+ {5}name: clients$/m)
  assert.match(newer.out, /Version 2\.0\.0 to 2\.1\.0\. Nothing was changed/)
  served = served.replace('path: login', 'path: log-in')
  assert.match((await millrace(['connector', 'update', 'far', '--apply'])).err, /404/)
  served = served.replace('path: log-in', 'path: login')
  assert.match((await millrace(['connector', 'update', 'far', '--try'])).out, /There are no recorded answers to try it on/)

  // A newer manifest runs on what the API answered last, before anything is saved.
  const place = '/v2/storage/components/platform.ex-manifest/configs/far'
  const { configuration: kept } = (await request('GET', place)).json<{ configuration: { parameters: object } }>()
  const recorded = { parameters: { ...kept.parameters, streams: ['orders'], record: true } }
  assert.equal((await request('PUT', place, { json: { configuration: recorded } })).status, 200)
  assert.equal((await millrace(['job', 'run', 'platform.ex-manifest', 'far'])).code, 0)
  const working = served
  served = served.replace('path: orders', 'path: sales')
  const failing = await millrace(['connector', 'update', 'far', '--apply'])
  assert.match(failing.err, /Nothing was saved: with the recorded answers .* no \(further\) answer for GET .*\/sales/)
  served = working
  assert.match((await millrace(['connector', 'update', 'far', '--try'])).out, /On the recorded answers: No row differs\./)
  assert.equal((await request('GET', '/v2/storage/dev-branches')).json<unknown[]>().length, 1, 'its branch is deleted')
  const trials = (await request('GET', '/v2/storage/proposals')).json<{ state: string }[]>()
  assert.deepEqual([...new Set(trials.map(({ state }) => state))], ['discarded'])
  assert.match((await millrace(['connector', 'update', 'far', '--apply'])).out, /Saved as a new version/)
  const saved = (await request('GET', '/v2/storage/components/platform.ex-manifest/configs/far')).json<{
    version: number
    changeDescription: string
    configuration: { parameters: { connector: object } }
  }>()
  assert.deepEqual(saved.configuration.parameters.connector, {
    name: 'shop',
    version: '2.1.0',
    licence: 'ELv2',
    source: manifestUrl,
    catalogue: '',
  })
  assert.equal(saved.changeDescription, 'Update shop from 2.0.0 to 2.1.0')

  const file = join(folder, 'mine.yaml')
  await writeFile(file, shop)
  assert.match(
    (await millrace(['connector', 'add', file, '--name', 'Mine'])).out,
    /created from mine\.\nSet these before it runs: #password/,
  )
  await writeFile(file, shop.replace('DpathExtractor', 'DpathExtracter'))
  assert.match((await millrace(['connector', 'add', file])).err, /the component type 'DpathExtracter' is unknown/)
  assert.match((await millrace(['connector', 'update', 'none'])).err, /none/)
})
