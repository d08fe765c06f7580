import assert from 'node:assert/strict'
import { after, afterEach, before, mock, test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { until } from '../../../../../tests/support/until.ts'
import type { MetadataDb } from '../../../engines/metadata-db/metadata-db.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { JobRequest } from './job-request.ts'
import { createQueueLoop, type JobHandle, type JobOutcome, type QueueLoop } from './queue.loop.ts'
import type { JobRow } from './queue.schema.ts'
import { createQueueStore } from './queue.store.ts'
import { createQueue } from './queue.ts'
import { createStateHistory } from './state-history.store.ts'

const DONE: JobOutcome = {
  end: 'succeeded',
  result: { message: 'done' },
  usage: [],
  metrics: [],
  error: null,
  cause: null,
  unsavedState: null,
}
const noFlow = () => assert.fail('there are no flows here')
const NO_FLOWS = { check: noFlow, open: noFlow, wake: noFlow, progress: noFlow }
const QUIET = { error: () => {}, warn: () => {} }

/** Nothing happens by itself in here: the test drives the loop and the renewal of its leases. */
const BEAT_MS = 1_000
const stops: (() => Promise<void>)[] = []

/** A queue on a project of its own, with a clock that is moved by hand and jobs that end on request. */
async function rig(
  metadata: MetadataDb,
  { slots = 10, projectLimit = 10, rows = ['a', 'b', 'c'], rowsOf = async () => rows, attempts = 2 } = {},
) {
  const { db } = metadata
  let afterCommit = async (): Promise<void> => {}
  let cuts = 0
  const inTransaction: MetadataDb['inTransaction'] = async (work) => {
    const result = await metadata.inTransaction(async (trx) => {
      const done = await work(trx)
      if (cuts-- > 0) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx)
      return done
    })
    await afterCommit()
    return result
  }
  /** Holds the caller of the next transaction after its commit, until it is released. */
  function holdNextCommit() {
    const [committed, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    afterCommit = () => {
      afterCommit = async () => {}
      committed.resolve()
      return free.promise
    }
    return { committed: committed.promise, letGo: () => free.resolve() }
  }
  await sql`delete from queue_job`.execute(db)
  await sql`delete from queue_lock`.execute(db)
  const inserted = await sql<{
    id: number
  }>`insert into project (name, features, is_disabled, created_at) values ('p', '[]', 0, 0) returning id`.execute(db)
  const projectId = Number(inserted.rows[0]!.id)
  const actor = { projectId, tokenId: 1, tokenDescription: 'test', isMasterToken: true } as Actor // the only members these rules read
  const branch = { id: projectId, isDefault: true }
  let now = 1_000_000
  let stopping = false
  const clock = { now: () => new Date(now) }
  const store = createQueueStore(db)
  const said: { runId: string | null | undefined; message: string }[] = []
  const runs: { handle: JobHandle; finish: (outcome: JobOutcome) => void }[] = []
  const loops: QueueLoop[] = []
  const queue = createQueue({
    store,
    inTransaction,
    clock,
    components: {
      find: (id) =>
        id === 'none'
          ? undefined
          : {
              id,
              tag: '1',
              features: id.startsWith('dev-') ? [id] : [],
              labels: [],
              problem: undefined,
              isFlow: false,
              isWriter: false,
            },
      canonicalId: (id) => id.replace('alias-of-', ''),
      problemOf: () => undefined,
    },
    configurations: {
      get: async ({ configurationId }) => ({
        isDisabled: configurationId === 'disabled',
        configuration: configurationId === 'safe' ? '{"runtime":{"safe":true}}' : '{}',
        rows: configurationId === 'with-rows' ? rows.map((id) => ({ id, isDisabled: false })) : [],
      }),
    },
    flows: NO_FLOWS,
    states: createStateHistory(db),
    encrypt: async (_, __, text) => text,
    findBranch: async (_, name) => (name === 'default' ? branch : name === 'dev' ? { id: 7, isDefault: false } : undefined),
    isPausedCopy: false,
    onChange: (killed) => {
      for (const loop of loops) for (const id of killed ?? []) loop.nudge([id])
    },
  })
  function newLoop(): QueueLoop {
    const loop = createQueueLoop({
      store,
      queue: () => queue,
      inTransaction,
      clock,
      runJob: (handle) =>
        new Promise((finish) => {
          runs.push({ handle, finish })
          handle.signal.addEventListener('abort', () => {
            if (stopping) finish({ ...DONE, end: 'killed' })
            else if (handle.signal.reason === 'stopped') finish({ ...DONE, end: 'failed', error: 'stopped' })
          })
        }),
      recordState: createStateHistory(db).record,
      rowsOf,
      openFlow: NO_FLOWS.open,
      onMoved: () => {},
      slots: () => slots,
      projectLimit: () => projectLimit,
      labels: new Set<string>(),
      hasWorkerWith: async () => true,
      hasComponent: () => true,
      knowsComponent: () => true,
      findElsewhere: async () => new Set(),
      isRepeatable: (id) => id === 'repeatable',
      attempts: () => attempts,
      recordEvent: async (_, __, { message }, origin) => {
        said.push({ runId: origin?.runId, message })
      },
      isAlone: false,
      log: QUIET,
    })
    loops.push(loop)
    return loop
  }
  const get = (id: number): Promise<JobRow> => queue.get(actor, id)
  const loop = newLoop()
  stops.push(async () => {
    stopping = true
    await Promise.all(loops.map((one) => one.stop(0)))
  })
  await loop.start()
  return {
    actor,
    queue,
    store,
    loop,
    newLoop,
    holdNextCommit,
    /** The next transactions lose their connections before they are committed, as when PostgreSQL is restarted. */
    cutNext: (count: number) => {
      cuts = count
    },
    runs,
    said,
    get,
    create: (request: Partial<JobRequest> = {}) =>
      queue.create(actor, { component: 'x', config: 'one', ...request }, { branch, baseUrl: 'http://test' }),
    kill: (id: number) => queue.kill(actor, id),
    tick: () => loop.tick(),
    sleep: (ms: number) => {
      now += ms
    },
    finish: async (index: number, outcome: JobOutcome = DONE) => {
      const run = runs[index]!
      run.finish(outcome)
      await until('the job has ended', async () => (await get(run.handle.job.id)).ended_at !== null)
    },
  }
}

await onBothDatabases('queue', (metadata) => {
  before(() => mock.timers.enable({ apis: ['setInterval'] }))
  after(() => mock.timers.reset())
  afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())))

  test('workers that claim at the same time keep the limit of the project and of each configuration', async () => {
    const { create, newLoop, runs, get, loop } = await rig(metadata, { slots: 5, projectLimit: 4 })
    const jobs = await Promise.all(Array.from({ length: 12 }, (_, i) => create({ config: `c${i % 6}` })))
    const others = [newLoop(), newLoop()]
    await Promise.all([loop, ...others].map((one) => one.start()))
    const statuses = async () => Promise.all(jobs.map(async ({ id }) => (await get(id)).status))
    const isOpen = async () => (await statuses()).some((status) => status !== 'success')
    for (let ended = 0; await isOpen(); ended++) {
      await until('the next job runs', () => runs.length > ended)
      const running = (await Promise.all(jobs.map(({ id }) => get(id)))).filter(({ status }) => status === 'processing')
      assert.ok(running.length <= 4, `${running.length} run at once`)
      assert.equal(new Set(running.map(({ lock_key }) => lock_key)).size, running.length)
      const run = runs[ended]!
      run.finish(DONE)
      await until('it has ended', async () => (await get(run.handle.job.id)).ended_at !== null)
      await Promise.all([loop, ...others].map((one) => one.tick()))
    }
    assert.equal(runs.length, jobs.length)
  })

  test('a job that was not delayed starts at once after the clock was set back', async () => {
    const { create, tick, sleep, get } = await rig(metadata)
    const { id } = await create()
    sleep(-600_000)
    await tick()
    assert.equal((await get(id)).status, 'processing')
  })

  test('a job of a lost worker does not wait for a lease that was written by a clock an hour ahead', async () => {
    const { create, tick, sleep, runs, newLoop, get } = await rig(metadata)
    sleep(3_600_000)
    const { id } = await create()
    await tick()
    await runs[0]!.handle.begin(1)
    sleep(-3_600_000)
    await newLoop().tick()
    assert.equal((await get(id)).status, 'error')
  })

  test('a job runs and ends with what its run says', async () => {
    const { create, tick, finish, runs, get } = await rig(metadata)
    const job = await create()
    assert.equal(job.status, 'created')
    assert.equal(job.run_id, String(job.id))
    await tick()
    assert.equal((await get(job.id)).status, 'processing')
    await finish(0, { ...DONE, end: 'failed', error: 'no luck' })
    const ended = await get(job.id)
    assert.deepEqual([ended.status, ended.error, ended.worker], ['error', 'no luck', null])
    assert.equal(runs.length, 1)
  })

  const onPostgres = metadata.dialect === 'postgres' ? test : () => {}
  onPostgres('a job that ends while PostgreSQL restarts has ended all the same', async () => {
    const { create, tick, finish, get, cutNext } = await rig(metadata)
    const job = await create()
    await tick()
    cutNext(3)
    await finish(0)
    assert.deepEqual([(await get(job.id)).status, (await get(job.id)).error], ['success', null])
  })

  onPostgres(
    'results whose publishing is cut off by a restart of PostgreSQL are published once, and the job succeeds',
    async () => {
      const { create, tick, finish, runs, get } = await rig(metadata)
      const job = await create()
      await tick()
      let tries = 0
      const published = await runs[0]!.handle.publish(async (trx) => {
        if (++tries < 3) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx)
        await trx
          .updateTable('queue_job' as never)
          .set({ error: 'published' } as never)
          .where('id' as never, '=', job.id as never)
          .execute()
        return 'published'
      })
      assert.deepEqual([published, tries, (await get(job.id)).error], ['published', 3, 'published'])
      await finish(0)
      assert.equal((await get(job.id)).status, 'success')
    },
  )

  test('jobs of one configuration never overlap, and the one that waits says for whom', async () => {
    const { create, tick, finish, runs, get } = await rig(metadata)
    const first = await create()
    const second = await create()
    const other = await create({ config: 'two' })
    await tick()
    assert.deepEqual(
      runs.map(({ handle }) => handle.job.id),
      [first.id, other.id],
    )
    const waiting = await get(second.id)
    assert.equal(waiting.status, 'waiting')
    assert.equal(waiting.waiting_reason, `Waiting for job ${first.id}, which runs the same configuration.`)
    const third = await create()
    await tick()
    await finish(0)
    await tick()
    assert.equal((await get(second.id)).status, 'processing')
    assert.equal((await get(third.id)).waiting_reason, `Waiting for job ${second.id}, which runs the same configuration.`)
  })

  test('a project runs only so many jobs at once', async () => {
    const { create, tick, runs, get, finish } = await rig(metadata, { projectLimit: 2 })
    const jobs = [await create({ config: '1' }), await create({ config: '2' }), await create({ config: '3' })]
    await tick()
    assert.equal(runs.length, 2)
    assert.match((await get(jobs[2]!.id)).waiting_reason ?? '', /runs 2 jobs at once/)
    await finish(0)
    await tick()
    assert.equal(runs.length, 3)
  })

  test('a project with a long queue does not keep the first job of another one waiting', async () => {
    const { create, tick, runs, queue, actor, finish, sleep } = await rig(metadata, { slots: 2 })
    for (let i = 0; i < 60; i++) await create({ config: `c-${i}` })
    const inserted = await sql<{
      id: number
    }>`insert into project (name, features, is_disabled, created_at) values ('q', '[]', 0, 0) returning id`.execute(metadata.db)
    const other = await queue.create(
      { ...actor, projectId: Number(inserted.rows[0]!.id) },
      { component: 'x', config: 'one' },
      { branch: { id: 99, isDefault: true }, baseUrl: 'http://test' },
    )
    const isRunning = () => runs.some(({ handle }) => handle.job.id === other.id)
    sleep(5_000)
    await tick()
    if (!isRunning()) {
      await finish(0) // both places were taken before it was there
      sleep(5_000)
      await tick()
    }
    assert.ok(isRunning())
  })

  test('a delayed job starts when its time has come', async () => {
    const { create, tick, runs, sleep } = await rig(metadata)
    await create({ startAfter: 1_000_000 + 60_000 })
    await tick()
    assert.equal(runs.length, 0)
    sleep(60_000)
    await tick()
    assert.equal(runs.length, 1)
  })

  test('a killed job that has not started is cancelled; one that runs is asked to end and is terminated', async () => {
    const { create, tick, kill, runs, finish, get } = await rig(metadata)
    const running = await create()
    const queued = await create()
    await tick()
    assert.equal((await kill(queued.id)).status, 'cancelled')
    assert.equal((await kill(running.id)).status, 'terminating')
    assert.equal(runs[0]!.handle.signal.aborted, true)
    await finish(0, { ...DONE, end: 'killed' })
    assert.equal((await get(running.id)).status, 'terminated')
    await assert.rejects(kill(running.id), { code: 'queue.notKillable' })
  })

  test('a run that ends well while it is being killed is terminated all the same', async () => {
    const { create, tick, kill, finish, get } = await rig(metadata)
    const job = await create()
    await tick()
    await kill(job.id)
    await finish(0)
    assert.equal((await get(job.id)).status, 'terminated')
  })

  test('a job lost before a component began is run again; a late worker publishes nothing', async () => {
    const { create, tick, newLoop, runs, sleep, get } = await rig(metadata)
    const job = await create()
    await tick()
    sleep(60_000)
    const other = newLoop()
    await other.start()
    await until('another worker runs it', () => runs.length === 2)
    assert.equal(runs[1]!.handle.job.attempt, 2)
    await assert.rejects(runs[0]!.handle.begin(null), { code: 'queue.leaseLost' })
    await assert.rejects(
      runs[0]!.handle.publish(async () => assert.fail('published')),
      { code: 'queue.leaseLost' },
    )
    runs[0]!.finish(DONE)
    await runs[1]!.handle.begin(null)
    runs[1]!.finish({ ...DONE, result: { message: 'second' } })
    await until('the job has succeeded', async () => (await get(job.id)).status === 'success')
    assert.equal((await get(job.id)).result, '{"message":"second"}')
  })

  test('a job lost after a component began is an error, and its configuration is free', async () => {
    const { create, tick, newLoop, runs, sleep, get } = await rig(metadata)
    const job = await create()
    await tick()
    await runs[0]!.handle.begin(null)
    sleep(60_000)
    const next = await create()
    await newLoop().start()
    await until('the job has failed', async () => (await get(job.id)).status === 'error')
    assert.match((await get(job.id)).error ?? '', /worker that ran this job was lost/)
    await until('the next job runs', async () => (await get(next.id)).status === 'processing')
  })

  test('a lost job of a repeatable component starts again, once, and its late worker publishes nothing', async () => {
    const { create, tick, newLoop, runs, said, sleep, get, loop } = await rig(metadata)
    const job = await create({ component: 'repeatable' })
    await tick()
    await runs[0]!.handle.begin(7)
    sleep(60_000)
    const other = newLoop()
    await other.tick() // it takes no job before it is started
    const waiting = await get(job.id)
    assert.deepEqual(
      [waiting.status, waiting.waiting_reason, waiting.started_at, waiting.ended_at],
      ['waiting', 'The worker that ran this job was lost. The job starts again.', null, null],
    )
    assert.deepEqual(said, [{ runId: String(job.id), message: 'The worker that ran this job was lost. The job starts again.' }])
    assert.deepEqual(
      [other.lost(), loop.lost()],
      [
        { returned: 0, repeated: 1, ended: 0 },
        { returned: 0, repeated: 0, ended: 0 },
      ],
    )
    await assert.rejects(
      runs[0]!.handle.publish(async () => assert.fail('published')),
      { code: 'queue.leaseLost' },
    )
    await other.start()
    await until('another worker runs it', () => runs.length === 2)
    assert.equal(runs[1]!.handle.job.attempt, 2)
    await assert.rejects(
      runs[0]!.handle.publish(async () => assert.fail('published')),
      { code: 'queue.leaseLost' },
    )
    await assert.rejects(runs[0]!.handle.begin(7), { code: 'queue.leaseLost' })
    await runs[1]!.handle.begin(7)
    sleep(60_000)
    await newLoop().tick() // no attempt is left
    assert.deepEqual([(await get(job.id)).status, runs.length], ['error', 2])
    assert.match((await get(job.id)).error ?? '', /worker that ran this job was lost/)
  })

  test('a lost job is not repeated when a row of it was published, when it is being killed, and when the stack allows one attempt', async () => {
    const partly = await rig(metadata)
    const job = await partly.create({ component: 'repeatable' })
    await partly.tick()
    const [{ handle }] = partly.runs as [(typeof partly.runs)[number]]
    await handle.begin(1)
    await handle.publish(async () => {})
    await handle.begin(1) // of the next row
    partly.sleep(60_000)
    await partly.newLoop().tick()
    assert.equal((await partly.get(job.id)).status, 'error')

    const killed = await rig(metadata)
    const ending = await killed.create({ component: 'repeatable' })
    await killed.tick()
    await killed.runs[0]!.handle.begin(1)
    await killed.kill(ending.id)
    killed.sleep(60_000)
    await killed.newLoop().tick()
    assert.equal((await killed.get(ending.id)).status, 'terminated')

    const never = await rig(metadata, { attempts: 1 })
    const single = await never.create({ component: 'repeatable' })
    await never.tick()
    await never.runs[0]!.handle.begin(1)
    never.sleep(60_000)
    await never.newLoop().tick()
    assert.equal((await never.get(single.id)).status, 'error')
    assert.deepEqual([partly.said, killed.said, never.said], [[], [], []])
  })

  test('a job whose results were all published has succeeded, also when its component is repeatable', async () => {
    const { create, tick, newLoop, runs, sleep, get } = await rig(metadata)
    const job = await create({ component: 'repeatable' })
    await tick()
    const { handle } = runs[0]!
    await handle.begin(1)
    await handle.publish((trx) => handle.markPublished(trx, { result: { message: 'all' }, metrics: [] }))
    sleep(60_000)
    await newLoop().tick()
    assert.deepEqual([(await get(job.id)).status, (await get(job.id)).result], ['success', '{"message":"all"}'])
  })

  test('a job whose results were all published has succeeded, also when its run did not learn of it', async () => {
    const { create, tick, finish, runs, get } = await rig(metadata)
    const job = await create()
    await tick()
    const { handle } = runs[0]!
    await handle.begin(1)
    await handle.publish((trx) => handle.markPublished(trx, { result: { message: 'all' }, metrics: [] }))
    await finish(0, { ...DONE, end: 'failed', error: 'Connection terminated unexpectedly' })
    const { status, error, result } = await get(job.id)
    assert.deepEqual([status, error, result], ['success', null, '{"message":"all"}'])
  })

  test('a node that stops leaves its repeatable jobs to the next one, and ends the others', async () => {
    const { create, tick, newLoop, runs, get, loop } = await rig(metadata)
    const repeatable = await create({ component: 'repeatable' })
    const single = await create({ config: 'two' })
    await tick()
    for (const { handle } of runs) await handle.begin(1)
    await loop.stop(0)
    assert.deepEqual([(await get(repeatable.id)).status, (await get(single.id)).status], ['waiting', 'error'])
    await newLoop().start()
    await until('the next node runs it', () => runs.length === 3)
    assert.deepEqual([runs[2]!.handle.job.id, runs[2]!.handle.job.attempt], [repeatable.id, 2])
  })

  test('a job is never taken from a worker that is alive, however late its event loop is', async () => {
    const { create, tick, newLoop, runs, sleep, get, loop } = await rig(metadata)
    const job = await create()
    await tick()
    await runs[0]!.handle.begin(null)
    sleep(60_000) // nothing renews the lease: the loop is busy
    await loop.tick()
    assert.equal((await get(job.id)).status, 'processing')
    await sql`insert into worker_lease (worker, alive_until) values (${loop.worker}, ${1_000_000 + 61_000})`.execute(metadata.db)
    const other = newLoop()
    await other.tick()
    assert.equal((await get(job.id)).status, 'processing')
    sleep(2_000) // now the thread that renews its lease is silent too
    await other.tick()
    assert.match((await get(job.id)).error ?? '', /worker that ran this job was lost/)
  })

  test('a look that is asked for waits for the one that goes on: what that one claimed has then started', async () => {
    const { create, tick, newLoop, runs, loop, holdNextCommit } = await rig(metadata)
    await tick()
    await create()
    const held = holdNextCommit() // of the claim
    loop.nudge()
    await held.committed
    let isDone = false
    const looked = tick().then(() => {
      isDone = true
    })
    for (let round = 0; round < 5; round++) await newLoop().tick() // time enough for a look
    const wasDone = isDone
    held.letGo()
    await looked
    assert.equal(wasDone, false)
    assert.equal(runs.length, 1)
  })

  test('a lease that is renewed is not taken', async () => {
    const { create, tick, newLoop, runs, sleep, store, loop } = await rig(metadata)
    const job = await create()
    await tick()
    sleep(10_000)
    mock.timers.tick(BEAT_MS)
    await until('the lease is renewed', async () => (await store.find(job.project_id, job.id))!.lease_until! > 1_000_000 + 15_000)
    sleep(10_000)
    await newLoop().tick()
    assert.equal(runs.length, 1)
    assert.equal(loop.running(), 1)
  })

  test('parallel rows are jobs of their own, so many at once, and the container ends with the last', async () => {
    const { create, tick, runs, finish, get, queue, actor } = await rig(metadata)
    const container = await create({ config: 'with-rows', parallelism: '2' })
    assert.equal(container.type, 'container')
    await tick()
    await until('all rows have jobs', async () => (await queue.search(actor, { parentRunId: container.run_id })).length === 3)
    await until('two rows run', async () => {
      await tick()
      return runs.length === 2
    })
    assert.deepEqual(
      runs.map(({ handle }) => handle.job.row_ids),
      ['["a"]', '["b"]'],
    )
    assert.equal(runs[0]!.handle.job.run_id, `${container.id}.${runs[0]!.handle.job.id}`)
    await finish(0)
    await until('the third row runs', () => runs.length === 3)
    await finish(1, { ...DONE, end: 'failed', error: 'row b' })
    assert.equal((await get(container.id)).status, 'processing')
    await finish(2)
    const ended = await get(container.id)
    assert.equal(ended.status, 'error')
    assert.match(ended.error ?? '', /Row b ended with error: row b/)
  })

  test('a container with many rows that wait keeps nobody else waiting', async () => {
    const rows = Array.from({ length: 120 }, (_, i) => `row-${i}`)
    const { create, tick, runs, queue, actor } = await rig(metadata, { rows })
    const container = await create({ config: 'with-rows', parallelism: '1' })
    await tick()
    await until('rows have jobs', async () => (await queue.search(actor, { parentRunId: container.run_id })).length > 0)
    await until('the first row runs', () => runs.length === 1)
    const other = await create({ config: 'other' })
    await tick()
    assert.deepEqual(
      runs.map(({ handle }) => handle.job.parent_job_id ?? handle.job.id),
      [container.id, other.id],
    )
  })

  test('a container whose rows are gone when it starts has failed, and says why', async () => {
    const rowsOf = async (): Promise<string[]> => {
      throw new PlatformError('jobRunner.invalidConfiguration', { reason: 'none of its rows a, b exists' })
    }
    const { create, tick, get, loop } = await rig(metadata, { rowsOf })
    const container = await create({ config: 'with-rows', parallelism: '2' })
    await tick()
    await until('the container has ended', () => loop.running() === 0)
    const ended = await get(container.id)
    assert.deepEqual([ended.status, ended.error], ['error', 'The configuration cannot be run: none of its rows a, b exists.'])
  })

  test('killing a container ends its rows and then the container', async () => {
    const { create, tick, runs, kill, finish, get } = await rig(metadata)
    const container = await create({ config: 'with-rows', parallelism: '1' })
    await tick()
    await until('the first row runs', () => runs.length === 1)
    await kill(container.id)
    assert.equal(runs[0]!.handle.signal.aborted, true)
    await finish(0, { ...DONE, end: 'killed' })
    assert.equal((await get(container.id)).status, 'terminated')
  })

  test('what cannot run is refused when it is created', async () => {
    const { create } = await rig(metadata)
    await assert.rejects(create({ component: 'none' }), { code: 'queue.unknownComponent' })
    await assert.rejects(create({ config: 'disabled' }), { code: 'queue.configurationDisabled' })
    await create({ config: 'disabled', mode: 'forceRun' })
    await assert.rejects(create({ config: 'with-rows', configRowIds: ['zzz'] }), { code: 'queue.rowsNotFound' })
    await assert.rejects(create({ branchId: '77' }), { code: 'notFound' })
    await create({ deduplicationId: 'once' })
    await assert.rejects(create({ deduplicationId: 'once' }), { code: 'dbDeduplicationIdConflict' })
  })

  test('only who may use a component runs and ends its jobs, under whichever of its names', async () => {
    const { create, queue, actor } = await rig(metadata)
    const job = await create({ component: 'x' })
    const limitedTo = (...componentAccess: string[]): Actor => ({
      ...actor,
      isMasterToken: false,
      canManageBuckets: false,
      componentAccess,
    })
    const options = { branch: { id: 1, isDefault: true }, baseUrl: 'http://test' }
    await assert.rejects(queue.kill(limitedTo('y'), job.id), { code: 'accessDenied' })
    await assert.rejects(queue.create(limitedTo('y'), { component: 'x', config: 'one' }, options), { code: 'accessDenied' })
    await queue.create(limitedTo('alias-of-x'), { component: 'x', config: 'one' }, options)
    assert.match((await queue.kill(limitedTo('alias-of-x'), job.id)).status, /^(cancelled|terminating)$/)
  })

  test('a component that changes things outside runs in a development branch only where that is allowed', async () => {
    const { create } = await rig(metadata)
    await create({ component: 'dev-branch-job-blocked' })
    await assert.rejects(create({ component: 'dev-branch-job-blocked', branchId: 'dev', config: 'safe' }), {
      code: 'queue.notRunnable',
    })
    const unsafe = { component: 'dev-branch-configuration-unsafe', branchId: 'dev' }
    await assert.rejects(create(unsafe), { code: 'queue.notRunnable' })
    await assert.rejects(create({ ...unsafe, configData: '{"runtime":{"safe":"true"}}' }), { code: 'queue.notRunnable' })
    await create({ ...unsafe, config: 'safe' })
    await create({ ...unsafe, configData: '{"runtime":{"safe":true}}' })
  })

  test('jobs are found by their branch, which has an id and may be the default one', async () => {
    const { create, queue, actor } = await rig(metadata)
    const main = await create({ config: 'one' })
    const dev = await create({ config: 'two', branchId: 'dev' })
    const ids = async (branchId: string) => (await queue.search(actor, { branchId })).map(({ id }) => id)
    assert.deepEqual(await ids('default'), [main.id])
    assert.deepEqual(await ids(String(dev.branch_id)), [dev.id])
    const groups = await queue.searchGrouped(actor, { branchId: 'default' }, ['branchId'], 5, 5)
    assert.deepEqual(
      groups.map(({ jobs }) => jobs.map(({ id }) => id)),
      [[main.id]],
    )
  })

  test('jobs are found by what clients ask for', async () => {
    const { create, queue, actor } = await rig(metadata)
    const one = await create({ config: 'one' })
    const two = await create({ config: 'two', configRowIds: undefined as never, parentRunId: '7' })
    const ids = async (query: Record<string, unknown>) => (await queue.search(actor, query)).map(({ id }) => id)
    assert.deepEqual(await ids({}), [two.id, one.id])
    assert.deepEqual(await ids({ configId: 'one' }), [one.id])
    assert.deepEqual(await ids({ config: ['one', 'two'], sortOrder: 'asc' }), [one.id, two.id])
    assert.deepEqual(await ids({ parentRunId: '' }), [one.id])
    assert.deepEqual(await ids({ status: 'success' }), [])
    assert.deepEqual(await ids({ id: String(one.id) }), [one.id])
    assert.deepEqual(await ids({ createdTimeFrom: '2030-01-01' }), [])
    assert.deepEqual(await ids({ limit: '1', offset: '1' }), [one.id])
    assert.deepEqual(await ids({ sortBy: 'durationSeconds', durationSecondsFrom: '1' }), [])
    for (const wrong of [{ colour: 'red' }, { limit: '0' }, { status: 'lost' }, { sortBy: 'x' }, { startTimeTo: 'soon' }]) {
      await assert.rejects(ids(wrong), { code: 'validation.failed' })
    }
  })

  test('jobs are found by their rows, whatever the ids of rows look like', async () => {
    const { create, queue, actor } = await rig(metadata, { rows: ['a_b', 'aXb', 'A_B', '100%'] })
    const of = (...rows: string[]) => create({ config: 'with-rows', configRowIds: rows })
    const one = await of('a_b')
    const other = await of('aXb', '100%')
    const upper = await of('A_B')
    const ids = async (rows: unknown) => (await queue.search(actor, { configRowIds: rows })).map(({ id }) => id)
    assert.deepEqual(await ids('a_b'), [one.id])
    assert.deepEqual(await ids(['100%']), [other.id])
    assert.deepEqual(await ids(['A_B', 'aXb']), [upper.id, other.id])
    assert.deepEqual(await ids('%'), [])
  })

  test('groups have their newest jobs, come in the order of these, and are as many as asked for', async () => {
    const { create, queue, actor, tick, finish, sleep } = await rig(metadata)
    const made: Record<string, number[]> = { one: [], two: [], three: [] }
    for (const config of ['one', 'two', 'one', 'one', 'three', 'two']) made[config]!.push((await create({ config })).id)
    const grouped = async (query: object, perGroup: number, limit: number, by = ['configId']) =>
      (await queue.searchGrouped(actor, { ...query }, by, perGroup, limit)).map(({ group, jobs }) => [
        Object.values(group).join(),
        jobs.map(({ id }) => id),
      ])
    const [one, two, three] = [made.one!, made.two!, made.three!]
    assert.deepEqual(await grouped({}, 2, 10), [
      ['two', [two[1], two[0]]],
      ['three', [three[0]]],
      ['one', [one[2], one[1]]],
    ])
    assert.deepEqual(await grouped({}, 1, 2), [
      ['two', [two[1]]],
      ['three', [three[0]]],
    ])
    assert.deepEqual(await grouped({ sortOrder: 'asc' }, 1, 1), [['one', [one[0]]]])
    assert.deepEqual(await grouped({ config: 'three' }, 5, 5, ['componentId', 'configId', 'mode']), [['x,three,run', [three[0]]]])
    await tick()
    sleep(1000)
    await finish(1) // the first of "two": the only one with a duration and an end
    assert.deepEqual((await grouped({ sortBy: 'endTime' }, 1, 1))[0], ['two', [two[0]]])
    assert.deepEqual(
      (await queue.search(actor, { sortBy: 'durationSeconds', limit: '1' })).map(({ id }) => id),
      [two[0]],
    )
    await assert.rejects(queue.searchGrouped(actor, {}, ['constructor'], 1, 1), { code: 'validation.failed' })
  })

  test('the time of jobs is told by the day on which they ended, in the zone of who asks', async () => {
    const { create, queue, actor, tick, finish, sleep } = await rig(metadata)
    const hour = 3_600_000
    sleep(22 * hour - 1_000_000) // 1970-01-01T22:00Z
    await create({ config: 'one' })
    await tick()
    sleep(hour)
    await finish(0)
    await create({ config: 'two' })
    await tick()
    sleep(2 * hour)
    await finish(1)
    const daily = async (query: object) =>
      (await queue.dailyDurations(actor, { ...query })).map(({ date, durationSum }) => [date.slice(5), durationSum / 3600])
    assert.deepEqual(await daily({ fromDate: '1970-01-01', toDate: '1970-01-03' }), [
      ['01-01', 1],
      ['01-02', 2],
      ['01-03', 0],
    ])
    assert.deepEqual(await daily({ fromDate: '1970-01-01', toDate: '1970-01-02', timezoneOffset: '+02:00' }), [
      ['01-01', 0],
      ['01-02', 3],
    ])
    assert.deepEqual(await daily({ fromDate: '1970-01-01', toDate: '1970-01-01', timezoneOffset: '-0500' }), [['01-01', 3]])
    assert.equal((await daily({})).length, 30)
    for (const wrong of [
      { fromDate: 'monday' },
      { fromDate: '1970-02-30' },
      { fromDate: '1970-01-03', toDate: '1970-01-02' },
      { fromDate: '1000-01-01', toDate: '2000-01-01' },
      { timezoneOffset: 'Prague' },
      { timezoneOffset: '+20:00' },
      { colour: 'red' },
    ])
      await assert.rejects(daily(wrong), { code: 'validation.failed' }, JSON.stringify(wrong))
  })

  test('one deduplication id makes one job, however many ask at once', async () => {
    const { create } = await rig(metadata)
    const ends = await Promise.allSettled(Array.from({ length: 8 }, () => create({ deduplicationId: 'once' })))
    assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const end of ends) if (end.status === 'rejected') assert.equal(end.reason.code, 'dbDeduplicationIdConflict')
  })

  test('the tag of the job wins over the tag of the configuration, and that over the component', async () => {
    const { create } = await rig(metadata)
    const configData = '{"runtime":{"tag":"of the configuration","image_tag":"older name"}}'
    assert.equal((await create({})).tag, '1')
    assert.equal((await create({ configData })).tag, 'of the configuration')
    assert.equal((await create({ configData: '{"runtime":{"image_tag":"older name"}}' })).tag, 'older name')
    assert.equal((await create({ configData, tag: 'of the job' })).tag, 'of the job')
  })
})
