// Makes a checkout ready: packages as in the lockfile, a Node that can run TypeScript, the console built and the server bundled. Runs before `npm start` and `npm test` on
// whatever Node (20 or newer) the machine has, so it is plain JavaScript without packages. Costs a few milliseconds when all is done.
// `--start`: without the packages for development (a browser, a PostgreSQL, linters), unless they were installed before.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED_NODE = 24
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MODULES = join(ROOT, 'node_modules')
const STAMP = join(MODULES, '.millrace-setup')
/** Behind the fingerprint: the packages for development are not installed. */
const START = 'start'
const CONSOLE_STAMP = join(ROOT, 'console', 'dist', '.fingerprint')
const BUNDLED_NODE = join(MODULES, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')

const isForStart = process.argv.includes('--start')

if (!isInstalled()) {
  const isWhole = !isForStart || stampOf('whole') !== undefined
  await install(isWhole)
  checkNode()
  writeFileSync(STAMP, isWhole ? fingerprint() : `${fingerprint()} ${START}`)
}
if (!isConsoleBuilt()) buildConsole()
if (!isBundled()) bundlePrograms()

/** What the installed packages depend on. Written last, so that an interrupted install is done again. */
function fingerprint() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .update(`${process.platform}-${process.arch}`)
    .digest('hex')
}

function isInstalled() {
  const modules = lstatSync(MODULES, { throwIfNoEntry: false })
  if (modules?.isSymbolicLink()) return true // a second worktree that borrows the packages of the first
  return (stampOf('whole') ?? (isForStart ? stampOf(START) : undefined)) === fingerprint()
}

/** The fingerprint of what is installed, if it is of this kind. */
function stampOf(kind) {
  const [installed, what = 'whole'] = existsSync(STAMP) ? readFileSync(STAMP, 'utf8').split(' ') : []
  return what === kind ? installed : undefined
}

async function install(isWhole) {
  const started = performance.now()
  console.error(reasonToInstall())
  // Errors only: with an older Node, npm warns about every package that would like a newer one, and the newer one is what it installs.
  const args = [
    'ci',
    '--ignore-scripts',
    `--${isWhole ? 'include' : 'omit'}=dev`,
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  const options = { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] }
  const npm = process.env.npm_execpath
  const child = npm?.endsWith('.js')
    ? spawn(process.env.npm_node_execpath ?? process.execPath, [npm, ...args], options)
    : spawn('npm', args, { ...options, shell: process.platform === 'win32' })
  const endProgress = showProgress(isWhole)
  const [code] = await once(child, 'exit').catch((error) => [error.message])
  endProgress()
  if (code !== 0)
    stop(
      `Installing packages failed${typeof code === 'string' ? `: ${code}` : ''}. Is the network reachable? Then run the same command again.`,
    )
  console.error(`Installed in ${Math.round((performance.now() - started) / 1000)} s.`)
}

function reasonToInstall() {
  if (!existsSync(MODULES)) return 'First start: installing packages, about a minute ...'
  return stampOf(START) === fingerprint()
    ? 'Installing the packages for development ...'
    : 'The lockfile has changed: installing packages ...'
}

/** npm prints nothing until it is done, so the installed packages are counted: twice a second on a terminal, elsewhere a line now and then. */
function showProgress(isWhole) {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const places = Object.entries(packages).flatMap(([place, { link, dev, os, cpu }]) =>
    place.startsWith('node_modules/') && !link && (isWhole || !dev) && isHere(os, process.platform) && isHere(cpu, process.arch)
      ? [place]
      : [],
  )
  const isTerminal = process.stderr.isTTY
  const show = () => {
    const done = places.filter((place) => existsSync(join(ROOT, place, 'package.json'))).length
    if (done > 0) process.stderr.write(`${isTerminal ? '\r' : ''}  ${done} of ${places.length} packages${isTerminal ? '' : '\n'}`)
  }
  const timer = setInterval(show, isTerminal ? 500 : 10_000)
  return () => {
    clearInterval(timer)
    if (isTerminal) process.stderr.write('\r\u001b[K')
  }
}

/** As `os` and `cpu` of a package name the machines it is for. */
function isHere(names, own) {
  return names === undefined || names.includes(own) || (names[0]?.startsWith('!') && !names.includes(`!${own}`))
}

/** npm carries Node for most machines, though not for Apple silicon, and not for systems without glibc. */
function checkNode() {
  if (existsSync(BUNDLED_NODE)) {
    const trial = spawnSync(BUNDLED_NODE, ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' })
    if (trial.status === 0) return
    rmSync(BUNDLED_NODE) // cannot run here; out of the way, so that npm scripts find the machine's own
  }
  const own =
    spawnSync('node', ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' }).stdout?.trim() || process.version
  if (Number(own.slice(1).split('.')[0]) >= NEEDED_NODE) return
  stop(
    `Millrace needs Node ${NEEDED_NODE} or newer, and npm carries none for ${process.platform}-${process.arch}. This machine has ${own}: install a newer one from https://nodejs.org and run the same command again.`,
  )
}

/** What the build of the console depends on: its files, the client's and what it shares with the server. */
function consoleFingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')))
  for (const folder of ['console', 'client', 'contract']) {
    const names = readdirSync(join(ROOT, folder), { recursive: true }).map(String).sort()
    for (const name of names) {
      const path = join(ROOT, folder, name)
      if (!/^(dist|node_modules)\b/.test(name) && lstatSync(path).isFile()) hash.update(name).update(readFileSync(path))
    }
  }
  return hash.digest('hex')
}

function isConsoleBuilt() {
  return existsSync(CONSOLE_STAMP) && readFileSync(CONSOLE_STAMP, 'utf8') === consoleFingerprint()
}

function buildConsole() {
  console.error('Building the console ...')
  const result = runNode([join(MODULES, 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'error'], join(ROOT, 'console'))
  if (result.status !== 0) stop('Building the console failed; see the reason above.')
  writeFileSync(CONSOLE_STAMP, consoleFingerprint())
}

/** Whether no source has changed since, as server/src/engines/runner/bundle.ts checks, too. */
function isBundled() {
  const hasProgram = (name) => ['main.ts', 'program.ts'].every((file) => existsSync(join(ROOT, 'components', name, 'src', file)))
  const components = readdirSync(join(ROOT, 'components')).filter(hasProgram)
  return ['', ...components.map((name) => join('components', name))].every((bundle) => {
    const folder = join(ROOT, 'dist', bundle)
    const list = join(folder, 'sources.json')
    if (!existsSync(list)) return false
    return Object.entries(JSON.parse(readFileSync(list, 'utf8'))).every(([path, state]) => {
      const source = lstatSync(join(ROOT, path), { throwIfNoEntry: false })
      return state === `${source?.size} ${source?.mtimeMs}`
    })
  })
}

/** A stack starts without the bundle as well, only slower. */
function bundlePrograms() {
  const result = runNode([join(ROOT, 'tools', 'bundle.ts')], ROOT)
  if (result.status !== 0) console.error('Bundling the programs failed; see the reason above. Starting takes a second longer.')
}

function runNode(args, cwd) {
  const node = existsSync(BUNDLED_NODE) ? BUNDLED_NODE : process.execPath
  return spawnSync(node, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
}

function stop(reason) {
  console.error(reason)
  process.exit(1)
}
