// Images, run by the docker or podman command when one of them is there and its engine answers (spec platform 1.16, 1.17).

import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import { homeFolder } from '../../kit/machine/home-folder.ts'
import { shellQuoted } from '../../kit/text/shell-quoted.ts'
import type { DataFolder } from './data-folder.ts'
import type { Forwarder, Inbound } from './egress-proxy.ts'

const execute = promisify(execFile)

/** What a container reaches: nothing, what the engine gives it, or only the egress proxy of the server, by a forwarder beside it. */
export type ContainerNetwork = 'none' | 'bridge' | 'forwarder'

export interface Container {
  readonly name: string
  /** Shell words that remove the container, for the case that the server dies. */
  readonly undo: string
  /** Starts the forwarder, in whose network the container runs then. `inbound` is the way in to a port of it. */
  openForwarder(forwarder: Forwarder, inbound?: Inbound): Promise<void>
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
  /** Variables with names that users chose, and values without line breaks: the command of the engine must not find them in its own environment. */
  readonly variables?: Readonly<Record<string, string>>
}

export interface RegistryLogin {
  readonly server: string
  readonly username: string
  readonly password: string
}

export interface ImageSource {
  readonly login?: RegistryLogin | undefined
  readonly digest?: string | undefined
  /** How often a request to a registry that does not respond is repeated. */
  readonly attempts?: number
  /** Aborting it ends a pull. */
  readonly signal?: AbortSignal | undefined
}

export interface ContainerEngine {
  readonly command: string
  /** Makes sure the image is here, with `digest` if given; returns its digests. */
  prepare(image: string, source?: ImageSource): Promise<readonly string[]>
  container(settings: ContainerSettings): Promise<Container>
}

const PULLS = 20
const PAUSE_MS = 500
const LONGEST_PAUSE_MS = 60_000
/** Answers of a registry that another attempt does not change. */
const HOPELESS = /not found|manifest unknown|denied|unauthorized|invalid reference/i

/** The first of podman and docker whose engine answers. */
export async function findContainerEngine(path: string): Promise<ContainerEngine | undefined> {
  for (const command of ['docker', 'podman']) {
    const call: Call = (args, input) => callEngine(command, path, args, input)
    const answers = await call(['info', '--format', '{{.}}']).then(
      () => true,
      () => false,
    )
    if (answers) return createContainerEngine(command, path, call)
  }
  return undefined
}

/** Podman without root keeps its images below the home folder of the user. */
export const engineEnvironment = (path: string): Record<string, string> => ({ PATH: path, HOME: homeFolder() ?? '/' })

interface CallInput {
  readonly stdin?: string
  readonly signal?: AbortSignal | undefined
}
type Call = (args: readonly string[], input?: CallInput) => Promise<string>

async function callEngine(command: string, path: string, args: readonly string[], input: CallInput = {}): Promise<string> {
  const { stdin = '', signal } = input
  const running = execute(command, args, { env: engineEnvironment(path), timeout: 30 * 60_000, maxBuffer: 2 ** 24, signal })
  running.child.stdin?.on('error', () => {}) // a command that reads nothing may have ended already
  running.child.stdin?.end(stdin)
  return (await running).stdout
}

function createContainerEngine(command: string, path: string, call: Call): ContainerEngine {
  async function digestsOf(image: string): Promise<readonly string[] | undefined> {
    const text = await call(['image', 'inspect', '--format', '{{json .RepoDigests}}', image]).catch(() => undefined)
    if (text === undefined) return undefined
    const digests: unknown = JSON.parse(text)
    return Array.isArray(digests) ? digests.map(String) : []
  }

  const logIn = ({ username, server, password }: RegistryLogin, signal: AbortSignal | undefined) =>
    call(['login', '--username', username, '--password-stdin', server], { stdin: password, signal })

  async function pull(image: string, { login, attempts = PULLS, signal }: ImageSource): Promise<void> {
    for (let attempt = 1, pause = PAUSE_MS; ; attempt++, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        if (login) await logIn(login, signal)
        await call(['pull', '--quiet', image], { signal })
        return
      } catch (cause) {
        const reason = reasonOf(cause)
        if (HOPELESS.test(reason) || attempt >= attempts)
          throw new PlatformError('runner.imageMissing', { image, reason }, { cause })
        await delay(pause, undefined, { signal })
      }
    }
  }

  return {
    command,
    async prepare(image, source = {}) {
      const { digest = '' } = source
      const present = await digestsOf(image)
      if (present && (digest === '' || present.some((one) => one.endsWith(digest)))) return present
      await pull(image, source)
      return (await digestsOf(image)) ?? []
    },
    async container(settings) {
      if (settings.variables) await writeFile(variablesFile(settings), linesOf(settings.variables), { mode: 0o600 })
      return createContainer(command, path, call, settings)
    },
  }
}

const REMOVALS = 3
/** What the forwarder takes at most; Node alone takes half of it. */
const FORWARDER_LIMITS = ['--memory', '192m', '--pids-limit', '64', '--read-only', '--cap-drop', 'ALL']
const FORWARDER_STARTS_MS = 120_000
/** The forwarder is a program of this machine and takes the libraries of this machine, whatever the image has. */
const LIBRARIES = ['/usr/lib', '/usr/lib64', '/lib', '/lib64', '/etc/ld.so.cache']

function createContainer(command: string, path: string, call: Call, settings: ContainerSettings): Container {
  const { name } = settings
  const beside = `${name}-egress`
  let forwarder: ChildProcess | undefined

  const forwarderArguments = ({ socket, forwarder: program, port, relays }: Forwarder, inbound?: Inbound): string[] => {
    const readable = [
      ...LIBRARIES.filter((file) => existsSync(file)).map((file) => [file, file]),
      [process.execPath, '/.millrace/node'],
    ]
    const mounts = [...readable, [program, '/.millrace/forwarder.mjs'], [socket, '/.millrace/egress']]
    return [
      ...['run', '--rm', '--interactive', '--name', beside, '--label', 'millrace=component', '--network', 'none'],
      ...[...FORWARDER_LIMITS, '--security-opt', 'no-new-privileges', ...userOf(settings)],
      ...mounts.flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`]),
      ...(inbound ? ['--volume', `${inbound.folder}:/.millrace/in`] : []),
      ...['--entrypoint', '/.millrace/node', settings.image],
      ...['/.millrace/forwarder.mjs', '/.millrace/egress', String(port), ...relays],
      ...(inbound ? [`in:${inbound.port}:/.millrace/in/s`] : []),
      'stdin',
    ]
  }

  /** The first attempt of podman fails when its own process beside the container has been killed; the next one works. */
  async function removeContainer(container: string): Promise<void> {
    for (let attempt = 1; attempt <= REMOVALS; attempt++) {
      const reason = await call(['rm', '--force', container]).then(() => undefined, reasonOf)
      if (reason === undefined || /no such container/i.test(reason)) return
    }
  }
  const removal = (container: string): string =>
    Array.from({ length: REMOVALS }, () => `${command} rm --force ${container}`).join(' || ')

  return {
    name,
    undo: `export ${assignments(engineEnvironment(path))}; ${removal(name)}; ${removal(beside)}`,
    async openForwarder(settings, inbound) {
      const child = spawn(command, forwarderArguments(settings, inbound), {
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
      await removeContainer(name)
      if (!forwarder) return
      forwarder.stdin?.end()
      await removeContainer(beside)
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

/** Beside what the container sees, and removed with it. */
const variablesFile = ({ folder }: ContainerSettings): string => join(folder.root, 'variables')

/** The engines cannot represent a line break in it. */
const linesOf = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

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
    ...(settings.variables ? ['--env-file', variablesFile(settings)] : []),
    ...[...environmentNames, 'KBC_DATADIR'].flatMap((name) => ['--env', name]),
    settings.image,
  ]
}

/** The output of the engine's command, without the command line. */
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
