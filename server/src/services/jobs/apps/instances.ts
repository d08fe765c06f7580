// The processes of apps on this node.
//  (1) One for each app, started on the first request, stopped when it is idle for a while, and after a day in any case: its token expires then.
//  (2) What was deployed or stopped on another node is seen within a second: every deployment has its number.
//  (3) An app that ends by itself is started again, with growing pauses; until then requests get its last output.
//  (4) Its output is kept in bounded lines, written once a second.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Dial } from '../../../engines/reverse-proxy/program-proxy.ts'
import type { LogEvent } from '../../../engines/runner/log-event.ts'
import type { RunOutcome } from '../../../engines/runner/runner.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { EventSource } from '../../../model/event.ts'
import type { AppRow, AppsStore, LogLine, RunRow } from './apps.store.ts'

export interface InstanceRun {
  readonly signal: AbortSignal
  /** The token that the run reads tables with, so that it can be revoked when this node cannot do it any more. */
  onToken(tokenId: number): Promise<void>
  onOpen(dial: Dial): void
  onEvent(event: LogEvent): void
}

export interface InstancesDeps {
  readonly store: AppsStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  /** The name of this node. */
  readonly node: string
  readonly settings: InstanceSettings
  /** Runs the program of an app until it ends. */
  readonly run: (app: AppRow, run: InstanceRun) => Promise<RunOutcome>
  /** Whether there is a response behind `dial`. */
  readonly answers: (dial: Dial, signal: AbortSignal) => Promise<boolean>
  /** Who deployed it: whose events those of its runs are. */
  readonly sourceOf: (app: AppRow) => Promise<EventSource | undefined>
  readonly onFailed: (trx: Trx, source: EventSource, app: AppRow, reason: string) => Promise<void>
  readonly revokeToken: (projectId: number, tokenId: number) => Promise<void>
  readonly onStarted: (trx: Trx, source: EventSource, app: AppRow) => Promise<void>
  readonly onError: (error: unknown) => void
}

export interface InstanceSettings {
  /** Most apps at once on this node. */
  readonly max: number
  /** How long an app may take until it answers. */
  readonly startMs: number
}

/** How long a node may be silent about a run before it counts as gone. */
const LOST_MS = 30_000
const TICK_MS = 1_000
const PROBE_MS = 100
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** An app that has served for so long is not in a loop of crashes. */
const SETTLED_MS = 60_000
const LINE_CHARS = 2_000
const WAITING_LINES = 500
const WORDS_CHARS = 500

export const isAlive = (run: Pick<RunRow, 'ended_at' | 'seen_at'>, now: number): boolean =>
  run.ended_at === null && run.seen_at > now - LOST_MS

/** A running app, held by a request: it is not put to sleep meanwhile. */
export interface Held {
  readonly dial: Dial
  release(): void
}

interface Instance {
  readonly app: AppRow
  readonly runId: number
  readonly abort: AbortController
  readonly startedAt: number
  /** Resolves when it answers, rejects when it ended before. */
  readonly ready: Promise<Dial>
  readonly ended: Promise<void>
  isReady: boolean
  held: number
  usedAt: number
  /** Why it is being ended by us; undefined: it ends by itself. */
  stopReason: string | undefined
}

interface Failure {
  readonly app: AppRow
  readonly times: number
  readonly until: number
  readonly reason: string
  readonly usedAt: number
}

export type Instances = ReturnType<typeof createInstances>

export function createInstances(deps: InstancesDeps) {
  const { store, inTransaction, clock, settings, onError } = deps
  const instances = new Map<number, Instance>()
  /** Between the decision to start and the record of it. */
  const opening = new Map<number, Promise<Instance>>()
  const failures = new Map<number, Failure>()
  const waiting = new Map<number, LogLine[]>()
  const used = new Map<number, number>()
  let timer: NodeJS.Timeout | undefined
  let ticking: Promise<void> | undefined
  let isClosing = false
  const now = () => clock.now().getTime()

  /** Starts the app when it does not run, and waits until it answers. */
  async function use(app: AppRow): Promise<Held> {
    if (app.desired_state !== 'running') throw new PlatformError('apps.isStopped', { id: String(app.id) })
    const instance = await running(app)
    const touch = (): void => {
      instance.usedAt = now()
      used.set(app.id, instance.usedAt)
    }
    instance.held += 1
    touch()
    let isHeld = true
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      instance.held -= 1
      touch()
    }
    try {
      return { dial: await instance.ready, release }
    } catch (error) {
      release()
      throw error
    }
  }

  async function running(app: AppRow): Promise<Instance> {
    const found = instances.get(app.id)
    if (found && found.app.generation === app.generation && found.stopReason === undefined) return found
    if (found) {
      stop(found, 'it was deployed again')
      await found.ended
    }
    const pause = failures.get(app.id)
    if (pause && pause.app.generation === app.generation && pause.until > now())
      throw failedError(app, pause.reason, pause.until - now())
    const begun = opening.get(app.id) ?? open(app).finally(() => opening.delete(app.id))
    opening.set(app.id, begun)
    return begun
  }

  async function open(app: AppRow): Promise<Instance> {
    if (isClosing) throw new PlatformError('unavailable', { what: 'The node' })
    if (instances.size + opening.size > settings.max) throw new PlatformError('apps.nodeFull', { limit: settings.max })
    const startedAt = now()
    const source = await deps.sourceOf(app)
    const runId = await inTransaction(async (trx) => {
      const current = await store.find(app.project_id, app.id, trx)
      if (current?.generation !== app.generation) throw new PlatformError('apps.changed', { id: String(app.id) })
      if (source) await deps.onStarted(trx, source, app)
      return store.insertRun(trx, {
        project_id: app.project_id,
        app_id: app.id,
        node: deps.node,
        state: 'starting',
        config_version: app.config_version ?? 0,
        token_id: null,
        started_at: startedAt,
        seen_at: startedAt,
        ended_at: null,
        reason: null,
      })
    })
    const abort = new AbortController()
    const words: string[] = []
    let onOpen: (dial: Dial) => void = () => {}
    const opened = new Promise<Dial>((resolve) => (onOpen = resolve))
    const outcome = deps.run(app, {
      signal: abort.signal,
      onToken: (tokenId) => inTransaction((trx) => store.updateRun(trx, runId, { token_id: tokenId })),
      onOpen,
      onEvent: (event) => {
        say(app, event)
        if (words.push(event.message) > 20) words.shift()
      },
    })
    const end = new Promise<void>((resolve) =>
      outcome.then(
        () => resolve(),
        () => resolve(),
      ),
    )
    const ready = untilReady(app, opened, end, abort.signal)
    ready.catch(() => {}) // every awaiting caller gets the error
    const instance: Instance = {
      app,
      runId,
      abort,
      startedAt,
      ready: ready.catch(async (error: unknown) => {
        stop(instance, error instanceof PlatformError ? error.message : 'it could not be reached')
        await instance.ended
        throw failedError(app, failures.get(app.id)?.reason ?? 'it was stopped', FIRST_PAUSE_MS)
      }),
      ended: outcome
        .then(
          ({ reason, exitCode }) => {
            const how = endSentence(reason, exitCode)
            if (reason === 'timeout') instance.stopReason ??= how
            return finish(instance, how, words)
          },
          (error: unknown) => finish(instance, sentenceOf(error, onError), words),
        )
        .catch(onError),
      isReady: false,
      held: 0,
      usedAt: failures.get(app.id)?.usedAt ?? startedAt,
      stopReason: undefined,
    }
    instance.ready.then(
      () => {
        instance.isReady = true
        return inTransaction((trx) => store.updateRun(trx, runId, { state: 'running' })).catch(onError)
      },
      () => {},
    )
    instances.set(app.id, instance)
    return instance
  }

  async function untilReady(app: AppRow, opened: Promise<Dial>, end: Promise<void>, signal: AbortSignal): Promise<Dial> {
    let isOver = false
    void end.then(() => (isOver = true))
    const dial = await Promise.race([opened, end.then(() => undefined)])
    const giveUpAt = performance.now() + settings.startMs // fetching its code or its image is not its start
    while (dial && !isOver && !signal.aborted) {
      if (await deps.answers(dial, AbortSignal.any([signal, AbortSignal.timeout(settings.startMs)]))) return dial
      if (performance.now() > giveUpAt)
        throw new PlatformError('apps.neverListened', { id: String(app.id), seconds: settings.startMs / 1000 })
      await expire(PROBE_MS)
    }
    throw new Error('it ended before it answered')
  }

  function stop(instance: Instance, reason: string): void {
    instance.stopReason ??= reason
    instance.abort.abort()
  }

  async function finish(instance: Instance, how: string, words: readonly string[]): Promise<void> {
    const { app, runId, stopReason } = instance
    const isFailed = stopReason === undefined || !instance.isReady
    const said = words.join('\n').slice(-WORDS_CHARS)
    const reason = isFailed ? [stopReason ?? how, said].filter((part) => part !== '').join('\n') : (stopReason ?? how)
    const endedAt = now()
    // In this order: a caller that waits for the end restarts it, and must find the failure.
    if (isFailed && !isClosing && !isReplaced(stopReason)) remember(instance, reason, endedAt)
    else failures.delete(app.id)
    if (instances.get(app.id) === instance) instances.delete(app.id)
    say(app, {
      level: isFailed ? 'error' : 'info',
      message: isFailed ? `The app has failed: ${stopReason ?? how}.` : `The app was stopped: ${reason}.`,
    })
    await flush(app.id)
    const source = await deps.sourceOf(app)
    await inTransaction(async (trx) => {
      await store.updateRun(trx, runId, {
        state: isFailed ? 'failed' : 'stopped',
        ended_at: endedAt,
        reason: reason.slice(0, 4_000),
      })
      if (isFailed && source && (await store.find(app.project_id, app.id, trx)))
        await deps.onFailed(trx, source, app, stopReason ?? how)
    })
  }

  function remember({ app, startedAt, usedAt }: Instance, reason: string, at: number): void {
    const before = failures.get(app.id)
    const isLoop = before && before.app.generation === app.generation && at - startedAt < SETTLED_MS
    const times = isLoop ? before.times + 1 : 1
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (times - 1))
    failures.set(app.id, { app, times, reason, until: at + pause, usedAt })
  }

  function say(app: AppRow, { level, message }: Pick<LogEvent, 'level' | 'message'>): void {
    const lines = waiting.get(app.id) ?? []
    if (lines.length >= WAITING_LINES) return
    lines.push({ project_id: app.project_id, app_id: app.id, at: now(), level, text: message.slice(0, LINE_CHARS) })
    waiting.set(app.id, lines)
  }

  async function flush(appId: number): Promise<void> {
    const lines = waiting.get(appId)
    if (!lines || lines.length === 0) return
    waiting.delete(appId)
    await inTransaction(async (trx) => {
      const [first] = lines
      if (first && (await store.find(first.project_id, appId, trx))) await store.addLines(trx, appId, lines)
    })
  }

  async function tick(): Promise<void> {
    const at = now()
    const apps = new Map((await store.findAll([...instances.keys(), ...failures.keys()])).map((app) => [app.id, app]))
    for (const instance of instances.values()) {
      const app = apps.get(instance.app.id)
      if (!app) stop(instance, 'it was deleted')
      else if (app.generation !== instance.app.generation)
        stop(instance, app.desired_state === 'stopped' ? STOPPED_BY_USER : 'it was deployed again')
      else if (instance.isReady && instance.held === 0 && at - instance.usedAt > app.auto_suspend_seconds * 1000)
        stop(instance, `it was idle for ${app.auto_suspend_seconds} seconds`)
    }
    for (const [id, failure] of failures) retry(id, failure, apps.get(id), at)
    await report(at)
    await endLost(at)
  }

  /** Rule 3, while it was used lately. */
  function retry(id: number, { app, until, usedAt }: Failure, current: AppRow | undefined, at: number): void {
    const isCurrent = current?.generation === app.generation && current.desired_state === 'running'
    const isWanted = isCurrent && current.auto_restart === 1 && at - usedAt <= current.auto_suspend_seconds * 1000
    if (!isCurrent || (!isWanted && at - until > LONGEST_PAUSE_MS)) failures.delete(id)
    else if (isWanted && until <= at && !instances.has(id) && !opening.has(id)) begin(current)
  }

  async function report(at: number): Promise<void> {
    for (const appId of [...waiting.keys()]) await flush(appId)
    const running = [...instances.values()]
    const lately = [...used]
    used.clear()
    if (running.length + lately.length === 0) return
    await inTransaction(async (trx) => {
      for (const { runId } of running) await store.updateRun(trx, runId, { seen_at: at })
      for (const [appId, when] of lately) await store.used(trx, appId, when)
    })
  }

  /** Of nodes that were killed: their processes are gone, for a guardian ends them. */
  async function endLost(at: number): Promise<void> {
    const own = new Set([...instances.values()].map(({ runId }) => runId))
    const lost = (await store.listLost(at - LOST_MS)).filter(({ id }) => !own.has(id))
    if (lost.length === 0) return
    for (const { project_id, token_id } of lost) if (token_id !== null) await deps.revokeToken(project_id, token_id)
    await inTransaction(async (trx) => {
      for (const { id } of lost) await store.updateRun(trx, id, { state: 'stopped', ended_at: at, reason: 'its node has ended' })
    })
  }

  /** Starts it in the background; errors are in its log. */
  function begin(app: AppRow): void {
    running(app)
      .then(({ ready }) => ready)
      .catch((error: unknown) => {
        if (!(error instanceof PlatformError)) onError(error)
      })
  }

  const look = (): void => {
    ticking ??= tick()
      .catch(onError)
      .finally(() => {
        ticking = undefined
      })
  }

  return {
    use,
    begin,
    end(appId: number): void {
      const instance = instances.get(appId)
      if (instance) stop(instance, STOPPED_BY_USER)
      failures.delete(appId)
    },
    start(): void {
      timer = setInterval(look, TICK_MS).unref()
    },
    async stop(): Promise<void> {
      isClosing = true
      clearInterval(timer)
      await ticking
      await Promise.allSettled(opening.values())
      const all = [...instances.values()]
      for (const instance of all) stop(instance, 'its node is stopping')
      await Promise.all(all.map(({ ended }) => ended))
    },
  }
}

const STOPPED_BY_USER = 'it was stopped by a user'
const isReplaced = (reason: string | undefined): boolean =>
  reason !== undefined && /^(it was stopped by a user|it was de(ployed again|leted)|its node is stopping)$/.test(reason)

const failedError = (app: AppRow, reason: string, waitMs: number): PlatformError =>
  new PlatformError('apps.failed', { id: String(app.id), reason, seconds: Math.max(1, Math.ceil(waitMs / 1000)) })

function endSentence(reason: RunOutcome['reason'], exitCode: number): string {
  if (reason === 'timeout') return 'it has run for a day and is restarted on the next request'
  if (reason === 'memory') return 'it took more memory than its size allows'
  if (reason === 'disk') return 'it filled more of the disk than it may'
  if (reason === 'processes') return 'it started too many processes'
  return `its program ended with exit code ${exitCode}`
}

function sentenceOf(error: unknown, onError: (error: unknown) => void): string {
  if (error instanceof PlatformError) return error.message
  onError(error)
  return 'it could not be started due to an internal error; see the log of the stack'
}

const expire = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())
