// Reads of whole configurations, as JSON text.
//  (1) a text in memory is served only when the stored revision is the one it was made from, so that any number of nodes may write;
//  (2) a text is kept only when head and rows were read at one revision: no reader sees rows of one version in another;
//  (3) memory is bounded by MAX_CHARS, whatever is read.

import type { Db, Trx } from '../../engines/metadata-db/dialects.ts'
import {
  addressOf,
  type Caller,
  type ComponentLookup,
  configurationNotFound,
  mayUse,
  rowNotFound,
  usableComponent,
} from './access.ts'
import {
  findConfiguration,
  findRevision,
  type ListFilter,
  listConfigurations,
  listRevisions,
  type Revision,
} from './configurations.store.ts'
import { type ConfigurationRecord, inOrder, type RowRecord } from './records.ts'
import { findRow, listRows, listRowsAt, listRowsOf } from './rows.store.ts'
import { configurationText, listOf, rowText } from './views.ts'

const MAX_CHARS = 64 * 2 ** 20
const BATCH = 200
const ATTEMPTS = 3

export interface ReaderDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly components: ComponentLookup
}

export interface IncludeWish {
  readonly configuration: boolean
  readonly rows: boolean
  readonly state: boolean
}

export interface Reader {
  /** As bytes: a configuration is read far more often than it changes, and text would be encoded each time. */
  get(caller: Caller, componentId: string, configurationId: string): Promise<Buffer>
  /** The answer to a write: the record as it was just saved, with its rows. */
  render(record: ConfigurationRecord): Promise<string>
  list(caller: Caller, componentId: string, isDeleted: boolean): Promise<Buffer>
  /** Every configuration the token may see, by component id. */
  listAll(caller: Caller, isDeleted: boolean, include: IncludeWish): Promise<ReadonlyMap<string, readonly string[]>>
  getRow(caller: Caller, componentId: string, configurationId: string, rowId: string): Promise<RowRecord>
  /** The configuration texts of a row and its root, as the effective view merges them. */
  getRowWithRoot(
    caller: Caller,
    componentId: string,
    configurationId: string,
    rowId: string,
  ): Promise<{ root: string; row: string }>
  listRows(caller: Caller, componentId: string, configurationId: string): Promise<readonly RowRecord[]>
}

interface Entry {
  readonly revision: number
  readonly rowsRevision: number
  readonly rows: string
  readonly text: string
  bytes: Buffer | undefined
}

export function createReader({ db, inTransaction, components }: ReaderDeps): Reader {
  const entries = new Map<number, Entry>()
  let chars = 0

  function remember(record: ConfigurationRecord, rows: string): string {
    const text = configurationText(record, { configuration: true, state: true, rows })
    forget(record.ownerId)
    entries.set(record.ownerId, { revision: record.revision, rowsRevision: record.rowsRevision, rows, text, bytes: undefined })
    chars += costOf(text, rows)
    while (chars > MAX_CHARS) forget(entries.keys().next().value!) // not empty: it holds characters
    return text
  }

  function forget(ownerId: number): void {
    const entry = entries.get(ownerId)
    if (!entry) return
    chars -= costOf(entry.text, entry.rows)
    entries.delete(ownerId)
  }

  /** Reading makes an entry the youngest; the oldest leave first. */
  function recall({ ownerId, revision }: Revision): Entry | undefined {
    const entry = entries.get(ownerId)
    if (entry?.revision !== revision) return undefined
    entries.delete(ownerId)
    entries.set(ownerId, entry)
    return entry
  }

  async function get(caller: Caller, componentId: string, configurationId: string): Promise<Buffer> {
    const component = usableComponent(components, caller.actor, componentId)
    const address = addressOf(caller, component, configurationId)
    const found = await findRevision(db, address)
    if (!found || found.isDeleted) throw configurationNotFound(configurationId)
    const known = recall(found)
    if (known) return bytesOf(known)
    const [whole] = await readWhole(address.projectId, [found.ownerId])
    if (!whole || whole.record.isDeleted) throw configurationNotFound(configurationId) // purged in between
    return Buffer.from(remember(whole.record, rowsText(whole.record, whole.rows)))
  }

  async function render(record: ConfigurationRecord): Promise<string> {
    const known = entries.get(record.ownerId)
    if (known?.rowsRevision === record.rowsRevision) return remember(record, known.rows)
    const [whole] = await readWhole(record.projectId, [record.ownerId])
    if (whole?.record.revision === record.revision) return remember(record, rowsText(record, whole.rows))
    return await renderPast(record)
  }

  /** Somebody wrote since: the rows as they were in this very version, which by (2) is not worth keeping. */
  async function renderPast(record: ConfigurationRecord): Promise<string> {
    const heads = new Map((await listRows(db, record.projectId, record.ownerId)).map((row) => [row.id, row]))
    const rows = (await listRowsAt(db, record.projectId, record.ownerId, record.version)).map((row) => {
      const head = heads.get(row.rowId)
      return { ...row, id: row.rowId, isDeleted: false, state: head?.state ?? '{}', created: head?.created ?? row.created }
    })
    return configurationText(record, { configuration: true, state: true, rows: rowsText(record, rows) })
  }

  async function list(caller: Caller, componentId: string, isDeleted: boolean): Promise<Buffer> {
    const component = usableComponent(components, caller.actor, componentId)
    const items = await itemsOf({
      projectId: caller.actor.projectId,
      branchId: caller.branch.id,
      componentIds: [component],
      isDeleted,
    })
    return Buffer.concat([OPEN, ...items.flatMap((item, i) => (i === 0 ? [item] : [COMMA, item])), CLOSE])
  }

  async function itemsOf(filter: ListFilter): Promise<readonly Buffer[]> {
    const revisions = await listRevisions(db, filter)
    const items = new Map<number, Buffer>()
    const missing: number[] = []
    for (const revision of revisions) {
      const known = recall(revision)
      if (known) items.set(revision.ownerId, bytesOf(known))
      else missing.push(revision.ownerId)
    }
    for (let from = 0; from < missing.length; from += BATCH) {
      for (const { record, rows } of await readWhole(filter.projectId, missing.slice(from, from + BATCH))) {
        items.set(record.ownerId, Buffer.from(remember(record, rowsText(record, rows))))
      }
    }
    return revisions.map(({ ownerId }) => items.get(ownerId)).filter((item) => item !== undefined)
  }

  /** Heads and rows of one moment: read again when somebody wrote in between, and in a transaction when that keeps happening. */
  async function readWhole(
    projectId: number,
    ownerIds: readonly number[],
  ): Promise<readonly { record: ConfigurationRecord; rows: readonly RowRecord[] }[]> {
    const readOnce = async (from: Db) => {
      const records = await listConfigurations(from, projectId, ownerIds)
      const rows = await listRowsOf(from, projectId, ownerIds)
      return records.map((record) => ({ record, rows: rows.get(record.ownerId) ?? [] }))
    }
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const whole = await readOnce(db)
      const after = new Map(
        (await listConfigurations(db, projectId, ownerIds)).map((record) => [record.ownerId, record.revision]),
      )
      if (whole.every(({ record }) => after.get(record.ownerId) === record.revision)) return whole
    }
    return await inTransaction(readOnce)
  }

  async function listAll(
    caller: Caller,
    isDeleted: boolean,
    include: IncludeWish,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const { projectId } = caller.actor
    const revisions = await listRevisions(db, { projectId, branchId: caller.branch.id, isDeleted })
    const visible = revisions
      .filter(({ componentId }) => mayUse(components, caller.actor, componentId))
      .map(({ ownerId }) => ownerId)
    const byComponent = new Map<string, string[]>()
    for (let from = 0; from < visible.length; from += BATCH) {
      const whole = await readWhole(projectId, visible.slice(from, from + BATCH))
      for (const { record, rows } of whole.toSorted((a, b) => a.record.ownerId - b.record.ownerId)) {
        const text = configurationText(record, { ...include, rows: include.rows ? rowsText(record, rows) : undefined })
        byComponent.set(record.componentId, [...(byComponent.get(record.componentId) ?? []), text])
      }
    }
    return byComponent
  }

  async function ownerOf(caller: Caller, componentId: string, configurationId: string): Promise<ConfigurationRecord> {
    const component = usableComponent(components, caller.actor, componentId)
    const record = await findConfiguration(db, addressOf(caller, component, configurationId))
    if (!record || record.isDeleted) throw configurationNotFound(configurationId)
    return record
  }

  async function getRow(caller: Caller, componentId: string, configurationId: string, rowId: string): Promise<RowRecord> {
    const owner = await ownerOf(caller, componentId, configurationId)
    const row = await findRow(db, owner.projectId, owner.ownerId, rowId)
    if (!row || row.isDeleted) throw rowNotFound(rowId)
    return row
  }

  async function getRowWithRoot(caller: Caller, componentId: string, configurationId: string, rowId: string) {
    const { configuration: root } = await ownerOf(caller, componentId, configurationId)
    const { configuration: row } = await getRow(caller, componentId, configurationId, rowId)
    return { root, row }
  }

  async function rowsInOrder(caller: Caller, componentId: string, configurationId: string): Promise<readonly RowRecord[]> {
    const owner = await ownerOf(caller, componentId, configurationId)
    return inOrder(await listRows(db, owner.projectId, owner.ownerId), owner.rowsSortOrder)
  }

  return { get, render, list, listAll, getRow, getRowWithRoot, listRows: rowsInOrder }
}

const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')]

function bytesOf(entry: Entry): Buffer {
  entry.bytes ??= Buffer.from(entry.text)
  return entry.bytes
}

/** The text twice: as it is, and as the bytes that are made when it is first asked for again. */
const costOf = (text: string, rows: string): number => 2 * text.length + rows.length

const rowsText = (record: ConfigurationRecord, rows: readonly RowRecord[]): string =>
  listOf(inOrder(rows, record.rowsSortOrder).map(rowText))
