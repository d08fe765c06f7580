// Configurations as a whole, with their rows: how they are read at a version, put in the place of another, and copied.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { versionNotFound } from './access.ts'
import { findContents, findVersion, insertConfiguration, insertVersion } from './records/configurations.store.ts'
import {
  type ConfigurationRecord,
  type Content,
  inOrder,
  type Place,
  type RowRecord,
  type RowVersionRecord,
  type Stamp,
  type VersionRecord,
} from './records/records.ts'
import { findRow, listRowCreations, listRowIds, listRowsAt, markRowsDeleted } from './records/rows.store.ts'
import { type Change, type ChangedFields, saveRowVersion, saveVersion } from './versioning.ts'

export interface WholeContent extends Content {
  readonly rowsSortOrder: readonly string[]
  readonly versionIdentifier?: string
  readonly rows: readonly (Content & { readonly id: string; readonly version: number; readonly versionIdentifier?: string })[]
}

export interface WholeVersion extends VersionRecord, Omit<WholeContent, 'versionIdentifier'> {
  readonly rows: readonly (RowVersionRecord & { readonly id: string })[]
}

export interface WholeChange extends Change {
  readonly describeRow: (row: WholeContent['rows'][number]) => string
  /** The new versions have the identifiers of the contents they adopt. */
  readonly keepsIdentifiers?: boolean
  /** Who made the version that a new configuration starts with, and when, if not the author of the change now. */
  readonly madeBy?: Stamp
  /** Values of the first version of a new configuration that differ from the configuration itself. */
  readonly versionDescription?: string
  /** Every row gets a version, also one that is so already. */
  readonly everyRow?: boolean
  /** States of the rows of a new configuration; empty by default. */
  readonly rowStates?: ReadonlyMap<string, string>
}

const identifierOf = (content: { readonly versionIdentifier?: string }, change: WholeChange): string =>
  (change.keepsIdentifiers ? content.versionIdentifier : undefined) ?? change.newId()

/** A version with its text and its rows, in the order they had. */
export async function wholeVersion(db: Db, { projectId, ownerId }: ConfigurationRecord, version: number): Promise<WholeVersion> {
  const found = await findVersion(db, projectId, ownerId, version)
  if (!found) throw versionNotFound(version)
  const contents = await findContents(db, projectId, ownerId, [found.contentVersion])
  const rows = (await listRowsAt(db, projectId, ownerId, version)).map((row) => ({ ...row, id: row.rowId }))
  const creations = await listRowCreations(db, projectId, ownerId)
  return {
    ...found,
    configuration: contents.get(found.contentVersion) ?? '{}',
    rows: inOrder(rows, found.rowsSortOrder, ({ id }) => creations.get(id) ?? 0),
  }
}

/** A new version of `before` that is like `content`. Rows that are so already keep their version; the state of all stays. */
export async function replaceWhole(
  trx: Db,
  before: ConfigurationRecord,
  content: WholeContent,
  change: WholeChange,
  fields: ChangedFields = {},
): Promise<ConfigurationRecord> {
  const { name, description, isDisabled, configuration, rowsSortOrder } = content
  const all = { name, description, isDisabled, configuration, rowsSortOrder, ...fields }
  const versionIdentifier = identifierOf(content, change)
  const after = await saveVersion(trx, before, all, { ...change, versionIdentifier }, { rowsChanged: true })
  const { projectId, ownerId } = after
  const wanted = new Set(content.rows.map((row) => row.id))
  const surplus = (await listRowIds(trx, projectId, ownerId)).filter((id) => !wanted.has(id))
  await markRowsDeleted(trx, projectId, ownerId, surplus, after.version)
  for (const row of content.rows) {
    const head = await findRow(trx, projectId, ownerId, row.id)
    if (change.everyRow || !head || head.isDeleted || !sameContent(head, row))
      await saveRowVersion(trx, after, rowLike(row, head, change), change.stamp)
  }
  return after
}

/** A new configuration like `content`, at version 1, with an empty state. */
export async function insertWhole(
  trx: Db,
  place: Place,
  content: WholeContent,
  change: WholeChange,
  baseVersion: number | null = null,
): Promise<ConfigurationRecord> {
  const { name, description, isDisabled, configuration, rowsSortOrder } = content
  const first = {
    ...place,
    ...{ name, description, isDisabled, configuration, rowsSortOrder, baseVersion },
    isDeleted: false,
    state: '{}',
    version: 1,
    contentVersion: 1,
    changeDescription: change.changeDescription,
    versionIdentifier: identifierOf(content, change),
    revision: 1,
    rowsRevision: 1,
    created: change.stamp,
    changed: change.madeBy ?? change.stamp,
  }
  const record = { ...first, ownerId: await insertConfiguration(trx, first) }
  await insertVersion(trx, { ...record, changeDescription: change.versionDescription ?? record.changeDescription })
  for (const [i, row] of content.rows.entries()) {
    // One millisecond apart: the copies keep the order of the originals.
    const created = { ...change.stamp, at: change.stamp.at + i }
    await saveRowVersion(trx, record, { ...rowLike(row, undefined, change), created }, change.stamp)
  }
  return record
}

function rowLike(row: WholeContent['rows'][number], head: RowRecord | undefined, change: WholeChange): RowRecord {
  const { id, name, description, isDisabled, configuration } = row
  return {
    ...{ id, name, description, isDisabled, configuration },
    isDeleted: false,
    changeDescription: change.describeRow(row),
    state: head?.state ?? change.rowStates?.get(id) ?? '{}',
    version: (head?.version ?? 0) + 1,
    versionIdentifier: identifierOf(row, change),
    created: head?.created ?? change.stamp,
  }
}

/** Texts are compared as they are: a version is restored as it was, white space included. */
const sameContent = (a: Content, b: Content): boolean =>
  a.name === b.name && a.description === b.description && a.isDisabled === b.isDisabled && a.configuration === b.configuration

export const sameWhole = (a: WholeContent, b: WholeContent): boolean =>
  sameContent(a, b) &&
  a.rowsSortOrder.join() === b.rowsSortOrder.join() &&
  a.rows.length === b.rows.length &&
  a.rows.every((row, i) => row.id === b.rows[i]?.id && sameContent(row, b.rows[i]))
