// Images, run by the docker or podman command when one of them is there and its engine answers (spec platform 1.16, 1.17).

import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { DataFolder } from './data-folder.ts'

const execute = promisify(execFile)

export interface ContainerCommand {
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly name: string
  /** Shell words that remove the container, for the case that the server dies. */
  readonly undo: string
  /** Whether the kernel ended it for memory; removes the container in any case. */
  finish(): Promise<{ readonly outOfMemory: boolean }>
}

export interface ContainerSettings {
  readonly image: string
  readonly name: string
  readonly folder: DataFolder
  readonly environmentNames: readonly string[]
  readonly memoryBytes: number
  readonly cpus: number
  readonly network: 'none' | 'bridge' | 'no-internet'
  readonly asRoot: boolean
  readonly noSwap: boolean
}

export interface RegistryLogin {
  readonly server: string
  readonly username: string
  readonly password: string
}

export interface ContainerEngine {
  readonly command: string
  /** Makes sure the image is here, with `digest` if one is wanted; answers its digests. */
  prepare(image: string, login?: RegistryLogin, digest?: string): Promise<readonly string[]>
  container(settings: ContainerSettings): Promise<ContainerCommand>
}

const NO_INTERNET = 'millrace-no-internet'
const PULLS = 20
const PAUSE_MS = 500
const LONGEST_PAUSE_MS = 60_000
/** Answers of a registry that another attempt does not change. */
const HOPELESS = /not found|manifest unknown|denied|unauthorized|invalid reference/i

/** The first of podman and docker whose engine answers. */
export async function findContainerEngine(path: string): Promise<ContainerEngine | undefined> {
  for (const command of ['docker', 'podman']) {
    const call = (args: readonly string[], input = '') => callEngine(command, path, args, input)
    const answers = await call(['info', '--format', '{{.}}']).then(
      () => true,
      () => false,
    )
    if (answers) return createContainerEngine(command, call)
  }
  return undefined
}

type Call = (args: readonly string[], input?: string) => Promise<string>

async function callEngine(command: string, path: string, args: readonly string[], input: string): Promise<string> {
  const running = execute(command, args, { env: { PATH: path, HOME: '/root' }, timeout: 30 * 60_000, maxBuffer: 2 ** 24 })
  running.child.stdin?.on('error', () => {}) // a command that reads nothing may have ended already
  running.child.stdin?.end(input)
  return (await running).stdout
}

function createContainerEngine(command: string, call: Call): ContainerEngine {
  async function digestsOf(image: string): Promise<readonly string[] | undefined> {
    const text = await call(['image', 'inspect', '--format', '{{json .RepoDigests}}', image]).catch(() => undefined)
    if (text === undefined) return undefined
    const digests: unknown = JSON.parse(text)
    return Array.isArray(digests) ? digests.map(String) : []
  }

  async function pull(image: string): Promise<void> {
    for (let attempt = 1, pause = PAUSE_MS; ; attempt++, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await call(['pull', '--quiet', image])
        return
      } catch (cause) {
        const reason = reasonOf(cause)
        if (HOPELESS.test(reason) || attempt === PULLS)
          throw new PlatformError('runner.imageMissing', { image, reason }, { cause })
        await delay(pause)
      }
    }
  }

  return {
    command,
    async prepare(image, login, digest = '') {
      const present = await digestsOf(image)
      if (present && (digest === '' || present.some((one) => one.endsWith(digest)))) return present
      if (login) await call(['login', '--username', login.username, '--password-stdin', login.server], login.password)
      await pull(image)
      return (await digestsOf(image)) ?? []
    },
    async container(settings) {
      if (settings.network === 'no-internet') await call(['network', 'create', '--internal', NO_INTERNET]).catch(() => {})
      return {
        argv: [command, ...runArguments(settings)],
        environment: { KBC_DATADIR: '/data/' },
        name: settings.name,
        undo: `${command} rm --force ${settings.name}`,
        async finish() {
          const text = await call(['inspect', '--format', '{{.State.OOMKilled}}', settings.name]).catch(() => 'false')
          await call(['rm', '--force', settings.name]).catch(() => {})
          return { outOfMemory: text.trim() === 'true' }
        },
      }
    },
  }
}

function runArguments(settings: ContainerSettings): string[] {
  const { folder, network } = settings
  const user = settings.asRoot ? [] : ['--user', `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`]
  return [
    'run',
    ...['--name', settings.name, '--label', 'millrace=component'],
    ...['--memory', String(settings.memoryBytes), ...(settings.noSwap ? ['--memory-swap', String(settings.memoryBytes)] : [])],
    ...['--cpus', String(settings.cpus), '--pids-limit', '1024', '--security-opt', 'no-new-privileges'],
    ...['--network', network === 'no-internet' ? NO_INTERNET : network],
    ...(network === 'none' ? [] : ['--add-host', 'host.docker.internal:host-gateway']),
    ...user,
    ...['--volume', `${folder.data}:/data`, '--volume', `${folder.tmp}:/tmp`],
    ...[...settings.environmentNames, 'KBC_DATADIR'].flatMap((name) => ['--env', name]),
    settings.image,
  ]
}

/** What the engine's command said, without the command line. */
const reasonOf = (cause: unknown): string =>
  (cause instanceof Error && 'stderr' in cause && typeof cause.stderr === 'string' && cause.stderr.trim()) || String(cause)

/** How long an answer about docker or podman holds; an engine may be started or stopped at any time. */
const ENGINE_MS = 30_000

export function createEngineFinder(clock: Clock, path: string): () => Promise<ContainerEngine | undefined> {
  let known: { readonly at: number; readonly engine: Promise<ContainerEngine | undefined> } | undefined
  return () => {
    const now = clock.now().getTime()
    if (!known || now - known.at > ENGINE_MS) known = { at: now, engine: findContainerEngine(path) }
    return known.engine
  }
}
