// Processes of built-in programs that are started before their job, so that a job waits for none (ADR 0062).
//  (1) A process has at most one job: nothing of a job can reach another one.
//  (2) It is started as it would be for its job: same flags, same limits, same guardian, a data folder of its own, which is created when
//      its job comes. It is used only if a process for that job would be started in exactly the same way.
//  (3) What belongs to a job, its environment, comes over a pipe. Before that the process has nothing of any job.
//  (4) Only what has run is started ahead, and ends when it is not used for a while: a stack that rests has none.

import { randomBytes, randomInt } from 'node:crypto'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { folderAt } from '../data-folder.ts'
import { type Guardian, gatedSpare } from '../guardian.ts'
import { type Launch, type LaunchSettings, launchOf, type Program } from '../program.ts'
import { type StartedProcess, startProcess } from '../start-process.ts'

/** Runs with the same key are started in the same way, as a rule. */
export interface SpareKind {
  readonly key: string
  readonly program: Program & { readonly kind: 'node' }
  readonly memoryBytes: number
  readonly diskBytes: number
}

export interface Spares {
  /** The name of a data folder, to be created, for which a process of this kind waits. */
  reserve(key: string): string | undefined
  /** The process that waits for this folder, if it was started as `launch` and `diskBytes` demand. Afterwards it is the caller's. */
  take(root: string, launch: Launch, diskBytes: number): StartedProcess | undefined
  /** No program will run in this folder any more. */
  release(root: string): void
  /** A program of this kind runs: another one may follow. */
  expect(kind: SpareKind): void
  close(): Promise<void>
}

export interface SparesSettings {
  /** Maximum number of waiting processes. */
  readonly count: () => number
  /** How long a process waits for a job. */
  readonly idleMs: number
  /** Exists when a kind is expected. */
  readonly folder: string
  readonly launch: LaunchSettings
  readonly guardian: () => Guardian
}

interface Spare {
  readonly root: string
  readonly kind: SpareKind
  readonly argv: readonly string[]
  readonly codeState: string
  readonly process: StartedProcess
  readonly startedAt: number
  hasEnded: boolean
  isReserved: boolean
  timer: NodeJS.Timeout | undefined
}

const BOOT = fileURLToPath(new URL('./spare-program.mjs', import.meta.url))
/** A share of the disk that changes with what is free on it is the same within this part of it. */
const SAME_SHARE = 0.05
const TURN_MS = 5_000

export function createSpares(settings: SparesSettings): Spares {
  const spares = new Map<string, Spare>()
  /** How many of a kind are kept: one at first, and one more whenever none was left. */
  const wanted = new Map<string, number>()
  let isClosed = false

  const waiting = (key: string): Spare[] =>
    [...spares.values()].filter((one) => one.kind.key === key && !one.isReserved && !one.hasEnded)

  function start(kind: SpareKind): void {
    const root = join(settings.folder, randomBytes(12).toString('hex'))
    const folder = folderAt(root, false)
    const launch = launchOf(kind.program, folder, {}, kind.memoryBytes, settings.launch)
    const mark = { entry: `TMPDIR=${folder.tmp}`, cpuSeconds: randomInt(1e9, 2e9) }
    const argv = gatedSpare(spareArgv(launch.argv, kind.program), Math.ceil(kind.diskBytes / 512), mark.cpuSeconds)
    const process = startProcess(argv, { cwd: dirname(kind.program.entry), environment: launch.environment, mark })
    const spare: Spare = {
      root,
      kind,
      argv: launch.argv,
      codeState: stateOf(kind.program.entry),
      process,
      startedAt: performance.now(),
      hasEnded: false,
      isReserved: false,
      timer: setTimeout(() => discard(spare), settings.idleMs).unref(),
    }
    spares.set(root, spare)
    hold(process, false)
    const onEnd = (): void => {
      spare.hasEnded = true
      if (spares.get(root) === spare) discard(spare)
    }
    process.ended.then(onEnd, onEnd)
    const { pid } = process.child
    if (pid === undefined) return
    settings
      .guardian()
      .watch(pid, root, mark.cpuSeconds)
      .then(
        () => process.gate.write('go\n'),
        () => discard(spare),
      )
  }

  function discard(spare: Spare): void {
    forget(spare)
    if (waiting(spare.kind.key).length === 0) wanted.delete(spare.kind.key)
    const { child, gate, stdout, stderr } = spare.process
    child.kill('SIGKILL') // it is alone in its group, by the permission model
    for (const stream of [gate, stdout, stderr]) stream.destroy()
    if (child.pid !== undefined) settings.guardian().forget(child.pid)
  }

  function forget(spare: Spare): void {
    clearTimeout(spare.timer)
    spares.delete(spare.root)
  }

  /** A kind of which none waits takes the place of one that has waited; not sooner, or many kinds in turns would only start processes. */
  function hasRoom(key: string): boolean {
    if (spares.size < settings.count()) return true
    const before = performance.now() - TURN_MS
    const oldest = [...spares.values()].find((one) => !one.isReserved && one.startedAt < before)
    if (!oldest || waiting(key).length > 0) return false
    discard(oldest)
    return spares.size < settings.count()
  }

  return {
    reserve(key) {
      const [found] = waiting(key)
      if (!found) {
        if (wanted.has(key)) wanted.set(key, Math.min(settings.count(), (wanted.get(key) ?? 0) + 1))
        return undefined
      }
      found.isReserved = true
      clearTimeout(found.timer)
      return found.root
    },
    take(root, launch, diskBytes) {
      const spare = spares.get(root)
      if (!spare) return undefined
      const isSame =
        !spare.hasEnded &&
        spare.argv.length === launch.argv.length &&
        spare.argv.every((word, index) => word === launch.argv[index]) &&
        Math.abs(spare.kind.diskBytes - diskBytes) <= SAME_SHARE * diskBytes &&
        spare.codeState === stateOf(spare.kind.program.entry)
      if (!isSame) {
        discard(spare)
        return undefined
      }
      forget(spare)
      hold(spare.process, true)
      return spare.process
    },
    release(root) {
      const spare = spares.get(root)
      if (spare) discard(spare)
    },
    expect(kind) {
      if (isClosed || settings.count() === 0) return
      if (!wanted.has(kind.key)) wanted.set(kind.key, 1)
      while (waiting(kind.key).length < Math.min(wanted.get(kind.key) ?? 1, settings.count()) && hasRoom(kind.key)) start(kind)
    },
    async close() {
      isClosed = true
      const all = [...spares.values()]
      for (const spare of all) discard(spare)
      await Promise.all(all.map(({ process }) => process.ended.catch(() => {})))
    },
  }
}

/** From the command of a run to that of a process which waits for one. */
function spareArgv(argv: readonly string[], { entry, arguments: own, waitsForJob }: SpareKind['program']): readonly string[] {
  const flags = argv.slice(0, argv.length - own.length - 1)
  return [...flags, `--allow-fs-read=${BOOT}`, BOOT, waitsForJob ? 'ahead' : 'boot', entry, ...own]
}

/** A waiting process keeps the server from ending as little as none. */
function hold({ child, gate, stdout, stderr }: StartedProcess, isHeld: boolean): void {
  const how = isHeld ? 'ref' : 'unref'
  child[how]()
  for (const stream of [gate, stdout, stderr]) (stream as unknown as Record<'ref' | 'unref', () => void>)[how]() // pipes of a child are sockets
}

/** Code that has changed since it was loaded is not run. */
function stateOf(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path)
    return `${size} ${mtimeMs}`
  } catch {
    return 'missing'
  }
}
