// Artifacts over HTTP: what one job leaves, later jobs find by the options of their configurations (spec platform 1.23).

import assert from 'node:assert/strict'
import test from 'node:test'
import { type Job, type ShellStack, shareShellStack } from '../support/shell-stack.ts'

const startProject = shareShellStack()

interface Artifacts {
  readonly uploaded: readonly { readonly storageFileId: string }[]
  readonly downloaded: readonly { readonly storageFileId: string }[]
}

const SCRIPT = `cd "$KBC_DATADIR/artifacts"
  if [ -d in ]; then (cd in; find . -type f | sort; cat $(find . -name 'model*' | sort)); fi
  mkdir -p out/current/deep; echo "model of $KBC_RUNID" > out/current/deep/model.bin; echo other > out/current/other
  echo "for all" > out/shared/all.txt`

async function run(stack: ShellStack, component: string, config: string, more: object = {}): Promise<Job> {
  const answer = await stack.request('POST', '/queue/jobs', { json: { component, config, ...more } })
  assert.equal(answer.status, 201, answer.text)
  const job = await stack.wait({ ...answer.json<Job>(), status: 'waiting' })
  assert.equal(job.status, 'success', JSON.stringify(job))
  return job
}

const artifactsOf = (job: Job): Artifacts => (job.result as unknown as { artifacts: Artifacts }).artifacts

const saidBy = async (stack: ShellStack, job: Job): Promise<string[]> =>
  (await stack.request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>().map(({ message }) => message)

test('a run leaves its artifacts as one archive, and the next run of the configuration finds them', async () => {
  const stack = await startProject()
  await stack.add('test.learn', SCRIPT)
  const config = await stack.configure('test.learn', { artifacts: { runs: { enabled: true, filter: { limit: 1 } } } })
  const first = await run(stack, 'test.learn', config)
  assert.deepEqual([artifactsOf(first).uploaded.length, artifactsOf(first).downloaded], [1, []])
  const fileId = artifactsOf(first).uploaded[0]!.storageFileId
  const file = (await stack.request('GET', `/v2/storage/files/${fileId}`)).json<{ name: string; tags: string[] }>()
  assert.equal(file.name, 'artifacts.tar.gz')
  const branches = (await stack.request('GET', '/v2/storage/dev-branches')).json<{ id: number; isDefault: boolean }[]>()
  const branch = branches.find(({ isDefault }) => isDefault)!.id
  assert.deepEqual(
    [...file.tags].sort(),
    ['artifact', `branchId-${branch}`, 'componentId-test.learn', `configId-${config}`, `jobId-${first.id}`].sort(),
  )
  await run(stack, 'test.learn', config)
  const third = await run(stack, 'test.learn', config)
  const said = await saidBy(stack, third)
  assert.equal(artifactsOf(third).downloaded.length, 1)
  const second = Number(first.id) + 1
  assert.ok(said.includes(`./runs/jobs/job-${second}/deep/model.bin`) && said.includes(`model of ${second}`), said.join('\n'))
  assert.ok(!said.some((line) => line.includes(`job-${first.id}/`)), said.join('\n'))
})

test('artifacts are taken from another configuration, singly, or within an orchestration', async () => {
  const stack = await startProject()
  await stack.add('test.learn', SCRIPT)
  const singly = await stack.configure('test.learn', { artifacts: { options: { zip: false } } })
  const made = await run(stack, 'test.learn', singly, { orchestrationJobId: '77' })
  // Two files of its own, and one it shares.
  assert.equal(artifactsOf(made).uploaded.length, 3)
  const filter = { component_id: 'test.learn', config_id: singly, date_since: '-1 hour' }
  const custom = await run(
    stack,
    'test.learn',
    await stack.configure('test.learn', { artifacts: { custom: { enabled: true, filter } } }),
  )
  const said = await saidBy(stack, custom)
  assert.ok(said.includes(`./custom/jobs/job-${made.id}/deep-model.bin`) && said.includes(`./custom/jobs/job-${made.id}/other`))
  assert.ok(!said.join('\n').includes('all.txt'))
  const taking = await stack.configure('test.learn', { artifacts: { shared: { enabled: true } } })
  const inside = await saidBy(stack, await run(stack, 'test.learn', taking, { orchestrationJobId: '77' }))
  assert.ok(inside.includes(`./shared/jobs/job-${made.id}/all.txt`), inside.join('\n'))
  const outside = await run(stack, 'test.learn', taking)
  assert.deepEqual(artifactsOf(outside).downloaded, [])
})

test('artifacts that cannot be kept are a warning, wrong options a sentence, and a failed run leaves none', async () => {
  const stack = await startProject()
  await stack.add('test.link', 'ln -s /etc/passwd "$KBC_DATADIR/artifacts/out/current/stolen"')
  await stack.add('test.fail', 'echo x > "$KBC_DATADIR/artifacts/out/current/x"; echo no >&2; exit 1')
  const linked = await run(stack, 'test.link', await stack.configure('test.link', {}))
  assert.deepEqual(artifactsOf(linked).uploaded, [])
  assert.ok((await saidBy(stack, linked)).some((line) => /artifacts were not kept: .*symbolic link/.test(line)))
  const start = async (component: string, configuration: object) => {
    const config = await stack.configure(component, configuration)
    return stack.wait((await stack.request('POST', `/queue/${component}/run`, { json: { config } })).json<Job>())
  }
  assert.equal((await start('test.fail', {})).status, 'error')
  const wrong = await start('test.link', { artifacts: { runs: { enabled: true } } })
  assert.match(wrong.error!.message, /artifacts\.runs\.filter needs limit or date_since/)
  assert.deepEqual((await stack.request('GET', '/v2/storage/files')).json(), [])
})
