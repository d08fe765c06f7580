// Workers die, work is cancelled, parents disappear: nothing is referenced that is not whole, and the next job runs.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chance } from '../../../../tests/support/chance.ts'
import { until } from '../../../../tests/support/until.ts'
import { createTableEngine } from './engine.ts'
import { countRows, emptySnapshot, referencedKeys } from './snapshot.ts'
import { createFolderObjects, startTables, type TestTables, URI_PREFIX } from './table-engine.fixture.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 200 : 20
const ROWS = 100_000

let tables: TestTables
let first: Awaited<ReturnType<TestTables['load']>>
const big = { key: 'uploads/big', gzip: false }
const request = () => ({
  snapshot: first.snapshot,
  mode: 'incremental' as const,
  source: { slices: [big] },
  fileColumns: ['id', 'v'],
  skipLines: 0,
  loadedAt: 2,
  keyPrefix: 'tables/killed/',
})

before(async () => {
  tables = await startTables({ longWorkers: 1, warmWorkers: 1 })
  first = await tables.load('id,v\n1,old\n2,old\n', { primaryKey: ['id'] })
  const file = createWriteStream(join(tables.root, 'objects', big.key))
  for (let i = 0; i < ROWS; i++) file.write(`${i},"value number ${i}"\n`)
  await new Promise((resolve) => file.end(resolve))
})
after(() => tables[Symbol.asyncDispose]())

test('a worker killed at any moment of a load leaves the table as it was, nothing behind, and the pool works on', async () => {
  const started = performance.now()
  await tables.engine.load(request())
  let usual = performance.now() - started
  await Promise.all((await tables.keys('tables/killed')).map((name) => tables.objects.delete(`tables/killed/${name}`)))

  let killed = 0
  for (let round = 0; round < ROUNDS || killed <= ROUNDS / 3; round++) {
    const begun = performance.now()
    const loading = tables.engine.load(request()).then(
      (result) => ({ result }),
      (error: { code?: string }) => ({ error }),
    )
    await moment(usual * chance())
    for (const pid of tables.engine.workerPids()) kill(pid)
    const outcome = await loading
    if ('error' in outcome) {
      killed++
      assert.equal(outcome.error.code, 'tableEngine.workerDied')
      assert.deepEqual(await tables.keys('tables/killed'), [], 'a failed load left an object')
    } else {
      usual = Math.min(usual, performance.now() - begun) // the machine was busier before: kill earlier
      assert.equal(countRows(outcome.result.snapshot), ROWS)
      for (const key of referencedKeys(outcome.result.snapshot))
        await tables.objects.delete(key.startsWith('tables/killed') ? key : 'none')
    }
    assert.deepEqual(await tables.scratch(), [])
    assert.deepEqual(await tables.rows(first.snapshot), [
      ['1', 'old'],
      ['2', 'old'],
    ])
  }
  assert.equal(tables.objects.open(), 0)
})

test('an aborted load ends at once with its name; one that waits in the queue too', async () => {
  const stop = new AbortController()
  const running = tables.engine.load(request(), { signal: stop.signal })
  const waiting = tables.engine.load(request(), { signal: stop.signal })
  setTimeout(() => stop.abort(), 50)
  await Promise.all([running, waiting].map((work) => assert.rejects(work, { code: 'tableEngine.cancelled' })))
  assert.deepEqual(await tables.scratch(), [])
  assert.deepEqual(await tables.keys('tables/killed'), [])
})

test('a worker that the system does not let start fails its job, not the server; the next one runs', async () => {
  await using crowded = await startTables({ warmWorkers: 0 })
  const { snapshot } = await crowded.load('id\n1\n')
  for (const pid of crowded.engine.workerPids()) kill(pid)
  // A program that is open for writing cannot be started: one of the refusals that spawn throws instead of reporting.
  const program = join(crowded.root, 'program')
  await copyFile('/bin/true', program)
  await using _busy = await open(program, 'r+')
  const { execPath } = process
  process.execPath = program
  try {
    for (let i = 0; i < 3; i++)
      await assert.rejects(crowded.engine.preview({ snapshot, limit: 1 }), { code: 'tableEngine.workerDied' })
  } finally {
    process.execPath = execPath
  }
  assert.equal((await crowded.engine.preview({ snapshot, limit: 1 })).rows.length, 1)
})

test('a worker that outgrows its memory fails its job with the limit in the message, and another takes its place', async () => {
  await using tight = await startTables({ workerMemoryMb: 64, longWorkers: 1 }) // the runtime alone takes more
  await mkdir(join(tight.root, 'objects', 'uploads'), { recursive: true })
  await copyFile(join(tables.root, 'objects', big.key), join(tight.root, 'objects', big.key))
  const snapshot = emptySnapshot([{ name: 'id' }, { name: 'v' }], { primaryKey: ['id'] })
  const load = { ...request(), snapshot, source: { slices: [big, big, big, big] } }
  // Quick work is over before anybody looks at the memory, unless the machine is busy: hence no other work here than too large work.
  for (let round = 0; round < 2; round++)
    await assert.rejects(tight.engine.load(load), { code: 'tableEngine.outOfMemory', message: /64 MB/ })
  assert.deepEqual(await tight.scratch(), [])
})

test('work that takes too long is stopped with its name', async () => {
  await assert.rejects(tables.engine.load(request(), { timeoutMs: 30 }), { code: 'tableEngine.timeout' })
  assert.equal((await tables.engine.preview({ snapshot: first.snapshot, limit: 1 })).rows.length, 1)
})

test('a preview does not wait for loads', async () => {
  const loading = Promise.all([tables.engine.load(request()), tables.engine.load(request())])
  let loaded = false
  loading.then(() => {
    loaded = true
  })
  await tables.engine.preview({ snapshot: first.snapshot, limit: 1 })
  assert.equal(loaded, false)
  await loading
})

test('an object store that fails while a load is published keeps nothing of it', async () => {
  const root = join(tables.root, 'failing')
  const objects = createFolderObjects(join(root, 'objects'))
  let calls = 0
  const engine = await createTableEngine({
    scratchDir: join(root, 'scratch'),
    uriPrefix: URI_PREFIX,
    objects: {
      ...objects,
      adopt: async (key, path) => {
        if (++calls === 2) throw new Error('no space left on device')
        await objects.adopt(key, path)
      },
    },
  })
  await mkdir(join(root, 'objects'), { recursive: true })
  await writeFile(join(root, 'objects', 'up'), '1,a\n1,b\n2,a\n3,a\n4,a\n5,a\n')
  const snapshot = emptySnapshot([{ name: 'id' }, { name: 'v' }], { primaryKey: ['id'] })
  const load = {
    snapshot,
    mode: 'full',
    source: { slices: [{ key: 'up', gzip: false }] },
    fileColumns: ['id', 'v'],
    skipLines: 0,
    loadedAt: 1,
    keyPrefix: 't/',
  } as const
  await assert.rejects(engine.load(load), /no space left/)
  assert.deepEqual(await readdir(join(root, 'objects', 't')), [])
  assert.equal(countRows((await engine.load(load)).snapshot), 5)
  await engine.close()
})

test('a table whose file has disappeared says which one', async () => {
  const { snapshot } = await tables.load('a\n1\n', { keyPrefix: 'tables/gone/' })
  const key = referencedKeys(snapshot)[0]!
  await tables.objects.delete(key)
  await assert.rejects(tables.engine.preview({ snapshot, limit: 1 }), {
    code: 'tableEngine.objectMissing',
    message: new RegExp(key),
  })
})

test('what a crash left in the scratch folder is gone after the next start', async () => {
  const root = join(tables.root, 'crashed')
  await mkdir(join(root, 'scratch', 'half'), { recursive: true })
  await writeFile(join(root, 'scratch', 'half', 'segment.parquet'), 'half')
  const engine = await createTableEngine({
    scratchDir: join(root, 'scratch'),
    uriPrefix: URI_PREFIX,
    objects: createFolderObjects(root),
  })
  assert.deepEqual(await readdir(join(root, 'scratch')), ['spill'])
  await engine.close()
})

test('workers end when their parent is killed, even in the middle of a load', async () => {
  const program = `
    import { createTableEngine } from '${new URL('./engine.ts', import.meta.url)}'
    import { createFolderObjects } from '${new URL('./table-engine.fixture.ts', import.meta.url)}'
    const engine = await createTableEngine({ scratchDir: ${JSON.stringify(join(tables.root, 'orphans'))}, uriPrefix: ${JSON.stringify(URI_PREFIX)}, objects: createFolderObjects(${JSON.stringify(join(tables.root, 'objects'))}) })
    const load = engine.load(${JSON.stringify(request())})
    const look = setInterval(() => {
      if (engine.workerPids().length === 0) return
      clearInterval(look)
      process.stdout.write(JSON.stringify(engine.workerPids()) + '\\n')
    }, 20)
    await load
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pids: number[] = JSON.parse(await firstLine(parent))
  assert.ok(pids.length > 0)
  parent.kill('SIGKILL')
  for (const pid of pids) await until(`worker ${pid} ends with its parent`, () => !isAlive(pid))
})

const moment = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)) // the moment of the kill is what is being tested

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it ended by itself
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    if (text.includes('\n')) break
  }
  return text
}
