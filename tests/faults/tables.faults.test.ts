// Invariants 1, 3, 4 and 8 for tables: whatever is killed when, an acknowledged load is there exactly once, a load that failed left
// nothing, a table is always whole, and no lock stays behind.

import assert from 'node:assert/strict'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, count, kills } from '../support/chance.ts'
import { until } from '../support/until.ts'
import { assertQuickRestarts, type Stack, startStack } from './stack.ts'

const KILLS = kills(2, 200)
const FILES = 6
/** A preview shows the whole table. */
const ROWS = 1_000
const ENDED = new Set(['success', 'error'])

interface Job {
  readonly id: number
  readonly status: string
  readonly tableId: string | null
  readonly operationName: string
  readonly operationParams: { readonly source?: { readonly fileId?: number } }
  readonly results: { readonly file?: { readonly id: number } } | null
  readonly error?: { readonly code: string; readonly message: string }
}

test(`${KILLS} kills of the server or of a table worker lose no load, apply none twice, and leave no half table and no lock`, async (t) => {
  const stack = await startStack(t)
  await stack.post('/v2/storage/buckets', { name: 'main', stage: 'in' })
  const files = []
  for (let marker = 0; marker < FILES; marker++) files.push(await upload(stack, marker))
  for (const [name, primaryKey] of [
    ['full', 'id'],
    ['append', ''],
    ['upsert', 'id'],
  ] as const)
    await mustSucceed(
      stack,
      await stack.post('/v2/storage/buckets/in.c-main/tables-async', { name, primaryKey, dataFileId: files[0] }),
    )
  const promised = new Map<number, string>()
  const restarts: number[] = []
  let kills = 0
  for (let round = 1; round <= KILLS; round++) {
    const client = workUntilItDies(stack, files, promised)
    await until('a job was started', () => client.started() > 0)
    await sleep(30 + chance() * 600) // the moment of death is the random input of this test, not a wait for something
    const onlyWorker = round % 3 === 0
    if (onlyWorker) kills += await killTableWorkers(stack.dataDir)
    else {
      await stack.kill()
      kills++
      await client.stop()
      restarts.push((await stack.start()).readyMs)
      await checkWhole(stack, `round ${round}, right after the start`)
    }
    await client.stop()
    await allEnded(stack)
    await checkResults(stack, files, promised, `round ${round}`)
  }
  const succeeded = ((await stack.get('/v2/storage/jobs?limit=10000&storage_job_status[]=success')).body as Job[]).length
  t.diagnostic(`${kills} kills, ${succeeded} jobs succeeded, ${promised.size} of them or of the failed seen to end by the client`)
  assert.ok(succeeded > KILLS, 'work was done between the kills')
  await assertQuickRestarts(t, stack, restarts)
  for (const name of ['full', 'append', 'upsert'])
    await mustSucceed(stack, await stack.post(`/v2/storage/tables/in.c-main.${name}/import-async`, { dataFileId: files[1] }))
})

/** Starts full, incremental and export jobs and polls them; records the answers. */
function workUntilItDies(stack: Stack, files: readonly number[], promised: Map<number, string>) {
  let stopping = false
  let started = 0
  const one = async (path: string, body: () => object) => {
    while (!stopping) {
      const answer = await stack.post(`/v2/storage/tables/in.c-main.${path}`, body()).catch(() => undefined)
      if (!answer) return
      assert.equal(answer.status, 202, JSON.stringify(answer.body))
      started++
      let job = answer.body as Job
      while (!ENDED.has(job.status)) {
        if (stopping) return
        await sleep(5)
        const polled = await stack.get(`/v2/storage/jobs/${job.id}`).catch(() => undefined)
        if (!polled) return
        job = polled.body as Job
      }
      promised.set(job.id, job.status)
    }
  }
  const file = () => ({ dataFileId: files[Math.floor(chance() * files.length)] })
  const all = Promise.all([
    one('full/import-async', file),
    one('append/import-async', () => ({ ...file(), incremental: true })),
    one('upsert/import-async', () => ({ ...file(), incremental: true })),
    one('full/export-async', () => ({ gzip: true, limit: ROWS + Math.floor(chance() * 1000) })),
  ])
  return {
    started: () => started,
    stop: async () => {
      stopping = true
      await all
    },
  }
}

async function upload(stack: Stack, marker: number): Promise<number> {
  const form = new FormData()
  const rows = Array.from({ length: ROWS }, (_, id) => `${id},${marker},"text ${id} of ${marker}"`)
  form.set('data', new Blob([`id,marker,text\n${rows.join('\n')}\n`]), `${marker}.csv`)
  const answer = await fetch(`${stack.url}/import/upload-file`, {
    method: 'POST',
    headers: { 'x-storageapi-token': stack.masterToken },
    body: form,
  })
  assert.equal(answer.status, 200)
  return ((await answer.json()) as { id: number }).id
}

async function mustSucceed(stack: Stack, answer: { status: number; body: unknown }): Promise<void> {
  assert.equal(answer.status, 202, JSON.stringify(answer.body))
  const { id } = answer.body as Job
  const job = await until(`job ${id} ends`, async () => {
    const current = (await stack.get(`/v2/storage/jobs/${id}`)).body as Job
    return ENDED.has(current.status) && current
  })
  assert.equal(job.status, 'success', JSON.stringify(job.error))
}

async function allEnded(stack: Stack): Promise<void> {
  const open = async () =>
    (await stack.get('/v2/storage/jobs?limit=1000&storage_job_status[]=waiting&storage_job_status[]=processing')).body as Job[]
  await until(
    () => `all jobs end:\n${stack.output().slice(-3000)}`,
    async () => (await open()).length === 0,
  )
}

/** All rows of a full load are of one file, all of them; nothing of it is half there. */
async function checkWhole(stack: Stack, when: string): Promise<void> {
  const table = (await stack.get('/v2/storage/tables/in.c-main.full')).body as { rowsCount: number }
  assert.equal(table.rowsCount, ROWS, `${when}: the table has ${table.rowsCount} rows`)
  assert.equal((await markersOf(stack, 'full')).length, 1, `${when}: rows of two loads`)
}

/** Which files the rows of a table come from, in one look: one state of the table. */
async function markersOf(stack: Stack, name: string): Promise<number[]> {
  const { status, body } = await stack.get(
    `/v2/storage/tables/in.c-main.${name}/data-preview?format=json&limit=${ROWS}&columns=marker`,
  )
  assert.equal(status, 200, JSON.stringify(body))
  const { rows } = body as { rows: { value: string }[][] }
  return [...new Set(rows.map((row) => Number(row[0]?.value)))]
}

async function checkResults(
  stack: Stack,
  files: readonly number[],
  promised: ReadonlyMap<number, string>,
  when: string,
): Promise<void> {
  const jobs: Job[] = []
  for (let offset = 0; ; offset += 1000) {
    const page = (await stack.get(`/v2/storage/jobs?limit=1000&offset=${offset}`)).body as Job[]
    jobs.push(...page)
    if (page.length < 1000) break
  }
  for (const [id, status] of promised) assert.equal(jobs.find((job) => job.id === id)?.status, status, `${when}: job ${id}`)
  for (const job of jobs)
    if (job.status === 'error')
      assert.ok(
        ['storage.jobs.workerLost', 'tableEngine.workerDied'].includes(job.error?.code ?? ''),
        `${when}: job ${job.id} (${job.operationName}) failed with ${JSON.stringify(job.error)}`,
      )
  const done = (table: string) =>
    jobs.filter((job) => job.operationName === 'tableImport' && job.tableId === `in.c-main.${table}` && job.status === 'success')

  await checkWhole(stack, when)
  const lastFull = done('full')[0]
  if (lastFull)
    assert.deepEqual(
      await markersOf(stack, 'full'),
      [files.indexOf(lastFull.operationParams.source?.fileId ?? -1)],
      `${when}: the last load won`,
    )

  const appended = (await stack.get('/v2/storage/tables/in.c-main.append')).body as { rowsCount: number }
  assert.equal(appended.rowsCount, ROWS * (done('append').length + 1), `${when}: each append is there exactly once`)

  const upserted = (await stack.get('/v2/storage/tables/in.c-main.upsert')).body as { rowsCount: number }
  assert.equal(upserted.rowsCount, ROWS, `${when}: one row for each key`)
  const exported = jobs.find((job) => job.operationName === 'tableExport' && job.status === 'success')
  if (exported) {
    const file = (await stack.get(`/v2/storage/files/${exported.results?.file?.id}`)).body as { url: string }
    const manifest = (await (await fetch(file.url)).json()) as { entries: unknown[] }
    assert.ok(manifest.entries.length > 0, `${when}: an export that succeeded has its manifest`)
  }
}

/** The workers of the table engine, found by the folder they work in. */
async function killTableWorkers(dataDir: string): Promise<number> {
  let killed = 0
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    try {
      const isOurs = (await readlink(`/proc/${pid}/cwd`)) === dataDir
      if (isOurs && (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes('table-engine/worker')) {
        process.kill(Number(pid), 'SIGKILL')
        count('kills')
        killed++
      }
    } catch {
      // Ended meanwhile, or not ours to look at.
    }
  }
  return killed
}
