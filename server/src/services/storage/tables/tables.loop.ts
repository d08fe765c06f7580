// The housekeeping of tables: compaction, old states, objects that no state needs.
//  (1) Compaction publishes only over the state it read; a load that came in between wins, and the rewritten files are swept. A table
//      that loses so is left alone for a while; a table that is never quiet is tidied by its loads (table-load.ts).
//  (2) A load publishes over a compaction without a look: its state names files that are still there, only the tidying is lost. A commit
//      of another engine that began before a compaction is published as well; if it only adds files, over the compacted state.
//  (3) An object is swept when it is older than a day and every look for longer than credentials of a table live found that no state
//      needs it: nothing that is being loaded, read or published now can be that old without a reference, and a caller that got credentials while
//      a state needed it has read it or may no longer.
//  (4) Files of a project are named by states of the same project only. So the sweep goes project by project, and looks at one when its
//      tables have come or gone, when something of it may have to go, and else once a day: not all states every hour.

import type { FastifyBaseLogger } from 'fastify'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { TABLE_CREDENTIALS_SECONDS } from '../../../engines/object-store/object-access.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import { referencedKeys } from '../../../engines/table-engine/snapshot.ts'
import type { TableEngine } from '../../../engines/table-engine/table-engine.ts'
import type { Clock } from '../../../kit/clock.ts'
import { DEFAULT_LIMITS } from '../../../kit/default-limits.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { TableParts } from './catalog/table-catalog.ts'
import { keyPrefixOf, needsCompaction } from './rows/table-load.ts'
import type { TableRow } from './tables.store.ts'

export interface TablesLoopDeps {
  readonly parts: TableParts
  readonly engine: Pick<TableEngine, 'compact'>
  readonly objects: Pick<ObjectStore, 'list' | 'delete'>
  /** Objects below `tables/` that no state refers to but that are still needed. */
  readonly alsoNeeded?: {
    /** Removes what is no longer needed; before a sweep. */
    tidy(): Promise<void>
    keysOf(projectId: number): AsyncIterable<string>
  }
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
  readonly settings?: {
    readonly everyMs?: number
    readonly sweepEveryMs?: number
    /** How far back the earlier states of a table are kept. */
    readonly retentionDays?: number
    readonly sweepOlderThanMs?: number
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const TABLES_PER_TICK = 20
/** A compaction in vain is tried again after this many times what it took. */
const VAIN_PAUSE = 10
const PREFIX = 'tables/'
/** What credentials of a table could still read is left alone; some minutes more for clocks that differ. */
const SPARED_MS = (TABLE_CREDENTIALS_SECONDS + 300) * 1000

export function createTablesLoop(deps: TablesLoopDeps) {
  const { parts, engine, objects, alsoNeeded, inTransaction, clock, log, settings = {} } = deps
  const { everyMs = 5_000, sweepEveryMs = HOUR_MS, sweepOlderThanMs = DAY_MS } = settings
  /** Read each time: it can be changed while the stack runs. */
  const retentionMs = () => (settings.retentionDays ?? DEFAULT_LIMITS.tables.retentionDays) * DAY_MS
  const { store } = parts
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let lastSweep = 0
  /** What the last look at the files of a project found. */
  const looks = new Map<number, Look>()
  /** Until when a table is left alone whose last compaction was in vain. */
  const busyUntil = new Map<number, number>()

  async function tick(now: Date): Promise<void> {
    await compactSome()
    if (now.getTime() - lastSweep < sweepEveryMs) return
    lastSweep = now.getTime()
    await forgetOld(now)
    await sweep(now)
  }

  async function compactSome(): Promise<void> {
    for (const table of await store.listToCompact(TABLES_PER_TICK)) {
      if (stopping.signal.aborted) return
      if (clock.now().getTime() < (busyUntil.get(table.key) ?? 0)) continue
      await compactOne(table).catch((err: unknown) => afterFailure(table, err))
    }
  }

  /** What fails in passing is tried again at the next look, what fails for good after the next load: never over and over. */
  async function afterFailure(table: TableRow, err: unknown): Promise<void> {
    if (stopping.signal.aborted) return
    log.warn({ err, tableKey: table.key }, 'a table could not be compacted; it is tried again later')
    if (err instanceof PlatformError && err.kind === 'transient') return
    await inTransaction((trx) => store.markCompacted(trx, table.key))
  }

  async function compactOne(table: TableRow): Promise<void> {
    const stored = table.snapshotId === undefined ? undefined : await store.findState(table.snapshotId)
    if (!stored) return
    busyUntil.delete(table.key)
    const keyPrefix = keyPrefixOf(table.projectId, table.key)
    const began = clock.now().getTime()
    const after = await engine.compact({ snapshot: stored.snapshot, keyPrefix }, { signal: stopping.signal })
    await inTransaction(async (trx) => {
      if (!after) return store.markCompacted(trx, table.key)
      const what = {
        needsCompaction: needsCompaction(after) && after.segments.length < stored.snapshot.segments.length,
        onlyOver: stored.id,
        isTidying: true,
      }
      const now = clock.now()
      const published = await store.publish(trx, table, after, now, what)
      if (!published) busyUntil.set(table.key, now.getTime() + VAIN_PAUSE * (now.getTime() - began))
    })
  }

  const forgetOld = (now: Date): Promise<number> =>
    inTransaction((trx) => store.forgetSnapshotsBefore(trx, new Date(now.getTime() - retentionMs())))

  async function sweep(now: Date): Promise<number> {
    await alsoNeeded?.tidy()
    const counts = await store.tableCounts()
    let swept = 0
    for await (const projectId of projectFolders()) {
      if (stopping.signal.aborted) break
      const tables = counts.get(projectId) ?? ''
      if (isDue(looks.get(projectId), tables, now.getTime())) swept += await sweepProject(projectId, tables, now.getTime())
    }
    if (swept > 0) log.info({ objects: swept }, 'removed files that no table refers to any more')
    return swept
  }

  async function sweepProject(projectId: number, tables: string, lookedAt: number): Promise<number> {
    const candidates = await oldObjects(folderOf(projectId), lookedAt - sweepOlderThanMs)
    if (candidates.size > 0) {
      for await (const snapshot of store.everySnapshot(projectId))
        for (const key of referencedKeys(snapshot)) candidates.delete(key)
      if (alsoNeeded) for await (const key of alsoNeeded.keysOf(projectId)) candidates.delete(key)
    }
    const before = looks.get(projectId)
    const since = new Map([...candidates].map((key) => [key, before?.suspects.get(key) ?? lookedAt]))
    const unneeded = [...candidates].filter((key) => lookedAt - (since.get(key) ?? lookedAt) > SPARED_MS)
    for (const key of unneeded) since.delete(key)
    // The first looks are all at once, after the start; the second ones are spread over the day.
    const againAt = lookedAt + (before ? DAY_MS : (1 + (projectId % 24)) * HOUR_MS)
    looks.set(projectId, { tables, suspects: since, againAt })
    for (let i = 0; i < unneeded.length; i += 1000) await objects.delete(unneeded.slice(i, i + 1000))
    return unneeded.length
  }

  /** Ids of the projects that have files, one question each. */
  async function* projectFolders(): AsyncGenerator<number> {
    for (let after = ''; ; ) {
      const { objects: found } = await objects.list({ prefix: PREFIX, after, limit: 1 })
      const [first] = found
      if (!first) return
      const name = first.key.slice(PREFIX.length).split('/', 1)[0] ?? ''
      if (/^\d+$/.test(name)) yield Number(name)
      after = `${PREFIX}${name}0` // the first text behind all that begin with the name and a slash
    }
  }

  async function oldObjects(prefix: string, beforeMs: number): Promise<Set<string>> {
    const found = new Set<string>()
    for (let after = ''; ; ) {
      const page = await objects.list({ prefix, after })
      for (const object of page.objects) if (object.modifiedMs < beforeMs) found.add(object.key)
      const last = page.objects.at(-1)
      if (!page.more || !last) return found
      after = last.key
    }
  }

  return {
    tick,
    sweep,
    start(): void {
      lastSweep = clock.now().getTime()
      timer = setInterval(() => {
        running = running
          .then(() => tick(clock.now()))
          .catch((err: unknown) => log.error({ err }, 'the housekeeping of tables failed'))
      }, everyMs)
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      stopping.abort()
      await running
    },
  }
}

interface Look {
  /** What the tables of the project were (tableCounts). */
  readonly tables: string
  /** Objects that no state needed, with the first look that found so. */
  readonly suspects: ReadonlyMap<string, number>
  readonly againAt: number
}

const isDue = (last: Look | undefined, tables: string, now: number): boolean =>
  !last || last.tables !== tables || last.suspects.size > 0 || now >= last.againAt

const folderOf = (projectId: number): string => keyPrefixOf(projectId, '').slice(0, -1)
