// Rules for configurations: create, update, state, trash. Independent of HTTP and SQL.
//  (1) an update makes exactly one version when something differs, and none when nothing does;
//  (2) `configuration` and `state` are replaced whole, never merged (spec storage 2.8.3);
//  (3) secrets are encrypted inside the transaction, against the text that is really being replaced.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RecordEvent } from '../../../model/event.ts'
import {
  addressOf,
  type Caller,
  type ComponentLookup,
  checkVersion,
  configurationNotFound,
  type ExpectedVersion,
  existing,
  stampOf,
  usableComponent,
} from './access.ts'
import { configurationEvent, contentWarning, createRecordChange, looksWrapped, wrappedEvent } from './change-events.ts'
import type { ConfigurationInput } from './input.ts'
import { insertConfiguration, insertVersion, lockConfiguration, purgeConfiguration } from './records/configurations.store.ts'
import type { Address, ConfigurationRecord } from './records/records.ts'
import { listRowIds, markRowsDeleted } from './records/rows.store.ts'
import { type ChangedFields, differences, saveState, saveVersion } from './versioning.ts'

/** What this module needs of encryption. */
export interface SecretBox {
  encrypt(text: string, componentId: string, previous?: string): string
}

export interface ConfigurationsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly components: ComponentLookup
  readonly secretsOf: (projectId: number) => Promise<SecretBox>
  readonly recordEvent: RecordEvent
  readonly clock: Clock
  /** Ids of configurations, rows and versions; they sort by the time they were made. */
  readonly newId: () => string
}

/** The problems of a configuration that is about to be saved. */
export interface ContentRules {
  /** Refuses what could not be run; returns warnings. */
  checkContent(
    place: { readonly projectId: number; readonly branchId: number; readonly componentId: string },
    configurationId: string,
    configuration: string,
  ): Promise<readonly string[]>
}

export interface Configurations {
  create(caller: Caller, componentId: string, input: ConfigurationInput): Promise<ConfigurationRecord>
  update(
    caller: Caller,
    componentId: string,
    configurationId: string,
    input: ConfigurationInput,
    expected?: ExpectedVersion,
  ): Promise<ConfigurationRecord>
  setState(
    caller: Caller,
    componentId: string,
    configurationId: string,
    state: string,
    expected?: ExpectedVersion,
  ): Promise<ConfigurationRecord>
  /** To the trash, and from the trash for good. */
  remove(caller: Caller, componentId: string, configurationId: string, expected?: ExpectedVersion): Promise<void>
  restore(caller: Caller, componentId: string, configurationId: string, expected?: ExpectedVersion): Promise<ConfigurationRecord>
}

export function createConfigurations(deps: ConfigurationsDeps & ContentRules): Configurations {
  const { inTransaction, components, secretsOf, recordEvent, clock, newId } = deps
  const recordChange = createRecordChange(recordEvent)

  async function create(caller: Caller, componentId: string, input: ConfigurationInput): Promise<ConfigurationRecord> {
    const component = usableComponent(components, caller.actor, componentId)
    const secrets = await secretsOf(caller.actor.projectId)
    const address = addressOf(caller, component, input.configurationId ?? newId())
    const content = {
      name: input.name ?? '',
      description: input.description ?? '',
      isDisabled: input.isDisabled ?? false,
      configuration: secrets.encrypt(input.configuration?.text ?? '{}', component),
      state: secrets.encrypt(input.state?.text ?? '{}', component),
    }
    const warnings = await checkContent(address, input)
    const changeDescription = input.changeDescription ?? 'Configuration created'
    return await inTransaction(async (trx) => {
      const stamp = stampOf(caller.actor, clock.now().getTime())
      const before = await lockConfiguration(trx, address)
      if (before && !before.isDeleted) {
        throw new PlatformError('configurationAlreadyExists', { id: address.configurationId })
      }
      const record = before
        ? await revive(trx, before, content, { stamp, changeDescription, newId })
        : await insertFirst(trx, { ...address, listedAs: components.listedId(componentId), ...content, changeDescription, stamp })
      await recordChange(trx, caller, configurationEvent(before ? 'Restored' : 'Created', record))
      await warnIfWrapped(trx, caller, input, record)
      await warn(trx, caller, record, warnings)
      return record
    })
  }

  const checkContent = async (address: Address, { configuration }: ConfigurationInput): Promise<readonly string[]> =>
    configuration ? deps.checkContent(address, address.configurationId, configuration.text) : []

  async function insertFirst(
    trx: Trx,
    {
      stamp,
      ...given
    }: Pick<
      ConfigurationRecord,
      | 'projectId'
      | 'branchId'
      | 'componentId'
      | 'listedAs'
      | 'configurationId'
      | 'name'
      | 'description'
      | 'isDisabled'
      | 'configuration'
      | 'state'
      | 'changeDescription'
    > & { stamp: ConfigurationRecord['created'] },
  ): Promise<ConfigurationRecord> {
    const first = {
      ...given,
      isDeleted: false,
      version: 1,
      contentVersion: 1,
      rowsSortOrder: [],
      versionIdentifier: newId(),
      revision: 1,
      rowsRevision: 1,
      created: stamp,
      changed: stamp,
      baseVersion: null,
    }
    const record = { ...first, ownerId: await insertConfiguration(trx, first) }
    await insertVersion(trx, record)
    return record
  }

  /** An id that was deleted continues its versions; the rows it had stay in the past. */
  async function revive(
    trx: Trx,
    before: ConfigurationRecord,
    content: ChangedFields,
    change: Parameters<typeof saveVersion>[3],
  ): Promise<ConfigurationRecord> {
    const rowIds = await listRowIds(trx, before.projectId, before.ownerId)
    const record = await saveVersion(trx, before, { ...content, isDeleted: false, rowsSortOrder: [] }, change)
    await markRowsDeleted(trx, record.projectId, record.ownerId, rowIds, record.version)
    return record
  }

  async function update(
    caller: Caller,
    componentId: string,
    configurationId: string,
    input: ConfigurationInput,
    expected?: ExpectedVersion,
  ): Promise<ConfigurationRecord> {
    const component = usableComponent(components, caller.actor, componentId)
    if (input.state && !caller.branch.isDefault)
      throw new PlatformError('storage.components.stateInBranch', { what: 'configuration' })
    const secrets = await secretsOf(caller.actor.projectId)
    const warnings = await checkContent(addressOf(caller, component, configurationId), input)
    return await inTransaction(async (trx) => {
      const before = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      checkVersion(expected, before.version, `Configuration "${configurationId}"`)
      if (input.rowsSortOrder) await checkSortOrder(trx, before, input.rowsSortOrder)
      const { rowsSortOrder } = input
      const fields: ChangedFields = {
        ...differences(before, input, (text, previous) => secrets.encrypt(text, component, previous)),
        ...(rowsSortOrder && rowsSortOrder.join() !== before.rowsSortOrder.join() && { rowsSortOrder }),
      }
      if (Object.keys(fields).length === 0) return before
      const stamp = stampOf(caller.actor, clock.now().getTime())
      const changeDescription = input.changeDescription ?? 'Configuration updated'
      const record = await saveVersion(trx, before, fields, { stamp, changeDescription, newId })
      await recordChange(trx, caller, configurationEvent('Changed', record))
      if (fields.configuration !== undefined) await warnIfWrapped(trx, caller, input, record)
      if (fields.configuration !== undefined) await warn(trx, caller, record, warnings)
      return record
    })
  }

  async function warn(trx: Trx, caller: Caller, record: ConfigurationRecord, warnings: readonly string[]): Promise<void> {
    for (const warning of warnings) await recordChange(trx, caller, contentWarning(record, warning))
  }

  async function warnIfWrapped(trx: Trx, caller: Caller, input: ConfigurationInput, record: ConfigurationRecord): Promise<void> {
    if (looksWrapped(input.configuration?.value)) await recordChange(trx, caller, wrappedEvent(record))
  }

  async function setState(
    caller: Caller,
    componentId: string,
    configurationId: string,
    state: string,
    expected?: ExpectedVersion,
  ): Promise<ConfigurationRecord> {
    const component = usableComponent(components, caller.actor, componentId)
    const secrets = await secretsOf(caller.actor.projectId)
    return await inTransaction(async (trx) => {
      const before = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      checkVersion(expected, before.version, `Configuration "${configurationId}"`)
      return await saveState(trx, before, secrets.encrypt(state, component, before.state))
    })
  }

  async function remove(caller: Caller, componentId: string, configurationId: string, expected?: ExpectedVersion): Promise<void> {
    const component = usableComponent(components, caller.actor, componentId)
    await inTransaction(async (trx) => {
      const before = await lockConfiguration(trx, addressOf(caller, component, configurationId))
      if (!before) throw configurationNotFound(configurationId)
      checkVersion(expected, before.version, `Configuration "${configurationId}"`)
      if (before.isDeleted) return await purge(trx, caller, before)
      const stamp = stampOf(caller.actor, clock.now().getTime())
      const change = { stamp, changeDescription: 'Configuration deleted', newId }
      const record = await saveVersion(trx, before, { isDeleted: true }, change)
      await recordChange(trx, caller, configurationEvent('Deleted', record))
    })
  }

  async function purge(trx: Trx, caller: Caller, record: ConfigurationRecord): Promise<void> {
    if (!caller.branch.isDefault) {
      throw new PlatformError('storage.components.cannotDeleteConfiguration', { id: record.configurationId })
    }
    if (!caller.actor.isMasterToken && !caller.actor.canPurgeTrash) throw new PlatformError('accessDenied')
    await purgeConfiguration(trx, record.projectId, record.ownerId)
    await recordChange(trx, caller, configurationEvent('Purged', record))
  }

  async function restore(
    caller: Caller,
    componentId: string,
    configurationId: string,
    expected?: ExpectedVersion,
  ): Promise<ConfigurationRecord> {
    const component = usableComponent(components, caller.actor, componentId)
    return await inTransaction(async (trx) => {
      const before = await lockConfiguration(trx, addressOf(caller, component, configurationId))
      if (!before?.isDeleted) throw configurationNotFound(configurationId)
      checkVersion(expected, before.version, `Configuration "${configurationId}"`)
      const stamp = stampOf(caller.actor, clock.now().getTime())
      const change = { stamp, changeDescription: 'Configuration restored', newId }
      const record = await saveVersion(trx, before, { isDeleted: false }, change)
      await recordChange(trx, caller, configurationEvent('Restored', record))
      return record
    })
  }

  return { create, update, setState, remove, restore }
}

/** Either nothing (back to the order of ids) or every row exactly once. */
async function checkSortOrder(trx: Trx, { projectId, ownerId }: ConfigurationRecord, order: readonly string[]): Promise<void> {
  if (order.length === 0) return
  const ids = await listRowIds(trx, projectId, ownerId)
  const [known, named] = [new Set(ids), new Set(order)]
  const unknown = order.find((id) => !known.has(id))
  if (unknown !== undefined) {
    const reason = `row "${unknown.slice(0, 100)}" is not a row of this configuration.`
    throw new PlatformError('storage.components.validation', { field: 'rowsSortOrder', reason })
  }
  if (named.size !== order.length) {
    throw new PlatformError('storage.components.validation', { field: 'rowsSortOrder', reason: 'it names a row twice.' })
  }
  const missing = ids.filter((id) => !named.has(id))
  if (missing.length > 0) throw new PlatformError('validation.invalidRowSortOrder', { missing: missing.slice(0, 10).join(', ') })
}
