// What is there on this machine to run code that a user wrote.

import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { homeFolder } from '../../kit/machine/home-folder.ts'
import { NOTEBOOK_PROGRAM } from './notebook-program.ts'

export type RuntimeName = 'node' | 'python' | 'streamlit' | 'jupyter'

export type Runtime = { command(script: string): readonly string[] } | { readonly missing: string }

export interface Runtimes {
  find(name: RuntimeName): Promise<Runtime>
}

const PYTHON = 'python3'
/** How long a result is cached: after an installation of Python no restart is needed. */
const KNOWN_MS = 60_000
const IMPORT_MS = 30_000
/** What is imported, by the name that it is installed by. */
const PACKAGES = { streamlit: ['streamlit'], jupyter: ['nbconvert', 'nbclient', 'ipykernel'] } as const

export function createRuntimes(path: string): Runtimes {
  const known = new Map<RuntimeName, { readonly until: number; readonly found: Promise<Runtime> }>()

  async function look(name: RuntimeName): Promise<Runtime> {
    if (name === 'node') return { command: (script) => [process.execPath, script] }
    const python = await findProgram(PYTHON, path)
    if (python === undefined) return { missing: `${PYTHON} is not in the PATH of the stack` }
    if (name === 'python') return { command: (script) => [python, script] }
    const missing = await missingOf(python, PACKAGES[name], path)
    if (missing.length > 0) {
      const names = missing.join(' ')
      return { missing: `the Python at ${python} has no package ${names}: install it with "${python} -m pip install ${names}"` }
    }
    if (name === 'jupyter') return { command: (script) => [python, '-c', NOTEBOOK_PROGRAM, script] }
    return { command: (script) => [python, '-m', 'streamlit', 'run', script] }
  }

  return {
    find(name) {
      const before = known.get(name)
      if (before && before.until > performance.now()) return before.found
      const found = look(name)
      known.set(name, { until: performance.now() + KNOWN_MS, found })
      return found
    },
  }
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(':').filter((entry) => entry.startsWith('/'))) {
    const program = join(folder, name)
    const isThere = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return program
  }
  return undefined
}

/** The packages that Python cannot import. */
async function missingOf(python: string, packages: readonly string[], path: string): Promise<string[]> {
  const options = { timeout: IMPORT_MS, env: { PATH: path, HOME: homeFolder() ?? '/' } }
  const tried = packages.map(async (name) =>
    promisify(execFile)(python, ['-c', `import ${name}`], options).then(
      () => [],
      () => [name],
    ),
  )
  return (await Promise.all(tried)).flat()
}
