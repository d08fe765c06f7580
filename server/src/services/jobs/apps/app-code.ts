// The code of a run: the script of the configuration, or the files of a git repository, and the file of them that is run.

import { join } from 'node:path'
import type { EgressPolicy } from '../../../../../contract/egress-rules.ts'
import { type CheckedOut, checkedOut } from '../../../engines/git/checked-out.ts'
import { ALL_FILES } from '../../../engines/git/file-rules.ts'
import type { FetchIntoOrder, LookOrder } from '../../../engines/git/git-checkout.ts'
import { writeProgramFile } from '../../../engines/runner/data-folder.ts'
import type { RuntimeName } from '../../../engines/runner/runtimes.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RepositoryPlace } from './app-paths.ts'
import { type AppCode, invalid, type Runtime } from './app-settings.ts'
import type { AppRow } from './apps.store.ts'
import type { Repositories } from './repositories.ts'

export interface AppCodeDeps {
  readonly fetchOnce: (
    order: FetchIntoOrder,
    signal: AbortSignal,
  ) => Promise<{ readonly commit: string } | { readonly problem: string }>
  /** What is wrong with a repository; undefined when it can be read. */
  readonly lookAtRepository: (order: LookOrder) => Promise<string | undefined>
  readonly egress: EgressPolicy
  /** Repositories that the stack hosts. */
  readonly hosted: Pick<Repositories, 'has' | 'look' | 'write'> & {
    readonly placeAt: (address: string) => RepositoryPlace | undefined
    readonly open: (id: string, secret: string) => Promise<{ readonly app: AppRow } | undefined>
  }
}

export interface WrittenCode {
  readonly folder: string
  /** The file that is run. */
  readonly file: string
  readonly runtime: RuntimeName
  /** Undefined for a script. */
  readonly commit?: string
  /** Requests of the repository that are not supported. */
  readonly warnings: readonly string[]
}

type GitCode = AppCode & { readonly kind: 'git' }

const FETCH_MS = 60_000
const SCRIPTS: Readonly<Record<RuntimeName, string>> = {
  node: 'app.mjs',
  python: 'app.py',
  streamlit: 'app.py',
  jupyter: 'app.ipynb',
}
const NODE_NAMES = ['app', 'server', 'index', 'main'].flatMap((name) => [`${name}.mjs`, `${name}.js`])
const PYTHON_NAMES = ['app.py', 'main.py', 'streamlit_app.py']
const NOTEBOOK_NAMES = ['app.ipynb', 'main.ipynb', 'index.ipynb']

export type AppCodes = ReturnType<typeof createAppCode>

export function createAppCode({ fetchOnce, lookAtRepository, egress, hosted }: AppCodeDeps) {
  const orderOf = ({ repository, ref, credentials }: GitCode): LookOrder => ({
    url: repository,
    ref,
    credentials,
    credentialsIn: 'parameters.dataApp.git (username, #password)',
    policy: egress,
    timeoutMs: FETCH_MS,
    files: ALL_FILES,
  })

  /** The app in whose repository the code is, when the stack hosts it; undefined: it is elsewhere. */
  async function hostOf(app: AppRow, code: AppCode): Promise<AppRow | undefined> {
    const place = code.kind === 'git' ? hosted.placeAt(code.repository) : undefined
    if (await hosted.has(app)) {
      if (code.kind === 'hosted' || (place?.isHere && place.id === String(app.id))) return app
      const member = code.kind === 'git' ? 'dataApp.git.repository' : 'script'
      throw invalid(`the stack hosts a repository for this app: leave parameters.${member} out and push the code there`)
    }
    if (code.kind === 'hosted') throw invalid(code.missing)
    if (code.kind !== 'git' || !place) return undefined
    const opened = await hosted.open(place.id, code.credentials?.password ?? '')
    if (opened) return opened.app // by whichever name the stack was reached: the secret is of this stack
    if (!place.isHere) return undefined
    throw unusable(code.repository, 'The credentials of parameters.dataApp.git do not open it, or have expired.')
  }

  async function write(app: AppRow, code: AppCode, type: Runtime, folder: string, signal: AbortSignal): Promise<WrittenCode> {
    const host = await hostOf(app, code)
    if (code.kind === 'script') {
      const file = join(folder, SCRIPTS[code.runtime])
      await writeProgramFile(file, code.text)
      if (code.streamlitConfig !== undefined) await writeProgramFile(join(folder, '.streamlit/config.toml'), code.streamlitConfig)
      return { folder, file, runtime: code.runtime, warnings: [] }
    }
    const files = join(folder, 'app')
    const answer = host
      ? await hosted.write(host, code.ref, files, signal)
      : await fetchOnce({ ...orderOf(code as GitCode), folder: files }, signal) // hostOf refuses the others
    if ('problem' in answer) throw unusable(addressOf(code), answer.problem)
    const { file, ...entry } = await entryOf(checkedOut(files), code.entryPoint, type)
    return { folder: files, file: join(files, file), commit: answer.commit, ...entry }
  }

  return {
    write,
    /** Refuses a repository that cannot be read, before it is deployed. */
    async look(app: AppRow, code: AppCode): Promise<void> {
      const host = await hostOf(app, code)
      if (code.kind === 'script') return
      const problem = host ? await hosted.look(host, code.ref) : await lookAtRepository(orderOf(code as GitCode)) // as above
      if (problem !== undefined) throw unusable(addressOf(code), problem)
    },
  }
}

const addressOf = (code: AppCode): string => (code.kind === 'git' ? code.repository : 'its own repository')
const unusable = (repository: string, reason: string) => new PlatformError('apps.repositoryUnusable', { repository, reason })

async function entryOf(
  files: CheckedOut,
  wanted: string | undefined,
  type: Runtime,
): Promise<Pick<WrittenCode, 'file' | 'runtime' | 'warnings'>> {
  const about = await readPackage(files)
  const names = namesOf(type, about.main)
  const found = await files.first(wanted === undefined ? names : [wanted])
  if (found === undefined)
    throw invalid(
      wanted === undefined
        ? `the repository has none of the files ${names.join(', ')}: name the file to run in parameters.dataApp.git.entrypoint`
        : `the repository has no file "${wanted.slice(0, 200)}", which parameters.dataApp.git.entrypoint names`,
    )
  const warnings = [...about.needs, await files.first(['requirements.txt', 'pyproject.toml'])]
    .filter((name) => name !== undefined)
    .map(
      (name) => `The packages of ${name} are not installed by the stack: they must be there on the node, or in the repository.`,
    )
  return { file: found, runtime: runtimeOf(found, type), warnings }
}

function namesOf(type: Runtime, main: readonly string[]): readonly string[] {
  if (type === 'jupyter') return NOTEBOOK_NAMES
  if (type === 'node') return [...main, ...NODE_NAMES]
  return type === 'python-js' ? [...main, ...NODE_NAMES, ...PYTHON_NAMES] : PYTHON_NAMES
}

function runtimeOf(file: string, type: Runtime): RuntimeName {
  if (file.endsWith('.ipynb')) return 'jupyter'
  if (!file.endsWith('.py')) return 'node'
  return type === 'streamlit' ? 'streamlit' : 'python'
}

/** The file to run by `package.json`, and whether it names packages that are not in the repository. */
async function readPackage(files: CheckedOut): Promise<{ readonly main: readonly string[]; readonly needs: readonly string[] }> {
  const text = (await files.text('package.json')) ?? '{}'
  try {
    const { main, dependencies } = JSON.parse(text) as { main?: unknown; dependencies?: unknown }
    const isIncomplete = dependencies !== undefined && !(await files.isFolder('node_modules'))
    return {
      main: typeof main === 'string' && !main.split('/').includes('..') ? [main] : [],
      needs: isIncomplete ? ['package.json'] : [],
    }
  } catch {
    throw invalid('package.json of the repository is not valid JSON')
  }
}
