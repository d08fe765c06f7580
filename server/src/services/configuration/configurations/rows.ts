// Rules for rows. Every change of a row is a new version of the whole configuration (spec storage 2.8.3).

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { NewEvent } from '../../../model/event.ts'
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
import { createRecordChange, rowEvent, rowFromEvent } from './change-events.ts'
import type { ConfigurationsDeps, SecretBox } from './configurations.ts'
import type { RowInput } from './input.ts'
import { lockConfiguration } from './records/configurations.store.ts'
import type { ConfigurationRecord, RowRecord } from './records/records.ts'
import { findRow, findRowVersion, listRowCreations, markRowsDeleted, setRowState } from './records/rows.store.ts'
import { differences, saveRowVersion, saveState, saveVersion } from './versioning.ts'

/** Which row of which configuration. */
export interface RowPlace {
  readonly componentId: string
  readonly configurationId: string
  readonly rowId: string
}

export interface Rows {
  /** There is no row to expect a version of yet: `expected` is the configuration's. */
  create(
    caller: Caller,
    componentId: string,
    configurationId: string,
    input: RowInput,
    expected?: ExpectedVersion,
  ): Promise<RowRecord>
  update(caller: Caller, place: RowPlace, input: RowInput, expected?: ExpectedVersion): Promise<RowRecord>
  setState(caller: Caller, place: RowPlace, state: string, expected?: ExpectedVersion): Promise<RowRecord>
  remove(caller: Caller, place: RowPlace, changeDescription?: string, expected?: ExpectedVersion): Promise<void>
  rollBack(
    caller: Caller,
    place: RowPlace,
    version: number,
    changeDescription?: string,
    expected?: ExpectedVersion,
  ): Promise<RowRecord>
  copy(
    caller: Caller,
    place: RowPlace,
    version: number,
    options: { readonly targetConfigurationId?: string; readonly changeDescription?: string },
  ): Promise<RowRecord>
}

export function createRows({ inTransaction, components, secretsOf, recordEvent, clock, newId }: ConfigurationsDeps): Rows {
  const recordChange = createRecordChange(recordEvent)

  async function inOwner<T>(
    caller: Caller,
    componentId: string,
    configurationId: string,
    work: (trx: Trx, owner: ConfigurationRecord, secrets: SecretBox) => Promise<T>,
  ): Promise<T> {
    const component = usableComponent(components, caller.actor, componentId)
    const secrets = await secretsOf(caller.actor.projectId)
    return await inTransaction(async (trx) => {
      const owner = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      return await work(trx, owner, secrets)
    })
  }

  /** One version of the configuration, one of the row, one event. */
  async function save(
    trx: Trx,
    caller: Caller,
    owner: ConfigurationRecord,
    row: Omit<RowRecord, 'versionIdentifier' | 'created'> & Partial<Pick<RowRecord, 'created'>>,
    details: {
      readonly isNew: boolean
      readonly ownerDescription: string
      readonly event: (owner: ConfigurationRecord, row: RowRecord) => NewEvent
    },
  ): Promise<RowRecord> {
    const stamp = stampOf(caller.actor, clock.now().getTime())
    const order = details.isNew && owner.rowsSortOrder.length > 0 ? { rowsSortOrder: [...owner.rowsSortOrder, row.id] } : {}
    const change = { stamp, changeDescription: details.ownerDescription, newId }
    const created = row.created ?? { ...stamp, at: await creationTime(trx, owner, stamp.at) }
    const saved = { ...row, versionIdentifier: newId(), created }
    const after = await saveVersion(trx, owner, order, change, { rowsChanged: true })
    await saveRowVersion(trx, after, saved, stamp)
    await recordChange(trx, caller, details.event(after, saved))
    return saved
  }

  /** Later than the creation of every other row, also within one millisecond, so that the order of creation is certain. */
  async function creationTime(trx: Trx, { projectId, ownerId }: ConfigurationRecord, now: number): Promise<number> {
    const others = await listRowCreations(trx, projectId, ownerId)
    return others.values().reduce((latest, at) => Math.max(latest, at + 1), now)
  }

  /** Digits, as clients expect of a generated id (corrections-2 A7): the time of creation, or the next number that no row has. */
  async function newRowId(trx: Trx, owner: ConfigurationRecord): Promise<string> {
    let id = await creationTime(trx, owner, clock.now().getTime())
    while (await findRow(trx, owner.projectId, owner.ownerId, String(id))) id++
    return String(id)
  }

  const create: Rows['create'] = (caller, componentId, configurationId, input, expected) =>
    inOwner(caller, componentId, configurationId, async (trx, owner, secrets) => {
      checkVersion(expected, owner.version, `Configuration "${configurationId}"`)
      const id = input.rowId ?? (await newRowId(trx, owner))
      const before = await findRow(trx, owner.projectId, owner.ownerId, id)
      if (before && !before.isDeleted) throw new PlatformError('configurationRowAlreadyExists', { id })
      const changeDescription = input.changeDescription ?? `Row ${id} added`
      const row = {
        id,
        name: input.name ?? '',
        description: input.description ?? '',
        isDisabled: input.isDisabled ?? false,
        isDeleted: false,
        configuration: secrets.encrypt(input.configuration?.text ?? '{}', owner.componentId),
        state: secrets.encrypt(input.state?.text ?? '{}', owner.componentId),
        version: (before?.version ?? 0) + 1,
        changeDescription,
      }
      const event = (after: ConfigurationRecord, saved: RowRecord) => rowEvent('RowCreated', after, saved)
      return await save(trx, caller, owner, row, { isNew: true, ownerDescription: changeDescription, event })
    })

  const update: Rows['update'] = async (caller, { componentId, configurationId, rowId }, input, expected) => {
    if (input.state && !caller.branch.isDefault)
      throw new PlatformError('storage.components.stateInBranch', { what: 'configuration row' })
    return await inOwner(caller, componentId, configurationId, async (trx, owner, secrets) => {
      const before = live(await findRow(trx, owner.projectId, owner.ownerId, rowId), rowId)
      checkVersion(expected, before.version, `Row "${rowId}"`)
      const encrypt = (text: string, previous: string) => secrets.encrypt(text, owner.componentId, previous)
      const fields = differences(before, input, encrypt)
      // A request with a name creates a version, as clients expect, also when the name is unchanged.
      if (Object.keys(fields).length === 0 && input.name === undefined) return before
      const changeDescription = input.changeDescription ?? `Row ${rowId} changed`
      const row = { ...before, ...fields, version: before.version + 1, changeDescription }
      const event = (after: ConfigurationRecord, saved: RowRecord) => rowEvent('RowChanged', after, saved)
      return await save(trx, caller, owner, row, { isNew: false, ownerDescription: changeDescription, event })
    })
  }

  const setState: Rows['setState'] = (caller, { componentId, configurationId, rowId }, state, expected) =>
    inOwner(caller, componentId, configurationId, async (trx, owner, secrets) => {
      const before = live(await findRow(trx, owner.projectId, owner.ownerId, rowId), rowId)
      checkVersion(expected, before.version, `Row "${rowId}"`)
      const encrypted = secrets.encrypt(state, owner.componentId, before.state)
      await setRowState(trx, owner.projectId, owner.ownerId, rowId, encrypted)
      await saveState(trx, owner, owner.state, { rowsChanged: true })
      return { ...before, state: encrypted }
    })

  const remove: Rows['remove'] = (caller, { componentId, configurationId, rowId }, changeDescription, expected) =>
    inOwner(caller, componentId, configurationId, async (trx, owner) => {
      const before = live(await findRow(trx, owner.projectId, owner.ownerId, rowId), rowId)
      checkVersion(expected, before.version, `Row "${rowId}"`)
      const stamp = stampOf(caller.actor, clock.now().getTime())
      const change = { stamp, changeDescription: changeDescription ?? `Row ${rowId} deleted`, newId }
      const order = owner.rowsSortOrder.filter((id) => id !== rowId)
      const after = await saveVersion(trx, owner, { rowsSortOrder: order }, change, { rowsChanged: true })
      await markRowsDeleted(trx, after.projectId, after.ownerId, [rowId], after.version)
      await recordChange(trx, caller, rowEvent('RowDeleted', after, before))
    })

  const rollBack: Rows['rollBack'] = (caller, { componentId, configurationId, rowId }, version, changeDescription, expected) =>
    inOwner(caller, componentId, configurationId, async (trx, owner) => {
      const before = live(await findRow(trx, owner.projectId, owner.ownerId, rowId), rowId)
      checkVersion(expected, before.version, `Row "${rowId}"`)
      const chosen = await findRowVersion(trx, owner.projectId, owner.ownerId, rowId, version)
      if (!chosen) throw versionNotFound(version)
      const { name, description, isDisabled, configuration } = chosen
      const row = {
        ...before,
        ...{ name, description, isDisabled, configuration },
        version: before.version + 1,
        changeDescription: changeDescription ?? `Rollback to version ${version}`,
      }
      const ownerDescription = changeDescription ?? `Row ${rowId} version ${version} rollback`
      const event = (after: ConfigurationRecord, saved: RowRecord) =>
        rowFromEvent('RowRolledBack', after, saved, { configuration: owner, row: { id: rowId, name, version } })
      return await save(trx, caller, owner, row, { isNew: false, ownerDescription, event })
    })

  const copy: Rows['copy'] = async (caller, { componentId, configurationId, rowId }, version, options) => {
    const target = options.targetConfigurationId ?? configurationId
    return await inOwner(caller, componentId, target, async (trx, owner) => {
      const component = owner.componentId
      const source =
        target === configurationId
          ? owner
          : existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      live(await findRow(trx, source.projectId, source.ownerId, rowId), rowId)
      const chosen = await findRowVersion(trx, source.projectId, source.ownerId, rowId, version)
      if (!chosen) throw versionNotFound(version)
      const id = await newRowId(trx, owner)
      const from = `copied from configuration "${source.name}" (${configurationId}) row ${rowId} version ${version}`
      const { name, description, isDisabled, configuration } = chosen
      const row = {
        ...{ id, name, description, isDisabled, configuration },
        isDeleted: false,
        state: '{}',
        version: 1,
        changeDescription: options.changeDescription ?? `C${from.slice(1)}`,
      }
      const ownerDescription = options.changeDescription ?? `Row ${id} ${from}`
      const event = (after: ConfigurationRecord, saved: RowRecord) =>
        rowFromEvent('RowCopied', after, saved, { configuration: source, row: { id: rowId, name, version } })
      return await save(trx, caller, owner, row, { isNew: true, ownerDescription, event })
    })
  }

  return { create, update, setState, remove, rollBack, copy }
}

function live(row: RowRecord | undefined, rowId: string): RowRecord {
  if (!row || row.isDeleted) throw rowNotFound(rowId)
  return row
}
