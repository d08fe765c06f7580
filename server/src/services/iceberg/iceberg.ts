// The catalogue of Iceberg over the tables of a project: names, what a table is, keys to its files, and commits of those who write.
//  1. A prefix names project, branch and spelling: `7`, `7-123`, `7-flat`. It must be the project of the token.
//  2. Who may see a table is asked of the tables module each time; keys reach the files of the one table that was asked for.
//  3. Metadata is written when a table is loaded (written-snapshots.ts). States that others would read wrong are never shown.
//  4. Who writes puts files into a folder of its own (`staged/` of the table); a commit names them, and the tables module publishes them.

import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Trx } from '../../engines/metadata-db/dialects.ts'
import { type Grant, type ObjectAccess, TABLE_CREDENTIALS_SECONDS } from '../../engines/object-store/object-access.ts'
import type { ObjectStore } from '../../engines/object-store/object-store.ts'
import { type Column, LOAD_TIME_FIELD_ID } from '../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../kit/errors.ts'
import { parseExactly } from '../../kit/exact-json.ts'
import type { Actor } from '../../model/actor.ts'
import type { Scope } from '../../model/scope.ts'
import type { Requester } from '../../model/storage-job.ts'
import type { TableCommit, TableCreation } from '../../model/table-commit.ts'
import { createCommitFiles } from './commit-files.ts'
import { type CommitRequest, checkEmpty, checkRequirements, objectOf, readCommit, refused } from './commit-request.ts'
import type { DataTable, IcebergStore, WrittenSnapshot } from './iceberg.store.ts'
import { isFlat, namespaceOf, type Prefix, prefixText, readPrefix, readWarehouse } from './names.ts'
import { addedColumns } from './schema-change.ts'
import { newColumns } from './schema-columns.ts'
import { schemaFields, tableMetadata, tableUuid } from './table-metadata.ts'
import { createSnapshotWriter, type KeptState, type State, snapshotIds } from './written-snapshots.ts'

/** Tables, seen from here. */
export interface OpenTables {
  listBuckets(scope: Scope): Promise<readonly string[]>
  listNames(scope: Scope, bucketId: string): Promise<readonly string[]>
  find(scope: Scope, bucketId: string, name: string): Promise<OpenTable>
  /** Its files are written anew first where others would read them wrong. */
  current(table: DataTable): Promise<State>
  listStates(table: DataTable): Promise<readonly (KeptState & { readonly createdAtMs: number })[]>
  state(table: DataTable, id: number): Promise<State | undefined>
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
  /** Whether who asks may change it. */
  readonly isWritable: boolean
  /** The id that its writer gave it, where another program made the table. */
  readonly openUuid: string | undefined
}

export interface IcebergDeps {
  readonly tables: OpenTables
  readonly store: IcebergStore
  readonly objects: Pick<ObjectStore, 'put' | 'get'>
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
/** Where who writes puts files, below the folder of the table. Own files never lie there: whoever may write could replace them. */
const STAGED = 'staged/'
const STAGED_TABLE = /^tables\/(\d+)\/staged-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/$/

export function createIceberg(deps: IcebergDeps) {
  const { tables, store, objects, access, inTransaction, findBranch, authenticate } = deps
  const uriPrefix = `s3://${access.bucket}/`
  const writer = createSnapshotWriter({ store, objects, inTransaction, uriPrefix, findState: tables.state })
  const commitFiles = createCommitFiles({ readObject, uriPrefix })

  async function readObject(key: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const found = await objects.get(key)
    if (!found || found.info.sizeBytes > maxBytes) {
      found?.body.destroy()
      return undefined
    }
    return Buffer.concat(await found.body.toArray())
  }

  /** What `warehouse` says: a branch, `flat`, or both. */
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

  /** The same commit again is answered as the first one was. */
  async function commit(requester: Asker, prefix: string, namespace: string, name: string, text: string) {
    const request = readCommit(text)
    const digest = createHash('sha256').update(text).digest('hex')
    const scope = await scopeOf(requester.actor, prefix)
    const asker = { ...requester, branch: scope.branch }
    const isDone = () => isCommitted(asker, bucketOf(namespace), name, digest)
    if (!(await isDone()))
      try {
        if (request.creates) await commitTable(asker, namespace, name, request, digest)
        else await commitChange(asker, await findTable(requester.actor, prefix, namespace, name), request, digest)
      } catch (error) {
        // The first request may have been cut off, and its job have ended only now: then the table is as the writer wants it.
        if (!(await isDone())) throw error
      }
    const { 'metadata-location': location, metadata } = await load(requester.actor, prefix, namespace, name, {
      snapshots: 'all',
      vended: false,
      baseUrl: requester.baseUrl,
    })
    return { 'metadata-location': location, metadata }
  }

  async function commitChange(asker: Asker & Scope, table: OpenTable, request: CommitRequest, digest: string): Promise<void> {
    const { current, shown } = await written(table)
    const last = shown.at(-1)
    checkRequirements(request, {
      uuid: uuidOf(table),
      snapshotId: last?.snapshotId ?? '',
      lastColumnId: current.snapshot.nextFieldId - 1,
      schemaId: last?.schemaId ?? 0,
    })
    const columns = addedColumns(current.snapshot, request.schema)
    if (!request.snapshot && columns.length === 0) return
    const known = (await store.listManifests(table.data, current.id)).map(
      ({ path, files }) => [path, Object.keys(files)] as const,
    )
    const place = { snapshot: current.snapshot, known: new Map(known), folder: `${table.keyPrefix}${STAGED}` }
    const files = request.snapshot ? await commitFiles.changesOf(place, request.snapshot.manifestList) : NO_FILES
    await tables.commit(asker, table.id, {
      base: current.id,
      digest,
      snapshotId: request.snapshot?.id,
      addedColumns: columns,
      ...files,
    })
  }

  /** The end of a stage-create: the table and its first rows at once. */
  async function commitTable(asker: Asker & Scope, namespace: string, name: string, request: CommitRequest, digest: string) {
    const folder = request.location?.startsWith(uriPrefix) ? `${request.location.slice(uriPrefix.length)}/` : ''
    const [, projectId, uuid] = STAGED_TABLE.exec(folder) ?? []
    if (projectId !== String(asker.actor.projectId))
      throw refused('its location is not one that this catalogue gave for a new table')
    if (!request.schema) throw refused('it makes a table without a schema')
    if (request.snapshot?.parent !== undefined) throw refused('the first snapshot of a table has no parent')
    const place = { snapshot: { segments: [] }, known: new Map(), folder }
    const files = request.snapshot ? await commitFiles.changesOf(place, request.snapshot.manifestList) : NO_FILES
    const { addedFiles } = files
    await made(
      namespace,
      name,
      tables.create(asker, bucketOf(namespace), name, {
        digest,
        uuid,
        snapshotId: request.snapshot?.id,
        columns: checkedIds(request.schema),
        addedFiles,
      }),
    )
  }

  const isCommitted = async (scope: Scope, bucketId: string, name: string, digest: string): Promise<boolean> => {
    const table = await tables.find(scope, bucketId, name).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    })
    return table !== undefined && tables.hasCommit(table.data, digest)
  }

  /** With `stage-create` nothing is made yet: the commit that follows makes it. */
  async function create(requester: Asker, prefix: string, namespace: string, text: string, vended: boolean) {
    const body = objectOf(parseExactly(text), 'the body')
    const { name } = body
    if (typeof name !== 'string') throw refused('the table lacks its name')
    if (body.location) throw refused('tables lie where the catalogue puts them. Leave the location out')
    checkEmpty(body['partition-spec'] ?? {}, 'partitions')
    checkEmpty(body['write-order'] ?? {}, 'sort order')
    const columns = newColumns(objectOf(body.schema, 'schema'))
    const scope = await scopeOf(requester.actor, prefix)
    const asker = { ...requester, branch: scope.branch }
    const bucketId = bucketOf(namespace)
    if (body['stage-create'] === true) {
      await made(namespace, name, tables.checkNew(asker, bucketId, name))
      return staged(requester, columns, vended)
    }
    await made(namespace, name, tables.create(asker, bucketId, name, { digest: randomUUID(), columns, addedFiles: [] }))
    return load(requester.actor, prefix, namespace, name, { snapshots: 'all', vended, baseUrl: requester.baseUrl })
  }

  async function staged({ actor, baseUrl }: Asker, columns: readonly Column[], vended: boolean) {
    const uuid = randomUUID()
    const folder = `tables/${actor.projectId}/staged-${uuid}/`
    const metadata = tableMetadata({
      uuid,
      location: `${uriPrefix}${folder.slice(0, -1)}`,
      lastColumnId: columns.at(-1)?.fieldId ?? 0,
      schemas: [{ type: 'struct', 'schema-id': 0, fields: schemaFields(columns) }],
      snapshots: [],
      properties: {},
    })
    return { metadata, ...(vended ? await vend([folder], [folder], baseUrl) : { config: {} }) }
  }

  async function drop(requester: Asker, prefix: string, namespace: string, name: string): Promise<void> {
    const scope = await scopeOf(requester.actor, prefix)
    const { id } = await findTable(requester.actor, prefix, namespace, name)
    await tables.drop({ ...requester, branch: scope.branch }, id)
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
      if (known.at(-1)?.state !== current.id) continue // another node was writing it, or it was forgotten by now
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
    const grants = [...places.map(grant('download')), ...writable.map(grant('upload'))]
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
    commit,
    create,
    drop,
    /** Whether the text is a valid token; for clients that insist on asking for one. */
    isToken: async (value: string): Promise<boolean> => (await authenticate(value)) !== undefined,
    /** For the sweep of tables: what the written snapshots need. */
    async *everyKey(): AsyncGenerator<string> {
      await inTransaction(store.removeUnused)
      yield* store.everyKey()
    },
  }
}

interface LoadOptions {
  readonly snapshots: 'all' | 'refs'
  /** Whether the client asks for keys. */
  readonly vended: boolean
  readonly baseUrl: string
}

/** A request of a route fits. */
export type Asker = Requester & { readonly actor: Actor }

type Shown = WrittenSnapshot & { readonly createdAtMs: number; readonly snapshotId: string }

const NO_FILES = { addedFiles: [], removedFiles: [] }

const bucketOf = (namespace: string): string => {
  const { stage, bucketId } = namespaceOf(namespace)
  return bucketId ?? stage
}

/** A table that is there is an error of its own here; a bucket that is not there is a namespace. */
async function made(namespace: string, name: string, making: Promise<void>): Promise<void> {
  try {
    await making
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'storage.buckets.tableAlreadyExists')
      throw new PlatformError('iceberg.tableExists', { table: `${bucketOf(namespace)}.${name}`.slice(0, 200) })
    throw error.code === 'storage.buckets.notFound' ? namespaceNotFound(namespace) : error
  }
}

/** Files are read by these ids; 1 is the hidden load time. */
function checkedIds(columns: readonly Column[]): readonly Column[] {
  const ids = new Set(columns.map(({ fieldId }) => fieldId))
  if (ids.size !== columns.length || Math.min(...ids) <= LOAD_TIME_FIELD_ID || Math.max(...ids) > MAX_FIELD_ID)
    throw refused('the field ids of its schema are not those that the catalogue gave')
  return columns
}

const MAX_FIELD_ID = 100_000

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

const isMissing = (error: unknown): boolean => error instanceof PlatformError && error.kind === 'not-found'

const namespaceNotFound = (namespace: string) =>
  new PlatformError('iceberg.namespaceNotFound', { namespace: namespace.replaceAll('\u001f', '.').slice(0, 200) })
