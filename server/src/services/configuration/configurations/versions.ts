// Versions of configurations: read, roll back, copy. A version is never changed and never removed while the configuration lives.

import {
  addressOf,
  type Caller,
  checkVersion,
  type ExpectedVersion,
  existing,
  rowNotFound,
  stampOf,
  usableComponent,
  versionNotFound,
} from './access.ts'
import { configurationFromEvent, createRecordChange } from './change-events.ts'
import { insertWhole, replaceWhole, type WholeVersion, wholeVersion } from './configuration-with-rows.ts'
import type { ConfigurationsDeps } from './configurations.ts'
import { findConfiguration, findContents, listVersions, lockConfiguration } from './records/configurations.store.ts'
import type { ConfigurationRecord, RowVersionRecord, VersionRecord } from './records/records.ts'
import { findRow, findRowVersion, listRowStates, listRowVersions } from './records/rows.store.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

export interface Versions {
  list(
    caller: Caller,
    componentId: string,
    configurationId: string,
    page: Page,
  ): Promise<readonly (VersionRecord & { readonly configuration: string })[]>
  get(caller: Caller, componentId: string, configurationId: string, version: number): Promise<WholeVersion>
  /** Answers the configuration at its new version. */
  rollBack(
    caller: Caller,
    componentId: string,
    configurationId: string,
    version: number,
    given?: { readonly changeDescription?: string | undefined; readonly expected?: ExpectedVersion | undefined },
  ): Promise<ConfigurationRecord>
  /** Answers the new configuration. */
  copy(
    caller: Caller,
    componentId: string,
    configurationId: string,
    version: number,
    given: { readonly name: string; readonly description?: string; readonly changeDescription?: string },
  ): Promise<ConfigurationRecord>
  listOfRow(
    caller: Caller,
    componentId: string,
    configurationId: string,
    rowId: string,
    page: Page,
  ): Promise<readonly RowVersionRecord[]>
  getOfRow(
    caller: Caller,
    componentId: string,
    configurationId: string,
    rowId: string,
    version: number,
  ): Promise<RowVersionRecord>
}

export function createVersions({ db, inTransaction, components, recordEvent, clock, newId }: ConfigurationsDeps): Versions {
  const recordChange = createRecordChange(recordEvent)

  async function find(caller: Caller, componentId: string, configurationId: string): Promise<ConfigurationRecord> {
    const component = usableComponent(components, caller.actor, componentId)
    return existing(await findConfiguration(db, addressOf(caller, component, configurationId)), configurationId)
  }

  const list: Versions['list'] = async (caller, componentId, configurationId, page) => {
    const { projectId, ownerId } = await find(caller, componentId, configurationId)
    const versions = await listVersions(db, projectId, ownerId, page)
    const contents = await findContents(
      db,
      projectId,
      ownerId,
      versions.map((version) => version.contentVersion),
    )
    return versions.map((version) => ({ ...version, configuration: contents.get(version.contentVersion) ?? '{}' }))
  }

  const get: Versions['get'] = async (caller, componentId, configurationId, version) =>
    await wholeVersion(db, await find(caller, componentId, configurationId), version)

  const rollBack: Versions['rollBack'] = async (caller, componentId, configurationId, version, given = {}) => {
    const component = usableComponent(components, caller.actor, componentId)
    return await inTransaction(async (trx) => {
      const before = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      checkVersion(given.expected, before.version, `Configuration "${configurationId}"`)
      const chosen = await wholeVersion(trx, before, version)
      const change = {
        stamp: stampOf(caller.actor, clock.now().getTime()),
        changeDescription: given.changeDescription ?? `Rollback to version ${version}`,
        describeRow: (row: { version: number }) =>
          `Rollback to version ${row.version} (via configuration rollback to version ${version})`,
        newId,
        everyRow: true,
      }
      const after = await replaceWhole(trx, before, chosen, change, { contentVersion: chosen.contentVersion })
      await recordChange(trx, caller, configurationFromEvent('RolledBack', after, { ...before, name: chosen.name, version }))
      return after
    })
  }

  const copy: Versions['copy'] = async (caller, componentId, configurationId, version, given) => {
    const component = usableComponent(components, caller.actor, componentId)
    return await inTransaction(async (trx) => {
      const source = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      const chosen = await wholeVersion(trx, source, version)
      const copied = `Copied from configuration "${chosen.name}" (${configurationId}) version ${version}`
      const changeDescription = given.changeDescription ?? copied
      const stamp = stampOf(caller.actor, clock.now().getTime())
      const content = { ...chosen, name: given.name, description: given.description ?? chosen.description }
      const rowStates = await listRowStates(trx, source.projectId, source.ownerId)
      const change = { stamp, changeDescription, describeRow: () => copied, newId, rowStates }
      const record = await insertWhole(
        trx,
        { ...addressOf(caller, component, newId()), listedAs: source.listedAs },
        content,
        change,
      )
      await recordChange(trx, caller, configurationFromEvent('Copied', record, { ...source, name: chosen.name, version }))
      return record
    })
  }

  async function liveRow(
    caller: Caller,
    componentId: string,
    configurationId: string,
    rowId: string,
  ): Promise<ConfigurationRecord> {
    const owner = await find(caller, componentId, configurationId)
    const row = await findRow(db, owner.projectId, owner.ownerId, rowId)
    if (!row || row.isDeleted) throw rowNotFound(rowId)
    return owner
  }

  const listOfRow: Versions['listOfRow'] = async (caller, componentId, configurationId, rowId, page) => {
    const { projectId, ownerId } = await liveRow(caller, componentId, configurationId, rowId)
    return await listRowVersions(db, projectId, ownerId, rowId, page)
  }

  const getOfRow: Versions['getOfRow'] = async (caller, componentId, configurationId, rowId, version) => {
    const { projectId, ownerId } = await liveRow(caller, componentId, configurationId, rowId)
    const found = await findRowVersion(db, projectId, ownerId, rowId, version)
    if (!found) throw versionNotFound(version)
    return found
  }

  return { list, get, rollBack, copy, listOfRow, getOfRow }
}
