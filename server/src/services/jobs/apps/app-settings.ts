// The settings in the configuration of an app: its program, its size, and when it is suspended. Secrets are still encrypted when it is checked.

import { PlatformError } from '../../../kit/errors.ts'

export interface AppSettings {
  /** Set when the component has a program; then there is neither `runtime` nor `code`. */
  readonly own: OwnProgram | undefined
  readonly runtime: Runtime | undefined
  readonly code: AppCode | undefined
  readonly size: Size
  readonly autoSuspendSeconds: number
  readonly autoRestart: boolean
  /** `dataApp.secrets`, which become variables of the environment. */
  readonly secrets: Readonly<Record<string, string>>
  readonly packages: readonly string[]
  /** Whether a run has a workspace of its own: clients request it by a variable or by `runtime`. */
  readonly hasWorkspace: boolean
}

export type OwnProgram = 'command' | 'image'

export type AppCode =
  | {
      readonly kind: 'script'
      readonly runtime: Exclude<Runtime, 'python-js'>
      readonly text: string
      /** What Streamlit reads as `.streamlit/config.toml`. */
      readonly streamlitConfig: string | undefined
    }
  | {
      /** In the repository that the stack hosts for the app. */
      readonly kind: 'hosted'
      readonly ref: string
      readonly entryPoint: string | undefined
      /** What is missing when it hosts none. */
      readonly missing: string
    }
  | {
      readonly kind: 'git'
      readonly repository: string
      /** A branch, a tag or a whole commit; empty: what the repository recommends. */
      readonly ref: string
      readonly credentials: { readonly username: string; readonly password: string } | undefined
      /** The file that is run; undefined: one of the usual names. */
      readonly entryPoint: string | undefined
    }

/** The last is the name that clients have for what is in a repository, whether Python or JavaScript. */
const RUNTIMES = ['node', 'python', 'streamlit', 'jupyter', 'python-js'] as const
export type Runtime = (typeof RUNTIMES)[number]
export const SIZES = { tiny: 512, small: 1024, medium: 2048, large: 4096 } as const
export type Size = keyof typeof SIZES

const DEFAULT_SUSPEND_SECONDS = 900
const LONGEST_SUSPEND_SECONDS = 86_400
const LONGEST_SCRIPT = 1_000_000
const LONGEST_TEXT = 10_000
/** What the surroundings of the program are made of; a secret must not replace it. */
const OURS = /^(PATH|HOME|TMPDIR|LANG|PORT|HOST|NODE_.*|LD_.*|PYTHON(PATH|HOME|STARTUP)|KBC_.*|MILLRACE_.*|PG[A-Z]+|.*_PROXY)$/i

const HOSTED = { kind: 'hosted', ref: '', entryPoint: undefined } as const
const NO_REPOSITORY =
  'parameters.dataApp.git is missing: the code of an app of the type python-js is in a git repository, elsewhere or hosted by the stack (useManagedGitRepo when the app is created)'
const NO_ADDRESS = 'parameters.dataApp.git.repository is missing: the address of the repository'
const NO_SCRIPT =
  'parameters.script is missing: the code of the app, as a text or a list of lines, unless it is in a git repository (dataApp.git)'

export function readAppSettings(configuration: string, own: OwnProgram | undefined): AppSettings {
  const { parameters, runtime: surroundings } = objectOf(JSON.parse(configuration), 'the configuration')
  const given = objectOf(parameters ?? {}, 'parameters')
  const dataApp = objectOf(given.dataApp ?? {}, 'parameters.dataApp')
  const secrets = secretsOf(dataApp.secrets)
  if (own === 'image') refuseLineBreaks(secrets)
  const runtime = own ? undefined : runtimeOf(given.type)
  return {
    own,
    runtime,
    code: runtime && codeOf(runtime, given.script, dataApp),
    size: sizeOf(given.size),
    autoSuspendSeconds: suspendOf(given.autoSuspendAfterSeconds),
    autoRestart: given.autoRestartEnabled !== false,
    secrets,
    hasWorkspace: 'WORKSPACE_ID' in secrets || wantsWorkspace(surroundings),
    packages: Array.isArray(given.packages) ? given.packages.filter((one) => typeof one === 'string') : [],
  }
}

function wantsWorkspace(runtime: unknown): boolean {
  const { workspace } = objectOf(runtime ?? {}, 'runtime')
  return objectOf(workspace ?? {}, 'runtime.workspace').enabled === true
}

export const invalid = (reason: string) => new PlatformError('apps.invalidConfiguration', { reason })

function objectOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (Array.isArray(value) && value.length === 0) return {} // as PHP clients write an empty object
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${name} is not an object`)
  return value as Readonly<Record<string, unknown>> // checked above
}

function codeOf(runtime: Runtime, script: unknown, { git, streamlit }: Readonly<Record<string, unknown>>): AppCode {
  if (git !== undefined && git !== null) return gitOf(objectOf(git, 'parameters.dataApp.git'))
  if (runtime === 'python-js') return { ...HOSTED, missing: NO_REPOSITORY }
  const text = runtime === 'jupyter' ? notebookOf(script) : scriptOf(script)
  if (text === undefined) return { ...HOSTED, missing: NO_SCRIPT }
  const config = objectOf(streamlit ?? {}, 'parameters.dataApp.streamlit')['config.toml']
  return { kind: 'script', runtime, text, streamlitConfig: textOf(config, 'parameters.dataApp.streamlit.config.toml') }
}

/** A notebook is JSON: as it is, or as a text. */
function notebookOf(value: unknown): string | undefined {
  const text = scriptOf(typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : value)
  if (text === undefined) return undefined
  const { cells, nbformat } = objectOf(parsed(text), 'parameters.script')
  if (!Array.isArray(cells) || nbformat !== 4)
    throw invalid('parameters.script is not a notebook of the format 4: it needs the members nbformat (4) and cells')
  return text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('parameters.script is not a notebook: it is not valid JSON')
  }
}

function gitOf(given: Readonly<Record<string, unknown>>): AppCode {
  const repository = textOf(given.repository, 'parameters.dataApp.git.repository')
  if (repository && !isWebAddress(repository))
    throw invalid(
      'parameters.dataApp.git.repository must be an address that begins with https:// or http://, without a user or password in it; keys for SSH cannot be used',
    )
  const password = textOf(given['#password'], 'parameters.dataApp.git.#password')
  const entryPoint = textOf(given.entrypoint ?? given.entryPoint, 'parameters.dataApp.git.entrypoint')
  if (entryPoint && /^[/\\]|\\|(^|\/)\.\.(\/|$)/.test(entryPoint))
    throw invalid('parameters.dataApp.git.entrypoint must be the path of a file within the repository')
  const within = { ref: textOf(given.branch, 'parameters.dataApp.git.branch') ?? '', entryPoint: entryPoint || undefined }
  if (!repository) return { kind: 'hosted', ...within, missing: NO_ADDRESS }
  return {
    kind: 'git',
    repository,
    ...within,
    credentials: password
      ? { username: textOf(given.username, 'parameters.dataApp.git.username') || 'git', password }
      : undefined,
  }
}

function textOf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.length > LONGEST_TEXT)
    throw invalid(`${name} is not a text of at most ${LONGEST_TEXT} characters`)
  return value
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

function scriptOf(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const text = Array.isArray(value) && value.every((line) => typeof line === 'string') ? value.join('\n') : value
  if (typeof text !== 'string') throw invalid('parameters.script is neither a text nor a list of lines')
  if (text.length > LONGEST_SCRIPT) throw invalid(`parameters.script is longer than ${LONGEST_SCRIPT} characters`)
  return text.trim() === '' ? undefined : text
}

function runtimeOf(value: unknown): Runtime {
  const found = value === undefined ? 'node' : RUNTIMES.find((one) => one === value)
  if (!found) throw invalid(`parameters.type is "${shown(value)}"; there are ${RUNTIMES.join(', ')}`)
  return found
}

function sizeOf(value: unknown): Size {
  if (value === undefined || value === null) return 'tiny'
  if (typeof value === 'string' && Object.hasOwn(SIZES, value)) return value as Size // just looked up
  throw invalid(`parameters.size is "${shown(value)}"; there are ${Object.keys(SIZES).join(', ')}`)
}

function suspendOf(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_SUSPEND_SECONDS
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= LONGEST_SUSPEND_SECONDS) return value
  throw invalid(
    `parameters.autoSuspendAfterSeconds is "${shown(value)}", not a whole number from 1 to ${LONGEST_SUSPEND_SECONDS}`,
  )
}

function secretsOf(value: unknown): Record<string, string> {
  const entries = Object.entries(objectOf(value ?? {}, 'parameters.dataApp.secrets')).map(([name, text]): [string, string] => {
    const plain = name.replace(/^#/, '')
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(plain))
      throw invalid(`"${shown(name)}" of parameters.dataApp.secrets cannot be the name of a variable: use letters, digits and _`)
    if (OURS.test(plain))
      throw invalid(`"${plain}" of parameters.dataApp.secrets is a variable that the stack sets: choose another name`)
    if (typeof text !== 'string' && typeof text !== 'number') throw invalid(`parameters.dataApp.secrets.${plain} is not a text`)
    return [plain, String(text)]
  })
  return Object.fromEntries(entries)
}

/** A container engine takes variables line by line. */
function refuseLineBreaks(secrets: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(secrets))
    if (/[\r\n\0]/.test(value))
      throw invalid(
        `parameters.dataApp.secrets.${name} has a line break, which a variable of an image cannot have: encode it, or let the app read it in config.json`,
      )
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 60)
