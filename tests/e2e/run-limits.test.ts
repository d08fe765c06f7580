// What a run may take, and what is kept of one that failed.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { defined } from '../../server/src/kit/defined.ts'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { type Job, type ShellStack, shareShellStack, shellStack } from '../support/shell-stack.ts'

const startProject = shareShellStack()

async function run(stack: ShellStack, component: string, configuration: object): Promise<Job> {
  const config = await stack.configure(component, configuration)
  const answer = await stack.request('POST', `/queue/${component}/run`, { json: { config } })
  assert.equal(answer.status, 202, answer.text)
  return stack.wait(answer.json<Job>())
}

/** Folders of runs that are still there. */
const runFolders = ({ dataDir }: ShellStack): string[] =>
  readdirSync(join(dataDir, 'runs')).flatMap((node) => readdirSync(join(dataDir, 'runs', node)))

test('inputs count in the share of the disk a run has: too many of them end it, and nothing of it is left', async (t) => {
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, diskBytes: 2_000_000 } })
  await stack.add('test.read', 'echo ran')
  for (const name of ['one', 'two']) {
    const form = new FormData()
    form.append('data', new Blob(['x'.repeat(1_500_000)]), `${name}.txt`)
    form.append('tags[]', name)
    form.append('tags[]', 'both')
    assert.equal((await stack.request('POST', '/import/upload-file', { body: form })).status, 200)
  }
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'main' } })
  const rows = Array.from({ length: 30_000 }, (_, i) => `${i},${'same text '.repeat(10)}`).join('\n')
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', {
    json: { name: 'big', dataString: `id,text\n${rows}\n` },
  })
  assert.equal(made.status, 201, made.text)
  const files = (tag: string) => ({ storage: { input: { files: [{ tags: [tag] }] } } })
  const fits = await run(stack, 'test.read', files('one'))
  assert.equal(fits.status, 'success', JSON.stringify(fits))
  const table = { storage: { input: { tables: [{ source: 'in.c-main.big' }] } } }
  for (const configuration of [files('both'), table]) {
    const job = await run(stack, 'test.read', configuration)
    assert.equal(job.status, 'error')
    assert.match(
      job.error!.message,
      /^The tables and files of the input mapping take more than the 2 MB of disk available to this run/,
    )
    assert.equal(job.result.error?.type, 'user')
    const said = (await stack.request('GET', `/queue/jobs/${job.id}/events`)).text
    assert.ok(!said.includes('"ran"'))
  }
  assert.deepEqual(runFolders(stack), [])
})

test('of a run that failed exactly the tables with write_always are stored, whatever else it left half written', async () => {
  const stack = await startProject()
  await stack.add(
    'test.half',
    `cd "$KBC_DATADIR/out/tables"
     printf 'a\\n1\\n' > mapped; printf 'a\\n2\\n' > stated; echo '{"write_always":true,"destination":"in.c-half.stated"}' > stated.manifest
     printf 'a\\n3\\n' > never; : > empty; printf 'a' > broken; printf '{"columns":["a"' > broken.manifest; echo '{}' > orphan.manifest
     echo "gave up" >&2; exit 1`,
  )
  const tables = [
    { source: 'mapped', destination: 'in.c-half.mapped', write_always: true },
    { source: 'never', destination: 'in.c-half.never' },
    { source: 'missing', destination: 'in.c-half.missing', write_always: true },
  ]
  const job = await run(stack, 'test.half', { storage: { output: { tables } } })
  assert.deepEqual([job.status, job.error?.message], ['error', 'gave up'])
  const ids = (await stack.request('GET', '/v2/storage/tables')).json<{ id: string }[]>().map(({ id }) => id)
  assert.deepEqual(ids.sort(), ['in.c-half.mapped', 'in.c-half.stated'])
})

test('sync actions beyond the share of a project are answered 429 with a sentence, and those of others still run', async (t) => {
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, actions: 3, projectActions: 1 } })
  await stack.add('test.act', `sleep "$(grep -o '[0-9][0-9]*s' "$KBC_DATADIR/config.json")"; echo '{"done":true}'`, {
    synchronous_actions: ['go'],
  })
  const act = (time: string, token?: string) =>
    stack.request('POST', '/sync-actions/actions', {
      json: { componentId: 'test.act', action: 'go', configData: { parameters: { time } } },
      ...defined({ token }),
    })
  const { masterToken } = await stack.newProject()
  const long = act('7s')
  const [second, third] = [act('0s'), act('0s')]
  assert.equal((await act('0s', masterToken)).status, 200)
  const refused = await Promise.all([second, third])
  for (const answer of refused) {
    assert.equal(answer.status, 429, answer.text)
    assert.match(answer.json<{ error: string }>().error, /already runs 1 actions, the maximum\./)
    assert.equal(answer.headers.get('retry-after'), '5')
  }
  assert.equal((await long).status, 200)
  assert.equal((await act('0s')).status, 200)
})

test('a configuration is resolved as it is, or as it was in a version', async () => {
  const stack = await startProject()
  await stack.add('test.any', 'true')
  const config = await stack.configure('test.any', { parameters: { at: 'first' } }, [
    { rowId: 'r', name: 'r', configuration: '{"parameters":{"row":1}}' },
  ])
  const path = `/v2/storage/components/test.any/configs/${config}`
  await stack.request('PUT', path, { json: { configuration: { parameters: { at: 'now' } } } })
  const resolve = async (more: object) =>
    stack.request('POST', '/syrup/docker/configuration/resolve', { json: { componentId: 'test.any', configId: config, ...more } })
  assert.deepEqual((await resolve({})).json(), { configuration: { parameters: { at: 'now' } } })
  assert.deepEqual((await resolve({ configVersion: '1' })).json(), { configuration: { parameters: { at: 'first' } } })
  assert.deepEqual((await resolve({ configRowId: 'r' })).json(), { configuration: { parameters: { at: 'now', row: 1 } } })
  assert.equal((await resolve({ configVersion: '99' })).status, 404)
  assert.equal((await resolve({ configRowId: 'none' })).status, 404)
  assert.equal((await resolve({ configRowId: 'r', configVersion: '1' })).status, 400)
})

test('a size that no backend has fails the run, with those that there are', async () => {
  const stack = await startProject()
  await stack.add('test.sized', 'echo ran')
  const ended = (type: string) => run(stack, 'test.sized', { runtime: { backend: { type } } })
  const { status, result } = await ended('gigantic')
  assert.equal(status, 'error')
  assert.match(String(result.message), /there is no size "gigantic". Choose xsmall, small, medium, large\./)
  assert.equal((await ended('large')).status, 'success')
})
