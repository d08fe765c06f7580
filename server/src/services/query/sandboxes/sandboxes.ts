// Sandboxes and sessions of the SQL editor (spec platform 6.4): a workspace for a person, with credentials that can be read again,
// shared, switched off and on, and an end.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, seesWholeProject } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import { createSandboxesStore, type SandboxKind, type SandboxRow } from './sandboxes.store.ts'

/** The workspaces behind them. */
export interface SandboxWorkspaces {
  create(
    scope: Scope,
    wanted: { readonly backendSize?: string },
    of?: { readonly componentId: string; readonly configurationId: string },
  ): Promise<{ readonly workspace: { readonly id: number }; readonly password: string }>
  resetPassword(projectId: number, workspaceId: number): Promise<string>
  remove(projectId: number, workspaceId: number): Promise<void>
}

export interface SandboxesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly workspaces: SandboxWorkspaces
  readonly encrypt: (projectId: number, value: string) => Promise<string>
  readonly decrypt: (projectId: number, cipher: string) => Promise<string>
}

export interface SandboxRequest {
  readonly type: string
  readonly size?: string | undefined
  readonly shared?: boolean | undefined
  /** 0: it stays until it is deleted. */
  readonly expirationAfterHours?: number | undefined
  readonly componentId?: string | undefined
  readonly configurationId?: string | undefined
}

/** With the password in clear, for callers that may use it. */
export type Sandbox = Omit<SandboxRow, 'password'> & { readonly password: string }

/** Names of SQL backends that clients send: each gets a workspace of this stack. */
const SQL_TYPES = ['sql', 'duckdb', 'snowflake', 'bigquery', 'redshift', 'synapse', 'exasol', 'teradata']
const DEFAULT_HOURS = 7 * 24
const HOUR_MS = 3_600_000
const MAX_SANDBOXES = 100

export type Sandboxes = ReturnType<typeof createSandboxes>

export function createSandboxes({ db, inTransaction, clock, recordEvent, workspaces, encrypt, decrypt }: SandboxesDeps) {
  const store = createSandboxesStore(db)

  async function create(scope: Scope, kind: SandboxKind, wanted: SandboxRequest, origin: Origin): Promise<Sandbox> {
    const { actor, branch } = scope
    if (!SQL_TYPES.includes(wanted.type))
      throw new PlatformError('sandboxes.unknownType', { type: wanted.type.slice(0, 40), known: SQL_TYPES.join(', ') })
    if ((await store.list(actor.projectId, kind)).length >= MAX_SANDBOXES)
      throw new PlatformError('sandboxes.tooMany', { limit: MAX_SANDBOXES })
    const { componentId, configurationId } = wanted
    const { workspace, password } = await workspaces.create(
      scope,
      wanted.size === undefined ? {} : { backendSize: wanted.size },
      componentId === undefined || configurationId === undefined ? undefined : { componentId, configurationId },
    )
    const now = clock.now().getTime()
    const hours = wanted.expirationAfterHours ?? DEFAULT_HOURS
    const cipher = await encrypt(actor.projectId, password)
    const row = await inTransaction(async (trx) => {
      const inserted = await store.insert(trx, {
        project_id: actor.projectId,
        branch_id: branch.id,
        token_id: actor.tokenId,
        kind,
        type: wanted.type,
        workspace_id: workspace.id,
        component_id: componentId ?? null,
        configuration_id: configurationId ?? null,
        size: wanted.size ?? null,
        password: cipher,
        is_active: 1,
        is_shared: wanted.shared ? 1 : 0,
        expiration_hours: hours,
        created_at: now,
        updated_at: now,
        expires_at: endOf(now, hours),
      })
      await recordEvent(trx, actor, eventFor('sandboxes.created', inserted), origin)
      return inserted
    })
    return { ...row, password }
  }

  const opened = async (row: SandboxRow): Promise<Sandbox> => ({ ...row, password: await decrypt(row.project_id, row.password) })

  /** A password opens it for writing, which viewers may not. */
  const shown = async (actor: Actor, row: SandboxRow): Promise<Sandbox> =>
    actor.role === 'viewer' ? { ...row, password: '' } : opened(row)

  async function list(actor: Actor, kind: SandboxKind): Promise<Sandbox[]> {
    const all = await store.list(actor.projectId, kind)
    return Promise.all(all.filter((row) => maySee(actor, row)).map((row) => shown(actor, row)))
  }

  async function find(actor: Actor, kind: SandboxKind, id: string): Promise<SandboxRow> {
    const row = /^\d{1,15}$/.test(id) ? await store.find(actor.projectId, kind, Number(id)) : undefined
    if (!row || !maySee(actor, row)) throw new PlatformError('sandboxes.notFound', { what: NAMES[kind], id: id.slice(0, 40) })
    return row
  }

  const get = async (actor: Actor, kind: SandboxKind, id: string): Promise<Sandbox> => shown(actor, await find(actor, kind, id))

  /** Sharing shows it to every token that reads the whole project; only its creator can change it. */
  async function findOwn(actor: Actor, kind: SandboxKind, id: string): Promise<SandboxRow> {
    const row = await find(actor, kind, id)
    if (!isOwn(actor, row)) throw new PlatformError('accessDenied')
    return row
  }

  async function change(
    actor: Actor,
    id: string,
    { shared, expirationAfterHours }: Pick<SandboxRequest, 'shared' | 'expirationAfterHours'>,
    origin: Origin,
  ): Promise<Sandbox> {
    const row = await findOwn(actor, 'sandbox', id)
    const now = clock.now().getTime()
    const hours = expirationAfterHours ?? row.expiration_hours
    return save(actor, origin, row, {
      is_shared: shared === undefined ? row.is_shared : Number(shared),
      expiration_hours: hours,
      expires_at: expirationAfterHours === undefined ? row.expires_at : endOf(now, hours),
    })
  }

  /** New credentials; the old ones end. */
  async function resetCredentials(
    actor: Actor,
    kind: SandboxKind,
    id: string,
    origin: Origin,
    isActive = true,
  ): Promise<Sandbox> {
    const row = await findOwn(actor, kind, id)
    const password = await workspaces.resetPassword(row.project_id, row.workspace_id)
    return save(actor, origin, row, { password: await encrypt(row.project_id, password), is_active: Number(isActive) })
  }

  async function save(actor: Actor, origin: Origin, row: SandboxRow, changed: Partial<Omit<SandboxRow, 'id'>>): Promise<Sandbox> {
    const updated = await inTransaction(async (trx) => {
      const found = await store.update(trx, row, { ...changed, updated_at: clock.now().getTime() })
      if (found) await recordEvent(trx, actor, eventFor('sandboxes.changed', found), origin)
      return found
    })
    if (!updated) throw new PlatformError('sandboxes.notFound', { what: NAMES[row.kind], id: String(row.id) })
    return opened(updated)
  }

  async function remove(actor: Actor, kind: SandboxKind, id: string, origin: Origin): Promise<void> {
    const row = await findOwn(actor, kind, id)
    await removeRow(row, (trx) => recordEvent(trx, actor, eventFor('sandboxes.deleted', row), origin))
  }

  /** The workspace first: a record without one is found again and removed. */
  async function removeRow(row: SandboxRow, record?: (trx: Trx) => Promise<void>): Promise<void> {
    await workspaces.remove(row.project_id, row.workspace_id)
    await inTransaction(async (trx) => {
      await store.remove(trx, row)
      await record?.(trx)
    })
  }

  return {
    create,
    list,
    get,
    change,
    resetCredentials,
    /** Logins are disabled until it is activated: the current password is unknown. */
    deactivate: async (actor: Actor, id: string, origin: Origin): Promise<Sandbox> => {
      const closed = await resetCredentials(actor, 'sandbox', id, origin, false)
      return { ...closed, password: '' }
    },
    remove,
    /** Called every ten minutes. */
    async removeExpired(): Promise<void> {
      for (const row of await store.listExpired(clock.now())) await removeRow(row)
    },
  }
}

const eventFor = (name: 'sandboxes.created' | 'sandboxes.changed' | 'sandboxes.deleted', { id, kind, type }: SandboxRow) =>
  eventOf(name, { kind, type }, { objectId: String(id) })

const NAMES = { sandbox: 'Sandbox', session: 'Session' }

const endOf = (now: number, hours: number): number | null => (hours === 0 ? null : now + hours * HOUR_MS)

const isOwn = (actor: Actor, row: SandboxRow): boolean => actor.isMasterToken || row.token_id === actor.tokenId
/** The tables of a shared one were loaded with the rights of its owner, so it requires the right to read the whole project. */
const maySee = (actor: Actor, row: SandboxRow): boolean => isOwn(actor, row) || (row.is_shared === 1 && seesWholeProject(actor))
