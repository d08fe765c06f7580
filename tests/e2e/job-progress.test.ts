// What a job reports while it runs, and what its rows remembered before and after.

import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobProgress } from '../../server/src/model/job-progress.ts'
import type { TableLoad } from '../../server/src/model/run-ports.ts'
import { createProgressWriter } from '../../server/src/services/jobs/queue/job-progress.ts'
import { tableClient } from '../support/clients/table-client.ts'
import { openEventStream } from '../support/event-stream.ts'
import { onBothStacks } from '../support/on-both-stacks.ts'
import type { Job, ShellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

/** Counts in its state, beside a secret; fails or grows on request. */
const COUNT = `
grep -q '"slow"' "$KBC_DATADIR/config.json" && sleep 600
grep -q '"bad"' "$KBC_DATADIR/config.json" && exit 1
n=$(sed -n 's/.*"n":\\([0-9]*\\).*/\\1/p' "$KBC_DATADIR/in/state.json"); n=\${n:-0}
long=""; grep -q '"large"' "$KBC_DATADIR/config.json" && long=$(head -c 300000 /dev/zero | tr '\\0' x)
printf '{"n":%s,"#token":"canary-of-state","long":"%s"}' $((n + 1)) "$long" > "$KBC_DATADIR/out/state.json"
`

interface State {
  readonly rowId: string | null
  readonly isSaved: boolean
  readonly before: { readonly component?: { readonly n: number } } | null
  readonly beforeBytes: number
  readonly after: { readonly component: { readonly n: number; readonly '#token': string } } | null
  readonly afterBytes: number | null
}

const LOAD: TableLoad = {
  destination: '',
  files: [],
  columns: undefined,
  hasHeader: true,
  delimiter: ',',
  enclosure: '"',
  incremental: false,
  primaryKey: [],
  deleteWhere: [],
  schema: undefined,
  nullValues: undefined,
  modifications: undefined,
  deduplication: undefined,
  metadata: [],
  columnMetadata: {},
  description: undefined,
  writer: { componentId: 'test.loads', configurationId: null, rowId: null, branchId: 0 },
}

const start = async ({ request }: ShellStack, component: string, config: string): Promise<Job> => {
  const answer = await request('POST', '/queue/jobs', { json: { component, config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<Job>()
}

test('however often a job tells, it is written now and then, one after the other, and the newest word counts', async () => {
  const EVERY = 20
  const written: number[] = []
  let writing = 0
  const writer = createProgressWriter({
    write: async ({ rowsDone }) => {
      assert.equal(writing++, 0)
      written.push(rowsDone)
      await sleep(1)
      writing--
    },
    everyMs: EVERY,
    onError: (error) => assert.fail(String(error)),
  })
  const begun = performance.now()
  let told = 0
  const tell = () => writer.tell({ phase: 'program', rowsDone: ++told, rowsTotal: 0, rowId: null })
  while (written.length < 4) {
    tell()
    await new Promise(setImmediate)
  }
  assert.ok(written.length <= (performance.now() - begun) / EVERY, `${written.length} were written too soon`)
  assert.ok(told > written.length)
  tell()
  await until('the newest is written', () => written.at(-1) === told)
  assert.deepEqual(
    written,
    written.toSorted((a, b) => a - b),
  )
  const before = written.length
  tell()
  await writer.stop()
  await sleep(3 * EVERY)
  assert.equal(written.length, before, 'what a job told last does not matter after its end')
})

await onBothStacks('progress and state', (startProject) => {
  test('a running job says which row it is at, as a change of the live stream too', async () => {
    const stack = await startProject()
    await tableClient(stack).bucket('main')
    await tableClient(stack).create('in.c-main', 'orders', 'id\n1\n2\n')
    await stack.add('test.progress', COUNT)
    const storage = { input: { tables: [{ source: 'in.c-main.orders', destination: 'orders.csv' }] } }
    const row = (rowId: string, word: string) => ({ rowId, name: rowId, configuration: { parameters: { word }, storage } })
    const config = await stack.configure('test.progress', {}, [
      row('first', 'quick'),
      row('second', 'slow'),
      row('third', 'slow'),
    ])
    const stream = await openEventStream(`${stack.url}/v2/storage/changes?kinds=job`, { 'x-storageapi-token': stack.masterToken })
    await until('the stream begins', () => stream.events.length > 0)
    const { id } = await start(stack, 'test.progress', config)
    const detail = async () => (await stack.request('GET', `/queue/jobs/${id}`)).json<Job & { progress: JobProgress | null }>()
    const progress = await until('the second row runs', async () => {
      const { progress } = await detail()
      return progress?.rowsDone === 1 && progress.phase === 'program' && progress
    })
    const { rows = [], ...rest } = progress
    assert.deepEqual(rest, { phase: 'program', component: 'test.progress', rowsDone: 1, rowsTotal: 3, rowId: 'second' })
    assert.deepEqual(
      rows.map(({ rowId, status, phases }) => [rowId, status, phases.at(-1)?.name, phases.at(-1)?.endTime === null]),
      [
        ['first', 'success', 'load', false],
        ['second', 'processing', 'program', true],
      ],
    )
    const statesOf = () => stream.events.filter(({ data }) => data.id === id).map(({ data }) => data.state)
    await until('progress is a change', () => statesOf().filter((state) => state === 'processing').length > 1)
    const light = await stack.request('GET', `/queue/jobs?id=${id}&fields=id,progress`)
    assert.deepEqual(light.json(), [{ id, progress }])
    assert.equal((await stack.request('POST', `/queue/jobs/${id}/kill`)).status, 200)
    const ended = await until('it ends', async () => {
      const job = await detail()
      return job.isFinished && job
    })
    assert.equal(ended.progress, null)
    stream.close()
  })

  test('a script says how many of its statements are done', async () => {
    const stack = await startProject()
    const script = [
      'CREATE TABLE one AS SELECT 1 AS n; CREATE TABLE two AS SELECT 2 AS n',
      'SELECT count(*) FROM range(1000000) a, range(1000000) b',
    ]
    const config = await stack.configure('platform.sql-transformation', { parameters: { blocks: [{ codes: [{ script }] }] } })
    const { id } = await start(stack, 'platform.sql-transformation', config)
    const progress = await until('the last statement runs', async () => {
      const job = (await stack.request('GET', `/queue/jobs/${id}`)).json<Job & { progress: JobProgress | null }>()
      assert.ok(!job.isFinished, JSON.stringify(job.result))
      return job.progress?.done === 2 && job.progress
    })
    assert.deepEqual([progress.phase, progress.total, progress.unit], ['program', 3, 'statements'])
    assert.equal((await stack.request('POST', `/queue/jobs/${id}/kill`)).status, 200)
  })

  test('bytes that were loaded are told with their total', async () => {
    const stack = await startProject()
    const folder = mkdtempSync(join(stack.dataDir, 'loads-'))
    const loads = ['one', 'two'].map((name) => {
      writeFileSync(join(folder, name), 'id\n1\n')
      return { ...LOAD, destination: `in.c-main.${name}`, files: [join(folder, name)] }
    })
    const actor = await stack.platform.tokens.authenticate(stack.masterToken)
    const branchId = Number((await stack.request('GET', '/v2/storage/dev-branches')).json<{ id: number }[]>()[0]!.id)
    const scope = { actor: actor!, projectId: stack.projectId, branchId, isDefaultBranch: true, runId: '1', baseUrl: stack.url }
    const told: [number, number][] = []
    const { runTables } = stack.platform.tables
    await runTables.loadAll(
      scope,
      loads,
      async () => {},
      AbortSignal.timeout(60_000),
      (...bytes) => told.push(bytes),
    )
    assert.deepEqual(told, [
      [5, 10],
      [10, 10],
    ])
  })

  test('each row of a job tells its state before and after, and a failed one what it stays at', async () => {
    const stack = await startProject()
    await stack.add('test.states', COUNT)
    const path = `/v2/storage/components/test.states/configs`
    const row = (rowId: string, words: string) => ({ rowId, name: rowId, configuration: { parameters: { words } } })
    const config = await stack.configure('test.states', {}, [row('a', 'x'), row('b', 'x')])
    const statesOf = async (job: Job): Promise<State[]> => {
      const answer = await stack.request('GET', `/queue/jobs/${job.id}/states`)
      assert.equal(answer.status, 200, answer.text)
      assert.ok(!answer.text.includes('canary-of-state'), 'a secret of the state')
      return answer.json<State[]>()
    }
    const first = await stack.wait(await start(stack, 'test.states', config))
    assert.equal(first.status, 'success', JSON.stringify(first.result))
    const [a, b, ...others] = await statesOf(first)
    assert.deepEqual(others, [])
    assert.deepEqual([a!.rowId, a!.isSaved, a!.before, a!.after!.component.n], ['a', true, {}, 1])
    assert.deepEqual([b!.rowId, b!.after!.component.n], ['b', 1])
    assert.match(a!.after!.component['#token'], /^KBC::ProjectSecure::/)

    for (const [rowId, words] of [
      ['a', 'large'],
      ['b', 'bad'],
    ] as const)
      await stack.request('PUT', `${path}/${config}/rows/${rowId}`, { json: { configuration: { parameters: { words } } } })
    const second = await stack.wait(await start(stack, 'test.states', config))
    assert.equal(second.status, 'error')
    const [large, bad] = await statesOf(second)
    assert.deepEqual(large!.before, a!.after)
    assert.deepEqual([large!.isSaved, large!.after, large!.afterBytes! > 300_000], [true, null, true])
    assert.deepEqual([bad!.isSaved, bad!.before, bad!.after, bad!.afterBytes], [false, b!.after, null, null])

    const token = async (componentAccess: readonly string[]) =>
      (await stack.request('POST', '/v2/storage/tokens', { json: { description: 't', componentAccess } })).json<{
        token: string
      }>().token
    const asked = async (componentAccess: readonly string[]) =>
      (await stack.request('GET', `/queue/jobs/${first.id}/states`, { token: await token(componentAccess) })).status
    assert.deepEqual([await asked(['test.states']), await asked([])], [200, 403])
    const { masterToken } = await stack.newProject()
    assert.equal((await stack.request('GET', `/queue/jobs/${first.id}/states`, { token: masterToken })).status, 404)
  })
})
