// Runs one program over one data folder and reports how it ended. Independent of jobs, rows and storage.
//  (1) The program sees an environment made here: nothing of the server's own.
//  (2) When run() has resolved, no process of the program is left, whatever it started and wherever that moved.
//  (3) All its output is masked and bounded before it leaves this file.

import { randomBytes, randomInt } from 'node:crypto'
import { mkdir, readdir, rm, statfs, symlink, unlink } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { constants, hostname } from 'node:os'
import { join } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { counted } from '../../../../contract/counted.ts'
import type { EgressPolicy } from '../../../../contract/egress-rules.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { DataFolder } from './data-folder.ts'
import { type EgressProxy, type Forwarder, type Inbound, openEgressProxy } from './egress-proxy.ts'
import { createSpareFolders } from './folder-pool.ts'
import { type GelfServer, type GelfTransport, startGelfServer } from './gelf-server.ts'
import { type Guardian, gated, startGuardian } from './guardian.ts'
import { type Isolation, VIEW_FAILED, type View } from './isolation.ts'
import { eventOfLine, type LogEvent, type LogLevel } from './log-event.ts'
import { clean, createLineReader, type LineReader, shorten } from './log-lines.ts'
import { type Mask, maskValue } from './mask.ts'
import { killEverything, type RunMark } from './process-tree.ts'
import { type Launch, type LaunchSettings, launchOf, linkedFolder, type Program } from './program.ts'
import { createSpares } from './spares/spares.ts'
import { type StartedProcess, startProcess } from './start-process.ts'
import { createWatch } from './watch.ts'

export interface Limits {
  readonly timeoutMs: number
  readonly memoryBytes: number
  readonly diskBytes: number
}

export interface RunSpec {
  readonly program: Program
  readonly folder: DataFolder
  /** KBC_* and other variables of the program; that of the data folder is added. */
  readonly environment: Readonly<Record<string, string>>
  readonly limits: Limits
  readonly gelf?: GelfTransport | undefined
  /** Collects stdout whole (up to a limit) instead of reporting its lines: the answer of a sync action. */
  readonly collectStdout?: boolean
  readonly mask: Mask
  onEvent(event: LogEvent): void
  /** What a command or an image may connect to, when they are isolated; undefined is nothing. */
  readonly egress?: EgressPolicy | undefined
  /** An isolated command has the network of the machine, independent of `egress`: for programs of the stack that work on a cluster. */
  readonly hostNetwork?: boolean
  /** Ports of this machine's loopback that a command reaches at its own, independent of `egress`. */
  readonly loopbackPorts?: readonly number[]
  /** Set for a command, or an isolated image, that listens and is sent requests: it runs for long, and its output is reported as it comes. */
  readonly serving?: Serving | undefined
  /** Aborting it kills the program. */
  readonly signal?: AbortSignal
  /** Set for a built-in program that may be started before it is needed: runs with the same key are started in the same way, as a rule. */
  readonly spareKey?: string | undefined
}

export interface Serving {
  /** The variables that contain the address to listen on. */
  environment(port: number): Readonly<Record<string, string>>
  /** Called before the program starts; `dial` connects to the port, or fails while the program is not listening. */
  onOpen(dial: () => Socket): void
}

/** Why a program ended: by itself, or because of a limit or a request. */
export type EndReason = 'ended' | 'timeout' | 'memory' | 'processes' | 'disk' | 'killed' | 'log-message-too-long'

export interface RunOutcome {
  readonly reason: EndReason
  /** 128 + n for a program ended by signal n. */
  readonly exitCode: number
  /** The component's last words, for the message of a failed job: stderr, else stdout, else the last warning or worse over GELF. */
  readonly words: string
  readonly stdout: string
  readonly peakMemoryBytes: number
  /** Of all its processes, when they were last looked at. */
  readonly cpuSeconds: number
}

export interface Runner {
  /** `withArtifacts`: with a place to leave artifacts for later runs. `spareKey`: of a run that will use the folder. */
  newFolder(withArtifacts?: boolean, spareKey?: string): Promise<DataFolder>
  /** To be called when all programs of the folder have run: nothing of what they read and wrote is left afterwards. */
  removeFolder(folder: DataFolder): Promise<void>
  run(spec: RunSpec): Promise<RunOutcome>
  /** How much a data folder may hold: `limitBytes`, or what the disk has left if that is less. */
  diskQuota(folder: DataFolder, limitBytes: number): Promise<number>
  /** Removes folders of runs that ended with an earlier process. To be called before the first run. */
  sweep(): Promise<void>
  close(): Promise<void>
}

export interface RunnerSettings {
  readonly runsFolder: string
  readonly cacheFolder: string
  readonly path: string
  /** So that programs trust the authority of the stack. */
  readonly trust?: LaunchSettings['trust']
  /** How commands are isolated; determined once, when the first one runs. */
  readonly isolation?: () => Promise<Isolation>
  /** Maximum number of built-in programs that wait for a job, and for how long; none unless set. */
  readonly spares?: { readonly count: () => number; readonly idleMs: number }
}

const WORDS_CHARS = 4_000
const STDOUT_BYTES = 8 * 2 ** 20
const LOG_BUDGET = { lines: 20_000, chars: 16 * 2 ** 20 }
/** Of a program that serves, for each second and stream: what is kept of it, and what is read of it at all. */
const SERVING_LOG = { lines: 100, chars: 64 * 1024, readBytes: 4 * 2 ** 20, everyMs: 1_000 }
/** Where an isolated program that serves listens, on its own loopback. */
const SERVING_PORT = 8080
const MAX_PROCESSES = 512
/** Left free on the disk whatever a component writes. */
const DISK_RESERVE_BYTES = 512 * 2 ** 20
/** How long an answer about free disk space holds. */
const FREE_MS = 1_000
/** When a run is as old as this, the next of its kind is prepared although it has not ended. */
const NEXT_MS = 1_000
/** A start takes the server a moment, which the end of the run before must not wait for. */
const AFTER_MS = 10
/** How long the pipes of an ended program may stay open; only a stranger to the run can hold them. */
const DRAIN_MS = 3_000
const LEVELS: readonly LogLevel[] = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug']

export function createRunner(settings: RunnerSettings): Runner {
  const { runsFolder } = settings
  // One folder for each process: several nodes may share a data folder, and none may sweep what another one uses.
  const own = join(runsFolder, `${hostname()}-${process.pid}`)
  const watch = createWatch()
  const folders = createSpareFolders()
  /** Folders in which a program ran that could start others. */
  const entered = new WeakSet<DataFolder>()
  /** What a folder was made for: processors run in it, too. */
  const kindOf = new WeakMap<DataFolder, string | undefined>()
  let guardian: Guardian | undefined
  let ownMade: Promise<unknown> | undefined
  const spares =
    settings.spares &&
    createSpares({
      ...settings.spares,
      folder: own,
      launch: { ...settings, network: 'none' },
      guardian: () => {
        guardian ??= startGuardian()
        return guardian
      },
    })
  let free: { readonly at: number; readonly bytes: Promise<number> } | undefined

  /** Free space is read once in a while, however many runs start. */
  function freeOn(folder: string): Promise<number> {
    const at = performance.now()
    if (!free || at - free.at > FREE_MS) free = { at, bytes: freeBytes(folder) }
    return free.bytes
  }

  const diskQuota = async (folder: DataFolder, limitBytes: number): Promise<number> =>
    Math.min(limitBytes, await freeOn(folder.root))

  async function run(spec: RunSpec): Promise<RunOutcome> {
    const output = captureOutput(spec)
    let stop: (reason: EndReason) => void = () => {}
    const isolation = await isolationOf(spec)
    const host = loopbackOf(spec.program, isolation)
    const gelf = spec.gelf && (await listenForGelf(spec, spec.gelf, host, output, () => stop('log-message-too-long')))
    const way = isolation && (await wayOut(spec, isolation, gelf))
    const container = spec.program.kind === 'image' ? spec.program.container : undefined
    await link(spec)
    try {
      if (way?.proxy) await container?.openForwarder(forwarderOf(way.proxy, way.relays), way.inbound)
      return await runLaunched(spec, output, gelf && { host, port: gelf.port }, way, (stopper) => {
        stop = stopper
      })
    } finally {
      if (isLinked(spec)) await unlink(linkedFolder(spec.folder)).catch(() => {})
      await container?.remove()
      await way?.proxy?.close()
      await gelf?.close()
    }
  }

  /** How a command or an image is isolated; undefined for built-in programs, and where nothing isolates. */
  async function isolationOf({ program }: RunSpec): Promise<Isolation | undefined> {
    if (program.kind === 'node') return undefined
    const isolation = await settings.isolation?.()
    if (!isolation || isolation.problem === undefined) return isolation
    if (isolation.mode === 'require') throw new PlatformError('runner.notIsolated', { reason: isolation.problem })
    return undefined
  }

  /** What of the network an isolated program has. */
  async function wayOut(spec: RunSpec, isolation: Isolation, gelf: GelfServer | undefined): Promise<WayOut> {
    const relays = [
      ...(gelf && spec.gelf ? [`${spec.gelf === 'udp' ? 'udp' : 'tcp'}:${gelf.port}`] : []),
      ...(spec.loopbackPorts ?? []).map((port) => `tcp:${port}`),
    ]
    if (spec.hostNetwork) return { isolation, proxy: undefined, relays, isHost: true }
    if (!spec.egress && !spec.serving && relays.length === 0) return { isolation, proxy: undefined, relays }
    const onRefused = (target: string, reason: string): void =>
      spec.onEvent({ level: 'warning', message: `A connection to ${clean(target).slice(0, 300)} was refused: ${reason}.` })
    const proxy = await openEgressProxy({ policy: spec.egress, relays, onRefused })
    const inbound = spec.serving && { folder: proxy.inboundFolder, port: SERVING_PORT }
    return { isolation, relays, proxy, inbound }
  }

  /** The command of a run with its environment; an app gets a port, and a signal when it can be reached. */
  async function prepareLaunch(spec: RunSpec, gelf: GelfPlace | undefined, way: WayOut | undefined) {
    const { folder, limits, program, serving } = spec
    const port = serving && (way?.inbound?.port ?? (await freePort()))
    const environment = {
      ...spec.environment,
      ...gelfAddress(gelf),
      ...proxyAddress(way),
      ...(port !== undefined && serving?.environment(port)),
    }
    const network = way ? (way.proxy ? 'forwarder' : 'none') : 'engine'
    const plain = launchOf(program, folder, environment, limits.memoryBytes, { ...settings, network })
    const launch = way && program.kind === 'command' ? isolated(plain, folder, way) : plain
    if (port !== undefined) serving?.onOpen(dialOf(way, port))
    for (const path of plain.writable ?? []) await mkdir(path, { recursive: true })
    return launch
  }

  async function runLaunched(
    spec: RunSpec,
    output: Output,
    gelf: GelfPlace | undefined,
    way: WayOut | undefined,
    onStopper: (stop: (reason: EndReason) => void) => void,
  ): Promise<RunOutcome> {
    const { folder, limits } = spec
    const launch = await prepareLaunch(spec, gelf, way)
    if (!launch.isAlone) entered.add(folder)
    const diskBytes = await diskQuota(folder, limits.diskBytes)
    const isOfKind = spec.spareKey !== undefined && kindOf.get(folder) === spec.spareKey
    const later = isOfKind ? prepareNext(spec, diskBytes) : () => {}
    try {
      const spare = isOfKind ? spares?.take(folder.root, launch, diskBytes) : undefined
      const outcome =
        spare && (await supervise(spec, { launch, diskBytes, way, output, onStopper, started: spare, isSpare: true }))
      if (outcome) return outcome
      const mark: RunMark = { entry: `TMPDIR=${folder.tmp}`, cpuSeconds: randomInt(1e9, 2e9) }
      const argv = gated(launch.argv, Math.ceil(diskBytes / 512), mark.cpuSeconds)
      const started = startProcess(argv, { cwd: launch.cwd, environment: launch.environment, mark })
      return (await supervise(spec, { launch, diskBytes, way, output, onStopper, started, isSpare: false }))!
    } finally {
      later()
    }
  }

  /** Starts what the next run of this kind will use: soon, or as soon as the function is called that this returns. */
  function prepareNext({ program, spareKey: key, limits }: RunSpec, diskBytes: number): () => void {
    if (!spares || key === undefined || program.kind !== 'node') return () => {}
    const { linked: _, ...unlinked } = program
    const expect = () => spares.expect({ key, program: unlinked, memoryBytes: limits.memoryBytes, diskBytes })
    const timer = setTimeout(expect, NEXT_MS).unref()
    return () => {
      clearTimeout(timer)
      setTimeout(expect, AFTER_MS).unref()
    }
  }

  /** Undefined: the process had ended before its job reached it. */
  async function supervise(spec: RunSpec, running: Running): Promise<RunOutcome | undefined> {
    const { folder, limits, program } = spec
    const { launch, diskBytes, way, output, onStopper, isSpare } = running
    const { child, ended, closed, mark, stdout, stderr, gate } = running.started
    const leader = child.pid
    if (leader === undefined) await ended // rejects with the reason
    const group = leader!
    let slowing: ReturnType<typeof slowDown> | undefined
    let reason: EndReason = 'ended'
    let isGone = false
    const stop = (why: EndReason): void => {
      if (reason === 'ended') reason = why
      killEverything(group, mark)
    }
    onStopper(stop)
    const onAbort = () => stop('killed')
    const timer = setTimeout(() => stop('timeout'), limits.timeoutMs)
    const watching = watch.add({
      leader: group,
      isAlone: launch.isAlone,
      memoryBytes: launch.watchMemory ? limits.memoryBytes + (way?.proxy ? FORWARDER_BYTES : 0) : Number.POSITIVE_INFINITY,
      processes: MAX_PROCESSES,
      folder: folder.root,
      diskBytes,
      onExcess: stop,
    })
    try {
      if (!isSpare) {
        guardian ??= startGuardian()
        await guardian.watch(group, folder.root, mark.cpuSeconds, program.kind === 'image' ? program.container.undo : '')
      }
      spec.signal?.addEventListener('abort', onAbort, { once: true })
      if (spec.signal?.aborted) onAbort()
      if (isSpare && !(await sendJob(gate, launch)) && reason === 'ended') {
        await ended
        isGone = true
        stdout.destroy()
        stderr.destroy()
        return undefined
      }
      if (!isSpare) gate.end('go\n')
      stdout.on('data', output.stdout)
      stderr.on('data', output.stderr)
      slowing = spec.serving && slowDown([stdout, stderr], output.refill)
      const exitCode = await ended
      if (!launch.isAlone) await untilNothingIsLeft(group, mark)
      isGone = true
      await Promise.race([closed, expireQuietly(DRAIN_MS)])
      stdout.destroy()
      stderr.destroy()
      if (program.kind === 'image' && (await program.container.wasOutOfMemory())) reason = 'memory'
      if (way && exitCode === VIEW_FAILED.exitCode && output.words().includes(VIEW_FAILED.words))
        throw new PlatformError('runner.notIsolated', { reason: output.words() })
      output.end()
      if (reason === 'ended') reason = reasonOfExit(exitCode, output.words())
      return {
        reason,
        exitCode,
        words: output.words(),
        stdout: output.collected(),
        peakMemoryBytes: watching.peakMemoryBytes(),
        cpuSeconds: watching.cpuSeconds(),
      }
    } finally {
      clearTimeout(timer)
      slowing?.stop()
      watching.stop()
      spec.signal?.removeEventListener('abort', onAbort)
      if (!isGone) await untilNothingIsLeft(group, mark)
      guardian?.forget(group)
    }
  }

  return {
    run,
    diskQuota,
    async newFolder(withArtifacts = false, spareKey) {
      ownMade ??= mkdir(own, { recursive: true, mode: 0o700 })
      await ownMade.catch((error: unknown) => {
        ownMade = undefined // the next run tries again
        throw error
      })
      const reserved = spareKey === undefined ? undefined : spares?.reserve(spareKey)
      const folder = await folders.take(reserved ?? join(own, randomBytes(12).toString('hex')), withArtifacts)
      kindOf.set(folder, spareKey)
      return folder
    },
    removeFolder: (folder) => {
      spares?.release(folder.root)
      return folders.release(folder, !entered.has(folder))
    },
    async sweep() {
      ownMade = undefined
      const names = await readdir(runsFolder).catch(() => [])
      const left = names.filter((name) => isLeftBehind(name))
      await Promise.all(left.map((name) => rm(join(runsFolder, name), { recursive: true, force: true })))
    },
    async close() {
      await spares?.close()
      await folders.clear()
      await guardian?.close()
      guardian = undefined
    },
  }
}

interface Running {
  readonly launch: Launch
  readonly diskBytes: number
  readonly way: WayOut | undefined
  readonly output: Output
  readonly started: StartedProcess
  /** It waits for its job instead of for the gate. */
  readonly isSpare: boolean
  onStopper(stop: (reason: EndReason) => void): void
}

/** Whether the process took it; one that has ended did not. */
const sendJob = (gate: Duplex, { environment, cwd }: Launch): Promise<boolean> =>
  new Promise((resolve) => {
    gate.once('data', () => resolve(true))
    gate.once('close', () => resolve(false))
    gate.end(JSON.stringify({ environment, cwd }))
  })

const isLinked = ({ program }: RunSpec): boolean => program.kind === 'node' && program.linked !== undefined

async function link({ program, folder }: RunSpec): Promise<void> {
  if (program.kind !== 'node' || program.linked === undefined) return
  await rm(linkedFolder(folder), { recursive: true, force: true }) // what a program before this one left there
  await symlink(program.linked, linkedFolder(folder))
}

interface WayOut {
  readonly isolation: Isolation
  readonly proxy: EgressProxy | undefined
  readonly relays: readonly string[]
  readonly inbound?: Inbound | undefined
  readonly isHost?: boolean
}

/** Where an isolated component finds the proxy, on its own loopback. */
const PROXY_PORT = 3128
/** What the forwarder beside a component takes; it is not the component's. */
const FORWARDER_BYTES = 96e6

function proxyAddress(way: WayOut | undefined): Record<string, string> {
  if (!way?.proxy) return {}
  const http = `http://127.0.0.1:${PROXY_PORT}`
  const names = { HTTP_PROXY: http, HTTPS_PROXY: http, ALL_PROXY: `socks5h://127.0.0.1:${PROXY_PORT}` }
  const lower = Object.entries(names).map(([name, value]) => [name.toLowerCase(), value])
  return { ...names, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: '1' }
}

const forwarderOf = (proxy: EgressProxy, relays: readonly string[]): Forwarder => ({
  socket: proxy.path,
  forwarder: proxy.forwarder,
  port: PROXY_PORT,
  relays,
})

function isolated(launch: Launch, folder: DataFolder, way: WayOut): Launch {
  const { isolation, proxy, relays, inbound, isHost = false } = way
  const view: View = {
    place: join(folder.root, 'view'),
    writable: [folder.data, folder.tmp, ...(launch.writable ?? [])],
    readable: [launch.cwd, ...(launch.readable ?? [])],
    cwd: launch.cwd,
    network: isHost ? 'host' : proxy && { ...forwarderOf(proxy, relays), inbound },
  }
  return { ...launch, argv: isolation.wrap(launch.argv, view) }
}

/** Without isolation a program shares the loopback of the machine. */
const dialOf = (way: WayOut | undefined, port: number) => (): Socket =>
  way?.inbound ? connect({ path: join(way.inbound.folder, 's') }) : connect({ host: '127.0.0.1', port })

/** Another program may take it before ours does; then ours reports it and ends. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** Reads a limited amount of each stream per second: a program that floods waits, and costs the server nothing. */
function slowDown(streams: readonly Readable[], onSecond: () => void): { stop(): void } {
  const bytes = new Map(streams.map((stream) => [stream, 0]))
  for (const stream of streams)
    stream.on('data', (chunk: Buffer) => {
      bytes.set(stream, (bytes.get(stream) ?? 0) + chunk.length)
      if (bytes.get(stream)! > SERVING_LOG.readBytes) stream.pause()
    })
  const resume = (): void => {
    for (const stream of streams) {
      bytes.set(stream, 0)
      stream.resume()
    }
  }
  const timer = setInterval(() => {
    resume()
    onSecond()
  }, SERVING_LOG.everyMs).unref()
  return {
    stop() {
      clearInterval(timer)
      resume()
    },
  }
}

interface Output {
  stdout(chunk: Buffer): void
  stderr(chunk: Buffer): void
  gelfWords(message: string): void
  end(): void
  /** The next second of a program that serves. */
  refill(): void
  words(): string
  collected(): string
}

/** Standard logging: stdout line by line as it comes, stderr as one error at the end; with GELF both only once, at the end. */
function captureOutput(spec: RunSpec): Output {
  const live = !spec.gelf && !spec.collectStdout
  const budget = spec.serving ? SERVING_LOG : LOG_BUDGET
  let reported = 0
  const collected: Buffer[] = []
  let collectedBytes = 0
  let gelfWords = ''
  const stdout = createLineReader(spec.mask, budget, (line) => live && spec.onEvent(eventOfLine(line)))
  const stderr = createLineReader(spec.mask, budget, (line) => spec.serving && spec.onEvent({ level: 'error', message: line }))
  return {
    stdout(chunk) {
      if (!spec.collectStdout) return stdout.push(chunk)
      collectedBytes += chunk.length
      if (collectedBytes <= STDOUT_BYTES) collected.push(chunk)
    },
    stderr: (chunk) => stderr.push(chunk),
    gelfWords(message) {
      gelfWords = message
    },
    end() {
      stdout.end()
      stderr.end()
      if (!spec.serving) reportEnd(spec, stdout, stderr)
    },
    refill() {
      const dropped = stdout.dropped() + stderr.dropped()
      if (dropped > reported) {
        spec.onEvent({
          level: 'warning',
          message: `The component printed too much in a second: ${counted(dropped - reported, 'line')} left out.`,
        })
        reported = dropped
      }
      stdout.refill()
      stderr.refill()
    },
    words: () => stderr.words(WORDS_CHARS) || stdout.words(WORDS_CHARS) || shorten(gelfWords, WORDS_CHARS),
    collected: () => spec.mask(Buffer.concat(collected).toString('utf8')),
  }
}

function reportEnd(spec: RunSpec, stdout: LineReader, stderr: LineReader): void {
  if (spec.gelf && stdout.words(WORDS_CHARS)) spec.onEvent({ level: 'info', message: stdout.words(WORDS_CHARS) })
  if (stdout.dropped() > 0) {
    spec.onEvent({
      level: 'warning',
      message: `The component printed more than a log keeps: ${counted(stdout.dropped(), 'line')} left out.`,
    })
  }
  if (stderr.words(WORDS_CHARS)) spec.onEvent({ level: 'error', message: stderr.words(WORDS_CHARS) })
}

async function listenForGelf(
  spec: RunSpec,
  transport: GelfTransport,
  host: string,
  output: Output,
  onTooLong: () => void,
): Promise<GelfServer> {
  const say = (text: string): string => clean(spec.mask(text).replaceAll('\n', ' ')).slice(0, 60_000)
  let left = LOG_BUDGET.lines
  return startGelfServer(transport, host === HOST_OF_CONTAINERS ? '0.0.0.0' : host, {
    onMessage({ level, message, fullMessage, fields }) {
      const text = say(message)
      if (level <= 4) output.gelfWords(fullMessage ? say(fullMessage) : text)
      if (left-- <= 0) return
      const masked = maskValue(fields, spec.mask)
      spec.onEvent({ level: LEVELS[level]!, message: text, fields: masked as Readonly<Record<string, unknown>> }) // an object went in
    },
    onTooLong,
  })
}

interface GelfPlace {
  readonly host: string
  readonly port: number
}

const gelfAddress = (gelf: GelfPlace | undefined): Record<string, string> =>
  gelf ? { KBC_LOGGER_ADDR: gelf.host, KBC_LOGGER_PORT: String(gelf.port) } : {}

const HOST_OF_CONTAINERS = 'host.docker.internal'

/** Where a program finds this machine: an image that is not isolated has the network of its engine. */
const loopbackOf = ({ kind }: Program, isolation: Isolation | undefined): string =>
  kind === 'image' && !isolation ? HOST_OF_CONTAINERS : '127.0.0.1'

/** A program can also be ended by the system for memory, or by the limit on file sizes that it was started with. */
function reasonOfExit(exitCode: number, words: string): EndReason {
  if (exitCode === 137 || exitCode === 125) return 'memory'
  if (exitCode === 128 + constants.signals.SIGXFSZ) return 'disk'
  if (exitCode === 134 && words.includes('heap out of memory')) return 'memory'
  return 'ended'
}

/** A process that was sent its end may need a moment for it. What is still there after all these is the kernel's to explain. */
async function untilNothingIsLeft(group: number, mark: RunMark): Promise<void> {
  for (let look = 0; look < 200 && killEverything(group, mark) > 0; look++) await expire(10)
}

/** A folder of a process of this machine that has ended; our own number may have been another's before. */
function isLeftBehind(name: string): boolean {
  const [, host, pid] = /^(.*)-(\d+)$/.exec(name) ?? []
  if (host !== hostname()) return false
  try {
    return Number(pid) === process.pid || !process.kill(Number(pid), 0)
  } catch {
    return true
  }
}

const expire = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const expireQuietly = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return Math.max(bavail * bsize - DISK_RESERVE_BYTES, 2 ** 20)
}
