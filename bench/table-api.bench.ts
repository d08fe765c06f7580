// Tables through the API, jobs and metadata included: 200 small imports, and one large import against raw DuckDB in the same run.

import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../server/src/kit/log.ts'
import { createSecrets } from '../server/src/kit/secrets.ts'
import { createPlatform } from '../server/src/wiring/platform.ts'
import { inTurns, round } from './measure.ts'
import { benchMb, rawCsv, rawDuckDb, report, sizeMb, timed } from './table-bench.ts'
import { writeCsv } from './table-csv.ts'

const IMPORTS = 200
const CLIENTS = 8
const dir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const platform = await createPlatform({
  version: 'bench',
  region: 'us-east-1',
  bucket: 'millrace',
  bodyLimitBytes: 8 << 20,
  corsOrigins: [],
  log: createLog({ level: 'fatal', secrets: createSecrets() }),
  dataDir: join(dir, 'data'),
})
const { master } = await platform.tokens.createProject('Bench')
await platform.start()
const url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
await platform.objects.listen(0, '127.0.0.1')
const actor = await platform.tokens.authenticate(master.value)
if (!actor) throw new Error('the master token is not valid')

const post = async (path: string, body: object) =>
  (await (
    await fetch(`${url}/v2/storage/${path}`, {
      method: 'POST',
      headers: { 'X-StorageApi-Token': master.value, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).json()) as { id: number; url: string; status: string }

async function upload(name: string): Promise<number> {
  const origin = { runId: null, remoteAddress: null, userAgent: null }
  return (await platform.files.upload(actor!, name, createReadStream(join(dir, name)), async () => ({ name }), origin)).id
}

/** As a client: created, polled, ended. */
async function load(name: string, dataFileId: number): Promise<void> {
  let job = await post('buckets/in.c-bench/tables-async', { name, dataFileId })
  while (job.status === 'waiting' || job.status === 'processing') {
    await new Promise((resolve) => setTimeout(resolve, 10))
    job = (await (await fetch(job.url, { headers: { 'X-StorageApi-Token': master.value } })).json()) as typeof job
  }
  if (job.status !== 'success') throw new Error(JSON.stringify(job))
}

await post('buckets', { name: 'bench', stage: 'in' })
writeCsv(join(dir, 'small.csv'), { rows: 1000 })
const small = await upload('small.csv')
await load('warm', small)
let next = 0
const client = async () => {
  while (next < IMPORTS) await load(`small${next++}`, small)
}
const seconds = await timed(() => Promise.all(Array.from({ length: CLIENTS }, client)))
report({
  bench: 'table-api-small-imports',
  ratio: round(IMPORTS / seconds / 20),
  target: '>= 1 (20 per second)',
  perSecond: round(IMPORTS / seconds),
})

writeCsv(join(dir, 'large.csv'), { bytes: benchMb(100) * 1e6 })
const large = await upload('large.csv')
const raw = await rawDuckDb(dir)
const rawCopy = `copy (select * from ${rawCsv(join(dir, 'large.csv'))}) to '${join(dir, 'raw.parquet')}' (format parquet, compression zstd)`
let loads = 0
const took = await inTurns(3, { ours: () => timed(() => load(`large${loads++}`, large)), raw: () => raw(rawCopy) })
report({
  bench: 'table-api-import',
  ratio: round(took.ours / took.raw),
  target: '<= 1.2',
  megabytes: sizeMb(join(dir, 'large.csv')),
  seconds: round(took.ours),
  rawSeconds: round(took.raw),
})
await platform.close()
rmSync(dir, { recursive: true, force: true })
process.exit(0)
