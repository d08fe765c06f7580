// Versions of configurations: read, roll back, copy. A version is never changed and never removed while the configuration lives.

import type { Db, Trx } from '../../engines/metadata-db/dialects.ts'
import { addressOf, type Caller, existing, rowNotFound, stampOf, usableComponent, versionNotFound } from './access.ts'
import { createTellChange } from './change-events.ts'
import {
  findConfiguration,
  findContents,
  findVersion,
  insertConfiguration,
  insertVersion,
  listVersions,
  lockConfiguration,
} from './configurations.store.ts'
import type { ConfigurationsDeps } from './configurations.ts'
import {
  type ConfigurationRecord,
  type Content,
  inOrder,
  type RowRecord,
  type RowVersionRecord,
  type Stamp,
  type VersionRecord,
} from './records.ts'
import { findRow, findRowVersion, listRowIds, listRowsAt, listRowVersions, markRowsDeleted } from './rows.store.ts'
import { saveRowVersion, saveVersion } from './versioning.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

export interface WholeVersion extends VersionRecord {
  readonly configuration: string
  readonly rows: readonly RowVersionRecord[]
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
    changeDescription?: string,
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
  const tell = createTellChange(recordEvent)

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

  const rollBack: Versions['rollBack'] = async (caller, componentId, configurationId, version, changeDescription) => {
    const component = usableComponent(components, caller.actor, componentId)
    return await inTransaction(async (trx) => {
      const before = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      const chosen = await wholeVersion(trx, before, version)
      const stamp = stampOf(caller.actor, clock.now().getTime())
      const change = { stamp, changeDescription: changeDescription ?? `Rollback to version ${version}`, newId }
      const { name, description, isDisabled, configuration, contentVersion, rowsSortOrder } = chosen
      const fields = { name, description, isDisabled, configuration, contentVersion, rowsSortOrder }
      const after = await saveVersion(trx, before, fields, change, { rowsChanged: true })
      await restoreRows(trx, after, chosen, stamp)
      await tell(trx, caller, 'RolledBack', after)
      return after
    })
  }

  /** Rows that are as they were keep their version; the others get a new one, or go. Their state stays. */
  async function restoreRows(trx: Trx, owner: ConfigurationRecord, chosen: WholeVersion, stamp: Stamp): Promise<void> {
    const { projectId, ownerId } = owner
    const wanted = new Set(chosen.rows.map((row) => row.rowId))
    const present = await listRowIds(trx, projectId, ownerId)
    await markRowsDeleted(
      trx,
      projectId,
      ownerId,
      present.filter((id) => !wanted.has(id)),
      owner.version,
    )
    for (const row of chosen.rows) {
      const head = await findRow(trx, projectId, ownerId, row.rowId)
      if (head && !head.isDeleted && sameContent(head, row)) continue
      const { name, description, isDisabled, configuration } = row
      const changeDescription = `Rollback to version ${row.version} (via configuration rollback to version ${chosen.version})`
      const restored: RowRecord = {
        ...{ id: row.rowId, name, description, isDisabled, configuration, changeDescription },
        isDeleted: false,
        state: head?.state ?? '{}',
        version: (head?.version ?? 0) + 1,
        versionIdentifier: newId(),
        created: head?.created ?? stamp,
      }
      await saveRowVersion(trx, owner, restored, stamp)
    }
  }

  const copy: Versions['copy'] = async (caller, componentId, configurationId, version, given) => {
    const component = usableComponent(components, caller.actor, componentId)
    return await inTransaction(async (trx) => {
      const source = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      const chosen = await wholeVersion(trx, source, version)
      const stamp = stampOf(caller.actor, clock.now().getTime())
      const changeDescription =
        given.changeDescription ?? `Copied from configuration "${chosen.name}" (${configurationId}) version ${version}`
      const first = {
        ...addressOf(caller, component, newId()),
        name: given.name,
        description: given.description ?? chosen.description,
        isDisabled: chosen.isDisabled,
        isDeleted: false,
        configuration: chosen.configuration,
        state: '{}',
        version: 1,
        contentVersion: 1,
        rowsSortOrder: chosen.rowsSortOrder,
        changeDescription,
        versionIdentifier: newId(),
        revision: 1,
        rowsRevision: 1,
        created: stamp,
        changed: stamp,
        baseVersion: null,
      }
      const record = { ...first, ownerId: await insertConfiguration(trx, first) }
      await insertVersion(trx, record)
      for (const row of chosen.rows) {
        const { name, description, isDisabled, configuration } = row
        const copied: RowRecord = {
          ...{ id: row.rowId, name, description, isDisabled, configuration, changeDescription },
          isDeleted: false,
          state: '{}',
          version: 1,
          versionIdentifier: newId(),
          created: stamp,
        }
        await saveRowVersion(trx, record, copied, stamp)
      }
      await tell(trx, caller, 'Copied', record)
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

/** A version with its text and its rows, in the order they had. */
export async function wholeVersion(db: Db, { projectId, ownerId }: ConfigurationRecord, version: number): Promise<WholeVersion> {
  const found = await findVersion(db, projectId, ownerId, version)
  if (!found) throw versionNotFound(version)
  const contents = await findContents(db, projectId, ownerId, [found.contentVersion])
  const rows = await listRowsAt(db, projectId, ownerId, version)
  return {
    ...found,
    configuration: contents.get(found.contentVersion) ?? '{}',
    rows: inOrder(
      rows.map((row) => ({ ...row, id: row.rowId })),
      found.rowsSortOrder,
    ),
  }
}

/** Texts are compared as they are: a version is restored as it was, white space included. */
export const sameContent = (a: Content, b: Content): boolean =>
  a.name === b.name && a.description === b.description && a.isDisabled === b.isDisabled && a.configuration === b.configuration
