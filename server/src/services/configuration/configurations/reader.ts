// Reads of whole configurations, as JSON text.
//  (1) a text in memory is served only when the stored revision is the one it was made from, so that any number of nodes may write;
//  (2) a text is kept only when head and rows were read at one revision: no reader sees rows of one version in another;
//  (3) memory is bounded by MAX_CHARS and MAX_LIST_BYTES, whatever is read.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import { type Page, picked } from '../../../http/page.ts'
import { createWeightedCache, type JsonAnswer, jsonAnswer } from '../../../http/weighted-cache.ts'
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
  findRevisions,
  type ListFilter,
  listConfigurations,
  listRevisions,
  listRevisionsPage,
  type Revision,
} from './records/configurations.store.ts'
import { type ConfigurationRecord, inOrder, type RowRecord } from './records/records.ts'
import { findRow, listRows, listRowsAt, listRowsOf } from './records/rows.store.ts'
import { configurationText, listOf, rowText } from './views.ts'

const MAX_CHARS = 64 * 2 ** 20
const MAX_LIST_BYTES = 16 * 2 ** 20
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
  get(caller: Caller, componentId: string, configurationId: string): Promise<JsonAnswer>
  /** The answer to a write: the record as it was just saved, with its rows. */
  render(record: ConfigurationRecord): Promise<string>
  list(caller: Caller, componentId: string, isDeleted: boolean): Promise<JsonAnswer>
  /** A page of the list, with the requested members, and the total number of configurations. */
  listPage(
    caller: Caller,
    componentId: string,
    isDeleted: boolean,
    page: Page,
    fields: readonly string[] | undefined,
  ): Promise<{ readonly text: string; readonly total: number }>
  /** Every configuration the token may see, by the id of its component that clients are shown. */
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

interface Kept {
  readonly revision: number
  readonly rowsRevision: number
  readonly rows: string
  readonly text: string
  readonly answer: JsonAnswer
}

interface KeptList {
  /** The revision of everything in the list. */
  readonly revisions: string
  readonly answer: JsonAnswer
}

export function createReader({ db, inTransaction, components }: ReaderDeps): Reader {
  const configurations = createWeightedCache<number, Kept>(MAX_CHARS)
  const lists = createWeightedCache<string, KeptList>(MAX_LIST_BYTES)

  function remember(record: ConfigurationRecord, rows: string): Kept {
    const text = configurationText(record, { configuration: true, state: true, rows })
    const kept = { revision: record.revision, rowsRevision: record.rowsRevision, rows, text, answer: jsonAnswer(text) }
    configurations.keep(record.ownerId, kept, 3 * text.length + rows.length) // as text, as bytes, compressed
    return kept
  }

  const recall = ({ ownerId, revision }: Revision): Kept | undefined =>
    configurations.find(ownerId, (kept) => kept.revision === revision)

  async function get(caller: Caller, componentId: string, configurationId: string): Promise<JsonAnswer> {
    const component = usableComponent(components, caller.actor, componentId)
    const address = addressOf(caller, component, configurationId)
    const found = await findRevision(db, address)
    if (!found || found.isDeleted) throw configurationNotFound(configurationId)
    const known = recall(found)
    if (known) return known.answer
    const [whole] = await readWhole(address.projectId, [found.ownerId])
    if (!whole || whole.record.isDeleted) throw configurationNotFound(configurationId) // purged in between
    return remember(whole.record, rowsText(whole.record, whole.rows)).answer
  }

  async function render(record: ConfigurationRecord): Promise<string> {
    const known = configurations.find(record.ownerId, (kept) => kept.rowsRevision === record.rowsRevision)
    if (known) return remember(record, known.rows).text
    const [whole] = await readWhole(record.projectId, [record.ownerId])
    if (whole?.record.revision === record.revision) return remember(record, rowsText(record, whole.rows)).text
    return await renderPast(record)
  }

  /** It was modified since: the rows as they were in this very version, which by (2) is not worth caching. */
  async function renderPast(record: ConfigurationRecord): Promise<string> {
    const heads = new Map((await listRows(db, record.projectId, record.ownerId)).map((row) => [row.id, row]))
    const rows = (await listRowsAt(db, record.projectId, record.ownerId, record.version)).map((row) => {
      const head = heads.get(row.rowId)
      return { ...row, id: row.rowId, isDeleted: false, state: head?.state ?? '{}', created: head?.created ?? row.created }
    })
    return configurationText(record, { configuration: true, state: true, rows: rowsText(record, rows) })
  }

  async function list(caller: Caller, componentId: string, isDeleted: boolean): Promise<JsonAnswer> {
    const component = usableComponent(components, caller.actor, componentId)
    const filter = { projectId: caller.actor.projectId, branchId: caller.branch.id, componentId: component, isDeleted }
    const listed = await listRevisions(db, filter)
    const place = JSON.stringify(filter)
    const revisions = listed.map(({ ownerId, revision }) => `${ownerId}.${revision}`).join()
    const known = lists.find(place, (kept) => kept.revisions === revisions)
    if (known) return known.answer
    const items = await itemsOf(filter, listed)
    const bytes = Buffer.concat([OPEN, ...items.flatMap((item, i) => (i === 0 ? [item] : [COMMA, item])), CLOSE])
    const answer = jsonAnswer(bytes)
    lists.keep(place, { revisions, answer }, 2 * bytes.length + revisions.length)
    return answer
  }

  const listPage: Reader['listPage'] = async (caller, componentId, isDeleted, page, fields) => {
    const component = usableComponent(components, caller.actor, componentId)
    const filter = { projectId: caller.actor.projectId, branchId: caller.branch.id, componentId: component, isDeleted }
    const { listed, total } = await listRevisionsPage(db, filter, page)
    const items = await itemsOf(filter, listed)
    const texts = items.map((item) => (fields ? JSON.stringify(picked(JSON.parse(item.toString()), fields)) : item.toString()))
    return { text: listOf(texts), total }
  }

  async function itemsOf({ projectId, isDeleted }: ListFilter, listed: readonly Revision[]): Promise<readonly Buffer[]> {
    const items = new Map<number, Buffer>()
    const missing: number[] = []
    for (const revision of listed) {
      const known = recall(revision)
      if (known) items.set(revision.ownerId, known.answer.bytes())
      else missing.push(revision.ownerId)
    }
    for (let from = 0; from < missing.length; from += BATCH) {
      for (const { record, rows } of await readWhole(projectId, missing.slice(from, from + BATCH))) {
        const { answer } = remember(record, rowsText(record, rows))
        if (record.isDeleted === isDeleted) items.set(record.ownerId, answer.bytes()) // it may have moved in between
      }
    }
    return listed.map(({ ownerId }) => items.get(ownerId)).filter((item) => item !== undefined)
  }

  /** Heads and rows of one moment: read again if they were modified in between, and in a transaction if that keeps happening. */
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
      const after = await findRevisions(db, projectId, ownerIds)
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
        const text = configurationText(record, { ...include, rows: include.rows ? rowsText(record, rows, include) : undefined })
        byComponent.set(record.listedAs, [...(byComponent.get(record.listedAs) ?? []), text])
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
    const component = usableComponent(components, caller.actor, componentId)
    const address = addressOf(caller, component, configurationId)
    const owner = await findRevision(db, address)
    if (!owner || owner.isDeleted) throw configurationNotFound(configurationId)
    return await liveRow(address.projectId, owner.ownerId, rowId)
  }

  async function liveRow(projectId: number, ownerId: number, rowId: string): Promise<RowRecord> {
    const row = await findRow(db, projectId, ownerId, rowId)
    if (!row || row.isDeleted) throw rowNotFound(rowId)
    return row
  }

  async function getRowWithRoot(caller: Caller, componentId: string, configurationId: string, rowId: string) {
    const { projectId, ownerId, configuration: root } = await ownerOf(caller, componentId, configurationId)
    const { configuration: row } = await liveRow(projectId, ownerId, rowId)
    return { root, row }
  }

  async function rowsInOrder(caller: Caller, componentId: string, configurationId: string): Promise<readonly RowRecord[]> {
    const owner = await ownerOf(caller, componentId, configurationId)
    return inOrder(await listRows(db, owner.projectId, owner.ownerId), owner.rowsSortOrder, creationOf)
  }

  return { get, render, list, listPage, listAll, getRow, getRowWithRoot, listRows: rowsInOrder }
}

const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')]

const rowsText = (record: ConfigurationRecord, rows: readonly RowRecord[], include?: Parameters<typeof rowText>[1]): string =>
  listOf(inOrder(rows, record.rowsSortOrder, creationOf).map((row) => rowText(row, include)))

const creationOf = (row: RowRecord): number => row.created.at
