// Writes of other engines: commits, new tables, dropped tables. This file reads the requests; the tables module publishes.

import { createHash, randomUUID } from 'node:crypto'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import { type Column, LOAD_TIME_FIELD_ID } from '../../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Scope } from '../../../model/scope.ts'
import type { Requester } from '../../../model/storage-job.ts'
import { createCommitFiles } from './commit-files.ts'
import { type CommitRequest, checkEmpty, checkRequirements, objectOf, readBody, readCommit, refused } from './commit-request.ts'
import type { IcebergStore } from './iceberg.store.ts'
import { type Iceberg, isMissing, namespaceNotFound, type OpenTable, type OpenTables, STAGED } from './iceberg.ts'
import { namespaceOf } from './names.ts'
import { addedColumns } from './schema-change.ts'
import { newColumns } from './schema-columns.ts'
import { schemaFields, tableMetadata } from './table-metadata.ts'

export interface WritesDeps {
  readonly tables: OpenTables
  readonly store: Pick<IcebergStore, 'listManifests'>
  readonly objects: Pick<ObjectStore, 'get'>
  readonly catalogue: Pick<Iceberg, 'scopeOf' | 'findTable' | 'load' | 'written' | 'uuidOf' | 'vend' | 'uriPrefix'>
}

/** A request of a route fits. */
export type Asker = Requester & { readonly actor: Actor }

const STAGED_TABLE = /^tables\/(\d+)\/staged-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/$/

export type Writes = ReturnType<typeof createWrites>

export function createWrites({ tables, store, objects, catalogue }: WritesDeps) {
  const { scopeOf, findTable, load, written, uuidOf, vend, uriPrefix } = catalogue
  const commitFiles = createCommitFiles({ readObject: objectReader(objects), uriPrefix })

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
        // The first request may have been cut off, and its job have ended only now: then the table already has the requested state.
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
    const { current, began } = await startOf(table, request)
    checkRequirements(request, {
      uuid: uuidOf(table),
      snapshotId: began?.snapshotId ?? '',
      lastColumnId: current.snapshot.nextFieldId - 1,
      schemaId: began?.schemaId ?? 0,
    })
    const columns = addedColumns(current.snapshot, request.schema)
    if (!request.snapshot && columns.length === 0) {
      if (!table.isWritable) throw new PlatformError('accessDenied')
      return
    }
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

  /** The current state, or the one that the writer began with, if only files were rewritten since. */
  async function startOf(table: OpenTable, { snapshot }: CommitRequest) {
    const { current, shown } = await written(table)
    const last = shown.at(-1)
    const began = snapshot && shown.find(({ snapshotId }) => snapshotId === snapshot.parent)
    if (!began || began === last || !(await tables.isTidied(table.data, began.state, current.id))) return { current, began: last }
    const state = await tables.state(table.data, began.state)
    return state ? { current: state, began } : { current, began: last }
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
    const body = readBody(text)
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

  return { commit, create, drop }
}

/** Reads no more than the limit into memory. */
export const objectReader =
  (objects: Pick<ObjectStore, 'get'>) =>
  async (key: string, maxBytes: number): Promise<Uint8Array | undefined> => {
    const found = await objects.get(key)
    if (!found || found.info.sizeBytes > maxBytes) {
      found?.body.destroy()
      return undefined
    }
    return Buffer.concat(await found.body.toArray())
  }

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
  const isKnown = ({ fieldId }: Column) => fieldId > LOAD_TIME_FIELD_ID && fieldId <= MAX_FIELD_ID
  if (ids.size !== columns.length || !columns.every(isKnown))
    throw refused('the field ids of its schema are not those that the catalogue gave')
  return columns
}

const MAX_FIELD_ID = 100_000
