// What the configuration of an app says: which program it is, its size, and when it sleeps. Secrets are still encrypted when it is checked.

import { PlatformError } from '../../kit/errors.ts'

export interface AppSettings {
  /** Undefined: the component has a program of its own. */
  readonly runtime: Runtime | undefined
  readonly script: string | undefined
  readonly size: Size
  readonly autoSuspendSeconds: number
  readonly autoRestart: boolean
  /** `dataApp.secrets`, which become variables of the environment. */
  readonly secrets: Readonly<Record<string, string>>
  readonly packages: readonly string[]
}

const RUNTIMES = ['node', 'python', 'streamlit'] as const
export type Runtime = (typeof RUNTIMES)[number]
export const SIZES = { tiny: 512, small: 1024, medium: 2048, large: 4096 } as const
export type Size = keyof typeof SIZES

const DEFAULT_SUSPEND_SECONDS = 900
const LONGEST_SUSPEND_SECONDS = 86_400
const LONGEST_SCRIPT = 1_000_000
/** What the surroundings of the program are made of; a secret must not replace it. */
const OURS = /^(PATH|HOME|TMPDIR|LANG|PORT|HOST|NODE_.*|LD_.*|PYTHON(PATH|HOME|STARTUP)|KBC_.*|MILLRACE_.*|PG[A-Z]+|.*_PROXY)$/i

export function readAppSettings(configuration: string, hasOwnProgram: boolean): AppSettings {
  const { parameters } = objectOf(JSON.parse(configuration), 'the configuration')
  const given = objectOf(parameters ?? {}, 'parameters')
  const dataApp = objectOf(given.dataApp ?? {}, 'parameters.dataApp')
  if (dataApp.git !== undefined && !hasOwnProgram)
    throw invalid('parameters.dataApp.git is not supported here: put the code in parameters.script')
  const script = scriptOf(given.script)
  if (!hasOwnProgram && script === undefined)
    throw invalid('parameters.script is missing: the code of the app, as a text or a list of lines')
  return {
    runtime: hasOwnProgram ? undefined : runtimeOf(given.type),
    script: hasOwnProgram ? undefined : script,
    size: sizeOf(given.size),
    autoSuspendSeconds: suspendOf(given.autoSuspendAfterSeconds),
    autoRestart: given.autoRestartEnabled !== false,
    secrets: secretsOf(dataApp.secrets),
    packages: Array.isArray(given.packages) ? given.packages.filter((one) => typeof one === 'string') : [],
  }
}

export const invalid = (reason: string) => new PlatformError('apps.invalidConfiguration', { reason })

function objectOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (Array.isArray(value) && value.length === 0) return {} // as PHP clients write an empty object
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${name} is not an object`)
  return value as Readonly<Record<string, unknown>> // checked above
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

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 60)
