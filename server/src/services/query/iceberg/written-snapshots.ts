// Writes what Iceberg readers need of a state, on the first request for the table. A state shares the manifests of the state
// before it whose files are all still there: after an append one small manifest is written, whatever the size of the table.
// Bytes first, record last; when two nodes write the same state, the first record counts and the other's bytes are swept.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import { placesOutside } from '../../../engines/table-engine/open-shape.ts'
import { countBytes, countRows, type TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import type { DataTable, IcebergStore, KnownManifest, StoredManifest, WrittenSnapshot } from './iceberg.store.ts'
import { type ManifestEntry, type ManifestHead, type SnapshotIdOf, writeManifest, writeManifestList } from './manifests.ts'
import { type IcebergSchema, type SnapshotSummary, schemaFields } from './table-metadata.ts'

/** More manifests than this are merged into one: a reader opens each of them. */
const MAX_MANIFESTS = 100
/** States before the current one that one request writes, the newest first; the next request continues. */
const STATES_AT_ONCE = 50

export interface State {
  readonly id: number
  readonly createdAtMs: number
  readonly snapshot: TableSnapshot
  /** Whether other engines read its files right. */
  readonly isOpen: boolean
}

export interface WriterDeps {
  readonly store: IcebergStore
  readonly objects: Pick<ObjectStore, 'put'>
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  /** `s3://<bucket>/`. */
  readonly uriPrefix: string
  readonly findState: (table: DataTable, id: number) => Promise<State | undefined>
}

/** The state before, and its manifests. */
interface Base {
  readonly state: number | undefined
  readonly manifests: readonly KnownManifest[]
}

interface Place extends DataTable {
  readonly keyPrefix: string
  readonly snapshotIdOf: SnapshotIdOf
}

export interface KeptState {
  readonly id: number
  /** The number that another program gave to it. */
  readonly snapshotId: string | null
}

export function snapshotIds(kept: readonly KeptState[]): SnapshotIdOf {
  const given = new Map(kept.flatMap(({ id, snapshotId }) => (snapshotId === null ? [] : [[id, snapshotId] as const])))
  return (state) => given.get(state) ?? String(state)
}

export function createSnapshotWriter({ store, objects, inTransaction, uriPrefix, findState }: WriterDeps) {
  const put = (key: string, bytes: Buffer) => objects.put(key, Readable.from([bytes]))

  /** Writes the current state and some before it that are not written yet. */
  async function writeMissing(place: Omit<Place, 'snapshotIdOf'>, current: State, kept: readonly KeptState[]): Promise<void> {
    const table = { ...place, snapshotIdOf: snapshotIds(kept) }
    const { written, seen } = await store.listSnapshots(table)
    const missing = kept.filter(({ id }) => id < current.id && !seen.has(id)).slice(-STATES_AT_ONCE)
    const wanted = [...missing.map(({ id }) => id), ...(seen.has(current.id) ? [] : [current.id])]
    let base: Base | undefined
    for (const id of wanted) {
      const state = id === current.id ? current : await findState(table, id)
      if (!state) continue // removed since it was listed
      if (!state.isOpen) {
        await recorded((trx) => store.insertUnfit(trx, table, id))
        continue
      }
      base ??= await baseOf(table, written.findLast((one) => one.state < id)?.state)
      base = { state: id, manifests: await write(table, state, base) }
    }
  }

  const baseOf = async (table: Place, state: number | undefined): Promise<Base> => ({
    state,
    manifests: state === undefined ? [] : await store.listManifests(table, state),
  })

  async function write(table: Place, state: State, base: Base): Promise<readonly KnownManifest[]> {
    const known = await store.listSchemas(table)
    const { schema, isNew } = schemaOf(state.snapshot, known)
    const plan = planManifests(state, base.manifests, uriPrefix)
    const added = await Promise.all(plan.fresh.map((entries) => writeOne(table, state, schema, entries)))
    const listKey = `${table.keyPrefix}metadata/snap-${state.id}-${randomUUID()}.avro`
    await put(
      listKey,
      await writeManifestList([...plan.kept, ...added], {
        sequence: state.id,
        parent: base.state,
        snapshotIdOf: table.snapshotIdOf,
      }),
    )
    const snapshot: WrittenSnapshot = {
      state: state.id,
      listKey,
      metadataKey: undefined,
      schemaId: schema['schema-id'],
      summary: summaryOf(state.snapshot),
      outside: placesOutside(state.snapshot, table.keyPrefix),
    }
    const keptIds = plan.kept.map(({ id }) => id)
    const ids = await recorded(async (trx) => {
      if (isNew) await store.insertSchema(trx, table, schema)
      return store.insertSnapshot(trx, table, snapshot, keptIds, added)
    })
    // Another node was first: what it wrote is what the next state builds on.
    if (!ids) return store.listManifests(table, state.id)
    return [...plan.kept, ...added.map((manifest, i) => ({ ...manifest, id: ids[i] ?? 0 }))]
  }

  async function writeOne(
    table: Place,
    state: State,
    schema: IcebergSchema,
    { content, entries }: FreshManifest,
  ): Promise<StoredManifest> {
    const head: ManifestHead = {
      content,
      schema: JSON.stringify(schema),
      schemaId: schema['schema-id'],
      sequence: state.id,
      snapshotIdOf: table.snapshotIdOf,
    }
    const bytes = await writeManifest(entries, head)
    const key = `${table.keyPrefix}metadata/${state.id}-${randomUUID()}.avro`
    await put(key, bytes)
    const added = entries.filter((entry) => entry.sequence === state.id)
    const existing = entries.filter((entry) => entry.sequence !== state.id)
    return {
      key,
      path: `${uriPrefix}${key}`,
      bytes: bytes.length,
      content,
      sequence: state.id,
      minSequence: entries.reduce((min, { sequence }) => Math.min(min, sequence), Number.POSITIVE_INFINITY),
      addedFiles: added.length,
      addedRows: rowsOf(added),
      existingFiles: existing.length,
      existingRows: rowsOf(existing),
      files: Object.fromEntries(entries.map(({ path, sequence }) => [path.slice(uriPrefix.length), sequence])),
    }
  }

  /** Undefined: another request wrote the same record. */
  async function recorded<T>(work: (trx: Trx) => Promise<T>): Promise<T | undefined> {
    try {
      return await inTransaction(work)
    } catch (error) {
      if (isUniqueViolation(error)) return undefined
      throw error
    }
  }

  return { writeMissing }
}

const rowsOf = (entries: readonly ManifestEntry[]): number => entries.reduce((sum, { rows }) => sum + rows, 0)

interface FreshManifest {
  readonly content: ManifestHead['content']
  readonly entries: readonly ManifestEntry[]
}

/** Manifests of the previous state that stay, and the entries of the others together with the new ones. */
export function planManifests(
  { id, snapshot }: Pick<State, 'id' | 'snapshot'>,
  base: readonly KnownManifest[],
  uriPrefix: string,
): { readonly kept: readonly KnownManifest[]; readonly fresh: readonly FreshManifest[] } {
  const firstIn = Object.assign({}, ...base.map(({ files }) => files)) as Readonly<Record<string, number>>
  const entryOf = (file: { key: string; rows: number; bytes: number }): ManifestEntry => ({
    path: `${uriPrefix}${file.key}`,
    rows: file.rows,
    bytes: file.bytes,
    sequence: firstIn[file.key] ?? id,
  })
  const data = snapshot.segments.map(entryOf)
  const deletes = snapshot.segments.flatMap(({ key, deletes: file }) =>
    file ? [{ ...entryOf(file), deletesOf: `${uriPrefix}${key}` }] : [],
  )
  const present = new Set([...data, ...deletes].map(({ path }) => path.slice(uriPrefix.length)))
  const whole = base.filter(({ files }) => Object.keys(files).every((key) => present.has(key)))
  const kept = whole.length >= MAX_MANIFESTS ? [] : whole
  const covered = new Set(kept.flatMap(({ files }) => Object.keys(files)))
  const isNew = ({ path }: ManifestEntry): boolean => !covered.has(path.slice(uriPrefix.length))
  const fresh: FreshManifest[] = [
    { content: 'data', entries: data.filter(isNew) },
    { content: 'deletes', entries: deletes.filter(isNew) },
  ]
  return { kept, fresh: fresh.filter(({ entries }) => entries.length > 0) }
}

/** Columns in the same order under the same names are the same schema. */
function schemaOf(snapshot: TableSnapshot, known: readonly IcebergSchema[]): { schema: IcebergSchema; isNew: boolean } {
  const fields = schemaFields(snapshot.columns)
  const text = JSON.stringify(fields)
  const same = known.find((schema) => JSON.stringify(schema.fields) === text)
  if (same) return { schema: same, isNew: false }
  const id = Math.max(-1, ...known.map((schema) => schema['schema-id'])) + 1
  return { schema: { type: 'struct', 'schema-id': id, fields }, isNew: true }
}

function summaryOf(snapshot: TableSnapshot): SnapshotSummary {
  const deletes = snapshot.segments.flatMap((segment) => (segment.deletes ? [segment.deletes] : []))
  return {
    operation: 'overwrite',
    'total-records': String(snapshot.segments.reduce((sum, { rows }) => sum + rows, 0)),
    'total-files-size': String(countBytes(snapshot)),
    'total-data-files': String(snapshot.segments.length),
    'total-delete-files': String(deletes.length),
    'total-position-deletes': String(deletes.reduce((sum, { rows }) => sum + rows, 0)),
    'total-equality-deletes': '0',
    'millrace.rows': String(countRows(snapshot)),
  }
}
