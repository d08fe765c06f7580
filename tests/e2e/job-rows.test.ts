// What a job reports of its rows: when each ran, through which phases, what it wrote and why it ended.

import assert from 'node:assert/strict'
import test from 'node:test'
import { type Job, shellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

const SCRIPT = `
grep -q slow "$KBC_DATADIR/config.json" && sleep 600
grep -q bad "$KBC_DATADIR/config.json" && { echo "the secret is s3cret-canary" >&2; exit 1; }
i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done
sleep 0.5
printf 'id\\n1\\n2\\n' > "$KBC_DATADIR/out/tables/numbers"
`

interface Phase {
  readonly name: string
  readonly component?: string
  readonly startTime: string
  readonly startMs: number
  readonly endTime: string | null
  readonly durationMs: number | null
  readonly rows?: number
  readonly tables?: number
  readonly bytes?: number
  readonly peakMemoryBytes?: number
}

interface Row {
  readonly rowId: string | null
  readonly status: string
  readonly startTime: string
  readonly startMs: number
  readonly endTime: string
  readonly durationMs: number
  readonly tables: readonly { readonly id: string; readonly importedRowsCount: number }[]
  readonly error: string | null
  readonly phases: readonly Phase[]
}

const rowsOf = (job: Job) => (job.result as unknown as { rows: Row[] }).rows
const namesOf = ({ phases }: Row) => phases.map(({ name }) => name)

test('a job tells of each row when it ran, what it wrote and in which phase it ended', async (t) => {
  const stack = await shellStack(t)
  await stack.add('test.rows', SCRIPT, { default_bucket: true })
  const row = (rowId: string, parameters: object) => ({ rowId, name: rowId, configuration: JSON.stringify({ parameters }) })
  const config = await stack.configure('test.rows', {}, [
    row('good', {}),
    row('bad', { bad: 1, '#key': 's3cret-canary' }),
    row('never', {}),
  ])
  const start = async (id: string) => (await stack.request('POST', '/queue/test.rows/run', { json: { config: id } })).json<Job>()

  const failed = await stack.wait(await start(config))
  assert.equal(failed.status, 'error')
  const [good, bad, ...others] = rowsOf(failed)
  assert.deepEqual(others, [], 'a row that was not begun has nothing to tell')
  assert.deepEqual([good!.rowId, good!.status, good!.error], ['good', 'success', null])
  const { queue } = failed.result as unknown as { queue: Phase }
  assert.deepEqual(good!.tables, [{ id: `in.c-test-rows-${config}.numbers`, importedRowsCount: 2 }])
  assert.deepEqual(namesOf(good!), ['input', 'program', 'load'])
  const [input, program, load] = good!.phases
  assert.deepEqual([input!.tables, input!.bytes], [0, 0])
  assert.equal(program!.component, 'test.rows')
  assert.ok(program!.durationMs! >= 500 && program!.peakMemoryBytes! > 0, JSON.stringify(program))
  assert.deepEqual([load!.tables, load!.rows], [1, 2])
  assert.ok(load!.bytes! > 0)
  const times = [
    queue.startTime,
    queue.endTime,
    good!.startTime,
    ...good!.phases.flatMap((one) => [one.startTime, one.endTime!]),
    good!.endTime,
  ]
  assert.deepEqual(times, times.toSorted(), 'everything follows one another')
  for (const time of times) assert.match(time!, /:\d\d\+0000$/)
  const starts = [queue.startMs, good!.startMs, ...good!.phases.map(({ startMs }) => startMs)]
  assert.deepEqual(starts, starts.toSorted(), 'to the millisecond, too')

  assert.deepEqual([bad!.rowId, bad!.status, namesOf(bad!)], ['bad', 'error', ['input', 'program']])
  assert.equal(bad!.error, 'the secret is [hidden]')
  assert.deepEqual(bad!.tables, [])

  const slow = await start(await stack.configure('test.rows', { parameters: { slow: 1 } }))
  await until('it runs', async () => (await stack.request('GET', slow.url)).json<Job>().status === 'processing')
  await stack.request('POST', `/queue/jobs/${slow.id}/kill`, { json: {} })
  const killed = await stack.wait(slow)
  const [only] = rowsOf(killed)
  assert.deepEqual([killed.status, only?.rowId, only?.status], ['terminated', null, 'terminated'])
})

test('a configuration that cannot be read ends its row before the first phase', async (t) => {
  const stack = await shellStack(t)
  await stack.add('test.rows', SCRIPT)
  const config = await stack.configure('test.rows', { storage: { input: { tables: 'all of them' } } })
  const job = await stack.wait((await stack.request('POST', '/queue/test.rows/run', { json: { config } })).json<Job>())
  const [row] = rowsOf(job)
  assert.deepEqual([row!.status, row!.phases], ['error', []])
  assert.equal(row!.error, job.result.message)
})
