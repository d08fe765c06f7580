import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import pino from 'pino'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import type { MetadataDb } from '../../../engines/metadata-db/metadata-db.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import type { JobHandler, Requester } from '../../../model/storage-job.ts'
import { createStorageJobsLoop } from './storage-jobs.loop.ts'
import { createStorageJobs } from './storage-jobs.ts'

interface ProjectTable {
  project: { id: number; name: string; features: string; is_disabled: number; created_at: number }
}

let benches = 0

/** Tests drive tick() themselves; a node that is not ticked is a node that hangs. */
const NEVER = 2 ** 30

/** A clock the test moves, two projects, and as many nodes as it needs. */
async function bench(metadata: MetadataDb) {
  // What one test leaves in the queue is no work for another.
  const work = `work${++benches}`
  const record = `record${benches}`
  let nowMs = Date.UTC(2026, 0, 31, 12)
  const clock = { now: () => new Date(nowMs) }
  const { db } = metadata
  let cuts = 0
  let isAnswerLost = (_result: unknown): boolean => false
  let late: { isLate: (result: unknown) => boolean; until: Promise<void> } | undefined
  const inTransaction: MetadataDb['inTransaction'] = async (run) => {
    const committed = await metadata.inTransaction(async (trx) => {
      const isCut = cuts > 0
      if (isCut) cuts--
      const result = await run(trx)
      if (isCut) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx)
      return result
    })
    if (late?.isLate(committed)) await late.until
    if (!isAnswerLost(committed)) return committed
    isAnswerLost = () => false
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
  }
  const jobs = createStorageJobs({ db, inTransaction, clock })
  const newProject = async (): Promise<Requester> => {
    const { id } = await withTables<ProjectTable>(db)
      .insertInto('project')
      .values({ name: 'p', features: '[]', is_disabled: 0, created_at: nowMs } as ProjectTable['project'])
      .returning('id')
      .executeTakeFirstOrThrow()
    return { actor: { projectId: id, tokenId: 1, tokenDescription: 'tester' }, origin: NO_ORIGIN, baseUrl: 'http://stack' }
  }
  const node = (run: JobHandler, settings = {}) => {
    const loop = createStorageJobsLoop({
      jobs: createStorageJobs({ db, inTransaction, clock }),
      inTransaction,
      clock,
      log: pino({ level: 'silent' }),
      onlyNode: false,
      settings: { pollMs: NEVER, ...settings },
    })
    loop.registerHandler(work, run)
    loop.registerHandler(record, run, 'light')
    return loop
  }
  const advance = (ms: number) => {
    nowMs += ms
  }
  /** The next transaction that writes loses its connection, as when PostgreSQL is restarted. */
  const cutNext = (count: number) => {
    cuts = count
  }
  /** The first transaction with such a result is committed, and its answer gets lost. */
  const loseAnswer = (isLost: (result: unknown) => boolean) => {
    isAnswerLost = isLost
  }
  /** Transactions with such a result are committed, and their answers come later. */
  const delayAnswer = (isLate: (result: unknown) => boolean, until: Promise<void>) => {
    late = { isLate, until }
  }
  return { jobs, newProject, node, advance, work, record, cutNext, loseAnswer, delayAnswer }
}

/** Something to wait for, opened by the test. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

await onBothDatabases('storage jobs', (metadata) => {
  test('a job that lives in this process waits for an object store that is away, and then succeeds', async (t) => {
    const { newProject, node, work } = await bench(metadata)
    const loop = node(async () => undefined, { storePauseMs: 1, storeWaitMs: 60_000 })
    t.after(() => loop.stop())
    await loop.start()
    let tries = 0
    const job = await loop.runInline(await newProject(), { operationName: work }, async () => {
      if (++tries < 5) throw new PlatformError('storage.unavailable', { what: 'store a segment' })
      return { results: 'stored' }
    })
    assert.deepEqual([job.results, job.error, tries], ['stored', undefined, 5])
  })

  test('an object store that is away for too long is the reason of the failure', async (t) => {
    const { newProject, node, work } = await bench(metadata)
    const loop = node(async () => undefined, { storePauseMs: 1, storeWaitMs: 20 })
    t.after(() => loop.stop())
    await loop.start()
    const job = await loop.runInline(await newProject(), { operationName: work }, async () => {
      throw new PlatformError('storage.unavailable', { what: 'store a segment' })
    })
    assert.deepEqual(
      [job.error?.code, job.error?.message],
      ['storage.unavailable', 'The object store could not store a segment. Try again.'],
    )
  })

  const onPostgres = metadata.dialect === 'postgres' ? test : () => {}
  onPostgres('a job that ends while PostgreSQL restarts has ended all the same', async (t) => {
    const { newProject, node, work, cutNext } = await bench(metadata)
    const loop = node(async () => undefined)
    t.after(() => loop.stop())
    await loop.start()
    const requester = await newProject()
    let runs = 0
    const good = await loop.runInline(requester, { operationName: work }, async () => {
      if (++runs === 1) cutNext(3) // its success, and twice what follows
      return { results: 'done' }
    })
    assert.deepEqual([good.results, good.error], ['done', undefined])
    const bad = await loop.runInline(requester, { operationName: work }, async () => {
      cutNext(3)
      throw new PlatformError('tableEngine.workerDied', { reason: 'x' })
    })
    assert.equal(bad.error?.code, 'tableEngine.workerDied')
  })

  test('a job is waiting, then processing, then success, with results and metrics', async (t) => {
    const { jobs, newProject, node, work } = await bench(metadata)
    const requester = await newProject()
    const { open, opened } = gate()
    const loop = node(async () => {
      await opened
      return { results: { rows: 3 }, metrics: { inBytes: 12 } }
    })
    const created = await jobs.create(requester, { operationName: work, operationParams: { a: 1 } })
    assert.equal(created.status, 'waiting')
    t.after(() => loop.stop())
    await loop.start()
    assert.equal((await jobs.get(created.projectId, created.id)).status, 'processing')
    open()
    const job = await jobs.waitFor(created.projectId, created.id, { pollMs: 5 })
    assert.equal(job.status, 'success')
    assert.deepEqual(job.results, { rows: 3 })
    assert.equal(job.metrics.inBytes, 12)
    assert.equal(job.metrics.outCompressed, false)
    assert.deepEqual(job.operationParams, { a: 1, queue: 'main' })
    assert.ok(job.startedAt && job.endedAt)
  })

  test('jobs that share a lock run one after the other in order, others side by side', async (t) => {
    const { jobs, newProject, node, work } = await bench(metadata)
    const requester = await newProject()
    const order: string[] = []
    const gates = new Map(['a1', 'a2', 'b1'].map((name) => [name, gate()]))
    const loop = node(async ({ job }) => {
      const name = String(job.operationParams.name)
      order.push(`${name} starts`)
      await gates.get(name)?.opened
      order.push(`${name} ends`)
      return undefined
    })
    const make = (name: string, lock: string) =>
      jobs.create(requester, { operationName: work, operationParams: { name }, lockKeys: [lock] })
    const [a1, a2, b1] = [await make('a1', 'table:a'), await make('a2', 'table:a'), await make('b1', 'table:b')]
    t.after(() => loop.stop())
    await loop.start()
    assert.deepEqual(order, ['a1 starts', 'b1 starts'])
    gates.get('b1')?.open()
    await jobs.waitFor(b1.projectId, b1.id, { pollMs: 5 })
    gates.get('a2')?.open()
    gates.get('a1')?.open()
    await jobs.waitFor(a2.projectId, a2.id, { pollMs: 5 })
    assert.deepEqual(order, ['a1 starts', 'b1 starts', 'b1 ends', 'a1 ends', 'a2 starts', 'a2 ends'])
    assert.equal((await jobs.get(a1.projectId, a1.id)).status, 'success')
  })

  test('a project with a long row of jobs does not make another one wait', async (t) => {
    const { jobs, newProject, node, advance, work } = await bench(metadata)
    const [busy, quiet] = [await newProject(), await newProject()]
    const order: number[] = []
    const loop = node(
      async ({ job }) => {
        advance(1)
        order.push(job.projectId)
        return undefined
      },
      { heavySlots: 1 },
    )
    for (let i = 0; i < 10; i++) await jobs.create(busy, { operationName: work })
    const last = await jobs.create(quiet, { operationName: work })
    t.after(() => loop.stop())
    await loop.start()
    await jobs.waitFor(last.projectId, last.id, { pollMs: 5 })
    assert.ok(order.indexOf(quiet.actor.projectId) <= 1, order.join())
  })

  test('a job that only changes records does not wait behind loads', async (t) => {
    const { jobs, newProject, node, work, record } = await bench(metadata)
    const requester = await newProject()
    const { open, opened } = gate()
    const loop = node(async ({ job }) => (job.operationName === work ? opened.then(() => undefined) : undefined), {
      heavySlots: 1,
    })
    await jobs.create(requester, { operationName: work })
    const light = await jobs.create(requester, { operationName: record })
    t.after(async () => {
      open()
      await loop.stop()
    })
    await loop.start()
    assert.equal((await jobs.waitFor(light.projectId, light.id, { pollMs: 5 })).status, 'success')
  })

  test('what a handler publishes is saved with the success, or not at all', async (t) => {
    const { jobs, newProject, node, work } = await bench(metadata)
    const requester = await newProject()
    const rename = (trx: Trx, name: string) =>
      withTables<ProjectTable>(trx).updateTable('project').set({ name }).where('id', '=', requester.actor.projectId).execute()
    const loop = node(async ({ job, publish }) => {
      await publish(async (trx) => {
        await rename(trx, `by ${job.operationParams.name}`)
        if (job.operationParams.name === 'bad') throw new PlatformError('csvImport.invalidCsvParams', { reason: 'A quote' })
        return { results: { ok: true } }
      })
    })
    t.after(() => loop.stop())
    await loop.start()
    const run = async (name: string) => {
      const { projectId, id } = await jobs.create(requester, { operationName: work, operationParams: { name } })
      await loop.tick()
      return jobs.waitFor(projectId, id, { pollMs: 5 })
    }
    assert.deepEqual((await run('good')).results, { ok: true })
    const failed = await run('bad')
    assert.equal(failed.status, 'error')
    assert.equal(failed.error?.code, 'csvImport.invalidCsvParams')
    assert.match(failed.error?.message ?? '', /^A quote/)
    assert.match(failed.error?.exceptionId ?? '', /^millrace-[0-9a-f]{32}$/)
    const { rows } = await sql<{ name: string }>`select name from project where id = ${requester.actor.projectId}`.execute(
      metadata.db,
    )
    assert.equal(rows[0]?.name, 'by good')
  })

  test('a job is never taken from a worker that is alive, however late its event loop is', async () => {
    const { jobs, newProject, node, advance, work } = await bench(metadata)
    const requester = await newProject()
    const ready = gate()
    const busy = node(async ({ job }) => {
      await ready.opened
      return { results: `attempt ${job.attempt}` }
    })
    const { projectId, id } = await jobs.create(requester, { operationName: work })
    await busy.start()
    const other = node(async () => ({ results: 'taken' }))
    await other.start()
    advance(60_000) // nothing renewed the lease: the loop was busy
    await sql`insert into worker_lease (worker, alive_until) values (${busy.worker}, ${8.64e15})`.execute(metadata.db)
    await other.tick()
    await sql`delete from worker_lease`.execute(metadata.db)
    busy.wake()
    await busy.tick()
    ready.open()
    assert.equal((await jobs.waitFor(projectId, id, { pollMs: 5 })).results, 'attempt 1')
    await Promise.all([busy.stop(), other.stop()])
  })

  test('a job of a silent worker is taken over once its lease ends, and the old worker can no longer publish', async () => {
    const { jobs, newProject, node, advance, work } = await bench(metadata)
    const requester = await newProject()
    const [awake, ready] = [gate(), gate()]
    let late: Promise<unknown> | undefined
    const zombie = node(async ({ publish }) => {
      await awake.opened
      late = publish(async () => ({ results: 'zombie' })).catch((error: unknown) => error)
      await late
    })
    const { projectId, id } = await jobs.create(requester, { operationName: work, lockKeys: ['table:x'] })
    await zombie.start()
    const heir = node(async ({ job }) => {
      await ready.opened
      return { results: `attempt ${job.attempt}` }
    })
    await heir.start()
    assert.equal((await jobs.get(projectId, id)).attempt, 1)
    advance(60_000) // the zombie hangs: no heartbeat before the heir looks
    await heir.tick()
    assert.equal((await jobs.get(projectId, id)).attempt, 2)
    awake.open() // while the heir is still at work
    await zombie.stop()
    const refused = await late
    assert.ok(refused instanceof PlatformError && refused.code === 'storage.jobs.lost', String(refused))
    assert.equal((await jobs.get(projectId, id)).status, 'processing')
    ready.open()
    assert.equal((await jobs.waitFor(projectId, id, { pollMs: 5 })).results, 'attempt 2')
    await heir.stop()
  })

  test('a job that loses two workers fails and says so, and leaves no lock behind', async () => {
    const { jobs, newProject, node, advance, work } = await bench(metadata)
    const requester = await newProject()
    const { open, opened } = gate()
    const { projectId, id } = await jobs.create(requester, { operationName: work, lockKeys: ['table:y'] })
    const dying = [node(() => opened.then(() => undefined)), node(() => opened.then(() => undefined))]
    for (const loop of dying) {
      await loop.start()
      advance(60_000)
    }
    const survivor = node(async () => ({ results: 'done' }))
    await survivor.start()
    const job = await jobs.waitFor(projectId, id, { pollMs: 5 })
    assert.equal(job.error?.code, 'storage.jobs.workerLost')
    assert.match(job.error?.message ?? '', /Nothing was changed; start the operation again/)
    const next = await jobs.create(requester, { operationName: work, lockKeys: ['table:y'] })
    await survivor.tick()
    assert.equal((await jobs.waitFor(projectId, next.id, { pollMs: 5 })).results, 'done')
    open()
    for (const loop of [...dying, survivor]) await loop.stop()
  })

  test('a failure in passing is tried once more, a second one is final', async (t) => {
    const { jobs, newProject, node, work } = await bench(metadata)
    const requester = await newProject()
    const failures = new Map([
      ['once', 1],
      ['always', 9],
    ])
    const loop = node(async ({ job }) => {
      const left = failures.get(String(job.operationParams.name)) ?? 0
      failures.set(String(job.operationParams.name), left - 1)
      if (left > 0) throw new PlatformError('tableEngine.workerDied', { reason: 'SIGKILL' })
      return { results: 'in the end' }
    })
    t.after(() => loop.stop())
    await loop.start()
    const run = async (name: string) => {
      const { projectId, id } = await jobs.create(requester, { operationName: work, operationParams: { name } })
      await loop.tick()
      return jobs.waitFor(projectId, id, { pollMs: 5 })
    }
    assert.equal((await run('once')).results, 'in the end')
    assert.equal((await run('always')).error?.code, 'tableEngine.workerDied')
    assert.equal(failures.get('always'), 7)
  })

  test('a bug fails the job without telling its inside', async (t) => {
    const { jobs, newProject, node, work } = await bench(metadata)
    const requester = await newProject()
    const loop = node(async () => {
      throw new Error('secret path /var/x')
    })
    t.after(() => loop.stop())
    await loop.start()
    const { projectId, id } = await jobs.create(requester, { operationName: work })
    await loop.tick()
    const job = await jobs.waitFor(projectId, id, { pollMs: 5 })
    assert.equal(job.error?.code, 'internalError')
    assert.ok(!JSON.stringify(job).includes('secret path'))
  })

  test('an inline job queues for its lock, runs here, and fails when its process ends', async () => {
    const { jobs, newProject, node, advance, work } = await bench(metadata)
    const requester = await newProject()
    const order: string[] = []
    const here = node(async () => {
      order.push('queued')
      return undefined
    })
    const elsewhere = node(async () => assert.fail('ran on the wrong node'))
    await jobs.create(requester, { operationName: work, lockKeys: ['table:z'] })
    await here.start()
    await elsewhere.start()
    const job = await here.runInline(requester, { operationName: work, lockKeys: ['table:z'] }, async () => {
      order.push('inline')
      return { results: 7 }
    })
    assert.equal(job.results, 7)
    assert.deepEqual(order, ['queued', 'inline'])

    const began = gate()
    const orphan = here.runInline(requester, { operationName: work }, () => {
      began.open()
      return new Promise(() => {})
    })
    await here.tick()
    await began.opened // its lease is from before the time moves
    advance(60_000)
    await elsewhere.tick()
    assert.equal((await orphan).error?.code, 'storage.jobs.workerLost')
    await elsewhere.stop()
    await here.stop({ patienceMs: 1 })
  })

  for (const isInline of [true, false])
    test(`${isInline ? 'an inline' : 'a'} job whose claim was committed without an answer is run by its busy worker`, async (t) => {
      const { jobs, newProject, node, advance, work, record, loseAnswer } = await bench(metadata)
      const requester = await newProject()
      let runs = 0
      const busy = gate()
      const loop = node(async ({ job }) => {
        if (job.operationName === record) return busy.opened.then(() => undefined)
        runs++
      })
      t.after(() => {
        busy.open()
        return loop.stop()
      })
      await loop.start()
      await jobs.create(requester, { operationName: record })
      await loop.tick() // from here on it always has a job to keep alive
      loseAnswer((result) => {
        const row = result as { operation_name?: string; status?: string } | undefined
        return row?.operation_name === work && row.status === 'processing'
      })
      const order = { operationName: work }
      const end = isInline
        ? loop.runInline(requester, order, async () => {
            runs++
            return undefined
          })
        : jobs.create(requester, order).then(({ projectId, id }) => jobs.waitFor(projectId, id, { pollMs: 5 }))
      await loop.tick().catch(() => {})
      for (let n = 0; n < 6; n++) {
        await new Promise((resolve) => setImmediate(resolve))
        advance(10_000)
        await loop.tick().catch(() => {})
      }
      assert.equal(runs, 1)
      assert.equal((await end).status, 'success')
    })

  test('a job that is claimed while leases are renewed goes on', async (t) => {
    const { jobs, newProject, node, advance, work, record, delayAnswer } = await bench(metadata)
    const requester = await newProject()
    const [renewed, busy, began] = [gate(), gate(), gate()]
    const signals: AbortSignal[] = []
    const loop = node(async ({ signal }) => {
      signals.push(signal)
      if (signals.length === 2) began.open()
      await busy.opened
    })
    t.after(() => {
      busy.open()
      return loop.stop()
    })
    await loop.start()
    await jobs.create(requester, { operationName: record })
    await loop.tick()
    delayAnswer((result) => result instanceof Set, renewed.opened)
    advance(10_000)
    const renewing = loop.tick()
    const created = await jobs.create(requester, { operationName: work })
    loop.wake()
    await began.opened
    renewed.open()
    await renewing
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [false, false],
    )
    busy.open()
    assert.equal((await jobs.waitFor(created.projectId, created.id, { pollMs: 5 })).attempt, 1)
  })

  test('many nodes claim from one queue and every job runs exactly once', async (t) => {
    const { jobs, newProject, node, work } = await bench(metadata)
    const requester = await newProject()
    const runs = new Map<number, number>()
    const atWork = new Set<string>()
    const loops = Array.from({ length: 4 }, () =>
      node(
        async ({ job }) => {
          const lock = String(job.operationParams.lock)
          assert.ok(!atWork.has(lock), `two holders of ${lock}`)
          atWork.add(lock)
          await new Promise((resolve) => setImmediate(resolve))
          atWork.delete(lock)
          runs.set(job.id, (runs.get(job.id) ?? 0) + 1)
          return undefined
        },
        { pollMs: 10 },
      ),
    )
    const created = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        jobs.create(requester, { operationName: work, operationParams: { lock: i % 5 }, lockKeys: [`table:${i % 5}`] }),
      ),
    )
    t.after(() => Promise.all(loops.map((loop) => loop.stop())))
    await Promise.all(loops.map((loop) => loop.start()))
    for (const { projectId, id } of created) {
      const job = await jobs.waitFor(projectId, id, { pollMs: 5 })
      assert.equal(job.status, 'success', JSON.stringify(job.error))
    }
    assert.deepEqual(
      [...runs.values()],
      created.map(() => 1),
    )
  })
})

test('over HTTP a job of another project does not exist, and a wrong id is a 404', async (t) => {
  const { request, newProject, platform, projectId } = await startTestStack(t)
  const other = await newProject()
  const actor = { projectId, tokenId: 1, tokenDescription: 'x' }
  const { id } = await platform.storageJobs.create({ actor, origin: NO_ORIGIN, baseUrl: 'http://x' }, { operationName: 'none' })
  const own = await request('GET', `/v2/storage/jobs/${id}`)
  assert.equal(own.status, 200)
  const record = own.json<{ id: unknown; url: string; status: string; results: unknown; creatorToken: { id: unknown } }>()
  assert.equal(record.id, id)
  assert.equal(record.status, 'waiting')
  assert.equal(record.results, null)
  assert.equal(typeof record.creatorToken.id, 'number')
  assert.equal((await request('GET', record.url)).status, 200)
  for (const [path, token] of [
    [`/v2/storage/jobs/${id}`, other.masterToken],
    ['/v2/storage/jobs/999999', undefined],
    ['/v2/storage/jobs/abc', undefined],
  ] as const) {
    const answer = await request('GET', path, token === undefined ? {} : { token })
    assert.equal(answer.status, 404, path)
    assert.equal(answer.json().code, 'storage.jobs.notFound')
  }
})

test('the list of jobs is newest first and filtered by status and time', async (t) => {
  const { request, newProject, platform, projectId } = await startTestStack(t)
  const actor = { projectId, tokenId: 1, tokenDescription: 'x' }
  for (let i = 0; i < 3; i++)
    await platform.storageJobs.create({ actor, origin: NO_ORIGIN, baseUrl: 'http://x' }, { operationName: 'none' })
  const ids = async (query: string) =>
    (await request('GET', `/v2/storage/jobs?${query}`)).json<{ id: number }[]>().map((job) => job.id)
  const all = await ids('')
  assert.deepEqual(
    all,
    all.toSorted((a, b) => b - a),
  )
  assert.equal(all.length, 3)
  assert.deepEqual(await ids('limit=1&offset=1'), [all[1]])
  assert.equal((await ids('storage_job_status[]=waiting')).length, 3)
  assert.equal((await ids('storage_job_status[]=success')).length, 0)
  assert.equal((await ids('excluded_storage_job_status[]=waiting')).length, 0)
  assert.equal((await ids('created_time_from=-1%20hour')).length, 3)
  assert.equal((await ids('created_time_to=-1%20hour')).length, 0)
  const { masterToken } = await newProject()
  assert.deepEqual((await request('GET', '/v2/storage/jobs', { token: masterToken })).json(), [], 'of its own project only')
  for (const query of ['limit=0', 'storage_job_status[]=cancelled', 'created_time_from=soonish'])
    assert.equal((await request('GET', `/v2/storage/jobs?${query}`)).status, 400, query)
})
