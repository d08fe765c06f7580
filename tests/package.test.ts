// The npm package as people get it: installed by `npx` from a registry into an empty cache, on a machine without this repository, started
// in an empty folder, and used there as in the README.

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { VERSION } from '../server/src/start/version.ts'
import { INSTALLED } from '../tools/package.ts'
import { makeRelease, notesOf } from '../tools/release.ts'
import { runCommandsOf } from './support/document-commands.ts'
import { type NpmRegistry, startNpmRegistry } from './support/servers/npm-registry.ts'
import { until } from './support/until.ts'

const run = promisify(execFile)
const LEASH = fileURLToPath(new URL('./support/leash.mjs', import.meta.url))
const EXECUTABLE = `millrace-${VERSION}-${process.platform}-${process.arch}`
const MAX_BYTES = 60e6
const FREE_PORTS = { PORT: '0', MILLRACE_S3_PORT: '0' }

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

let place: string
let release: string
let archive: string
let registry: NpmRegistry
const hooks: (() => unknown)[] = []

before(async () => {
  place = await mkdtemp(join(tmpdir(), 'millrace-package-'))
  release = await makeRelease({ target: place, repository: 'https://example.com/millrace', compressionLevel: 1 })
  archive = join(release, `millrace-${VERSION}.tgz`)
  const manifest = JSON.parse(readFileSync(join(place, 'package/package.json'), 'utf8'))
  registry = await startNpmRegistry(
    { after: (hook) => void hooks.push(hook as () => unknown) },
    { millrace: { file: archive, manifest } },
  )
})

after(async () => {
  for (const hook of hooks.reverse()) await hook()
  await rm(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
})

/** Of a machine that has Node and npm, an empty cache and nothing else of ours. */
function environment(): Record<string, string> {
  return {
    PATH: [dirname(process.execPath), ...(process.env.PATH ?? '').split(delimiter)]
      .filter((folder) => !folder.includes('.bin'))
      .join(delimiter),
    HOME: join(place, 'home'),
    npm_config_cache: join(place, 'cache'),
    npm_config_registry: registry.url,
    npm_config_yes: 'true',
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
  }
}

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8')) as { version: string })
    .version

test('the package is small, names its licences, and needs only what cannot be bundled', () => {
  const files = readdirSync(join(place, 'package'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const sizes = execFileSync('tar', ['--list', '--verbose', '--gzip', '--file', archive], { encoding: 'utf8' })
  const bytes = sizes
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number(line.split(/\s+/)[2]), 0)
  assert.ok(bytes < MAX_BYTES, `${bytes} bytes unpacked`)
  assert.deepEqual(
    files.filter(({ name }) => /\.tsx?$|\.test\./.test(name)),
    [],
  )
  const manifest = JSON.parse(readFileSync(join(place, 'package/package.json'), 'utf8')) as Record<string, unknown>
  assert.equal(manifest.private, undefined)
  assert.deepEqual(Object.keys(manifest.dependencies as object), Object.keys(INSTALLED))
  for (const [name, version] of Object.entries(manifest.dependencies as Record<string, string>))
    assert.equal(version, versionOf(name), `${name} has the version that the tests ran with`)
  for (const name of ['name', 'description', 'keywords', 'license', 'engines', 'repository', 'homepage', 'bugs'])
    assert.ok(manifest[name], name)
  const licences = readFileSync(join(place, 'package/THIRD-PARTY-LICENCES.txt'), 'utf8')
  for (const name of ['fastify', 'kysely', 'react', 'commander'])
    assert.match(licences, new RegExp(`^${name} \\d.*\\(MIT\\)$`, 'm'))
})

test('a release has the package, the executable, what it consists of, notes and checksums', async () => {
  const names = [EXECUTABLE, `millrace-${VERSION}.cdx.json`, `millrace-${VERSION}.tgz`, 'notes.txt']
  assert.deepEqual(readdirSync(release).sort(), ['SHA256SUMS', ...names])
  const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8')
  const sumOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(release, name)))
      .digest('hex')
  assert.equal(sums, names.map((name) => `${sumOf(name)}  ${name}\n`).join(''))
  assert.match(readFileSync(join(release, 'notes.txt'), 'utf8'), /^### Before you upgrade$/m)
  const bill = JSON.parse(readFileSync(join(release, names[1]!), 'utf8')) as {
    components: { name: string; purl: string; licenses?: unknown[]; hashes?: unknown[] }[]
  }
  for (const { name, licenses, hashes } of bill.components) assert.ok(licenses?.length && hashes?.length, name)
  assert.equal(new Set(bill.components.map(({ purl }) => purl)).size, bill.components.length, 'CycloneDX has each once')
  const listed = bill.components.map(({ purl }) => purl.replace(/@[^@]*$/, ''))
  for (const name of ['fastify', 'react', ...Object.keys(INSTALLED)])
    assert.ok(listed.includes(`pkg:npm/${name.replace('@', '%40')}`), name)
  for (const name of ['vite', 'typescript']) assert.ok(!listed.includes(`pkg:npm/${name}`), name)

  await assert.rejects(makeRelease({ target: place, tag: 'v9.9.9' }), /The tag v9\.9\.9 is not that of the version/)
  const changelog = '# Changelog\n\n## Pending\n\n- later\n\n## 1.2.0, 2027-01-01\n\n- now\n'
  assert.equal(notesOf(changelog, '1.2.0', true), '- now\n')
  assert.equal(notesOf(changelog, '1.3.0', false), '- later\n')
  assert.throws(() => notesOf(changelog, '1.3.0', true), /no section for 1\.3\.0/)
})

test('every component is in the package, and what it loads is in its own folder', async () => {
  const components = globSync('components/*/src/main.ts', { cwd: fileURLToPath(new URL('..', import.meta.url)) })
  assert.ok(components.length > 3)
  for (const path of components) {
    const folder = join(place, 'package', dirname(path))
    assert.ok(existsSync(join(folder, 'main.js')), path)
    const chunks = globSync('chunks/*.js', { cwd: folder }).filter((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      return !Object.keys(INSTALLED).some((installed) => text.includes(`from "${installed}"`)) // found beside the installed package
    })
    for (const name of chunks) await run(process.execPath, ['--permission', `--allow-fs-read=${folder}/*`, join(folder, name)])
  }
})

test('an older Node gets one sentence', () => {
  const refusal = (node: string, program: string) => {
    const { status, stderr } = spawnSync(node, [program], { encoding: 'utf8' })
    assert.equal(status, 1)
    return stderr
  }
  const program = join(place, 'package/cli/bin/millrace.mjs')
  const later = join(place, 'later.mjs')
  writeFileSync(later, readFileSync(program, 'utf8').replace(/NEEDED_NODE = \d+/, 'NEEDED_NODE = 99'))
  assert.equal(
    refusal(process.execPath, later),
    `millrace: Millrace needs Node 99 or newer; this is ${process.version}. Install one from https://nodejs.org.\n`,
  )
  const older = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((node) => /^v(1\d|2[0-3])\./.test(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? ''))
  if (older === undefined) return // every Node of this machine is new enough
  assert.match(refusal(older, program), /^millrace: Millrace needs Node 24 or newer; this is v\d+\.\d+\.\d+\. [^\n]+\n$/)
})

test('npx millrace starts a stack in the folder where it is called, and the README works from there', async (t) => {
  const folder = join(place, 'work')
  for (const name of ['work', 'home']) mkdirSync(join(place, name))
  const log = join(place, 'log')
  const fd = openSync(log, 'w')
  const stack: ChildProcess = spawn(process.execPath, [LEASH, 'npx', 'millrace'], {
    cwd: folder,
    env: { ...environment(), ...FREE_PORTS },
    stdio: ['pipe', fd, fd],
  })
  closeSync(fd)
  stack.stdin!.on('error', () => {})
  t.after(async () => {
    if (stack.exitCode !== null) return
    stack.stdin!.end()
    await once(stack, 'exit')
  })
  const output = () => readFileSync(log, 'utf8')
  const holder = () => Number(readFileSync(join(folder, 'millrace-data/stack.pid'), 'utf8'))
  await until(
    () => `the stack is ready:\n${output()}`,
    () => output().includes('"msg":"ready"') || stack.exitCode !== null,
    120_000,
  )
  assert.equal(stack.exitCode, null, output())
  assert.ok(output().includes(`Data folder    ${join(folder, 'millrace-data')}\n`), output())
  assert.match(output(), /Sign in {8}http:\/\/127\.0\.0\.1:\d+\/\S*#\S+/)
  assert.deepEqual(readdirSync(folder), ['millrace-data'])
  assert.deepEqual(
    [...registry.downloaded].filter((name) => name.startsWith('node-')),
    [],
    'no copy of Node is installed',
  )
  const [, url = ''] = /"url":"(http:[^"]+)"/.exec(output()) ?? []
  const [, token = ''] = /Master token {3}(\S+)/.exec(output()) ?? []

  const health = (await (await fetch(`${url}/health`)).json()) as { version: string; commit: string }
  assert.deepEqual([health.version, health.commit ?? ''], [VERSION, readFileSync(join(place, 'package/commit'), 'utf8')])
  for (const path of ['/console/', '/help', '/docs']) assert.equal((await fetch(url + path)).status, 200, path)
  // Without MILLRACE_URL: the command finds the stack that runs on the folder.
  const env = { ...environment(), MILLRACE_TOKEN: token }
  await runCommandsOf(t, 'README.md', { ...env, MILLRACE_URL: url }, folder)
  const table = 'in.c-keboola-ex-generic-v2-shop'
  // Not in step with this process, which answers as the registry.
  const said = async (...args: string[]) => (await run('npx', ['millrace', ...args], { cwd: folder, env })).stdout
  const sql = `select count(*) as n from "${table}"."orders"`
  assert.deepEqual(JSON.parse(await said('sql', sql, '--json', '--jmespath', 'rows')), [[250]])
  assert.match(await said('--version'), /^\d+\.\d+\.\d+/)

  const again = await run('npx', ['millrace'], { cwd: folder, env: { ...env, ...FREE_PORTS } }).catch((error) => error)
  assert.deepEqual([again.code, again.stdout], [1, ''], again.stderr)
  assert.match(again.stderr, /^\nThe data folder \S+millrace-data is in use by another process: process \d+\. .*\n\n$/)

  process.kill(holder(), 'SIGTERM')
  const [code] = await once(stack, 'exit')
  assert.equal(code, 0, output())
  assert.match(output(), /"msg":"stopped"/)
  assert.ok(existsSync(join(folder, 'millrace-data/metadata.sqlite')))

  const npx = spawn('npx', ['millrace'], { cwd: folder, env: { ...env, ...FREE_PORTS }, stdio: 'ignore' })
  const pid = await until(
    'the stack runs again',
    () => existsSync(join(folder, 'millrace-data/stack.pid')) && (holder() || false),
  )
  t.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'))
  npx.kill('SIGTERM')
  await until('the stack has ended with npx', () => !isAlive(pid))
  await damagedPackage(folder)
})

/** Half of DuckDB, then none of it. */
async function damagedPackage(cwd: string): Promise<void> {
  const [modules = ''] = globSync(join(place, 'cache/_npx/*/node_modules'))
  const main = join(modules, 'millrace/cli/bin/millrace.mjs')
  const options = { cwd, env: { ...environment(), ...FREE_PORTS }, timeout: 60_000 }
  const failed = (...args: string[]) =>
    run(process.execPath, [main, ...args], options).then(
      () => assert.fail('it did not fail'),
      (error: { stdout: string; stderr: string }) => error,
    )
  const sizeOf = (path: string) => statSync(path).size
  const native = globSync(join(modules, '@duckdb/node-bindings-*/*')).sort((a, b) => sizeOf(b) - sizeOf(a))[0]!
  const whole = readFileSync(native)
  rmSync(native) // it may be a link to that of this repository
  writeFileSync(native, whole.subarray(0, whole.length / 2))
  const { stdout } = await failed('doctor')
  assert.match(stdout, /^PROBLEM {2}DuckDB +cannot be loaded \(.+\), so tables do not work\. Install Millrace again\.$/m)

  const log = join(place, 'damaged.log')
  const fd = openSync(log, 'w')
  const stack = spawn(process.execPath, [LEASH, process.execPath, main], { ...options, stdio: ['pipe', fd, fd] })
  closeSync(fd)
  await until(
    () => `the stack reports that its tables do not work:\n${readFileSync(log, 'utf8')}`,
    () => /"level":"error".*"msg":"a table worker could not load DuckDB; install/.test(readFileSync(log, 'utf8')),
    60_000,
  )
  stack.stdin!.end()
  await once(stack, 'exit')

  rmSync(join(modules, '@duckdb/node-api'), { recursive: true })
  const { stderr } = await failed()
  assert.equal(stderr, 'millrace: The package @duckdb/node-api is missing or damaged. Install Millrace again.\n')
}

/** Runs a program on a disk of 64 MB of its own, and lists what it left in the folder of the runtime. */
const ON_SMALL_DISK = [
  'unshare',
  '--mount',
  'sh',
  '-c',
  'mount -t tmpfs -o size=64m small "$1" || { echo "no disk of its own"; exit; }; "$2" "$3" 2>&1; echo "ended with $?"; echo "left: $(ls "$1/runtime" 2>/dev/null)"',
  'small-disk',
]

const NAMELESS = 54_321
/** What root runs a program with, to be a user that the machine has no entry of. */
const asNamelessUser = process.getuid?.() === 0 ? ['setpriv', `--reuid=${NAMELESS}`, `--regid=${NAMELESS}`, '--clear-groups'] : []

/** The folder, what is below it, and the way to it. */
async function readableForAll(folder: string): Promise<void> {
  for (const path of [place, release]) chmodSync(path, 0o755)
  await run('chmod', ['-R', 'a+rX', folder, release])
}

/** On a machine without Node and npm. */
const executable = (env: Record<string, string>, ...args: string[]) =>
  run(join(release, EXECUTABLE), args, { cwd: place, env: { PATH: '/usr/bin:/bin', HOME: join(place, 'no-home'), ...env } })

test('the single executable unpacks itself once, repairs what was changed, and runs a job', async (t) => {
  const env = { MILLRACE_RUNTIME_DIR: join(place, 'runtime') }
  const first = await executable(env, '--version')
  assert.match(first.stdout, new RegExp(`^${VERSION.replaceAll('.', '\\.')}`))
  assert.match(first.stderr, /^millrace: Unpacking to \S+ \(once for each version\)\.\n$/)
  assert.equal((await executable(env, '--version')).stderr, '')
  const [version = ''] = readdirSync(env.MILLRACE_RUNTIME_DIR)
  const native = globSync('node_modules/@duckdb/**/*.node', { cwd: join(env.MILLRACE_RUNTIME_DIR, version) })
  assert.ok(native.length > 0)
  const changed = join(env.MILLRACE_RUNTIME_DIR, version, native[0]!)
  const bytes = readFileSync(changed)
  writeFileSync(changed, Buffer.from(bytes).fill(0, 0, 64))
  assert.match((await executable(env, '--version')).stderr, /Unpacking/)
  assert.ok(readFileSync(changed).equals(bytes))
  assert.deepEqual(readdirSync(env.MILLRACE_RUNTIME_DIR), [version], 'nothing is left of what was unpacked beside it')

  const refused = await executable({ MILLRACE_RUNTIME_DIR: '/dev/null/x' }, '--version').catch((error) => error)
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^millrace: The program could not be unpacked to \S+\. The folder is not writable\. Set MILLRACE_RUNTIME_DIR to another folder\.\n$/,
  )

  await t.test('a disk that is full while it unpacks ends the start, and nothing is left on it', async (inner) => {
    const full = join(place, 'full')
    mkdirSync(full)
    const [program, ...args] = [...ON_SMALL_DISK, full, join(release, EXECUTABLE), '--version']
    const env = { MILLRACE_RUNTIME_DIR: join(full, 'runtime'), PATH: '/usr/bin:/bin' }
    const { stdout } = await run(program!, args, { env }).catch((error: Error) => ({ stdout: `no disk of its own: ${error}` }))
    if (stdout.startsWith('no disk of its own')) return inner.diagnostic(stdout) // only Linux with the right to mount
    assert.match(
      stdout,
      /^millrace: Unpacking to \S+ \(once for each version\)\.\nmillrace: The program could not be unpacked to \S+\. There is not enough space for \d+ MB\. Set MILLRACE_RUNTIME_DIR to another folder\.\nended with 1\nleft: \n$/,
    )
  })

  // As in a container with an arbitrary user id: a user of no name, without a home, whose files are only for itself.
  const folder = join(place, "a folder of 'ünïcode' 数据")
  mkdirSync(folder)
  await readableForAll(env.MILLRACE_RUNTIME_DIR)
  if (asNamelessUser.length > 0) chownSync(folder, NAMELESS, NAMELESS)
  const bare = { ...env, ...FREE_PORTS, PATH: '/usr/bin:/bin' }
  const [as = '', ...like] = [...asNamelessUser, join(release, EXECUTABLE)]
  const homeless = async (...args: string[]) =>
    await run(as, [...like, ...args], { cwd: folder, env: bare }).catch((error: { stdout: string; stderr: string }) => error)
  if (asNamelessUser.length > 0) {
    const { MILLRACE_RUNTIME_DIR: _, ...nowhere } = bare
    const { stderr } = await run(as, [...like, '--version'], { cwd: folder, env: nowhere }).catch((error) => error)
    assert.equal(
      stderr,
      'millrace: This user has no home folder to unpack the program to. Set MILLRACE_RUNTIME_DIR to another folder.\n',
    )
    const service = await homeless('service', 'install', '--user', '--dry-run')
    assert.equal(
      service.stderr,
      'millrace: This user has no home folder for the file of the service. Set HOME, or use --system.\n',
    )
  }

  const log = join(place, 'executable.log')
  const fd = openSync(log, 'w')
  const stack = spawn(process.execPath, [LEASH, 'sh', '-c', 'umask 077 && exec "$@"', 'sh', as, ...like], {
    cwd: folder,
    env: bare,
    stdio: ['pipe', fd, fd],
  })
  closeSync(fd)
  stack.stdin!.on('error', () => {})
  t.after(async () => {
    if (stack.exitCode !== null) return
    stack.stdin!.end()
    await once(stack, 'exit')
  })
  const output = () => readFileSync(log, 'utf8')
  await until(
    () => `the stack is ready:\n${output()}`,
    () => output().includes('"msg":"ready"') || stack.exitCode !== null,
    120_000,
  )
  assert.doesNotMatch(output(), /unknown variable/)
  const [, url = ''] = /"url":"(http:[^"]+)"/.exec(output()) ?? []
  const [, token = ''] = /Master token {3}(\S+)/.exec(output()) ?? []
  const commandLine = { ...env, MILLRACE_URL: url, MILLRACE_TOKEN: token }
  assert.equal((await homeless('profiles')).stdout, 'no profiles yet; create one with: millrace login\n')
  const loginRequest = { endpoint: 'login', method: 'POST', params: { username: 'ada', password: { attr: '#password' } } }
  const authentication = { type: 'login', loginRequest, apiRequest: { headers: { 'X-Sample-Session': { response: 'token' } } } }
  const parameters = {
    api: { baseUrl: `${url}/sample/`, authentication },
    config: { '#password': 'lovelace', jobs: [{ endpoint: 'orders', dataField: 'orders' }] },
  }
  writeFileSync(join(place, 'shop.json'), JSON.stringify({ parameters }))
  const shop = ['keboola.ex-generic-v2', '--id', 'shop', '--name', 'Shop', '--file', 'shop.json']
  await executable(commandLine, 'config', 'create', ...shop)
  const job = JSON.parse((await executable(commandLine, 'job', 'run', 'keboola.ex-generic-v2', 'shop', '--json')).stdout)
  assert.equal(job.status, 'success', JSON.stringify(job))
  process.kill(Number(readFileSync(join(folder, 'millrace-data/stack.pid'), 'utf8')), 'SIGTERM')
  const [code] = await once(stack, 'exit')
  assert.equal(code, 0, output())
})
