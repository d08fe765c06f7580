// The catalogue of Iceberg over the tables of a project: names, what a table is, and keys to its files.
//  1. A prefix names project, branch and spelling: `7`, `7-123`, `7-flat`. It must be the project of the token.
//  2. The tables module checks each access to a table; keys open the files of the one requested table.
//  3. Metadata is written when a table is loaded (written-snapshots.ts). States that others would read wrong are never shown.
//  4. A writer puts files into a folder of its own (`staged/` of the table); writes.ts reads its commits.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { type Grant, type ObjectAccess, TABLE_CREDENTIALS_SECONDS } from '../../../engines/object-store/object-access.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Scope } from '../../../model/scope.ts'
import type { Requester } from '../../../model/storage-job.ts'
import type { TableCommit, TableCreation } from '../../../model/table-commit.ts'
import type { DataTable, IcebergStore, WrittenSnapshot } from './iceberg.store.ts'
import { isFlat, namespaceOf, type Prefix, prefixText, readPrefix, readWarehouse } from './names.ts'
import { tableMetadata, tableUuid } from './table-metadata.ts'
import { createSnapshotWriter, type KeptState, type State, snapshotIds } from './written-snapshots.ts'

/** Tables, seen from here. */
export interface OpenTables {
  listBuckets(scope: Scope): Promise<readonly string[]>
  listNames(scope: Scope, bucketId: string): Promise<readonly string[]>
  find(scope: Scope, bucketId: string, name: string): Promise<OpenTable>
  /** Its files are rewritten first where other engines would read them wrong. */
  current(table: DataTable): Promise<State>
  listStates(table: DataTable): Promise<readonly (KeptState & { readonly createdAtMs: number })[]>
  state(table: DataTable, id: number): Promise<State | undefined>
  /** Whether the later state has the rows of the earlier one: only files were rewritten in between. */
  isTidied(table: DataTable, from: number, to: number): Promise<boolean>
  /** Whether this request was published before. */
  hasCommit(table: DataTable, digest: string): Promise<boolean>
  /** Resolves when the new state is published. */
  commit(requester: Requester & Scope, tableId: string, commit: TableCommit): Promise<void>
  /** Refuses a bucket that takes no tables, and a name that is not possible or not free. */
  checkNew(scope: Scope, bucketId: string, name: string): Promise<void>
  create(requester: Requester & Scope, bucketId: string, name: string, creation: TableCreation): Promise<void>
  drop(requester: Requester & Scope, tableId: string): Promise<void>
}

export interface OpenTable {
  readonly id: string
  /** Its own number; an alias has another than the table that holds the data. */
  readonly key: number
  readonly data: DataTable
  /** The folder of the table that holds the data. */
  readonly keyPrefix: string
  /** Whether the caller may change it. */
  readonly isWritable: boolean
  /** The id that its writer gave it, where another program made the table. */
  readonly openUuid: string | undefined
}

export interface IcebergDeps {
  readonly tables: OpenTables
  readonly store: IcebergStore
  readonly objects: Pick<ObjectStore, 'put'>
  readonly access: Pick<ObjectAccess, 'bucket' | 'region' | 'endpointFor' | 'credentials'>
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly findBranch: (
    projectId: number,
    name: string | undefined,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
  readonly authenticate: (token: string) => Promise<Actor | undefined>
}

export type Iceberg = ReturnType<typeof createIceberg>

/** Folders and files outside the folder of the table that one set of keys may name. */
const MAX_PLACES = 10
const TRIES = 3
/** Where writers put files, below the folder of the table. Own files never lie there: a writer could replace them. */
export const STAGED = 'staged/'

export function createIceberg(deps: IcebergDeps) {
  const { tables, store, objects, access, inTransaction, findBranch, authenticate } = deps
  const uriPrefix = `s3://${access.bucket}/`
  const writer = createSnapshotWriter({ store, objects, inTransaction, uriPrefix, findState: tables.state })

  /** The parts of `warehouse`: a branch, `flat`, or both. */
  async function prefixOf(actor: Actor, warehouse: string): Promise<string> {
    const { branch, flat } = readWarehouse(warehouse)
    const found = await findBranch(actor.projectId, branch)
    if (!found) throw new PlatformError('iceberg.warehouseNotFound', { warehouse: warehouse.slice(0, 100) })
    return prefixText({ projectId: actor.projectId, branch: found.isDefault ? undefined : String(found.id), flat })
  }

  async function scopeOf(actor: Actor, prefix: string): Promise<Scope & { readonly prefix: Prefix }> {
    const read = readPrefix(prefix)
    const branch = read?.projectId === actor.projectId ? await findBranch(actor.projectId, read.branch) : undefined
    if (!read || !branch) throw new PlatformError('iceberg.prefixNotFound', { prefix: prefix.slice(0, 100) })
    return { actor, branch, prefix: read }
  }

  /** One level below `parent`: stages, then buckets. Flat: all buckets at once. */
  async function listNamespaces(actor: Actor, prefix: string, parent: string | undefined): Promise<readonly string[][]> {
    const scope = await scopeOf(actor, prefix)
    const ids = await tables.listBuckets(scope)
    if (isFlat(scope.prefix)) return parent ? [] : ids.map((id) => [id])
    if (!parent) return [...new Set(ids.map((id) => id.slice(0, id.indexOf('.'))))].map((stage) => [stage])
    const { stage, bucketId } = namespaceOf(parent)
    const below = ids.filter((id) => id.startsWith(`${stage}.`)).map((id) => id.split('.'))
    if (bucketId === undefined && below.length === 0) throw namespaceNotFound(parent)
    return bucketId === undefined ? below : []
  }

  async function getNamespace(actor: Actor, prefix: string, namespace: string): Promise<readonly string[]> {
    const scope = await scopeOf(actor, prefix)
    const { stage, bucketId } = namespaceOf(namespace)
    const ids = await tables.listBuckets(scope)
    const exists = bucketId === undefined ? ids.some((id) => id.startsWith(`${stage}.`)) : ids.includes(bucketId)
    if (!exists) throw namespaceNotFound(namespace)
    return bucketId === undefined ? [stage] : spelled(scope.prefix, bucketId)
  }

  async function listTables(actor: Actor, prefix: string, namespace: string) {
    const scope = await scopeOf(actor, prefix)
    const { bucketId } = namespaceOf(namespace)
    if (bucketId === undefined) {
      await getNamespace(actor, prefix, namespace)
      return [] // a stage has buckets and no tables of its own
    }
    const names = await tables.listNames(scope, bucketId).catch((error: unknown) => {
      throw isMissing(error) ? namespaceNotFound(namespace) : error
    })
    return names.map((name) => ({ namespace: spelled(scope.prefix, bucketId), name }))
  }

  async function findTable(actor: Actor, prefix: string, namespace: string, name: string): Promise<OpenTable> {
    const scope = await scopeOf(actor, prefix)
    const { stage, bucketId } = namespaceOf(namespace)
    return tables.find(scope, bucketId ?? stage, name)
  }

  async function load(actor: Actor, prefix: string, namespace: string, name: string, what: LoadOptions) {
    const table = await findTable(actor, prefix, namespace, name)
    const { current, shown } = await written(table)
    const listed = what.snapshots === 'refs' ? shown.slice(-1) : shown
    const metadata = await metadataOf(table, current, listed)
    return {
      'metadata-location': `${uriPrefix}${await metadataKeyOf(table, shown, metadata)}`,
      metadata,
      ...(what.vended ? await keysFor(table, shown, what.baseUrl) : { config: {} }),
    }
  }

  async function credentials(actor: Actor, prefix: string, namespace: string, name: string, baseUrl: string) {
    const table = await findTable(actor, prefix, namespace, name)
    const { shown } = await written(table)
    return { 'storage-credentials': (await keysFor(table, shown, baseUrl))['storage-credentials'] }
  }

  /** The states that readers may see, the current one last, with what each needs. */
  async function written({ data, keyPrefix }: OpenTable) {
    for (let i = 0; i < TRIES; i++) {
      const current = await tables.current(data)
      const kept = await tables.listStates(data)
      await writer.writeMissing({ ...data, keyPrefix }, current, kept)
      const known = (await store.listSnapshots(data)).written.filter(({ state }) => state <= current.id)
      if (known.at(-1)?.state !== current.id) continue // another node was writing it, or it was removed meanwhile
      const times = new Map(kept.map(({ id, createdAtMs }) => [id, createdAtMs]))
      const snapshotIdOf = snapshotIds(kept)
      const shown = withFewPlaces(known).map((one) => ({
        ...one,
        createdAtMs: times.get(one.state) ?? current.createdAtMs,
        snapshotId: snapshotIdOf(one.state),
      }))
      return { current, shown }
    }
    throw new PlatformError('iceberg.preparing')
  }

  const uuidOf = ({ data, key, openUuid }: OpenTable): string => openUuid ?? tableUuid(access.bucket, data.projectId, key)

  async function metadataOf(table: OpenTable, { snapshot }: State, shown: readonly Shown[]) {
    return tableMetadata({
      uuid: uuidOf(table),
      // Its own folder, although some files may lie elsewhere: DuckDB picks keys by it, and must not take those of another table.
      location: `${uriPrefix}${table.keyPrefix.slice(0, -1)}`,
      properties: {
        'write.data.path': `${uriPrefix}${table.keyPrefix}${STAGED}data`,
        'write.metadata.path': `${uriPrefix}${table.keyPrefix}${STAGED}metadata`,
      },
      lastColumnId: snapshot.nextFieldId - 1,
      schemas: await store.listSchemas(table.data),
      snapshots: shown.map((one) => ({
        id: one.snapshotId,
        sequence: one.state,
        createdAtMs: one.createdAtMs,
        manifestList: `${uriPrefix}${one.listKey}`,
        schemaId: one.schemaId,
        summary: one.summary,
      })),
    })
  }

  /** The same as a file, written once for a state: some readers start from the file alone. */
  async function metadataKeyOf({ data, keyPrefix }: OpenTable, shown: readonly Shown[], metadata: object): Promise<string> {
    const last = shown.at(-1)
    if (!last) throw new PlatformError('iceberg.preparing')
    if (last.metadataKey) return last.metadataKey
    const key = `${keyPrefix}metadata/${last.state}-${randomUUID()}.metadata.json`
    await objects.put(key, Readable.from([Buffer.from(JSON.stringify(metadata))]))
    await inTransaction((trx) => store.setMetadataKey(trx, data, last.state, key))
    return key
  }

  /** Keys for an hour that read the files of the states and nothing else, and write where a writer of the table may. */
  async function keysFor({ keyPrefix, isWritable }: OpenTable, shown: readonly Shown[], baseUrl: string) {
    const places = [keyPrefix, ...new Set(shown.flatMap(({ outside }) => outside))]
    return vend(places, isWritable ? [`${keyPrefix}${STAGED}`] : [], baseUrl)
  }

  async function vend(places: readonly string[], writable: readonly string[], baseUrl: string) {
    const grant =
      (action: Grant['action']) =>
      (key: string): Grant => ({ action, key, isPrefix: key.endsWith('/') })
    // Writers remove what they put there when a commit fails; a commit copies its files before it publishes them.
    const grants = [...places.map(grant('download')), ...writable.map(grant('upload')), ...writable.map(grant('delete'))]
    const issued = await access.credentials({ grants, demandEncryption: false }, TABLE_CREDENTIALS_SECONDS)
    const expiresMs = Date.parse(issued.Expiration)
    const config = {
      's3.access-key-id': issued.AccessKeyId,
      's3.secret-access-key': issued.SecretAccessKey,
      's3.session-token': issued.SessionToken,
      's3.session-token-expires-at-ms': String(expiresMs),
      's3.endpoint': access.endpointFor(baseUrl),
      's3.path-style-access': 'true',
      's3.region': access.region,
      'client.region': access.region,
    }
    return { config, 'storage-credentials': places.map((key) => ({ prefix: `${uriPrefix}${key}`, config })) }
  }

  return {
    prefixOf,
    listNamespaces,
    getNamespace,
    listTables,
    findTable,
    load,
    credentials,
    scopeOf,
    written,
    uuidOf,
    vend,
    uriPrefix,
    /** Whether the text is a valid token; for clients that always request one. */
    isToken: async (value: string): Promise<boolean> => (await authenticate(value)) !== undefined,
    /** For the sweep of tables: removes records that no snapshot references, and returns the files of the others. */
    removeUnused: () => inTransaction(store.removeUnused),
    everyKey: store.everyKey,
  }
}

interface LoadOptions {
  readonly snapshots: 'all' | 'refs'
  /** Whether the client requests keys. */
  readonly vended: boolean
  readonly baseUrl: string
}

type Shown = WrittenSnapshot & { readonly createdAtMs: number; readonly snapshotId: string }

const spelled = (prefix: Prefix, bucketId: string): string[] => (isFlat(prefix) ? [bucketId] : bucketId.split('.'))

/** The newest first, as long as one set of keys can name where their files are. */
function withFewPlaces(known: readonly WrittenSnapshot[]): readonly WrittenSnapshot[] {
  const places = new Set<string>()
  const first = known.findLastIndex(({ outside }, i) => {
    const more = outside.filter((place) => !places.has(place))
    if (i < known.length - 1 && places.size + more.length > MAX_PLACES) return true
    for (const place of more) places.add(place)
    return false
  })
  return known.slice(first + 1)
}

export const isMissing = (error: unknown): boolean => error instanceof PlatformError && error.kind === 'not-found'

export const namespaceNotFound = (namespace: string) =>
  new PlatformError('iceberg.namespaceNotFound', { namespace: namespace.replaceAll('\u001f', '.').slice(0, 200) })
