// The live streams of this process. One reader of the log serves all of them: it polls a few times a second while a client listens, and
// not at all otherwise. A stream that begins in the past reads on its own until it has caught up.

import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, canUseComponent, seesWholeProject, tablePermissionOf } from '../../../model/actor.ts'
import type { ChangeKind } from '../../../model/change.ts'
import { type Change, type ChangesStore, isAfter, type Position } from './changes.store.ts'

/** Where a stream writes to. */
export interface ChangeOutput {
  /** The stream is accepted. */
  open(): void
  /** False when the other side reads too slowly: the stream ends, and its client resumes where it stopped. */
  write(text: string): boolean
  end(): void
}

export interface ChangesRequest {
  readonly actor: Actor
  /** Undefined: all. */
  readonly kinds: ReadonlySet<ChangeKind> | undefined
  /** The id of the last event that the client saw. */
  readonly since: string | undefined
  /** Without such an id: begin with what changed in these last seconds. */
  readonly recentSeconds?: number | undefined
}

export interface ListenRequest extends ChangesRequest {
  /** Whether the listener is still allowed to listen. */
  readonly isStillAdmitted: () => Promise<boolean>
  readonly output: ChangeOutput
}

export interface ChangeFeedDeps {
  readonly store: ChangesStore
  readonly clock: Clock
  readonly canonicalId: (componentId: string) => string
  readonly onError: (error: unknown) => void
  readonly lookMs?: number
}

interface Stream extends Omit<ListenRequest, 'since'> {
  position: Position
  /** What arrives while the stream catches up; undefined when it has. */
  waiting: Change[] | undefined
}

const LOOK_MS = 300
const ALIVE_MS = 15_000
const SWEEP_MS = 3_600_000
/** A client may be away this long and miss nothing. */
const KEPT_MS = 86_400_000
const PAGE = 500
const MAX_WAITING = 10_000

export type ChangeFeed = ReturnType<typeof createChangeFeed>

export function createChangeFeed({ store, clock, canonicalId, onError, lookMs = LOOK_MS }: ChangeFeedDeps) {
  const streams = new Set<Stream>()
  /** The position of the shared reader; undefined without listeners. */
  let position: Position | undefined
  let beginning: Promise<void> | undefined
  let looking: Promise<void> | undefined
  let lookTimer: NodeJS.Timeout | undefined
  const timers: NodeJS.Timeout[] = []

  /** Throws for a position that is not one; resolves when the stream is up to date. */
  async function listen({ since, recentSeconds, ...request }: ListenRequest): Promise<() => void> {
    const from = await startOf(since, recentSeconds)
    while (!position) await begin()
    const stream: Stream = { ...request, position: from.known ?? position, waiting: [] }
    streams.add(stream)
    stream.output.open()
    if (since === undefined) say(stream, stream.position, 'open', {})
    else if (!from.known) say(stream, stream.position, 'reset', {})
    await catchUp(stream)
    return () => leave(stream)
  }

  /** Older changes are deleted, and a restored database has others: then the client has to reload its data. */
  async function startOf(
    since: string | undefined,
    recentSeconds?: number,
  ): Promise<{ readonly known: Position | undefined; readonly end: Position }> {
    if (since === undefined && recentSeconds !== undefined)
      return { known: await store.endBefore(clock.now().getTime() - recentSeconds * 1000), end: await store.end() }
    const from = since === undefined ? undefined : readPosition(since)
    const end = await store.end()
    const isKnown = from && clock.now().getTime() - from.at <= KEPT_MS && !isAfter(from, end)
    return { known: isKnown ? from : undefined, end }
  }

  /** For clients that poll instead: what changed since, and where to continue. */
  async function read({ since, recentSeconds, ...request }: ChangesRequest) {
    const { known, end } = await startOf(since, recentSeconds)
    const page = known ? await store.listAfter(known, PAGE) : []
    return {
      lastEventId: idOf(page.at(-1) ?? known ?? end),
      isReset: since !== undefined && !known,
      hasMore: page.length === PAGE,
      changes: page.filter((change) => isWanted(request, change)).map(viewOf),
    }
  }

  const isWanted = ({ actor, kinds }: Pick<ChangesRequest, 'actor' | 'kinds'>, change: Change): boolean =>
    change.projectId === actor.projectId &&
    change.kind !== 'token' &&
    (!kinds || kinds.has(change.kind)) &&
    maySee(actor, change, canonicalId)

  const idOf = ({ tx, id }: Position): string => `${tx}.${id}.${clock.now().getTime()}`

  async function begin(): Promise<void> {
    if (position) return
    beginning ??= store.end().then((end) => {
      position = end
      lookTimer = setInterval(look, lookMs).unref()
    })
    await beginning.finally(() => {
      beginning = undefined
    })
  }

  async function catchUp(stream: Stream): Promise<void> {
    for (let page = PAGE; page === PAGE && streams.has(stream); ) {
      const changes = await store.listAfter(stream.position, PAGE)
      page = changes.length
      for (const change of changes) show(stream, change)
    }
    for (const change of stream.waiting ?? []) show(stream, change)
    stream.waiting = undefined
  }

  function look(): void {
    looking ??= readOn()
      .catch(onError)
      .finally(() => {
        looking = undefined
      })
  }

  async function readOn(): Promise<void> {
    for (let page = PAGE; page === PAGE && position; ) {
      const changes = await store.listAfter(position, PAGE)
      page = changes.length
      for (const change of changes) {
        position = change
        for (const stream of streams) deliver(stream, change)
      }
    }
  }

  function deliver(stream: Stream, change: Change): void {
    if (change.kind === 'token') endStreamsOf(stream, change)
    else if (!stream.waiting) show(stream, change)
    else if (stream.waiting.push(change) > MAX_WAITING) leave(stream)
  }

  /** Whatever changed of a token: its client comes back with what it may then see, or not at all. */
  function endStreamsOf(stream: Stream, { projectId, tokenId }: Change): void {
    if (stream.actor.projectId === projectId && stream.actor.tokenId === tokenId) leave(stream)
  }

  function show(stream: Stream, change: Change): void {
    if (!isAfter(change, stream.position)) return
    stream.position = change
    if (isWanted(stream, change)) say(stream, change, change.kind, viewOf(change))
  }

  function say(stream: Stream, at: Position, name: string, data: object): void {
    const text = `id: ${idOf(at)}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`
    if (streams.has(stream) && !stream.output.write(text)) leave(stream)
  }

  function leave(stream: Stream): void {
    if (!streams.delete(stream)) return
    stream.output.end()
    if (streams.size > 0) return
    clearInterval(lookTimer)
    position = undefined
  }

  /** A position of its own now and then, so that a client that saw nothing for a day has not missed anything either. */
  async function keepAlive(): Promise<void> {
    for (const stream of streams) {
      if (!(await stream.isStillAdmitted())) leave(stream)
      else if (!stream.waiting) say(stream, stream.position, 'alive', {})
    }
  }

  return {
    listen,
    read,
    look,
    start(): void {
      timers.push(setInterval(() => void keepAlive().catch(onError), ALIVE_MS).unref())
      timers.push(setInterval(() => void sweep().catch(onError), SWEEP_MS).unref())
    },
    sweep,
    /** Clients resume at another node, or when this one is back. */
    async stop(): Promise<void> {
      for (const timer of timers) clearInterval(timer)
      for (const stream of streams) leave(stream)
      await looking
    },
  }

  function sweep(): Promise<void> {
    return store.sweep(clock.now().getTime() - KEPT_MS - SWEEP_MS)
  }
}

function readPosition(text: string): Position & { readonly at: number } {
  const [, tx, id, at] = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})$/.exec(text) ?? []
  if (tx === undefined) throw new PlatformError('changes.invalidPosition', { position: text.slice(0, 60) })
  return { tx: Number(tx), id: Number(id), at: Number(at) }
}

/** As the lists of the same things show them to the token. */
function maySee(actor: Actor, { kind, objectId, componentId, tokenId }: Change, canonicalId: (id: string) => string): boolean {
  if (actor.isMasterToken) return true
  if (kind === 'schedule') return seesWholeProject(actor) // it does not name its component
  if (kind === 'table') return tablePermissionOf(actor, objectId) !== undefined
  if (kind === 'file') return actor.canReadAllFileUploads || tokenId === actor.tokenId
  if ((kind === 'job' || kind === 'flow') && tokenId === actor.tokenId) return true
  return canUseComponent(actor, componentId ?? '', canonicalId)
}

const viewOf = ({ kind, objectId, state, version, branchId, componentId }: Change) => ({
  kind,
  id: objectId,
  state,
  version,
  branchId: branchId === null ? null : String(branchId),
  componentId,
})
