import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { METADATA_FILE } from '../../server/src/wiring/data-files.ts'
import { until } from '../support/until.ts'
import { assertQuickRestarts, startStack } from './stack.ts'

test('a killed stack is ready again as fast as a new one, with the same token', async (t) => {
  const stack = await startStack(t)
  assert.equal((await stack.get('/v2/storage/tokens/verify')).status, 200)
  const restarts: number[] = []
  for (let n = 0; n < 3; n++) {
    await stack.kill()
    restarts.push((await stack.start()).readyMs)
    assert.equal((await stack.get('/v2/storage/tokens/verify')).status, 200)
  }
  await assertQuickRestarts(t, stack, restarts)
})

test('SIGTERM ends the stack in good order', async (t) => {
  const stack = await startStack(t)
  assert.equal(await stack.stop(), 0)
})

test('a stopping node is not ready but serves for the time it is given; a second SIGTERM ends that', async (t) => {
  const stack = await startStack(t, { env: { MILLRACE_DRAIN_SECONDS: '3600' } })
  const ended = stack.stop()
  await until('it is not ready', async () => (await stack.get('/ready')).status === 503)
  for (let n = 0; n < 3; n++)
    assert.equal((await stack.post('/v2/storage/buckets', { name: `late-${n}`, stage: 'in' })).status, 201)
  await Promise.all([stack.stop(), ended])
  assert.equal(await ended, 0)
  assert.match(stack.output(), /draining: not ready/)

  await stack.start({ MILLRACE_DRAIN_SECONDS: '1' })
  assert.equal(await stack.stop(), 0, 'it also ends by itself')
})

test('SIGTERM ends the streams of those who follow a job, and the stack in good order', async (t) => {
  const stack = await startStack(t)
  const later = { component: 'platform.ex-http', configData: {}, delay: '86400' }
  const { id } = (await stack.post('/queue/jobs', later)).body as { id: string }
  const response = await fetch(`${stack.url}/queue/jobs/${id}/events`, {
    headers: { 'x-storageapi-token': stack.masterToken, accept: 'text/event-stream' },
  })
  const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  assert.match((await chunks.read()).value ?? '', /event: status/)
  assert.equal(await stack.stop(), 0)
  assert.deepEqual(await chunks.read(), { done: true, value: undefined }, 'ended, not cut')
})

test('a bad variable stops the start and is named', async (t) => {
  await assert.rejects(startStack(t, { env: { PORT: 'eighty' } }), /PORT="eighty" is not a whole number/)
})

test('what the stack keeps is for its own user: folders 0700, files 0600, also in a folder that was open before', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-open-'))
  chmodSync(dataDir, 0o755)
  const stack = await startStack(t, { existing: { dataDir, masterToken: '1-1-of-a-stack-with-modes' } })
  const form = new FormData()
  form.append('data', new Blob(['x']), 'x.txt')
  const headers = { 'x-storageapi-token': stack.masterToken }
  assert.equal((await fetch(`${stack.url}/import/upload-file`, { method: 'POST', body: form, headers })).status, 200)
  await stack.post('/encryption/encrypt?projectId=1&componentId=x', { '#a': 'b' })
  const open = ['', ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' })].filter((name) => {
    const stats = lstatSync(join(dataDir, name), { throwIfNoEntry: false })
    return stats && !stats.isSymbolicLink() && (stats.mode & 0o077) !== 0
  })
  assert.deepEqual(open, [])
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
})

test('a data folder that cannot be used is named, and the start does not wait for it', async (t) => {
  const modeOfNull = statSync('/dev/null').mode
  t.after(() => assert.equal(statSync('/dev/null').mode, modeOfNull, 'a file named as the data folder keeps its mode'))
  for (const MILLRACE_DATA_DIR of ['/proc/nowhere/data', '/dev/null'])
    await assert.rejects(
      startStack(t, { env: { MILLRACE_DATA_DIR } }),
      new RegExp(`ended with 1 .*${MILLRACE_DATA_DIR}.*is not usable`, 's'),
    )
})

test('SIGTERM to npm start stops the stack: when the shell between them is gone, so is the stack', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-npm-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
  const env = {
    PATH: process.env.PATH,
    PORT: '0',
    MILLRACE_S3_PORT: '0',
    MILLRACE_DATA_DIR: dataDir,
    npm_lifecycle_event: 'start',
  }
  const shell = spawn('sh', ['-c', `"${process.execPath}" "${main}"; true`], {
    cwd: dataDir,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let log = ''
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  await until('the stack is ready', () => log.includes('"msg":"ready"'))
  shell.kill('SIGTERM')
  await until('the stack has ended', () => runningIn(dataDir) === 0)
  assert.match(log, /"msg":"stopped"/)
})

test('npm that ends while the stack starts leaves no stack behind', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-npm-early-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
  const env = {
    PATH: process.env.PATH,
    PORT: '0',
    MILLRACE_S3_PORT: '0',
    MILLRACE_DATA_DIR: dataDir,
    npm_lifecycle_event: 'start',
  }
  const shell = spawn('sh', ['-c', `"${process.execPath}" "${main}"; true`], {
    cwd: dataDir,
    env,
    stdio: 'ignore',
  })
  await until('the stack has begun to open its data', () => existsSync(join(dataDir, METADATA_FILE)))
  shell.kill('SIGTERM')
  await until('the stack has ended', () => runningIn(dataDir) === 0)
})

test('a stack cannot outlive the process that started it', {
  skip: process.platform !== 'linux' && 'looks into /proc',
}, async () => {
  const stackModule = fileURLToPath(new URL('./stack.ts', import.meta.url))
  const starter = `import { startStack } from ${JSON.stringify(stackModule)}
const stack = await startStack({ after() {} })
console.log(stack.dataDir)
setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', starter], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  const dataDir = String(line).trim()
  assert.ok(runningIn(dataDir) > 0)
  child.kill('SIGKILL')
  await until('the stack has ended', () => runningIn(dataDir) === 0)
  for (const path of [dataDir, `${dataDir}.log`]) rmSync(path, { recursive: true })
})

/** Processes whose working folder this is. */
const runningIn = (folder: string): number =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && workingFolder(pid) === folder).length

function workingFolder(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}
