import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../../../../tests/support/until.ts'
import { createDataFolder, handOver, listOutputs, refuseLinkedFolders, removeDataFolder, writeConfigFile } from './data-folder.ts'
import type { LogEvent } from './log-event.ts'
import { createMask } from './mask.ts'
import { createRunner, type RunSpec } from './runner.ts'

const PATH = '/usr/local/bin:/usr/bin:/bin'
const LIMITS = { timeoutMs: 240_000, memoryBytes: 256 * 2 ** 20, diskBytes: 2 ** 30 }

function rig(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'millrace-runner-'))
  const runner = createRunner({ runsFolder: join(home, 'runs'), cacheFolder: join(home, 'cache'), path: PATH })
  t.after(async () => {
    await runner.close()
    rmSync(home, { recursive: true, force: true })
  })
  const shell = async (script: string, more: Partial<RunSpec> = {}) => {
    const folder = more.folder ?? (await runner.newFolder())
    const events: LogEvent[] = []
    const outcome = await runner.run({
      program: { kind: 'command', command: ['/bin/sh', '-c', script], folder: folder.data },
      environment: {},
      limits: LIMITS,
      mask: createMask([]),
      onEvent: (event) => events.push(event),
      ...more,
      folder,
    })
    return { outcome, events, folder }
  }
  return { home, runner, shell }
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

test('a program reads its configuration and leaves results in its data folder', async (t) => {
  const { runner, shell } = rig(t)
  const folder = await runner.newFolder()
  await writeConfigFile(folder, '{"parameters":{"a":1}}')
  const { outcome } = await shell('cat "$KBC_DATADIR/config.json" > "$KBC_DATADIR/out/tables/a.csv"; pwd', { folder })
  assert.equal(outcome.reason, 'ended')
  assert.equal(outcome.exitCode, 0)
  assert.equal(readFileSync(join(folder.data, 'out/tables/a.csv'), 'utf8'), '{"parameters":{"a":1}}')
})

test('stdout becomes info events line by line, stderr one error event at the end', async (t) => {
  const { shell } = rig(t)
  const { events, outcome } = await shell('echo one; echo two >&2; echo three; echo four >&2; exit 3')
  assert.deepEqual(events, [
    { level: 'info', message: 'one' },
    { level: 'info', message: 'three' },
    { level: 'error', message: 'two\nfour' },
  ])
  assert.equal(outcome.exitCode, 3)
  assert.equal(outcome.words, 'two\nfour')
})

test('the last words are stderr, and stdout when stderr is silent', async (t) => {
  const { shell } = rig(t)
  assert.equal((await shell('echo said; exit 1')).outcome.words, 'said')
  assert.equal((await shell('echo said; echo failed >&2; exit 1')).outcome.words, 'failed')
})

test('the environment holds what was given and nothing of the server', async (t) => {
  const { shell, runner } = rig(t)
  process.env.MILLRACE_TEST_CANARY = 'leaked'
  t.after(() => delete process.env.MILLRACE_TEST_CANARY)
  const folder = await runner.newFolder()
  const { events } = await shell('env', { folder, environment: { KBC_RUNID: '17' } })
  const names = events
    .map(({ message }) => message.split('=')[0])
    .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name!))
  assert.deepEqual(names.sort(), ['HOME', 'KBC_DATADIR', 'KBC_RUNID', 'LANG', 'PATH', 'PYTHONUNBUFFERED', 'TMPDIR'])
  assert.ok(events.some(({ message }) => message === `KBC_DATADIR=${folder.data}/`))
})

test('secrets are hidden in every form a program prints them in', async (t) => {
  const { shell } = rig(t)
  const secret = 'pa/ss "wörd" & more!'
  const folder = await rig(t).runner.newFolder()
  const forms = [
    secret,
    JSON.stringify({ a: secret }),
    Buffer.from(secret).toString('base64'),
    Buffer.from(`user:${secret}`).toString('base64'),
    Buffer.from(`me:${secret}!`).toString('base64url'),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll("'", '%27').replaceAll('!', '%21'),
    Buffer.from(secret).toString('hex'),
    JSON.stringify(secret).replaceAll('/', '\\/').replace('ö', '\\u00f6'),
  ]
  writeFileSync(join(folder.data, 'said'), forms.join('\n'))
  const { events } = await shell('cat "$KBC_DATADIR/said"; cat "$KBC_DATADIR/said" >&2; exit 1', {
    folder,
    mask: createMask([secret, '']),
  })
  const said = events.map(({ message }) => message).join('\n')
  assert.equal(said.match(/\[hidden\]/g)?.length, 2 * forms.length)
  assert.doesNotMatch(said, /ss "w|c3MgIn|73732022|ss%20|rd" &/)
})

test('a secret of several lines is hidden although lines are captured one by one', async (t) => {
  const { shell } = rig(t)
  const { events } = await shell('printf "first-line-of-key\\nsecond-line-of-key\\n"', {
    mask: createMask(['first-line-of-key\nsecond-line-of-key']),
  })
  assert.deepEqual(
    events.map(({ message }) => message),
    ['[hidden]', '[hidden]'],
  )
})

test('binary output, colours and endless lines become bounded text', async (t) => {
  const { shell } = rig(t)
  const { events } = await shell(
    `printf 'a\\001b\\033[31mred\\033[0m\\377\\n'; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end`,
  )
  assert.equal(events[0]?.message, 'abred\uFFFD')
  assert.equal(events[1]?.message.length, 60_000 + ' [trimmed]'.length)
  assert.equal(events[2]?.message, 'end')
})

test('a flood of log is cut with a note, and its last words are kept', async (t) => {
  const { shell } = rig(t)
  const { events, outcome } = await shell('yes flood | head -n 200000; echo last; exit 1')
  assert.ok(events.length <= 20_001)
  assert.match(events.at(-1)!.message, /180001 lines left out/)
  assert.match(outcome.words, /last$/)
})

test('a program that never ends is ended at its time limit, with everything it started', async (t) => {
  const { shell, runner } = rig(t)
  const folder = await runner.newFolder()
  const script = 'sleep 600 & echo $! > "$KBC_DATADIR/child"; setsid sleep 600 & echo $! > "$KBC_DATADIR/stray"; wait'
  const { outcome } = await shell(script, { folder, limits: { ...LIMITS, timeoutMs: 500 } })
  assert.equal(outcome.reason, 'timeout')
  for (const name of ['child', 'stray']) assert.equal(alive(Number(readFileSync(join(folder.data, name), 'utf8'))), false, name)
})

test('what a program leaves running behind itself is ended with it', async (t) => {
  const { shell, runner } = rig(t)
  const folder = await runner.newFolder()
  const { outcome } = await shell(
    'setsid sh -c "echo \\$\\$ > stray; exec sleep 600" </dev/null >/dev/null 2>&1 & while [ ! -s stray ]; do :; done',
    {
      folder,
    },
  )
  assert.equal(outcome.exitCode, 0)
  assert.equal(alive(Number(readFileSync(join(folder.data, 'stray'), 'utf8'))), false)
})

test('a daemon with a session of its own and an empty environment is ended too', async (t) => {
  const { shell, runner } = rig(t)
  const folder = await runner.newFolder()
  const daemon = 'setsid sh -c "echo \\$\\$ > stray; exec sleep 600" </dev/null >/dev/null 2>&1 &'
  const { outcome } = await shell(`env -i PATH=/usr/bin:/bin sh -c '${daemon}'; while [ ! -s stray ]; do :; done`, { folder })
  assert.equal(outcome.exitCode, 0)
  assert.equal(alive(Number(readFileSync(join(folder.data, 'stray'), 'utf8'))), false)
})

test('a program that eats memory is ended, counted over all its processes', async (t) => {
  const { shell } = rig(t)
  const eat = `${process.execPath} -e 'const a=[];setInterval(()=>a.push(Buffer.alloc(8e6,1)),5)'`
  const { outcome } = await shell(`${eat} & ${eat} & wait`, { limits: { ...LIMITS, memoryBytes: 200 * 2 ** 20 } })
  assert.equal(outcome.reason, 'memory')
  assert.ok(outcome.peakMemoryBytes > 200 * 2 ** 20)
})

test('a program that fills the disk is ended at its share', async (t) => {
  const { shell } = rig(t)
  const one = await shell('head -c 50000000 /dev/zero > out/tables/big', { limits: { ...LIMITS, diskBytes: 10_000_000 } })
  assert.notEqual(one.outcome.exitCode, 0)
  const many = await shell('i=0; while :; do head -c 1000000 /dev/zero > out/files/$i; i=$((i+1)); done', {
    limits: { ...LIMITS, diskBytes: 10_000_000 },
  })
  assert.equal(many.outcome.reason, 'disk')
})

test('a killed program ends at once', async (t) => {
  const { shell } = rig(t)
  const abort = new AbortController()
  const running = shell('echo started; sleep 600', { signal: abort.signal, onEvent: () => abort.abort() })
  assert.equal((await running).outcome.reason, 'killed')
})

test('exit code 137 counts as out of memory, other codes as the program gave them', async (t) => {
  const { shell } = rig(t)
  assert.equal((await shell('exit 137')).outcome.reason, 'memory')
  assert.equal((await shell('kill -9 $$')).outcome.reason, 'memory')
  assert.deepEqual([(await shell('exit 42')).outcome.exitCode, (await shell('kill -15 $$')).outcome.exitCode], [42, 143])
})

test('a link out of the data folder is refused before anything is read', async (t) => {
  const { shell, runner } = rig(t)
  const folder = await runner.newFolder()
  await shell('ln -s /etc/passwd out/tables/a.csv', { folder })
  await assert.rejects(listOutputs(folder, 'out/tables'), { code: 'runner.unsafeOutput' })
  rmSync(join(folder.data, 'out/tables'), { recursive: true })
  symlinkSync('/etc', join(folder.data, 'out/tables'))
  await assert.rejects(listOutputs(folder, 'out/tables'), { code: 'runner.unsafeOutput' })
})

test('a folder on the way that became a link is refused, and nothing behind it is read or removed', async (t) => {
  const { shell, runner, home } = rig(t)
  for (const path of ['out', 'in', 'artifacts']) {
    const elsewhere = join(home, `elsewhere-${path}`)
    mkdirSync(join(elsewhere, 'tables'), { recursive: true })
    writeFileSync(join(elsewhere, 'state.json'), '{}')
    const folder = await runner.newFolder(true)
    await writeConfigFile(folder, '{}')
    await shell(`rm -r ${path}; ln -s ${elsewhere} ${path}`, { folder })
    assert.throws(() => refuseLinkedFolders(folder), { code: 'runner.unsafeOutput' })
    await removeDataFolder(folder)
    assert.equal(existsSync(folder.root), false)
    assert.deepEqual(readdirSync(elsewhere).sort(), ['state.json', 'tables'])
  }
})

test('between two programs the output becomes the input', async (t) => {
  const { shell, runner } = rig(t)
  const folder = await runner.newFolder()
  await shell('echo x > out/tables/a.csv; echo {} > out/state.json; echo y > in/tables/old.csv', { folder })
  await handOver(folder)
  assert.deepEqual(readdirSync(join(folder.data, 'in')).sort(), ['files', 'tables', 'user'])
  assert.deepEqual(readdirSync(join(folder.data, 'in/tables')), ['a.csv'])
  assert.deepEqual(readdirSync(join(folder.data, 'out/tables')), [])
})

test('a folder that locked itself is removed all the same', async () => {
  const home = mkdtempSync(join(tmpdir(), 'millrace-runner-'))
  const folder = await createDataFolder(join(home, 'run'))
  chmodSync(join(folder.data, 'out'), 0)
  await removeDataFolder(folder)
  assert.equal(existsSync(folder.root), false)
  rmSync(home, { recursive: true })
})

test('a built-in program may touch its data folder and nothing else', async (t) => {
  const { home, runner, shell } = rig(t)
  const entry = join(home, 'program.ts')
  writeFileSync(
    entry,
    `import { readFileSync, writeFileSync } from 'node:fs'
     import { spawnSync } from 'node:child_process'
     const tried: Record<string, string> = {}
     const attempt = (name: string, work: () => unknown) => { try { work(); tried[name] = 'done' } catch (e) { tried[name] = (e as { code: string }).code } }
     const data = process.env.KBC_DATADIR!
     attempt('read outside', () => readFileSync('/etc/passwd'))
     attempt('write outside', () => writeFileSync('${home}/escape', ''))
     attempt('write a neighbour', () => writeFileSync(data + '../../neighbour', ''))
     attempt('start a process', () => spawnSync('/bin/true'))
     attempt('write inside', () => writeFileSync(data + 'out/tables/a', ''))
     attempt('write tmp', () => writeFileSync(process.env.TMPDIR + '/a', ''))
     console.log(JSON.stringify(tried))`,
  )
  const folder = await runner.newFolder()
  for (const _ of ['cold', 'with compiled code']) {
    const { events, outcome } = await shell('', { folder, program: { kind: 'node', entry, arguments: [], readable: [] } })
    assert.equal(outcome.exitCode, 0, outcome.words)
    assert.deepEqual(JSON.parse(events[0]!.message), {
      'read outside': 'ERR_ACCESS_DENIED',
      'write outside': 'ERR_ACCESS_DENIED',
      'write a neighbour': 'ERR_ACCESS_DENIED',
      'start a process': 'ERR_ACCESS_DENIED',
      'write inside': 'done',
      'write tmp': 'done',
    })
  }
})

for (const transport of ['tcp', 'http'] as const) {
  test(`GELF over ${transport} becomes events with levels, and the last warning the last words`, async (t) => {
    const { shell } = rig(t)
    const message = (level: number, text: string) =>
      JSON.stringify({ version: '1.1', host: 'a', timestamp: 1, level, short_message: text, _job: 's3cret' })
    const send =
      transport === 'tcp'
        ? `const s=require('net').connect(p,'127.0.0.1');for(const m of messages)s.write(m+'\\0');s.end();s.on('close',()=>process.exit(1))`
        : `(async()=>{for(const m of messages)await fetch('http://127.0.0.1:'+p,{method:'POST',body:m});process.exit(1)})()`
    const program = `const p=process.env.KBC_LOGGER_PORT;const messages=${JSON.stringify([message(6, 'hello'), message(4, 'careful s3cret'), '{}'])};${send}`
    const { events, outcome } = await shell('', {
      program: { kind: 'command', command: [process.execPath, '-e', program], folder: tmpdir() },
      gelf: transport,
      mask: createMask(['s3cret']),
    })
    assert.deepEqual(events, [
      { level: 'info', message: 'hello', fields: { _job: '[hidden]' } },
      { level: 'warning', message: 'careful [hidden]', fields: { _job: '[hidden]' } },
    ])
    assert.equal(outcome.words, 'careful [hidden]')
  })
}

test('a GELF message over the limit ends the run', async (t) => {
  const { shell } = rig(t)
  const program = `const s=require('net').connect(process.env.KBC_LOGGER_PORT,'127.0.0.1');s.write('x'.repeat(300000));setInterval(()=>{},1000)`
  const { outcome } = await shell('', {
    program: { kind: 'command', command: [process.execPath, '-e', program], folder: tmpdir() },
    gelf: 'tcp',
  })
  assert.equal(outcome.reason, 'log-message-too-long')
})

test('when the server is killed, its programs and their folders go with it', async (t) => {
  const { home } = rig(t)
  const script = join(home, 'server.ts')
  const runner = fileURLToPath(new URL('./runner.ts', import.meta.url))
  writeFileSync(
    script,
    `import { createRunner } from '${runner}'
     const runner = createRunner({ runsFolder: '${home}/runs', cacheFolder: '${home}/cache', path: '${PATH}' })
     const folder = await runner.newFolder()
     const command = ['/bin/sh', '-c', 'env -i /usr/bin/setsid /bin/sleep 600 & echo $$ $!; sleep 600']
     await runner.run({ program: { kind: 'command', command, folder: folder.data }, folder, environment: {}, mask: (t: string) => t,
       limits: ${JSON.stringify(LIMITS)}, onEvent: (e: { message: string }) => console.log(e.message + ' ' + folder.root) })`,
  )
  const server = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(server.stdout, 'data')) as [Buffer]
  const [leader, stray, folder] = line.toString().trim().split(' ')
  assert.ok(alive(Number(leader)) && alive(Number(stray)))
  server.kill('SIGKILL')
  await until(
    'both processes and the folder are gone',
    () => !alive(Number(leader)) && !alive(Number(stray)) && !existsSync(folder!),
  )
})
