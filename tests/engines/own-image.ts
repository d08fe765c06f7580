// The image of Millrace, built by podman: the last stage of the Dockerfile on a base of the Node that runs this and its libraries, with the npm
// package as the first stage makes it, and started as its user by buildah. Nothing is fetched. `npm run test:image`, not part of `npm test`, because
// no engine comes with npm; without one it fails and names what is missing. tests/image.test.ts checks both stages without an engine.

import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makePackage } from '../../tools/package.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BASE = 'localhost/millrace-test-base'
const IMAGE = 'localhost/millrace-test-own-image'
/** What the commands of the last stage run, and the shell for them. */
const PROGRAMS = ['sh', 'mkdir', 'chown', 'chmod', 'ln']
/** Of the user `node` of the official image. */
const UID = 1000
const MAX_BYTES = 150e6

for (const program of ['podman', 'buildah']) {
  const found = await run(program, ['--version']).then(
    () => true,
    () => false,
  )
  assert.ok(found, `install ${program}: this test builds an image with it`)
}

test('the image is built from the Dockerfile, is small, and serves as its user on a volume', { timeout: 900_000 }, async (t) => {
  const place = await mkdtemp(join(tmpdir(), 'millrace-own-image-'))
  t.after(() => rm(place, { recursive: true, force: true }))
  await importBase(place)
  const context = await makeContext(place)
  await run('podman', ['build', '--isolation', 'chroot', '--format', 'docker', '--tag', IMAGE, context], { maxBuffer: 64 << 20 })
  t.after(() => run('podman', ['image', 'rm', '--force', IMAGE, BASE])) // and the container of it

  const [{ Config: config, Healthcheck: health, Size: size }] = JSON.parse(
    (await run('podman', ['image', 'inspect', IMAGE])).stdout,
  )
  assert.deepEqual([config.User, Object.keys(config.Volumes)], ['node', ['/data']])
  assert.match(health?.Test.join(' ') ?? '', /\/ready/)
  const [{ Size: baseSize }] = JSON.parse((await run('podman', ['image', 'inspect', BASE])).stdout)
  assert.ok(size - baseSize < MAX_BYTES, `${size - baseSize} bytes on top of the base`)
  t.diagnostic(`${Math.round((size - baseSize) / 1e6)} MB on top of the base`)
  await serves(t, config.Cmd)
})

/** Node, a shell and their libraries, with a user `node` as the official image has it. */
async function importBase(place: string): Promise<void> {
  const base = join(place, 'base')
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(join(base, to)), { recursive: true })
    cpSync(realpathSync(from), join(base, to))
  }
  const node = process.execPath
  const programs = PROGRAMS.map((name) => execFileSync('which', [name], { encoding: 'utf8' }).trim())
  copy(node, '/usr/local/bin/node')
  for (const program of programs) copy(program, `/bin/${basename(program)}`)
  const duckdb = readdirSync(join(ROOT, 'node_modules/@duckdb'))
    .filter((name) => name.startsWith('node-bindings-'))
    .flatMap((name) =>
      readdirSync(join(ROOT, 'node_modules/@duckdb', name)).map((file) => join(ROOT, 'node_modules/@duckdb', name, file)),
    )
    .filter((file) => /\.(node|so)$/.test(file))
  for (const program of [node, ...programs, ...duckdb]) {
    const { stdout } = await run('ldd', [program]).catch(() => ({ stdout: '' })) // of a file without libraries
    for (const [, library = ''] of stdout.matchAll(/\s(\/\S+) \(0x/g))
      if (!library.includes('node_modules')) copy(library, library) // others come with the package
  }
  for (const folder of ['tmp', 'etc', 'proc', 'dev', 'sys']) mkdirSync(join(base, folder), { recursive: true })
  await chmod(join(base, 'tmp'), 0o1777)
  writeFileSync(join(base, 'etc/passwd'), `root:x:0:0::/root:/bin/sh\nnode:x:${UID}:${UID}::/home/node:/bin/sh\n`)
  writeFileSync(join(base, 'etc/group'), `root:x:0:\nnode:x:${UID}:\n`)
  await run('tar', ['--create', '--directory', base, '--file', join(place, 'base.tar'), '.'])
  await run('podman', ['import', join(place, 'base.tar'), BASE])
}

/** The last stage, and what it copies from the first one. */
async function makeContext(place: string): Promise<string> {
  const context = join(place, 'context')
  await makePackage(join(place, 'dist'), 'https://example.com/millrace')
  const stage = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .split(/^(?=FROM )/m)
    .at(-1)!
  for (const [, path = ''] of stage.matchAll(/^COPY --from=package \/millrace\/(\S+) /gm)) {
    const origin = path === 'dist/package' ? join(place, 'dist/package') : join(ROOT, path)
    assert.ok(existsSync(origin), path)
    cpSync(origin, join(context, path), { recursive: true, dereference: true })
  }
  const text = stage.replace(/^FROM \S+/, `FROM ${BASE}`).replaceAll('COPY --from=package /millrace/', 'COPY ')
  writeFileSync(join(context, 'Dockerfile'), text)
  return context
}

/** By buildah, which needs no control groups: the user, the variables, the volume and the program of the image. */
async function serves(t: TestContext, command: readonly string[]): Promise<void> {
  const { stdout } = await run('buildah', ['from', '--pull=never', IMAGE])
  const container = stdout.trim()
  const variables = ['HOST=127.0.0.1', 'PORT=0', 'MILLRACE_S3_PORT=0'].flatMap((one) => ['--env', one])
  const server = spawn('buildah', ['run', '--isolation', 'chroot', ...variables, container, '--', ...command])
  let output = ''
  for (const stream of [server.stdout, server.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  t.after(() => {
    if (server.exitCode === null) for (const pid of [...below(server.pid!), server.pid!]) process.kill(pid, 'SIGKILL')
  })
  const url = () => /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(output)?.[1]
  await until(
    () => `the server of the image is ready: ${output}`,
    () => url() !== undefined || server.exitCode !== null,
    120_000,
  )
  assert.equal(server.exitCode, null, output)
  assert.equal((await fetch(`${url()}/ready`)).status, 200)
  assert.equal((await fetch(`${url()}/console/`)).status, 200)
  const program = below(server.pid!).find((pid) => readlinkSync(`/proc/${pid}/exe`).endsWith('/node'))!
  assert.match(readFileSync(`/proc/${program}/status`, 'utf8'), new RegExp(`^Uid:\\t${UID}\\t`, 'm'))
  process.kill(program, 'SIGTERM')
  await until('the server has ended', () => server.exitCode !== null)
  assert.equal(server.exitCode, 0, output)
}

/** Processes below a process, parents first. Each thread has its own children. */
function below(pid: number): number[] {
  const childrenOf = (thread: string) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean)
  const children = readdirSync(`/proc/${pid}/task`).flatMap(childrenOf).map(Number)
  return children.flatMap((child) => [child, ...below(child)])
}
