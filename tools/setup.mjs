// Makes a checkout ready: packages as the lockfile says, and a Node that can run TypeScript. Runs before `npm start` and `npm test` on
// whatever Node (20 or newer) the machine has, so it is plain JavaScript without packages. Costs a few milliseconds when all is done.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED_NODE = 24
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MODULES = join(ROOT, 'node_modules')
const STAMP = join(MODULES, '.millrace-setup')
const BUNDLED_NODE = join(MODULES, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')

if (!isInstalled()) {
  install()
  checkNode()
  writeFileSync(STAMP, fingerprint())
}

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
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === fingerprint()
}

function install() {
  const started = performance.now()
  console.error(
    existsSync(MODULES)
      ? 'The lockfile has changed: installing packages ...'
      : 'First start: installing packages, about a minute ...',
  )
  // Errors only: with an older Node, npm warns about every package that would like a newer one, and the newer one is what it installs.
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = process.env.npm_execpath
  const result = npm?.endsWith('.js')
    ? spawnSync(process.env.npm_node_execpath ?? process.execPath, [npm, ...args], {
        cwd: ROOT,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    : spawnSync('npm', args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
  if (result.status !== 0)
    stop(
      `Installing packages failed${result.error ? `: ${result.error.message}` : ''}. Is the network reachable? Then run the same command again.`,
    )
  console.error(`Installed in ${Math.round((performance.now() - started) / 1000)} s.`)
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

function stop(reason) {
  console.error(reason)
  process.exit(1)
}
