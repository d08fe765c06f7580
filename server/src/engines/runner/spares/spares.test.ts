import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../../../../../tests/support/until.ts'
import type { LogEvent } from '../log-event.ts'
import { createMask } from '../mask.ts'
import { linkedFolder, type Program } from '../program.ts'
import { createRunner, type RunSpec } from '../runner.ts'

const PATH = '/usr/local/bin:/usr/bin:/bin'
const LIMITS = { timeoutMs: 240_000, memoryBytes: 256 * 2 ** 20, diskBytes: 2 ** 30 }
const REPOSITORY = fileURLToPath(new URL('../../../../../', import.meta.url))
const CONTRACT = join(REPOSITORY, 'contract')

/** Reports when it was loaded, and what it found when its job had come. */
const TELLS = `
  import { untilJob } from '${CONTRACT}/started-ahead.ts'
  const atLoad = Object.keys(process.env).sort()
  const loadedAt = Date.now()
  untilJob()
  console.log(JSON.stringify({ pid: process.pid, atLoad, loadedAt, cwd: process.cwd(), argv: process.argv.length, environment: process.env }))
`

interface Told {
  readonly pid: number
  readonly atLoad: readonly string[]
  readonly loadedAt: number
  readonly cwd: string
  readonly argv: number
  readonly environment: Readonly<Record<string, string>>
}

function rig(t: TestContext, { count = 1, idleMs = 600_000 } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'millrace-spares-'))
  const settings = { runsFolder: join(home, 'runs'), cacheFolder: join(home, 'cache'), path: PATH }
  const runner = createRunner({ ...settings, spares: { count: () => count, idleMs } })
  t.after(async () => {
    await runner.close()
    rmSync(home, { recursive: true, force: true })
  })
  const program = (code: string, more: Partial<Program & { kind: 'node' }> = {}): Program => {
    const entry = join(home, 'program.ts')
    if (!existsSync(entry) || readFileSync(entry, 'utf8') !== code) writeFileSync(entry, code)
    return { kind: 'node', entry, arguments: [], readable: [CONTRACT], waitsForJob: true, ...more }
  }
  const run = async (what: Program, more: Partial<RunSpec> = {}) => {
    const spareKey = 'a'
    const folder = await runner.newFolder(false, spareKey)
    const events: LogEvent[] = []
    const onEvent = (event: LogEvent) => void events.push(event)
    const environment = { KEPT: linkedFolder(folder) }
    const outcome = await runner.run({
      ...{ program: what, folder, environment, limits: LIMITS, mask: createMask([]), onEvent, spareKey },
      ...more,
    })
    await runner.removeFolder(folder)
    return { outcome, folder, events, told: () => JSON.parse(events[0]!.message) as Told }
  }
  const tell = async (more: Partial<RunSpec> = {}) => {
    const { outcome, told, folder } = await run(program(TELLS), more)
    assert.equal(outcome.exitCode, 0, outcome.words)
    return { ...told(), root: folder.root }
  }
  /** The processes of this runner that wait for a job. */
  const waiting = () => processesWith(home).filter((pid) => commandOf(pid).includes('spare-program.mjs'))
  const untilReady = () => until('a process waits, and has loaded its program', () => waiting().some(isBlocked))
  return { home, settings, runner, program, run, tell, waiting, untilReady }
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
const processesWith = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandOf(Number(name)).includes(text))
    .map(Number)
    .filter((pid) => pid !== process.pid && !commandOf(pid).startsWith('/bin/sh'))

/** It reads from descriptor 3, and nothing has come yet. */
function isBlocked(pid: number): boolean {
  try {
    return /^\d+ 0x3 /.test(readFileSync(`/proc/${pid}/syscall`, 'utf8'))
  } catch {
    return false
  }
}

test('the second run of a kind finds its process started, with its own job and nothing of another one', async (t) => {
  const { tell, untilReady, waiting } = rig(t)
  const first = await tell({ environment: { KBC_RUNID: '1', KBC_TOKEN: 'of-the-first' } })
  await untilReady()
  const [spare] = waiting()
  const before = Date.now()
  const second = await tell({ environment: { KBC_RUNID: '2' } })
  assert.equal(second.pid, spare)
  assert.notEqual(second.pid, first.pid)
  assert.ok(second.loadedAt <= before)
  const own = ['HOME', 'KBC_DATADIR', 'LANG', 'NODE_COMPILE_CACHE', 'PATH', 'TMPDIR']
  const named = (names: readonly string[]) => names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))
  assert.deepEqual(named(second.atLoad), own)
  assert.deepEqual(named(Object.keys(second.environment).sort()), [...own, 'KBC_RUNID'].sort())
  assert.equal(second.environment.KBC_RUNID, '2')
  assert.equal(second.cwd, join(second.root, 'data'))
  assert.equal(second.environment.KBC_DATADIR, `${second.root}/data/`)
  assert.equal(second.argv, first.argv)
  await untilReady()
  assert.notEqual((await tell()).pid, second.pid)
})

test('a processor before the program leaves it its process, and none is started for a processor', async (t) => {
  const { home, runner, program, waiting } = rig(t, { count: 2 })
  const tells = program(TELLS)
  const entry = join(home, 'processor.ts')
  writeFileSync(entry, '')
  const processor: Program = { kind: 'node', entry, arguments: [], readable: [] }
  const job = async (): Promise<Told> => {
    const folder = await runner.newFolder(false, 'a')
    const told: Told[] = []
    const onEvent = ({ message }: LogEvent) => void told.push(JSON.parse(message) as Told)
    const spec = { folder, environment: {}, limits: LIMITS, mask: createMask([]), onEvent }
    assert.equal((await runner.run({ ...spec, program: processor, spareKey: 'of the processor' })).exitCode, 0)
    assert.equal((await runner.run({ ...spec, program: tells, spareKey: 'a' })).exitCode, 0)
    await runner.removeFolder(folder)
    return told[0]!
  }
  const first = await job()
  await until('a process waits', () => waiting().some(isBlocked))
  const [spare, ...others] = waiting()
  assert.deepEqual(others, [], 'of the program only')
  const second = await job()
  assert.notEqual(second.pid, first.pid)
  assert.equal(second.pid, spare)
})

test('a program that does not wait by itself is loaded when its job has come', async (t) => {
  const { run, program, untilReady, waiting } = rig(t)
  const plain = program(`console.log(JSON.stringify({ pid: process.pid, environment: process.env }))`, { waitsForJob: false })
  await run(plain)
  await untilReady()
  const [spare] = waiting()
  const { told } = await run(plain, { environment: { KBC_RUNID: '3' } })
  assert.deepEqual([told().pid, told().environment.KBC_RUNID], [spare, '3'])
})

test('a waiting process holds to its data folder, and to the folder that its job keeps', async (t) => {
  const { home, run, program, untilReady, waiting } = rig(t)
  const kept = join(home, 'kept-by-the-job')
  mkdirSync(kept)
  const curious = program(`
    import { untilJob } from '${CONTRACT}/started-ahead.ts'
    import { readFileSync, writeFileSync } from 'node:fs'
    import { spawnSync } from 'node:child_process'
    untilJob()
    const tried = { pid: process.pid }
    const attempt = (name, work) => { try { work(); tried[name] = 'done' } catch (e) { tried[name] = e.code } }
    attempt('read outside', () => readFileSync('/etc/passwd'))
    attempt('write a neighbour', () => writeFileSync(process.env.KBC_DATADIR + '../../neighbour', ''))
    attempt('start a process', () => spawnSync('/bin/true'))
    attempt('write inside', () => writeFileSync(process.env.KBC_DATADIR + 'out/tables/a', ''))
    attempt('write tmp', () => writeFileSync(process.env.TMPDIR + '/a', ''))
    attempt('write what is kept', () => writeFileSync(process.env.KEPT + '/state', 'x'))
    console.log(JSON.stringify(tried))`)
  for (const isSpare of [false, true]) {
    if (isSpare) await untilReady()
    const [spare] = waiting()
    rmSync(join(kept, 'state'), { force: true })
    const { outcome, events, folder } = await run({ ...curious, linked: kept } as Program)
    assert.equal(outcome.exitCode, 0, outcome.words)
    const { pid, ...tried } = JSON.parse(events[0]!.message) as Record<string, unknown>
    if (isSpare) assert.equal(pid, spare)
    assert.deepEqual(tried, {
      'read outside': 'ERR_ACCESS_DENIED',
      'write a neighbour': 'ERR_ACCESS_DENIED',
      'start a process': 'ERR_ACCESS_DENIED',
      'write inside': 'done',
      'write tmp': 'done',
      'write what is kept': 'done',
    })
    assert.equal(readFileSync(join(kept, 'state'), 'utf8'), 'x')
    assert.equal(existsSync(folder.root), false)
  }
})

/** Does what its environment prescribes, once it has its job. */
const OBEYS = `
  import { untilJob } from '${CONTRACT}/started-ahead.ts'
  import { writeFileSync } from 'node:fs'
  untilJob()
  const { DO, KBC_DATADIR } = process.env
  if (DO) console.log(process.pid)
  if (DO === 'wait') setInterval(() => {}, 1000)
  if (DO === 'eat') { const eaten = []; for (;;) eaten.push(Buffer.alloc(8e6, 1)) }
  for (let i = 0; DO === 'fill' && i < 1000; i++) {
    writeFileSync(KBC_DATADIR + 'out/files/' + i, Buffer.alloc(1e6))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
`

test('cancelling, the time, the memory and the disk of a job end a process that was started before it', async (t) => {
  const { run, program, untilReady, waiting } = rig(t)
  const obeys = program(OBEYS)
  const limits = { ...LIMITS, diskBytes: 20e6 }
  await run(obeys, { limits })
  const abort = new AbortController()
  const onEvent = () => abort.abort()
  const cases: readonly (readonly [string, string, Partial<RunSpec>])[] = [
    ['wait', 'killed', { signal: abort.signal, onEvent }],
    ['wait', 'timeout', { limits: { ...limits, timeoutMs: 500 } }],
    ['eat', 'memory', {}],
    ['fill', 'disk', {}],
  ]
  for (const [what, reason, more] of cases) {
    await untilReady()
    const [spare] = waiting()
    const { outcome } = await run(obeys, { limits, environment: { DO: what }, ...more })
    assert.equal(outcome.reason, reason)
    assert.equal(existsSync(`/proc/${spare}`), false)
  }
})

test('a process that died while it waited costs no job, and is replaced', async (t) => {
  const { tell, untilReady, waiting } = rig(t)
  await tell()
  await untilReady()
  const [dead] = waiting()
  process.kill(dead!, 'SIGKILL')
  const { pid } = await tell() // the server may not have seen yet that it has ended
  assert.notEqual(pid, dead)
  await untilReady()
  const [next] = waiting()
  assert.equal((await tell()).pid, next)
})

test('code that changed, or another limit, is never run by a process that was started before', async (t) => {
  const { run, program, tell, untilReady, waiting } = rig(t)
  await tell()
  await untilReady()
  const { events } = await run(program(`console.log('new')`))
  assert.deepEqual(events, [{ level: 'info', message: 'new' }])
  await tell()
  await untilReady()
  const [spare] = waiting()
  const { pid } = await tell({ limits: { ...LIMITS, memoryBytes: 128 * 2 ** 20 } })
  assert.notEqual(pid, spare)
})

test('a process ends when its folder is given back unused, when it waited long enough, and with the runner', async (t) => {
  const { runner, tell, untilReady, waiting } = rig(t)
  await tell()
  await untilReady()
  const [spare] = waiting()
  await runner.removeFolder(await runner.newFolder(false, 'a'))
  await until('its process is gone', () => !waiting().includes(spare!))
  await tell()
  await untilReady()
  await runner.close()
  assert.deepEqual(waiting(), [])
  const short = rig(t, { idleMs: 50 })
  await short.tell()
  await until('it waited and is gone', () => short.waiting().length === 0)
})

test('as many wait as were missed, and no more than allowed', async (t) => {
  const { tell, untilReady, waiting } = rig(t, { count: 3 })
  await tell()
  await untilReady()
  assert.equal(waiting().length, 1)
  for (let i = 0; i < 3; i++) await Promise.all(Array.from({ length: 6 }, () => tell()))
  await until('three wait', () => waiting().length === 3)
})

test('when the server is killed, no process is left waiting', async (t) => {
  const { home, settings } = rig(t)
  const script = join(home, 'server.ts')
  writeFileSync(join(home, 'program.ts'), '')
  const runner = fileURLToPath(new URL('../runner.ts', import.meta.url))
  writeFileSync(
    script,
    `import { createRunner } from '${runner}'
     const runner = createRunner({ ...${JSON.stringify(settings)}, spares: { count: () => 1, idleMs: 600_000 } })
     const folder = await runner.newFolder(false, 'a')
     const program = { kind: 'node' as const, entry: '${home}/program.ts', arguments: [], readable: [] }
     await runner.run({ program, folder, environment: {}, mask: (t: string) => t, spareKey: 'a',
       limits: ${JSON.stringify(LIMITS)}, onEvent: () => {} })
     console.log('ran')
     setInterval(() => {}, 1000)`,
  )
  const server = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(server.stdout, 'data')
  const own = () => processesWith(`${home}/program.ts`)
  await until('a process waits', () => own().length === 1)
  server.kill('SIGKILL')
  await until('it is gone', () => own().length === 0)
})

test('every built-in program waits for its job before it does anything', () => {
  const programs = globSync('components/*/src/main.ts', { cwd: REPOSITORY }).map((path) => {
    const program = join(REPOSITORY, path.replace(/main\.ts$/, 'program.ts'))
    return existsSync(program) ? program : join(REPOSITORY, path)
  })
  // Those that start other programs are commands, and are not started before they are needed.
  const commands = /components\/(dbt|program-connector)\//
  const first = (path: string) =>
    readFileSync(path, 'utf8')
      .replace(/^#!.*\n/, '')
      .replace(/^(\s*(\/\/.*|import [^']*'[^']+'))*\s*/, '')
      .split('\n')[0]
  const built = programs.filter((path) => !commands.test(path))
  assert.ok(built.length >= 10)
  assert.deepEqual(
    built.filter((path) => first(path) !== 'untilJob()'),
    [],
  )
})
