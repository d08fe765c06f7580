// Data apps (spec platform 6.4): a configuration of an app component, deployed at a version, with links for people. The processes are
// those of instances.ts: one on every node that gets a request for the app.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { mapBounded } from '../../../kit/map-bounded.ts'
import { createShortMemory } from '../../../kit/short-memory.ts'
import type { Actor } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import type { AppSettings } from './app-settings.ts'
import { hashOf } from './app-token.ts'
import type { AppKey, AppRow, AppsStore, LinkRow, LogLine, RunRow } from './apps.store.ts'
import { isAlive } from './instances.ts'
import type { RepositoriesStore } from './repositories.store.ts'

export interface AppCaller extends Scope {
  readonly origin: Origin
}

export interface AppConfiguration {
  readonly componentId: string
  readonly configurationId: string
  readonly name: string
  readonly version: number
  readonly configuration: string
}

export interface AppsDeps {
  readonly store: AppsStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  /** The id of a component that is an app, which the actor may use. */
  readonly usableApp: (actor: Actor, componentId: string) => string
  /** Configurations of app components, in all branches or in one. */
  readonly listConfigurations: (projectId: number) => Promise<readonly AppKey[]>
  readonly createConfiguration: (
    caller: AppCaller,
    componentId: string,
    content: {
      readonly configurationId: string
      readonly name: string
      readonly description: string
      readonly configuration: string
    },
  ) => Promise<unknown>
  /** Of a new configuration. */
  readonly newId: () => string
  readonly encrypt: (projectId: number, text: string) => Promise<string>
  readonly decrypt: (projectId: number, cipher: string) => Promise<string>
  readonly removeConfiguration: (caller: AppCaller, componentId: string, configurationId: string) => Promise<void>
  readonly findConfiguration: (key: AppKey) => Promise<AppConfiguration | undefined>
  readonly findVersion: (key: AppKey, version: number) => Promise<{ readonly configuration: string } | undefined>
  /** Refuses a configuration that cannot run on this node. */
  readonly check: (app: AppRow, configuration: string) => Promise<AppSettings>
  readonly settingsOf: (componentId: string, configuration: string) => AppSettings
  readonly defaultBranchId: (projectId: number) => Promise<number>
  /** Whether the token of a link still works. */
  readonly admit: (projectId: number, tokenId: number) => Promise<Actor | undefined>
  readonly repositories: Pick<RepositoriesStore, 'insert' | 'find'>
  /** Removes the objects of the repository of an app that is gone. */
  readonly discardRepository: (app: AppRow) => Promise<void>
  readonly instances: { begin(app: AppRow): void; end(appId: number): void }
}

export interface AppRequest {
  readonly type?: string | undefined
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly componentId?: string | undefined
  readonly configId?: string | undefined
  readonly config?: Readonly<Record<string, unknown>> | undefined
  readonly useManagedGitRepo?: boolean | undefined
}

export interface AppChange {
  readonly desiredState?: 'running' | 'stopped' | undefined
  readonly configVersion?: string | number | undefined
  readonly restartIfRunning?: boolean | undefined
}

export type AppState = 'created' | 'starting' | 'running' | 'stopping' | 'stopped'

export interface App {
  readonly row: AppRow
  readonly state: AppState
  readonly name: string
  /** Of the configuration, which may be newer than what is deployed. */
  readonly latestVersion: number
  /** Its configuration, also when it cannot be deployed. */
  readonly type: string
  /** Undefined: the configuration cannot be read as one of an app. */
  readonly settings: AppSettings | undefined
}

const DATA_APPS = 'keboola.data-apps'
const MAX_APPS = 100
const MAX_RUNS = 100
const LINK_SECONDS = 12 * 3600
const FIRST = { offset: 0, limit: 500 }

export type Apps = ReturnType<typeof createApps>

export function createApps(deps: AppsDeps) {
  const { store, inTransaction, clock, recordEvent, instances } = deps
  const links = createShortMemory<LinkRow>(clock, (hash) => store.findLink(hash))
  const now = () => clock.now().getTime()

  async function create(caller: AppCaller, wanted: AppRequest): Promise<App> {
    const { actor, branch } = caller
    const componentId = deps.usableApp(actor, wanted.componentId ?? DATA_APPS)
    if ((await store.count(actor.projectId)) >= MAX_APPS) throw new PlatformError('apps.tooMany', { limit: MAX_APPS })
    if (wanted.configId === undefined) return createWhole(caller, componentId, wanted)
    const key = keyOf(actor.projectId, branch.id, componentId, wanted.configId)
    if (!(await deps.findConfiguration(key)))
      throw new PlatformError('storage.configuration.notFound', { id: wanted.configId.slice(0, 255), component: componentId })
    const row = await ensure(key, caller)
    await provide(row, wanted)
    return viewed(row)
  }

  const provide = async (row: AppRow, { useManagedGitRepo = false }: AppRequest): Promise<void> => {
    if (useManagedGitRepo) await inTransaction((trx) => deps.repositories.insert(trx, row))
  }

  /** The app is created first: its configuration contains its id, by which clients find the app of a configuration. */
  async function createWhole(caller: AppCaller, componentId: string, wanted: AppRequest): Promise<App> {
    const { actor, branch, origin } = caller
    const configurationId = deps.newId()
    const row = await ensure(keyOf(actor.projectId, branch.id, componentId, configurationId))
    const { name = 'Data app', description = '' } = wanted
    const configuration = configurationOf(wanted, String(row.id))
    try {
      await provide(row, wanted)
      await deps.createConfiguration(caller, componentId, { configurationId, name, description, configuration })
    } catch (error) {
      await inTransaction((trx) => store.remove(trx, row))
      throw error
    }
    await inTransaction((trx) => recordEvent(trx, actor, eventFor('apps.created', row), origin))
    return viewed(row)
  }

  /** The app of a configuration, created on first request: a template or a copy of a branch contains no apps. */
  async function ensure(key: AppKey, caller?: { readonly actor: Actor; readonly origin: Origin }): Promise<AppRow> {
    const found = await store.findOf(key)
    if (found) return found
    const at = now()
    const made = await inTransaction(async (trx) => {
      const row = await store.insert(trx, {
        ...key,
        desired_state: 'stopped',
        generation: 1,
        config_version: null,
        token_id: null,
        auto_suspend_seconds: 900,
        auto_restart: 1,
        created_at: at,
        updated_at: at,
        last_request_at: null,
        last_start_at: null,
        password_cipher: null,
        password_token_id: null,
      })
      if (row && caller) await recordEvent(trx, caller.actor, eventFor('apps.created', row), caller.origin)
      return row
    })
    return made ?? (await store.findOf(key)) ?? ensure(key)
  }

  async function find(actor: Actor, id: string): Promise<AppRow> {
    const row = /^\d{1,15}$/.test(id) ? await store.find(actor.projectId, Number(id)) : undefined
    if (!row || !(await deps.findConfiguration(row))) throw new PlatformError('apps.notFound', { id: id.slice(0, 40) })
    deps.usableApp(actor, row.component_id)
    return row
  }

  async function list(actor: Actor, filter: Partial<Parameters<AppsStore['list']>[1]>): Promise<App[]> {
    const known = new Set(
      (await store.list(actor.projectId, { ...FIRST, componentId: undefined, branchId: undefined })).map(nameOf),
    )
    const missing = (await deps.listConfigurations(actor.projectId)).filter((key) => !known.has(nameOf(key)))
    for (const key of missing.slice(0, FIRST.limit)) await ensure(key)
    const rows = await store.list(actor.projectId, { componentId: undefined, branchId: undefined, ...FIRST, ...filter })
    const apps = await mapBounded(
      rows.filter((row) => mayUse(actor, row.component_id)),
      8,
      findViewed,
    )
    return apps.filter((app) => app !== undefined)
  }

  function mayUse(actor: Actor, componentId: string): boolean {
    try {
      deps.usableApp(actor, componentId)
      return true
    } catch (error) {
      if (error instanceof PlatformError) return false
      throw error
    }
  }

  async function viewed(row: AppRow): Promise<App> {
    const app = await findViewed(row)
    if (!app) throw new PlatformError('apps.notFound', { id: String(row.id) })
    return app
  }

  /** Undefined: its configuration is in the trash. */
  async function findViewed(row: AppRow): Promise<App | undefined> {
    const found = await deps.findConfiguration(row)
    if (!found) return undefined
    const runs = await store.listOpenRuns(row.project_id, [row.id])
    const settings = settingsOrNothing(row.component_id, found.configuration)
    const type = settings?.runtime ?? settings?.own ?? declaredType(found.configuration)
    return { row, state: stateOf(row, runs, now()), name: found.name, latestVersion: found.version, type, settings }
  }

  function settingsOrNothing(componentId: string, configuration: string): AppSettings | undefined {
    try {
      return deps.settingsOf(componentId, configuration)
    } catch (error) {
      if (error instanceof PlatformError) return undefined
      throw error
    }
  }

  /** Deploys or stops. What runs already stays as it is, unless a restart is requested or the version changes. */
  async function change(caller: AppCaller, id: string, wanted: AppChange): Promise<App> {
    const row = await find(caller.actor, id)
    if (wanted.desiredState === undefined) return viewed(row)
    return wanted.desiredState === 'stopped' ? stop(caller, row) : deploy(caller, row, wanted)
  }

  async function deploy(caller: AppCaller, row: AppRow, { configVersion, restartIfRunning }: AppChange): Promise<App> {
    const version = await versionOf(row, configVersion)
    const found = await deps.findVersion(row, version)
    if (!found) throw new PlatformError('apps.versionNotFound', { id: String(row.id), version })
    const settings = await deps.check(row, found.configuration)
    const isSame = row.desired_state === 'running' && row.config_version === version && restartIfRunning !== true
    const deployed = isSame
      ? row
      : await save(caller, row, 'apps.deployed', {
          desired_state: 'running',
          config_version: version,
          token_id: caller.actor.tokenId,
          auto_suspend_seconds: settings.autoSuspendSeconds,
          auto_restart: Number(settings.autoRestart),
        })
    instances.begin(deployed)
    return viewed(deployed)
  }

  async function versionOf(row: AppRow, asked: string | number | undefined): Promise<number> {
    if (asked !== undefined && /^[1-9]\d{0,8}$/.test(String(asked))) return Number(asked)
    if (asked !== undefined && asked !== '')
      throw new PlatformError('apps.versionNotFound', { id: String(row.id), version: String(asked).slice(0, 40) })
    return (await viewed(row)).latestVersion
  }

  async function stop(caller: AppCaller, row: AppRow): Promise<App> {
    const stopped = row.desired_state === 'stopped' ? row : await save(caller, row, 'apps.stopped', { desired_state: 'stopped' })
    instances.end(row.id)
    return viewed(stopped)
  }

  async function save(
    { actor, origin }: AppCaller,
    row: AppRow,
    event: 'apps.deployed' | 'apps.stopped',
    changed: Partial<AppRow>,
  ): Promise<AppRow> {
    const saved = await inTransaction(async (trx) => {
      const found = await store.update(trx, row, { ...changed, generation: row.generation + 1, updated_at: now() })
      if (found) await recordEvent(trx, actor, eventFor(event, found), origin)
      return found
    })
    if (!saved) throw new PlatformError('apps.changed', { id: String(row.id) })
    return saved
  }

  /** The configuration goes to the trash; runs, lines and links are gone. */
  async function remove(caller: AppCaller, id: string): Promise<void> {
    const row = await find(caller.actor, id)
    instances.end(row.id)
    await deps.removeConfiguration({ ...caller, branch: await branchOf(row) }, row.component_id, row.configuration_id)
    await inTransaction(async (trx) => {
      await store.remove(trx, row)
      await recordEvent(trx, caller.actor, eventFor('apps.deleted', row), caller.origin)
    })
    await deps.discardRepository(row)
  }

  const branchOf = async ({ project_id, branch_id }: AppRow) => ({
    id: branch_id,
    isDefault: branch_id === (await deps.defaultBranchId(project_id)),
  })

  /** A link opens the app for anyone who has it, as long as the token that created it is valid. */
  async function createLink(
    { actor, origin }: Pick<AppCaller, 'actor' | 'origin'>,
    row: AppRow,
    seconds = LINK_SECONDS,
  ): Promise<{ readonly value: string; readonly expiresAt: Date }> {
    const value = randomBytes(32).toString('base64url')
    const expiresAt = now() + seconds * 1000
    await inTransaction(async (trx) => {
      const link = { hash: hashOf(value), project_id: row.project_id, app_id: row.id, token_id: actor.tokenId }
      await store.insertLink(trx, { ...link, expires_at: expiresAt }, now())
      await recordEvent(trx, actor, eventFor('apps.linkCreated', row), origin)
    })
    return { value, expiresAt: new Date(expiresAt) }
  }

  /** The same for all callers, until the token that requested it first becomes invalid. */
  async function password(caller: Pick<AppCaller, 'actor' | 'origin'>, id: string): Promise<string> {
    const row = await find(caller.actor, id)
    const known = await knownPassword(row)
    if (known) return known.value
    const value = randomBytes(18).toString('base64url')
    const cipher = await deps.encrypt(row.project_id, value)
    const saved = await inTransaction(async (trx) => {
      const changed = await store.setPassword(trx, row, cipher, caller.actor.tokenId)
      if (changed) await recordEvent(trx, caller.actor, eventFor('apps.passwordCreated', row), caller.origin)
      return changed
    })
    return saved ? value : password(caller, id)
  }

  async function knownPassword(row: AppRow): Promise<{ readonly value: string; readonly actor: Actor } | undefined> {
    if (row.password_cipher === null || row.password_token_id === null) return undefined
    const actor = await deps.admit(row.project_id, row.password_token_id)
    return actor && { value: await deps.decrypt(row.project_id, row.password_cipher), actor }
  }

  /** On whose behalf a password opens the app; undefined when it is wrong. */
  async function actorOfPassword(row: AppRow, given: string): Promise<Actor | undefined> {
    const known = await knownPassword(row)
    const isRight = known && timingSafeEqual(Buffer.from(hashOf(known.value)), Buffer.from(hashOf(given)))
    return isRight ? known.actor : undefined
  }

  /** Where the code of an app is that has it in a git repository; undefined: the stack hosts it. */
  async function repositoryOf(actor: Actor, id: string): Promise<string | undefined> {
    const row = await find(actor, id)
    if (await deps.repositories.find(row)) return undefined
    const found = await deps.findConfiguration(row)
    const { parameters } = JSON.parse(found?.configuration ?? '{}') as {
      parameters?: { dataApp?: { git?: { repository?: unknown } } }
    }
    const repository = parameters?.dataApp?.git?.repository
    if (typeof repository !== 'string') throw new PlatformError('apps.noRepository', { id })
    return repository
  }

  /** The app that a link opens; undefined when the link is wrong or has ended, or the token behind it no longer works. */
  async function openLink(appId: number, value: string): Promise<AppRow | undefined> {
    const link = await links.get(hashOf(value))
    if (!link || link.app_id !== appId || link.expires_at <= now()) return undefined
    if (!(await deps.admit(link.project_id, link.token_id))) return undefined
    return store.find(link.project_id, appId)
  }

  return {
    create,
    list,
    find,
    get: async (actor: Actor, id: string): Promise<App> => viewed(await find(actor, id)),
    change,
    remove,
    createLink,
    openLink,
    password,
    actorOfPassword,
    repositoryOf,
    /** For addresses that name the app alone. */
    findAnywhere: store.findAnywhere,
    runs: async (actor: Actor, id: string): Promise<RunRow[]> => store.listRuns(await find(actor, id), MAX_RUNS),
    tail: async (
      actor: Actor,
      id: string,
      lines: number,
      since: Date | undefined,
    ): Promise<Pick<LogLine, 'at' | 'level' | 'text'>[]> => store.tail(await find(actor, id), lines, since?.getTime()),
  }
}

const keyOf = (projectId: number, branchId: number, componentId: string, configurationId: string): AppKey => ({
  project_id: projectId,
  branch_id: branchId,
  component_id: componentId,
  configuration_id: configurationId,
})

const nameOf = ({ branch_id, component_id, configuration_id }: AppKey): string =>
  JSON.stringify([branch_id, component_id, configuration_id])

/** The content of the request, with the type and the id where apps keep them. */
function configurationOf({ config, type }: AppRequest, id: string): string {
  const { parameters } = config ?? {}
  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters)
  if (!isObject && parameters !== undefined) return JSON.stringify(config)
  return JSON.stringify({ ...config, parameters: { ...(type !== undefined && { type }), ...parameters, id } })
}

/** Of an app whose settings cannot be read. */
function declaredType(configuration: string): string {
  const { parameters } = JSON.parse(configuration) as { parameters?: { type?: unknown } | null }
  return typeof parameters?.type === 'string' ? parameters.type : 'node'
}

const eventFor = (
  name: 'apps.created' | 'apps.deployed' | 'apps.stopped' | 'apps.deleted' | 'apps.linkCreated' | 'apps.passwordCreated',
  { id, component_id, configuration_id, branch_id }: AppRow,
) => eventOf(name, {}, { objectId: String(id), component: component_id, configurationId: configuration_id, branchId: branch_id })

export function stateOf(row: AppRow, openRuns: readonly RunRow[], now: number): AppState {
  const states = openRuns.filter((run) => isAlive(run, now)).map((run) => run.state)
  if (row.desired_state === 'stopped') return states.length > 0 ? 'stopping' : row.config_version === null ? 'created' : 'stopped'
  if (states.includes('running')) return 'running'
  return states.includes('starting') ? 'starting' : 'stopped'
}
