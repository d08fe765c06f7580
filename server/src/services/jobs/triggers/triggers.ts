// Rules for triggers (spec storage 2.11).
//  1. A trigger runs its configuration once all of its tables were imported since its last run, and its cool-down is over.
//  2. The last import is stored for each table, so none is missed or counted twice, independent of clocks.
//  3. The run and the memory of it are written together: on any number of nodes an import starts one job.
//  4. Who makes, changes or deletes one may use its component: the one it has and the one it gets.
//  5. It runs with a token that does not expire, cannot be deleted while in use, and has no right that its maker lacks.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, canUseComponent } from '../../../model/actor.ts'
import { type EventDetails, eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { EventName, EventParams } from '../../../model/event-definitions.ts'
import { createTriggersStore, type SeenTable, type Trigger } from './triggers.store.ts'

export interface TriggerRequest {
  readonly runWithTokenId: number
  readonly component: string
  readonly configurationId: string
  readonly coolDownPeriodMinutes?: number
  readonly tableIds: readonly string[]
}

/** A job that was found possible; `insert` queues it in the transaction of the firing. */
export interface PreparedRun {
  insert(trx: Trx): Promise<{ readonly id: string }>
}

export interface TriggersDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** The owner of a token id; undefined when it is deleted, expired or disabled. */
  readonly actorOfToken: (projectId: number, tokenId: number) => Promise<Actor | undefined>
  /** The component's own id, for aliases. */
  readonly canonicalId: (componentId: string) => string
  readonly expires: (projectId: number, tokenId: number) => Promise<boolean>
  /** Whether the token has no right that the actor lacks. */
  readonly mayLend: (actor: Actor, tokenId: number) => Promise<boolean>
  /** When a table was last imported; refuses a table that is not there or that the actor may not read. */
  readonly importedAt: (actor: Actor, tableId: string) => Promise<number | null>
  readonly queue: {
    /** Refuses with a PlatformError what cannot run. */
    prepare(actor: Actor, component: string, configurationId: string): Promise<PreparedRun>
    /** Jobs were queued and committed. */
    wake(): void
  }
  readonly onError: (error: unknown, triggerId: number) => void
}

const BATCH = 100
const MAX_TABLES = 1000
const MAX_COOL_DOWN_MINUTES = 366 * 24 * 60

export type Triggers = ReturnType<typeof createTriggers>

export function createTriggers(deps: TriggersDeps) {
  const { db, inTransaction, clock, recordEvent } = deps
  const store = createTriggersStore(db)

  async function get(actor: Actor, id: number): Promise<Trigger> {
    const trigger = await store.find(actor.projectId, id)
    if (!trigger) throw new PlatformError('storage.triggers.notFound', { id })
    return trigger
  }

  const mayUse = (actor: Actor, component: string): boolean => canUseComponent(actor, component, deps.canonicalId)

  async function show(actor: Actor, id: number): Promise<Trigger> {
    const trigger = await get(actor, id)
    if (!mayUse(actor, trigger.component)) throw new PlatformError('accessDenied')
    return trigger
  }

  async function list(actor: Actor, filter: { component?: string; configurationId?: string }): Promise<Trigger[]> {
    return (await store.list(actor.projectId)).filter(
      ({ component, configurationId }) =>
        mayUse(actor, component) &&
        (filter.component ?? component) === component &&
        (filter.configurationId ?? configurationId) === configurationId,
    )
  }

  async function create(actor: Actor, request: TriggerRequest, origin: Origin): Promise<Trigger> {
    mustUse(actor, [request.component])
    const seen = await seenBy(actor, request.tableIds.slice(0, MAX_TABLES), [])
    const trigger = {
      ...(await settingsFrom(actor, request)),
      projectId: actor.projectId,
      seen,
      creatorToken: { id: actor.tokenId, description: actor.tokenDescription },
      lastRunAt: clock.now(),
    }
    return inTransaction(async (trx) => {
      const created = await store.insert(trx, trigger)
      await recordEvent(trx, actor, triggerEvent(created, 'storage.triggerCreated', {}), origin)
      return created
    })
  }

  async function update(actor: Actor, id: number, change: Partial<TriggerRequest>, origin: Origin): Promise<Trigger> {
    const before = await get(actor, id)
    mustUse(actor, [change.component ?? before.component, before.component])
    const request = {
      runWithTokenId: change.runWithTokenId ?? before.tokenId,
      component: change.component ?? before.component,
      configurationId: change.configurationId ?? before.configurationId,
      coolDownPeriodMinutes: change.coolDownPeriodMinutes ?? before.coolDownMinutes,
      tableIds: change.tableIds ?? before.seen.map(({ tableId }) => tableId),
    }
    const after = {
      ...before,
      ...(await settingsFrom(actor, request)),
      seen: change.tableIds ? await seenBy(actor, change.tableIds, before.seen) : before.seen,
    }
    return inTransaction(async (trx) => {
      if (!(await store.replace(trx, before, after))) throw new PlatformError('storage.triggers.changed', { id })
      await recordEvent(trx, actor, triggerEvent(after, 'storage.triggerUpdated', {}), origin)
      return after
    })
  }

  async function remove(actor: Actor, id: number, origin: Origin): Promise<void> {
    const trigger = await get(actor, id)
    mustUse(actor, [trigger.component])
    await inTransaction(async (trx) => {
      if (!(await store.remove(trx, actor.projectId, id))) throw new PlatformError('storage.triggers.notFound', { id })
      await recordEvent(trx, actor, triggerEvent(trigger, 'storage.triggerDeleted', {}), origin)
    })
  }

  /** Rule 4. */
  function mustUse(actor: Actor, components: readonly string[]): void {
    const refused = [...new Set(components)].filter((component) => !mayUse(actor, component))
    if (refused.length > 0)
      throw new PlatformError('storage.triggers.privilege', { components: refused.join(', ').slice(0, 600) })
  }

  async function settingsFrom(actor: Actor, request: TriggerRequest) {
    const coolDownMinutes = request.coolDownPeriodMinutes ?? 0
    if (coolDownMinutes < 1) throw invalid('Minimal cool down period is 1 minute')
    if (coolDownMinutes > MAX_COOL_DOWN_MINUTES)
      throw invalid(`The cool down period is at most ${MAX_COOL_DOWN_MINUTES} minutes.`)
    if (request.tableIds.length === 0) throw invalid('A trigger needs at least one table in tableIds.')
    if (request.tableIds.length > MAX_TABLES) throw invalid(`A trigger has at most ${MAX_TABLES} tables.`)
    await checkRunner(actor, request.runWithTokenId)
    return {
      tokenId: request.runWithTokenId,
      component: request.component,
      configurationId: request.configurationId,
      coolDownMinutes,
    }
  }

  /** Rule 5. */
  async function checkRunner(actor: Actor, tokenId: number): Promise<void> {
    const runner = await deps.actorOfToken(actor.projectId, tokenId)
    if (!runner) throw invalid(`Token with id "${tokenId}" was not found.`)
    if (await deps.expires(actor.projectId, tokenId))
      throw invalid("The 'runByToken' has expiration set. Use token without expiration.")
    if (runner.isMasterToken && !actor.isMasterToken)
      throw invalid("The 'runByToken' cannot be admin's token when your main token is not admin's")
    if (!(await deps.mayLend(actor, tokenId)))
      throw invalid(
        `Token ${tokenId} has rights that your token does not have. Set runWithTokenId to your own token or to one with fewer rights.`,
      )
  }

  /** New tables start with what they hold now; the others keep what the last run saw. */
  const seenBy = (actor: Actor, tableIds: readonly string[], known: readonly SeenTable[]): Promise<SeenTable[]> =>
    Promise.all(
      [...new Set(tableIds)].map(async (tableId) => {
        const importedAt = await deps.importedAt(actor, tableId)
        return known.find((seen) => seen.tableId === tableId) ?? { tableId, importedAt }
      }),
    )

  /** Fires every trigger that is ready at `now`; answers how many did. */
  async function fireReady(now: Date): Promise<number> {
    let fired = 0
    for (let afterId = 0; ; ) {
      const ready = await store.listReady(now, afterId, BATCH)
      for (const trigger of ready) {
        try {
          if (await fire(trigger, now)) fired++
        } catch (error) {
          deps.onError(error, trigger.id)
        }
      }
      if (ready.length < BATCH) return fired
      afterId = ready.at(-1)!.id
    }
  }

  async function fire(trigger: Trigger, now: Date): Promise<boolean> {
    const actor = await deps.actorOfToken(trigger.projectId, trigger.tokenId)
    const imports = actor && (await importsOf(actor, trigger))
    if (actor && !imports) return false
    const run = await prepare(trigger, actor)
    const after = { ...trigger, seen: imports ?? trigger.seen, lastRunAt: now }
    const done = await inTransaction(async (trx) => {
      if (!(await store.replace(trx, trigger, after))) return false // another node was quicker
      const jobId = 'insert' in run ? (await run.insert(trx)).id : undefined
      const event =
        'insert' in run
          ? triggerEvent(trigger, 'storage.triggerFired', { jobId })
          : triggerEvent(trigger, 'storage.triggerFailed', {}, { description: run.refused })
      await recordEvent(trx, sourceOf(trigger, actor), event)
      return jobId !== undefined
    })
    if (done) deps.queue.wake()
    return done
  }

  /** What each table holds now, when all of them were imported since the last run. A table that is gone was not. */
  async function importsOf(actor: Actor, { seen }: Trigger): Promise<SeenTable[] | undefined> {
    const imports: SeenTable[] = []
    for (const { tableId, importedAt: before } of seen) {
      const importedAt = await deps.importedAt(actor, tableId).catch((error: unknown) => {
        if (error instanceof PlatformError) return null
        throw error
      })
      if (importedAt === null || importedAt === before) return undefined
      imports.push({ tableId, importedAt })
    }
    return imports
  }

  async function prepare(trigger: Trigger, actor: Actor | undefined): Promise<PreparedRun | { readonly refused: string }> {
    if (!actor) return { refused: `Its token ${trigger.tokenId} is no longer valid. Give it another one.` }
    try {
      return await deps.queue.prepare(actor, trigger.component, trigger.configurationId)
    } catch (error) {
      if (error instanceof PlatformError && error.kind !== 'bug' && error.kind !== 'transient') return { refused: error.message }
      throw error
    }
  }

  return { show, list, create, update, remove, fireReady }
}

const sourceOf = ({ projectId, creatorToken }: Trigger, actor: Actor | undefined) =>
  actor ?? { projectId, tokenId: creatorToken.id, tokenDescription: creatorToken.description }

const triggerEvent = <N extends EventName>(trigger: Trigger, name: N, params: EventParams<N>, more: EventDetails = {}) =>
  eventOf(name, params, {
    component: trigger.component,
    configurationId: trigger.configurationId,
    objectId: String(trigger.id),
    objectName: trigger.configurationId,
    ...more,
  })

const invalid = (reason: string) => new PlatformError('storage.triggers.validation', { reason })
