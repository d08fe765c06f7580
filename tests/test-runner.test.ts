// tools/test.ts chooses files by what they import; these are its rules.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { concernedBy, listTestFiles, moduleOf, shardOf } from '../tools/test-files.ts'
import { until } from './support/until.ts'

const TOOLS = fileURLToPath(new URL('../tools', import.meta.url))
const SUPPORT = fileURLToPath(new URL('support', import.meta.url))
const RUNNER = join(TOOLS, 'test.ts')
/** Without what would make the inner runner take itself for a part of this one. */
const { NODE_TEST_CONTEXT: _, ...ENVIRONMENT } = process.env

/** A repository of these files. */
function repository(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'millrace-runner-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

const SMALL = {
  'tests/support/servers/postgres-server.ts': '',
  'tests/support/test-stack.ts': "import { platform } from '../../server/src/wiring/platform.ts'",
  'server/src/wiring/platform.ts': "import { files } from '../services/storage/files/files.ts'",
  'server/src/services/storage/files/files.ts': "import { clock } from '../../../kit/clock.ts'",
  'server/src/services/storage/files/files.test.ts':
    "import { startTestStack } from '../../../../../tests/support/test-stack.ts'",
  'server/src/services/storage/files/name.test.ts': "import { files } from './files.ts'",
  'server/src/services/stack/events/events.test.ts':
    "import { startTestStack } from '../../../../../tests/support/test-stack.ts'",
  'server/src/services/stack/events/store.test.ts':
    "import { start } from '../../../../../tests/support/servers/postgres-server.ts'",
  'server/src/kit/clock.ts': '',
  'tests/faults/files.test.ts': '',
  'tests/e2e/readme.test.ts': "run('README.md')",
  'tests/architecture.test.ts': '',
}

test('a file is known by what it reaches', (t) => {
  const files = listTestFiles(repository(t, SMALL), {
    'tests/e2e/readme.test.ts': 9,
    'server/src/services/stack/events/store.test.ts': 3,
  })
  assert.deepEqual(
    files.map(({ path, kind, needsPostgres }) => `${kind} ${path}${needsPostgres ? ' with PostgreSQL' : ''}`),
    [
      'unit tests/e2e/readme.test.ts',
      'api server/src/services/stack/events/store.test.ts with PostgreSQL',
      'api server/src/services/stack/events/events.test.ts',
      'api server/src/services/storage/files/files.test.ts',
      'unit server/src/services/storage/files/name.test.ts',
      'unit tests/architecture.test.ts',
      'faults tests/faults/files.test.ts',
    ],
    'the longest first',
  )
})

test('a change concerns its module, its importers and the tests that name the file', (t) => {
  const root = repository(t, SMALL)
  const concerned = (...changed: string[]) =>
    concernedBy(root, changed, listTestFiles(root, {}))
      .map(({ path }) => path.split('/').at(-1))
      .filter((name) => name !== 'architecture.test.ts')
      .sort()
  assert.deepEqual(concerned('server/src/services/storage/files/files.ts'), ['files.test.ts', 'name.test.ts'])
  assert.deepEqual(concerned('server/src/kit/clock.ts'), ['name.test.ts'], 'what a started stack imports does not count')
  assert.deepEqual(concerned('README.md'), ['readme.test.ts'])
  assert.deepEqual(concerned('tests/support/test-stack.ts'), ['events.test.ts', 'files.test.ts'])
  assert.deepEqual(concerned('tests/faults/files.test.ts'), ['files.test.ts'])
  assert.equal(moduleOf('server/src/services/storage/files/routes/x.ts'), 'server/src/services/storage/files')
})

test('shards hold every file once and take about equally long', (t) => {
  const files = listTestFiles(repository(t, SMALL), { 'tests/e2e/readme.test.ts': 5 })
  const shards = [1, 2].map((part) => shardOf(files, part, 2))
  assert.deepEqual(new Set(shards.flat()), new Set(files))
  assert.deepEqual(
    shards.map((shard) => shard.reduce((sum, { seconds }) => sum + seconds, 0)),
    [6, 5],
  )
})

test('SIGTERM ends the files that run, and the last line still says what was done', {
  skip: process.platform !== 'linux' && 'looks into /proc',
}, async () => {
  const mark = `runner-${process.pid}-${performance.now()}`
  const runner = spawn(process.execPath, [RUNNER, 'components/processors'], {
    env: { ...ENVIRONMENT, MARK: mark },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const marked = () => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && environOf(pid).includes(`MARK=${mark}`))
  await until('the file runs', () => marked().length > 1)
  runner.kill('SIGTERM')
  const [said, [code]] = await Promise.all([text(runner.stdout), once(runner, 'exit')])
  assert.equal(code, 143)
  assert.match(said, /the file as a whole/, 'the file did not run to its end')
  assert.match(said, /Ended by SIGTERM; 0 files were not run\.\n\d+ passed, \d+ failed\n$/)
  await until('its process is gone', () => marked().length === 0)
})

/** A repository with the runner and these test files. */
function repositoryWithRunner(t: TestContext, files: Readonly<Record<string, string>>) {
  const root = repository(t, { 'package.json': '{"type":"module"}', 'tests/durations.json': '{}', ...files })
  symlinkSync(SUPPORT, join(root, 'tests/support'))
  for (const name of ['test.ts', 'memory-folder.ts', 'test-files.ts', 'test-process.ts', 'test-worker.ts'])
    cpSync(join(TOOLS, name), join(root, 'tools', name))
  const run = async (...options: string[]) => {
    const runner = spawn(process.execPath, ['tools/test.ts', ...options], { cwd: root, env: ENVIRONMENT })
    const [said, [code]] = await Promise.all([text(runner.stdout), once(runner, 'exit')])
    return { code, said, lastLine: said.trimEnd().split('\n').at(-1) }
  }
  return { root, run }
}

test('a file without tests fails, and one that ends its process says in which test', async (t) => {
  const { run } = repositoryWithRunner(t, {
    'tests/empty.test.ts': 'export {}',
    'tests/ends.test.ts': `
      import { test } from 'node:test'
      test('the first', () => {})
      test('the second', (_, done) => setTimeout(process.exit, 100, 7))`,
  })
  const { code, said, lastLine } = await run()
  assert.deepEqual({ code, lastLine }, { code: 1, lastLine: '1 passed, 2 failed' })
  assert.match(said, /empty\.test\.ts.*\n.*the file as a whole\n.*No test ran in it\./)
  assert.match(said, /its process ended with 7; the last test that began was "the second"/)
})

test('a few failed files run again when asked, and are named as unstable', async (t) => {
  const { root, run } = repositoryWithRunner(t, {
    'tests/by-chance.test.ts': `
      import { existsSync, writeFileSync } from 'node:fs'
      import { test } from 'node:test'
      test('passes always', () => {})
      test('passes the second time', () => {
        if (existsSync('ran')) return
        writeFileSync('ran', '')
        throw new Error('the first time')
      })`,
    'tests/never.test.ts': `
      import { test } from 'node:test'
      test('passes never', () => { throw new Error('every time') })`,
  })
  const runs = async (...options: string[]) => {
    rmSync(join(root, 'ran'), { force: true })
    const { code, said, lastLine } = await run(...options)
    return { code, lastLine, isUnstable: /UNSTABLE.*the first time/s.test(said) }
  }
  assert.deepEqual(await runs('by-chance'), { code: 1, lastLine: '1 passed, 1 failed', isUnstable: false })
  assert.deepEqual(await runs('--retry', '1', 'by-chance'), { code: 0, lastLine: '2 passed, 0 failed', isUnstable: true })
  assert.deepEqual(await runs('--retry', '2'), { code: 1, lastLine: '2 passed, 1 failed', isUnstable: true })
  assert.deepEqual(await runs('--retry', '1'), { code: 1, lastLine: '1 passed, 2 failed', isUnstable: false })
})

function environOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return '' // ended meanwhile, or not ours
  }
}
