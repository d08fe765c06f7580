// One Python environment for each set of packages: made once, locked to the versions that were found, used again by later runs. It is made in
// a folder of its own, and becomes the environment by a link when it is whole: runs of several rows may make the same one.

import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { counted } from '../../../contract/counted.ts'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'

const run = promisify(execFile)
/** Environments of a configuration that are kept; those used longest ago go first. */
const KEPT = 2
/** A folder that no environment uses: a run was killed while it made one. */
const HALF_MADE_MS = 24 * 3600 * 1000
const MAX_OUTPUT = 16 * 1024 * 1024

export interface Environment {
  /** Where its programs are. */
  readonly bin: string
  /** Every package with its version, as it was installed. */
  readonly locked: readonly string[]
}

/** What the state of a configuration keeps of its environment, so that the next run has the same versions. */
export interface KeptEnvironment {
  readonly packages: readonly string[]
  readonly locked: readonly string[]
}

/** The versions of the run before; none when the packages are others now. */
export function lockedBefore(kept: unknown, packages: readonly string[]): readonly string[] {
  const { packages: before, locked } = (kept ?? {}) as Partial<Record<keyof KeptEnvironment, unknown>> // each is looked at
  return Array.isArray(locked) && JSON.stringify(before) === JSON.stringify(packages) ? locked.map(String) : []
}

export async function openEnvironment(
  folder: string,
  packages: readonly string[],
  locked: readonly string[],
  say: (message: string) => void,
): Promise<Environment> {
  mkdirSync(folder, { recursive: true })
  const python = findProgram('python3')
  if (!python)
    throw new ConnectorError(
      `The packages ${packages.join(', ')} run with Python, and this node has no python3. The operator installs it, or the job runs on a node that has it.`,
    )
  const { stdout: version } = await run(python, ['-c', 'import sys; print(sys.version.split()[0])'])
  const nameOf = (...parts: unknown[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
  const lockOf = (name: string) => {
    const path = join(folder, name, 'lock.txt')
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : undefined
  }
  // The one that was made first, as long as it has the versions of the run before; otherwise one with exactly those.
  const first = nameOf(version.trim(), packages)
  const isSame = locked.length === 0 || (lockOf(first) ?? locked).join() === locked.join()
  const name = isSame ? first : nameOf(version.trim(), packages, locked)
  const place = join(folder, name)
  if (!lockOf(name)) {
    const made = `${place}.${randomBytes(6).toString('hex')}`
    await make(made, python, packages, locked, say)
    use(place, made)
  }
  utimesSync(join(place, 'lock.txt'), new Date(), new Date())
  forgetOld(folder, name)
  return { bin: join(place, 'bin'), locked: lockOf(name) ?? [] }
}

async function make(
  place: string,
  python: string,
  packages: readonly string[],
  locked: readonly string[],
  say: (message: string) => void,
) {
  const uv = findProgram('uv')
  const environment = {
    ...process.env,
    UV_NO_CONFIG: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    UV_CACHE_DIR: join(process.env.TMPDIR ?? '/tmp', 'uv'),
    PIP_ROOT_USER_ACTION: 'ignore',
  }
  const options = { env: environment, maxBuffer: MAX_OUTPUT }
  const inside = join(place, 'bin', 'python')
  try {
    await (uv ? run(uv, ['venv', '--python', python, place], options) : run(python, ['-m', 'venv', place], options))
    const constraints = join(place, 'constraints.txt')
    writeFileSync(constraints, locked.join('\n'))
    const pip = uv
      ? [uv, 'pip', 'install', '--python', inside, '--no-progress']
      : [inside, '-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--progress-bar', 'off']
    const [program = '', ...args] = [...pip, ...(locked.length > 0 ? ['--constraint', constraints] : []), '--', ...packages]
    await run(program, args, options)
    const freeze = uv ? [uv, 'pip', 'freeze', '--python', inside] : [inside, '-m', 'pip', 'freeze', '--disable-pip-version-check']
    const { stdout } = await run(freeze[0]!, freeze.slice(1), options)
    const lines = stdout.split('\n').filter((line) => /^[A-Za-z0-9]/.test(line))
    writeFileSync(join(place, 'lock.new'), `${lines.join('\n')}\n`)
    renameSync(join(place, 'lock.new'), join(place, 'lock.txt')) // now it is whole
    say(`Installed ${packages.join(', ')} (${counted(lines.length, 'package')}).`)
  } catch (error) {
    rmSync(place, { recursive: true, force: true })
    const { stderr = '', stdout = '' } = error as { readonly stderr?: string; readonly stdout?: string } // of execFile
    const said = (stderr.trim() || stdout.trim() || String(error)).replace(/\s+/g, ' ').slice(-1000)
    throw new ConnectorError(`The packages ${packages.join(', ')} could not be installed: ${said}`, error)
  }
}

/** If another run was faster, its environment is used. */
function use(place: string, made: string): void {
  try {
    symlinkSync(made, place)
  } catch (error) {
    rmSync(made, { recursive: true, force: true })
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function forgetOld(folder: string, current: string): void {
  const entries = readdirSync(folder, { withFileTypes: true })
  const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name)
  const old = links
    .filter((name) => name !== current)
    .sort((a, b) => timeOf(join(folder, b, 'lock.txt')) - timeOf(join(folder, a, 'lock.txt')))
    .slice(KEPT - 1)
  for (const name of old) {
    const made = readlinkSync(join(folder, name))
    rmSync(join(folder, name))
    rmSync(made, { recursive: true, force: true })
  }
  const used = new Set(links.filter((name) => !old.includes(name)).map((name) => readlinkSync(join(folder, name))))
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const path = join(folder, name)
    // Another run may be making it now.
    if (!used.has(path) && Date.now() - timeOf(path) > HALF_MADE_MS) rmSync(path, { recursive: true, force: true })
  }
}

function findProgram(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name)
    if (existsSync(path)) return path
  }
  return undefined
}
