// Images, run by the docker or podman command when one of them is there and its engine answers (spec platform 1.16, 1.17).

import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import { shellQuoted } from '../../kit/shell-quoted.ts'
import type { DataFolder } from './data-folder.ts'
import type { Forwarder } from './egress-proxy.ts'

const execute = promisify(execFile)

/** What a container reaches: nothing, what the engine gives it, or only the egress proxy of the server, by a forwarder beside it. */
export type ContainerNetwork = 'none' | 'bridge' | 'forwarder'

export interface Container {
  readonly name: string
  /** Shell words that remove the container, for the case that the server dies. */
  readonly undo: string
  /** Starts the forwarder, in whose network the container runs then. */
  openForwarder(forwarder: Forwarder): Promise<void>
  /** The command that runs it. Variables are passed on by name, so that no value shows in a process list. */
  argv(network: ContainerNetwork, environmentNames: readonly string[]): readonly string[]
  /** Whether the kernel ended it for memory. */
  wasOutOfMemory(): Promise<boolean>
  remove(): Promise<void>
}

export interface ContainerSettings {
  readonly image: string
  readonly name: string
  readonly folder: DataFolder
  readonly memoryBytes: number
  readonly cpus: number
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
  container(settings: ContainerSettings): Container
}

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
    if (answers) return createContainerEngine(command, path, call)
  }
  return undefined
}

/** Podman without root keeps its images below the home folder of the user. */
export const engineEnvironment = (path: string): Record<string, string> => ({ PATH: path, HOME: homedir() })

type Call = (args: readonly string[], input?: string) => Promise<string>

async function callEngine(command: string, path: string, args: readonly string[], input: string): Promise<string> {
  const running = execute(command, args, { env: engineEnvironment(path), timeout: 30 * 60_000, maxBuffer: 2 ** 24 })
  running.child.stdin?.on('error', () => {}) // a command that reads nothing may have ended already
  running.child.stdin?.end(input)
  return (await running).stdout
}

function createContainerEngine(command: string, path: string, call: Call): ContainerEngine {
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
    container: (settings) => createContainer(command, path, call, settings),
  }
}

/** What the forwarder takes at most; Node alone takes half of it. */
const FORWARDER_LIMITS = ['--memory', '192m', '--pids-limit', '64', '--read-only', '--cap-drop', 'ALL']
const FORWARDER_STARTS_MS = 120_000
/** The forwarder is a program of this machine and takes the libraries of this machine, whatever the image has. */
const LIBRARIES = ['/usr/lib', '/usr/lib64', '/lib', '/lib64', '/etc/ld.so.cache']

function createContainer(command: string, path: string, call: Call, settings: ContainerSettings): Container {
  const { name } = settings
  const beside = `${name}-egress`
  let forwarder: ChildProcess | undefined

  const forwarderArguments = ({ socket, forwarder: program, port, relays }: Forwarder): string[] => {
    const readable = [
      ...LIBRARIES.filter((file) => existsSync(file)).map((file) => [file, file]),
      [process.execPath, '/.millrace/node'],
    ]
    const mounts = [...readable, [program, '/.millrace/forwarder.mjs'], [socket, '/.millrace/egress']]
    return [
      ...['run', '--rm', '--interactive', '--name', beside, '--label', 'millrace=component', '--network', 'none'],
      ...[...FORWARDER_LIMITS, '--security-opt', 'no-new-privileges', ...userOf(settings)],
      ...mounts.flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`]),
      ...['--entrypoint', '/.millrace/node', settings.image],
      ...['/.millrace/forwarder.mjs', '/.millrace/egress', String(port), ...relays, 'stdin'],
    ]
  }

  return {
    name,
    undo: `export ${assignments(engineEnvironment(path))}; ${command} rm --force ${name}; ${command} rm --force ${beside}`,
    async openForwarder(settings) {
      const child = spawn(command, forwarderArguments(settings), {
        env: engineEnvironment(path),
        stdio: ['pipe', 'pipe', 'pipe'],
      })
      forwarder = child
      await untilReady(child)
    },
    argv: (network, environmentNames) => [command, ...runArguments(settings, network, environmentNames)],
    async wasOutOfMemory() {
      const text = await call(['inspect', '--format', '{{.State.OOMKilled}}', name]).catch(() => 'false')
      return text.trim() === 'true'
    },
    async remove() {
      await call(['rm', '--force', name]).catch(() => {})
      if (!forwarder) return
      forwarder.stdin?.end()
      await call(['rm', '--force', beside]).catch(() => {})
    },
  }
}

/** For a shell that has no environment of its own. */
const assignments = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${shellQuoted(value)}`)
    .join(' ')

/** It prints a line when it listens. */
function untilReady(child: ChildProcessWithoutNullStreams): Promise<void> {
  return new Promise((resolve, reject) => {
    let words = ''
    const fail = (reason: string) => reject(new PlatformError('runner.notIsolated', { reason }))
    const timer = setTimeout(
      () => fail(`the forwarder of the image said nothing in ${FORWARDER_STARTS_MS / 1000} s`),
      FORWARDER_STARTS_MS,
    )
    child.stdin.on('error', () => {}) // it has ended
    child.stderr.on('data', (bytes: Buffer) => {
      words = (words + bytes.toString()).slice(-1000)
    })
    child.stdout.once('data', () => resolve())
    child.once('error', (error) => fail(String(error)))
    child.once('close', () => fail(`the forwarder of the image ended (${words.trim()})`))
    const settled = () => clearTimeout(timer)
    child.stdout.once('data', settled)
    child.once('close', settled)
  })
}

const userOf = ({ asRoot }: ContainerSettings): string[] =>
  asRoot ? [] : ['--user', `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`]

function runArguments(settings: ContainerSettings, network: ContainerNetwork, environmentNames: readonly string[]): string[] {
  const { folder } = settings
  return [
    'run',
    ...['--name', settings.name, '--label', 'millrace=component'],
    ...['--memory', String(settings.memoryBytes), ...(settings.noSwap ? ['--memory-swap', String(settings.memoryBytes)] : [])],
    ...['--cpus', String(settings.cpus), '--pids-limit', '1024', '--security-opt', 'no-new-privileges'],
    ...['--network', network === 'forwarder' ? `container:${settings.name}-egress` : network],
    ...(network === 'bridge' ? ['--add-host', 'host.docker.internal:host-gateway'] : []),
    ...userOf(settings),
    ...['--volume', `${folder.data}:/data`, '--volume', `${folder.tmp}:/tmp`],
    ...[...environmentNames, 'KBC_DATADIR'].flatMap((name) => ['--env', name]),
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
