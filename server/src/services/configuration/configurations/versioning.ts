// The one way a version of a configuration comes to be (invariant 5 of ARCHITECTURE.md): the version, the head and the event, in one transaction.
// Numbers have no gaps because the head is locked, counts by one, and fails together with everything else.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { sameJson } from '../../../kit/text/json-text.ts'
import type { RowInput } from './input.ts'
import { insertVersion, updateConfiguration } from './records/configurations.store.ts'
import type { ConfigurationRecord, Content, RowRecord, Stamp } from './records/records.ts'
import { insertRowVersion, saveRow } from './records/rows.store.ts'

export interface Change {
  readonly stamp: Stamp
  readonly changeDescription: string
  readonly newId: () => string
  /** Of contents that have one already: the identifier follows the contents (merge, copy into a branch). */
  readonly versionIdentifier?: string
}

export type ChangedFields = Partial<
  Pick<
    ConfigurationRecord,
    | 'name'
    | 'description'
    | 'isDisabled'
    | 'isDeleted'
    | 'configuration'
    | 'contentVersion'
    | 'rowsSortOrder'
    | 'state'
    | 'baseVersion'
  >
>

/** The fields of `input` that differ from what is stored. White space between JSON tokens is no difference. */
export function differences(
  before: Content & { readonly state: string },
  input: Omit<RowInput, 'rowId'>,
  encrypt: (text: string, previous: string) => string,
): Partial<Content & { readonly state: string }> {
  const configuration = input.configuration && encrypt(input.configuration.text, before.configuration)
  const state = input.state && encrypt(input.state.text, before.state)
  const { name, description, isDisabled } = input
  return {
    ...(name !== undefined && name !== before.name && { name }),
    ...(description !== undefined && description !== before.description && { description }),
    ...(isDisabled !== undefined && isDisabled !== before.isDisabled && { isDisabled }),
    ...(configuration !== undefined && !sameJson(configuration, before.configuration) && { configuration }),
    ...(state !== undefined && !sameJson(state, before.state) && { state }),
  }
}

/** `fields.contentVersion` means that the text of an earlier version is reused; otherwise a changed text is stored again. */
export async function saveVersion(
  trx: Db,
  before: ConfigurationRecord,
  fields: ChangedFields,
  change: Change,
  options: { readonly rowsChanged?: boolean } = {},
): Promise<ConfigurationRecord> {
  const version = before.version + 1
  const textChanged = fields.configuration !== undefined && fields.configuration !== before.configuration
  const rowsChanged = options.rowsChanged || fields.rowsSortOrder !== undefined
  const after: ConfigurationRecord = {
    ...before,
    ...fields,
    version,
    contentVersion: fields.contentVersion ?? (textChanged ? version : before.contentVersion),
    changeDescription: change.changeDescription,
    versionIdentifier: change.versionIdentifier ?? change.newId(),
    changed: change.stamp,
    revision: before.revision + 1,
    rowsRevision: before.rowsRevision + (rowsChanged ? 1 : 0),
  }
  await insertVersion(trx, after)
  await updateConfiguration(trx, after)
  return after
}

/** A changed head without a version: the state endpoint. */
export async function saveState(
  trx: Db,
  before: ConfigurationRecord,
  state: string,
  options: { readonly rowsChanged?: boolean } = {},
): Promise<ConfigurationRecord> {
  const after = {
    ...before,
    state,
    revision: before.revision + 1,
    rowsRevision: before.rowsRevision + (options.rowsChanged ? 1 : 0),
  }
  await updateConfiguration(trx, after)
  return after
}

/** Writes a row and the version of it that belongs to `owner`'s current version. */
export async function saveRowVersion(trx: Db, owner: ConfigurationRecord, row: RowRecord, stamp: Stamp): Promise<void> {
  await saveRow(trx, owner, row)
  await insertRowVersion(trx, owner.projectId, owner.ownerId, {
    rowId: row.id,
    version: row.version,
    configurationVersion: owner.version,
    name: row.name,
    description: row.description,
    isDisabled: row.isDisabled,
    configuration: row.configuration,
    changeDescription: row.changeDescription,
    versionIdentifier: row.versionIdentifier,
    created: stamp,
  })
}
