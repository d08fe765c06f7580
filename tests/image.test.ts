// The image without a container engine: each stage's COPY list, as .dockerignore leaves it, goes into an empty folder, and the commands of the
// Dockerfile run there. Packages are links to the installed ones, as the lockfile marks them; the long run installs them with `npm ci`.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, matchesGlob, relative, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { childEnvironment } from './support/child-environment.ts'
import { until } from './support/until.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MODULES = join(ROOT, 'node_modules')
const IS_LONG = process.env.MILLRACE_LONG !== undefined
const NODE_FOLDER = dirname(process.execPath)

interface Stage {
  readonly name: string
  readonly base: string
  readonly copies: readonly { readonly from: string | undefined; readonly sources: readonly string[]; readonly target: string }[]
  readonly commands: readonly string[]
}

test('every stage of the image has the files that its commands need', async (t) => {
  const stages = readStages()
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['package', 'last'],
  )
  const folders = new Map<string, string>()
  for (const stage of stages) {
    const folder = await mkdtemp(join(tmpdir(), `millrace-image-${stage.name}-`))
    t.after(() => rm(folder, { recursive: true, force: true }))
    folders.set(stage.name, folder)
    const base = folders.get(stage.base)
    if (base !== undefined) cpSync(base, folder, { recursive: true, verbatimSymlinks: true })
    for (const copy of stage.copies) copyInto(folder, copy, folders)
    if (stage.name !== 'last') for (const command of stage.commands) await runIn(folder, command)
  }
  await serves(t, folders.get('last')!) // the loop above made it
})

/** The commands that only the container's root could run (folders at the top, a user) are left out of the last stage. */
async function serves(t: TestContext, folder: string): Promise<void> {
  const dataDir = join(folder, 'data')
  const env = { ...childEnvironment(), NODE_ENV: 'production', HOST: '127.0.0.1', PORT: '0', MILLRACE_S3_PORT: '0' }
  const program = only(dockerfile(), /^CMD (\[.+\])$/gm)
    .map((list) => JSON.parse(list) as string[])[0]!
    .slice(1)
  const server = spawn(process.execPath, program, { cwd: folder, env: { ...env, MILLRACE_DATA_DIR: dataDir } })
  t.after(() => server.kill('SIGKILL'))
  let output = ''
  for (const stream of [server.stdout, server.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const url = () => /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(output)?.[1]
  await until(
    () => `the server of the image is ready: ${output}`,
    () => url() !== undefined || server.exitCode !== null,
  )
  assert.equal(server.exitCode, null, output)
  assert.equal((await fetch(`${url()}/ready`)).status, 200)
  const page = await fetch(`${url()}/console/`)
  assert.equal(page.status, 200)
  assert.match(await page.text(), /<script type="module"/)
  const guide = await fetch(`${url()}/help`)
  assert.equal(guide.status, 200)

  const command = only(dockerfile(), /ln -s \/millrace\/(\S+) \/usr\/local\/bin\/millrace/g)[0]!
  const { stdout } = await run(process.execPath, [join(folder, command), '--version'], { cwd: folder, env })
  assert.match(stdout, /^\d+\.\d+\.\d+/)
}

const dockerfile = () => readFileSync(join(ROOT, 'Dockerfile'), 'utf8').replaceAll(/\\\n/g, ' ')
const only = (text: string, pattern: RegExp): string[] => Array.from(text.matchAll(pattern), (match) => match[1] ?? '')

function readStages(): Stage[] {
  return dockerfile()
    .split(/^(?=FROM )/m)
    .slice(1)
    .map((text) => ({
      name: /^FROM \S+ AS (\S+)/.exec(text)?.[1] ?? 'last',
      base: /^FROM (\S+)/.exec(text)![1]!,
      copies: Array.from(text.matchAll(/^COPY (?:--from=(\S+) )?(.+) (\S+)$/gm), ([, from, sources, target]) => ({
        from,
        sources: sources!.split(' '),
        target: target!,
      })),
      commands: only(text, /^RUN (.+)$/gm),
    }))
}

/** As COPY does: of a folder its content, into a target that ends with / by name. What .dockerignore leaves out is not there. */
function copyInto(folder: string, { from, sources, target }: Stage['copies'][number], stages: ReadonlyMap<string, string>): void {
  for (const source of sources) {
    const origin = from === undefined ? join(ROOT, source) : join(stages.get(from)!, source.replace(/^\/millrace\//, ''))
    assert.ok(existsSync(origin), `COPY ${source}: does not exist`)
    assert.ok(
      from !== undefined || lstatSync(origin).isDirectory() || isInContext(source),
      `COPY ${source}: .dockerignore leaves it out`,
    )
    const isIntoFolder = target.endsWith('/')
    const to =
      isIntoFolder && !lstatSync(origin).isDirectory() ? join(folder, target, source.split('/').at(-1)!) : join(folder, target)
    cpSync(origin, to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => from !== undefined || lstatSync(path).isDirectory() || isInContext(relative(ROOT, path)),
    })
  }
}

const RULES = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n').filter(Boolean)

/** The last rule that matches a file or a folder above it decides. */
function isInContext(path: string): boolean {
  const parts = path.split('/')
  const places = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  return RULES.reduce((isIn, rule) => {
    const isException = rule.startsWith('!')
    const pattern = rule.slice(isException ? 1 : 0)
    return places.some((place) => matchesGlob(place, pattern)) ? isException : isIn
  }, true)
}

/** A command of the Dockerfile. `npm ci` checks the lockfile and links what it would install, unless the run is long. */
async function runIn(folder: string, line: string): Promise<void> {
  for (const command of line.split('&&').map((part) => part.trim())) {
    const isInstall = command.startsWith('npm ci')
    const isShort = isInstall && !IS_LONG
    await run('sh', ['-c', isShort ? `${command} --dry-run --offline` : command], {
      cwd: folder,
      env: { PATH: `${NODE_FOLDER}:${process.env.PATH}`, ...(process.env.HOME === undefined ? {} : { HOME: process.env.HOME }) },
    }).catch((error: { stderr: string; stdout: string }) => assert.fail(`${command}\n${error.stdout}\n${error.stderr}`))
    if (isShort) linkPackages(folder, command.includes('--omit=dev'))
  }
}

/** The packages that the lockfile has, without those for development if they are not wanted; workspaces are links into the folder itself. */
function linkPackages(folder: string, isWithoutDev: boolean): void {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly dev?: boolean; readonly link?: boolean }>>
  }
  for (const [place, { dev, link }] of Object.entries(packages)) {
    const isTop = place.startsWith('node_modules/') && place.lastIndexOf('node_modules/') === 0
    const target = join(folder, place)
    if (!isTop || (dev && isWithoutDev) || !existsSync(join(ROOT, place)) || existsSync(target)) continue
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(link ? readlinkSync(join(ROOT, place)) : join(ROOT, place), target)
  }
  const programs = join(folder, 'node_modules', '.bin')
  mkdirSync(programs, { recursive: true })
  for (const name of readdirSync(join(MODULES, '.bin'))) {
    const program = resolve(MODULES, '.bin', readlinkSync(join(MODULES, '.bin', name)))
    if (existsSync(join(folder, relative(ROOT, program))) && !existsSync(join(programs, name)))
      symlinkSync(program, join(programs, name))
  }
}
