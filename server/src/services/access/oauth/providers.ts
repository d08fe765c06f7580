// Which providers there are: those that come with the stack, those of the folder `oauth-providers` of the data folder, and those that
// the manage routes keep. The later wins over the earlier where they have the same id, member by member.

import type { JsonFolder } from '../../../engines/json-folder/json-folder.ts'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type EventSource, eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { OauthStore, StoredProvider } from './oauth.store.ts'
import {
  completeProvider,
  type Provider,
  type ProviderDefinition,
  type ProviderFile,
  readProviderFile,
} from './provider-definition.ts'

export interface ProvidersDeps {
  readonly store: OauthStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly builtIn: JsonFolder
  readonly folder: JsonFolder
  readonly encrypt: (providerId: string, secret: string) => Promise<string>
  readonly decrypt: (providerId: string, cipher: string) => Promise<string>
  readonly recordEvent: RecordEvent
  readonly log: { info(details: object, text: string): void; warn(details: object, text: string): void }
}

/** Who changes a provider of the stack. */
export interface ChangedBy {
  readonly source: EventSource | undefined
  readonly origin: Origin
}

export type Providers = ReturnType<typeof createProviders>

/** A provider that refers to another, which refers to another: a few steps, then it is a circle. */
const MAX_STEPS = 8

export function createProviders(deps: ProvidersDeps) {
  const { store, inTransaction, clock, log } = deps
  const files = { builtIn: new Map<string, ProviderFile>(), folder: new Map<string, ProviderFile>() }

  async function readFolder(name: 'builtIn' | 'folder'): Promise<void> {
    const found = await deps[name].readIfChanged()
    if (!found) return
    files[name] = new Map(
      found.flatMap(({ file, text }) => {
        try {
          const read = readProviderFile(text)
          return [[read.id, read] as const]
        } catch (err) {
          log.warn({ err, file }, 'a file of the folder oauth-providers does not describe a provider and is left out')
          return []
        }
      }),
    )
  }

  /** What is stated about each id, the latest statement last. */
  async function statements(): Promise<ReadonlyMap<string, readonly (ProviderFile | StoredProvider)[]>> {
    await readFolder('builtIn')
    await readFolder('folder')
    const all = new Map<string, (ProviderFile | StoredProvider)[]>()
    const add = (id: string, statement: ProviderFile | StoredProvider) => all.set(id, [...(all.get(id) ?? []), statement])
    for (const file of [...files.builtIn.values(), ...files.folder.values()]) add(file.id, file)
    for (const stored of await store.listProviders()) add(stored.definition.id, stored)
    return all
  }

  function definitionOf(id: string, all: Awaited<ReturnType<typeof statements>>, steps = 0): ProviderDefinition {
    if (steps > MAX_STEPS) throw new PlatformError('oauth.invalidProvider', { field: 'provider', reason: 'it refers to itself' })
    const own: ProviderDefinition = Object.assign({ id }, ...(all.get(id) ?? []).map(definitionIn))
    const base = own.provider === undefined || own.provider === id ? {} : definitionOf(own.provider, all, steps + 1)
    return { ...base, ...own }
  }

  async function find(id: string): Promise<Provider | undefined> {
    const all = await statements()
    return all.has(id) ? completeProvider(definitionOf(id, all)) : undefined
  }

  async function get(id: string): Promise<Provider> {
    const found = await find(id)
    if (!found) throw new PlatformError('oauth.providerNotFound', { id: id.slice(0, 200) })
    return found
  }

  async function list(): Promise<readonly Provider[]> {
    const all = await statements()
    return [...all.keys()].sort().flatMap((id) => {
      try {
        return [completeProvider(definitionOf(id, all))]
      } catch {
        return [] // reported where it was stated
      }
    })
  }

  /** The secret of the client that the stack has at a provider; it belongs to the statement that has the client id. */
  async function secretOf(id: string): Promise<string> {
    const all = await statements()
    for (let name: string | undefined = id, steps = 0; name !== undefined && steps <= MAX_STEPS; steps++) {
      const own: readonly (ProviderFile | StoredProvider)[] = all.get(name) ?? []
      for (const statement of own.toReversed()) {
        if ('app_secret' in statement && statement.app_secret !== undefined) return statement.app_secret
        if ('appSecret' in statement && statement.appSecret !== null) return deps.decrypt(name, statement.appSecret)
      }
      name = own.map((one) => definitionIn(one).provider).findLast((base) => base !== undefined)
    }
    return ''
  }

  async function listManaged(): Promise<readonly ProviderDefinition[]> {
    return (await store.listProviders()).map(({ definition }) => definition)
  }

  async function getManaged(id: string): Promise<StoredProvider> {
    const found = (await store.listProviders()).find(({ definition }) => definition.id === id)
    if (!found) throw new PlatformError('oauth.providerNotFound', { id: id.slice(0, 200) })
    return found
  }

  async function add(by: ChangedBy, definition: ProviderDefinition, secret: string | undefined): Promise<ProviderDefinition> {
    if ((await listManaged()).some(({ id }) => id === definition.id))
      throw new PlatformError('oauth.providerExists', { id: definition.id })
    return save(by, definition, secret === undefined ? null : await deps.encrypt(definition.id, secret))
  }

  async function change(by: ChangedBy, id: string, members: Omit<ProviderDefinition, 'id'>, secret: string | undefined) {
    const before = await getManaged(id)
    const appSecret = secret === undefined ? before.appSecret : await deps.encrypt(id, secret)
    return save(by, { ...before.definition, ...members }, appSecret)
  }

  async function save(by: ChangedBy, definition: ProviderDefinition, appSecret: string | null): Promise<ProviderDefinition> {
    const all = new Map(await statements())
    all.set(definition.id, [...(all.get(definition.id) ?? []), definition])
    completeProvider(definitionOf(definition.id, all))
    await inTransaction(async (trx) => {
      await store.saveProvider(trx, { definition, appSecret }, clock.now().getTime())
      await record(trx, by, 'oauth.providerSaved', definition.id)
    })
    log.info({ provider: definition.id }, 'an OAuth provider was saved through the manage routes')
    return definition
  }

  async function remove(by: ChangedBy, id: string): Promise<void> {
    await inTransaction(async (trx) => {
      if (!(await store.removeProvider(trx, id))) throw new PlatformError('oauth.providerNotFound', { id: id.slice(0, 200) })
      await record(trx, by, 'oauth.providerRemoved', id)
    })
    log.info({ provider: id }, 'an OAuth provider was removed through the manage routes')
  }

  /** A stack without projects has nowhere to keep it; the log has it in any case. */
  async function record(
    trx: Trx,
    { source, origin }: ChangedBy,
    name: 'oauth.providerSaved' | 'oauth.providerRemoved',
    id: string,
  ) {
    if (source) await deps.recordEvent(trx, source, eventOf(name, {}, { objectId: id }), origin)
  }

  return { find, get, list, secretOf, listManaged, getManaged, add, change, remove }
}

function definitionIn(statement: ProviderFile | StoredProvider): ProviderDefinition {
  if ('definition' in statement) return statement.definition
  const { app_secret: _, ...definition } = statement
  return definition
}
