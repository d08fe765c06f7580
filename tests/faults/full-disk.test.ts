// A stack on a disk of its own that becomes full: every write is refused with a message, reads continue, /ready reports it, and free space ends it.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { test } from 'node:test'
import { startStackProcess } from '../support/stack-process.ts'
import { until } from '../support/until.ts'

/** Mounted for the stack alone; the test reaches it by the id of the process. */
const ON_SMALL_DISK = 'mount -t tmpfs -o size=48m,mode=700 small "$1" && echo $$ > "$1.pid" && shift && exec "$@"'
const FILLER = 'filler'

function mountProblem(): string | undefined {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'probe', '/mnt'], { stdio: 'pipe' })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function fill(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (const size of [2 ** 20, 4096]) while (hasWritten(file, size)) {}
  } finally {
    closeSync(file)
  }
}

function hasWritten(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
    return false
  }
}

test('on a full disk every write is refused with 507, reads go on, and the stack recovers by itself', async (t) => {
  const problem = mountProblem()
  if (problem !== undefined) return t.diagnostic(`no disk of its own: ${problem}`)
  const stack = await startStackProcess(t, {
    wrapper: (dataDir) => ['unshare', '--mount', 'sh', '-c', ON_SMALL_DISK, 'small-disk', dataDir],
    env: { MILLRACE_DISK_RESERVE_BYTES: String(2 ** 20) },
  })
  t.after(() => rmSync(`${stack.dataDir}.pid`, { force: true }))
  const storage = '/v2/storage'
  const bucketOf = (name: string) => ({ name, stage: 'in' })
  const configurationOf = (name: string) => ({ name, configuration: { text: 'x'.repeat(20_000) } })
  assert.equal((await stack.post(`${storage}/buckets`, bucketOf('before'))).status, 201)
  const form = new FormData()
  form.append('data', new Blob(['id\n1\n']), 'rows.csv')
  const headers = { 'x-storageapi-token': stack.masterToken }
  const uploaded = await fetch(`${stack.url}/import/upload-file`, { method: 'POST', headers, body: form })
  assert.ok(uploaded.ok, await uploaded.clone().text())
  const { id: dataFileId } = (await uploaded.json()) as { id: string }
  assert.equal((await stack.get('/ready')).status, 200)

  const place = `/proc/${readFileSync(`${stack.dataDir}.pid`, 'utf8').trim()}/root${stack.dataDir}/${FILLER}`
  fill(place)

  const writes: Readonly<Record<string, (n: number) => Promise<{ status: number; body: unknown }>>> = {
    bucket: (n) => stack.post(`${storage}/buckets`, bucketOf(`full-${n}`)),
    configuration: (n) => stack.post(`${storage}/components/platform.sql-transformation/configs`, configurationOf(`full-${n}`)),
    table: (n) => stack.post(`${storage}/buckets/in.c-before/tables-async`, { name: `t${n}`, dataFileId }),
    token: (n) => stack.post(`${storage}/tokens`, { description: `full-${n}` }),
    event: (n) => stack.post(`${storage}/events`, { component: 'test', message: `full-${n} ${'x'.repeat(2000)}` }),
    job: () =>
      stack.post('/queue/jobs', {
        component: 'platform.sql-transformation',
        mode: 'run',
        configData: { parameters: { blocks: [] }, storage: { output: { tables: [] } }, filler: 'x'.repeat(20_000) },
      }),
  }
  for (const [name, write] of Object.entries(writes)) {
    let n = 0
    // What the database has reserved is used up first.
    const refused = await until(`${name} is refused`, async () => {
      const answer = await write(n++)
      assert.ok(answer.status < 300 || answer.status === 507, `${name}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.status === 507 && (answer.body as { error: string; code: unknown })
    })
    assert.match(refused.error, /disk of the stack is full.*Free some space, then try again/)
  }
  // Beside each other: what shares a commit with a refused write is refused for the same reason.
  const together = await Promise.all(Array.from({ length: 20 }, (_, n) => writes.bucket!(1000 + n)))
  for (const { status } of together) assert.ok(status === 507 || status < 300, String(status))

  assert.equal((await stack.get(`${storage}/buckets`)).status, 200)
  const notReady = await stack.get('/ready')
  assert.equal(notReady.status, 503)
  assert.match(JSON.stringify(notReady.body), /disk/)
  assert.equal((await stack.get('/health')).status, 200)

  rmSync(place)
  await until('it is ready again', async () => (await stack.get('/ready')).status === 200)
  assert.equal((await stack.post(`${storage}/buckets`, bucketOf('after'))).status, 201)
})
