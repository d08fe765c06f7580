// What no call causes: work that takes longer than usual, tables without writes, a disk that fills up. Checked from time to time,
// and only while there is a subscription to it. A unique key makes each of them one message for each subscription, on any number of nodes.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { ListRunning } from '../../../model/notification-port.ts'
import { minHours } from './filters.ts'
import { createNotificationsStore, type Subscription } from './notifications.store.ts'
import type { Outbox } from './outbox.ts'
import {
  type DiskSpace,
  type FigureAlert,
  type Payload,
  payloadOfDisk,
  payloadOfFigure,
  payloadOfLongRun,
  payloadOfTable,
  type UnchangedTable,
} from './payloads.ts'

export interface WatchesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly outbox: Pick<Outbox, 'wants' | 'put'>
  readonly runningJobs: ListRunning
  readonly runningPhases: ListRunning
  /** Tables of the default branch last written after `after` and not after `until`; answers how far it looked, too. */
  readonly unchangedTables: (
    projectId: number,
    range: { readonly after: number; readonly until: number },
  ) => Promise<{ readonly tables: readonly UnchangedTable[]; readonly until: number }>
  readonly diskSpace: () => Promise<DiskSpace>
  /** Figures of dashboards of a project that are beyond their bounds now. */
  readonly figureAlerts: (projectId: number) => Promise<readonly FigureAlert[]>
}

const WATCHED = [
  'job-processing-long',
  'phase-job-processing-long',
  'table-not-updated',
  'storage-nearly-full',
  'dashboard-alert',
] as const
const HOUR_MS = 3_600_000
/** Figures are computed by queries: less often than recorded events. */
const FIGURES_MS = 60_000

interface Message {
  readonly subscription: Subscription
  readonly payload: Payload
  readonly uniqueKey: string
}

export type Watches = ReturnType<typeof createWatches>

export function createWatches(deps: WatchesDeps) {
  const { clock, outbox, inTransaction } = deps
  const store = createNotificationsStore(deps.db)
  /** Messages of the last look that are still true: they were put into the outbox then. */
  let known = new Set<string>()
  /** Of each subscription to tables: those written up to here are processed. */
  let tablesKnownUntil = new Map<number, number>()
  let figuresSeenAt = 0

  async function look(): Promise<void> {
    const subscriptions = await store.subscribersToAny(WATCHED)
    const to = (event: (typeof WATCHED)[number]) => subscriptions.filter((one) => one.event === event)
    const due = [
      ...(await longRuns(to('job-processing-long'), deps.runningJobs)),
      ...(await longRuns(to('phase-job-processing-long'), deps.runningPhases)),
      ...(await fullDisk(to('storage-nearly-full'))),
    ]
    await putAll(due.filter((message) => !known.has(keyOf(message))))
    known = new Set(due.map(keyOf))
    await lookAtTables(to('table-not-updated'))
    await lookAtFigures(to('dashboard-alert'))
  }

  async function longRuns(subscriptions: readonly Subscription[], listRunning: ListRunning): Promise<Message[]> {
    if (subscriptions.length === 0) return []
    const now = clock.now().getTime()
    const running = await listRunning([...new Set(subscriptions.map(({ projectId }) => projectId))])
    return running.flatMap((work) => {
      const payload = payloadOfLongRun(work, now)
      if (!payload) return []
      const ofProject = subscriptions.filter(({ projectId }) => projectId === work.projectId)
      return messagesTo(ofProject, payload, String(payload.uniqueId))
    })
  }

  /** Once a day while it lasts. */
  async function fullDisk(subscriptions: readonly Subscription[]): Promise<Message[]> {
    if (subscriptions.length === 0) return []
    const space = await deps.diskSpace()
    const day = clock.now().toISOString().slice(0, 'yyyy-mm-dd'.length)
    return subscriptions.flatMap((one) => messagesTo([one], payloadOfDisk(one.projectId, space), `disk-${day}`))
  }

  /** Once a day while it lasts. */
  async function lookAtFigures(subscriptions: readonly Subscription[]): Promise<void> {
    const now = clock.now()
    if (subscriptions.length === 0 || now.getTime() - figuresSeenAt < FIGURES_MS) return
    figuresSeenAt = now.getTime()
    const day = now.toISOString().slice(0, 'yyyy-mm-dd'.length)
    for (const [projectId, ofProject] of Map.groupBy(subscriptions, (one) => one.projectId))
      for (const alert of await deps.figureAlerts(projectId)) {
        const key = `figure-${alert.dashboard.id}-${alert.tile.id}-${alert.operator}-${alert.bound}-${day}`
        await putAll(messagesTo(ofProject, payloadOfFigure(alert), key))
      }
  }

  /** Once for each time a table is left unchanged for too long. */
  async function lookAtTables(subscriptions: readonly Subscription[]): Promise<void> {
    const knownUntil = new Map<number, number>()
    for (const one of subscriptions) {
      const now = clock.now().getTime()
      const hours = minHours(one.filters)
      if (hours === undefined) continue
      const range = { after: tablesKnownUntil.get(one.id) ?? 0, until: now - hours * HOUR_MS }
      const { tables, until } = await deps.unchangedTables(one.projectId, range)
      await putAll(
        tables.flatMap((table) =>
          messagesTo([one], payloadOfTable(one.projectId, table, now), `table-${table.id}-${table.updatedAt}`),
        ),
      )
      knownUntil.set(one.id, until)
    }
    tablesKnownUntil = knownUntil
  }

  const messagesTo = (subscriptions: readonly Subscription[], payload: Payload, uniqueKey: string): Message[] =>
    subscriptions
      .filter((subscription) => outbox.wants(subscription, payload))
      .map((subscription) => ({ subscription, payload, uniqueKey }))

  async function putAll(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return
    await inTransaction(async (trx) => {
      for (const { subscription, payload, uniqueKey } of messages)
        await outbox.put(trx, subscription.projectId, payload, subscription.recipient, {
          subscriptionId: subscription.id,
          uniqueKey,
        })
    })
  }

  return { look }
}

const keyOf = ({ subscription, uniqueKey }: Message): string => `${subscription.id} ${uniqueKey}`
