import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createCheckpoints } from './checkpoints.ts'

const HOUR_MS = 3_600_000
const OWNER = { projectId: 1, branchId: 2, componentId: 'c', configurationId: '../x', rowId: null }

function rig(t: TestContext, maxBytes = 1e6) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-checkpoints-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const time = { now: new Date() }
  const errors: unknown[] = []
  const clock = { now: () => time.now }
  const checkpoints = createCheckpoints({ folder, clock, keepMs: HOUR_MS, maxBytes, onError: (error) => errors.push(error) })
  const leave = async (configurationId: string, bytes = 10, ageMs = 0) => {
    const checkpoint = await checkpoints.open({ ...OWNER, configurationId })
    const file = join(checkpoint.folder, 'answers')
    writeFileSync(file, 'x'.repeat(bytes))
    const at = new Date(time.now.getTime() - ageMs)
    utimesSync(file, at, at)
    await checkpoint.close()
    return checkpoint.folder
  }
  return { folder, checkpoints, leave, time, errors }
}

test('what a run left is found by the next run of the same row, and by nobody else', async (t) => {
  const { checkpoints, folder } = rig(t)
  const first = await checkpoints.open(OWNER)
  assert.equal(statSync(first.folder).mode & 0o777, 0o700)
  assert.ok(first.folder.startsWith(`${folder}/1/`))
  writeFileSync(join(first.folder, 'answers'), 'mine')
  await first.close()
  const others = [
    { ...OWNER, projectId: 2 },
    { ...OWNER, branchId: 3 },
    { ...OWNER, componentId: 'd' },
    { ...OWNER, configurationId: 'y' },
    { ...OWNER, rowId: '../x' },
    { ...OWNER, rowId: '' },
  ]
  for (const owner of others) assert.deepEqual(readdirSync((await checkpoints.open(owner)).folder), [], JSON.stringify(owner))
  assert.deepEqual(readdirSync((await checkpoints.open(OWNER)).folder), ['answers'])
})

test('a run that left nothing, and one that needs nothing any more, leave no folder', async (t) => {
  const { checkpoints } = rig(t)
  const empty = await checkpoints.open(OWNER)
  await empty.close()
  assert.ok(!existsSync(empty.folder))
  const done = await checkpoints.open(OWNER)
  writeFileSync(join(done.folder, 'answers'), 'x')
  await done.remove()
  await done.close()
  assert.ok(!existsSync(done.folder))
})

test('what is older than the limit is removed, and not given to a run', async (t) => {
  const { checkpoints, leave, time, errors } = rig(t)
  const fresh = await leave('fresh')
  const old = await leave('old', 10, 2 * HOUR_MS)
  await checkpoints.sweep()
  assert.deepEqual([existsSync(fresh), existsSync(old)], [true, false])
  time.now = new Date(time.now.getTime() + 2 * HOUR_MS)
  assert.deepEqual(readdirSync((await checkpoints.open({ ...OWNER, configurationId: 'fresh' })).folder), [])
  assert.deepEqual(errors, [])
})

test('when all of it is too large the oldest goes first; what a run is using stays', async (t) => {
  const { checkpoints, leave } = rig(t, 1000)
  const used = await leave('used', 900, 4000)
  const [oldest, middle, newest] = [await leave('a', 600, 3000), await leave('b', 600, 2000), await leave('c', 300, 1000)]
  const open = await checkpoints.open({ ...OWNER, configurationId: 'used' })
  await checkpoints.sweep()
  assert.deepEqual(
    [used, oldest, middle, newest].map((path) => existsSync(path!)),
    [true, false, true, true],
  )
  await open.close()
  await checkpoints.sweep()
  assert.deepEqual(
    [used, middle, newest].map((path) => existsSync(path!)),
    [false, true, true],
  )
})
