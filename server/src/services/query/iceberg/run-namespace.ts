// The namespace `run`: tables that live as long as one run of a job on another engine, for the token of that run alone. What the run keeps between
// its statements is made here by its engine; so are its results, whose files the tables of the project then adopt in place.
//  1. A result has the field ids and types of the table that takes it, and lies in a folder that no other writer of that table reaches.
//  2. Only the run sees these tables. They are deleted with the token; files that no table adopted are swept.

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { parseExactly, withExactIntegers } from '../../../kit/text/exact-json.ts'
import type { Actor } from '../../../model/actor.ts'
import type { RunNamespace, TablePart } from '../../../model/run-ports.ts'
import { createCommitFiles } from './commit-files.ts'
import { changed, objectOf, readBody, refused, textOf } from './commit-request.ts'
import { type Iceberg, namespaceNotFound } from './iceberg.ts'
import { writeManifest, writeManifestList } from './manifests.ts'
import { applyUpdates, checkRunRequirements, type Metadata, newMetadata, targetSchema } from './run-metadata.ts'
import type { RunOwner, RunTableRow, RunTablesStore } from './run-tables.store.ts'
import { type IcebergSchema, schemaFields, tableMetadata } from './table-metadata.ts'
import { type Asker, objectReader, type Writes } from './writes.ts'

export interface RunNamespaceDeps {
  readonly store: RunTablesStore
  readonly objects: Pick<ObjectStore, 'get' | 'put' | 'list' | 'delete'>
  readonly catalogue: Pick<Iceberg, 'scopeOf' | 'vend' | 'uriPrefix'>
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
}

export const RUN = 'run'
/** The row of the namespace. */
const ROOT = ''
const KEPT_MS = 2 * 86_400_000

export type RunCatalogue = ReturnType<typeof createRunCatalogue>

export function createRunCatalogue({ store, objects, catalogue, inTransaction, clock }: RunNamespaceDeps) {
  const { vend, uriPrefix } = catalogue
  const commitFiles = createCommitFiles({ readObject: objectReader(objects), uriPrefix })

  const ownerOf = ({ projectId, tokenId }: Actor): RunOwner => ({ projectId, tokenId })
  const locationOf = (folder: string): string => `${uriPrefix}${folder.slice(0, -1)}`

  /** The prefix must be the project of the token, as everywhere. */
  async function rootOf(actor: Actor, prefix: string): Promise<RunTableRow> {
    await catalogue.scopeOf(actor, prefix)
    const root = await store.find(ownerOf(actor), ROOT)
    if (!root) throw namespaceNotFound(RUN)
    return root
  }

  async function find(actor: Actor, prefix: string, name: string) {
    await rootOf(actor, prefix)
    const row = name === ROOT ? undefined : await store.find(ownerOf(actor), name)
    if (row?.metadata === undefined)
      throw new PlatformError('storage.tables.notFound', { table: name.slice(0, 200), bucket: RUN, project: actor.projectId })
    return { row, metadata: metadataOf(row.metadata) }
  }

  async function shown(folder: string, metadata: Metadata, keysFor: string | undefined) {
    return {
      'metadata-location': `${locationOf(folder)}/metadata/of-the-run.metadata.json`,
      metadata: withExactIntegers(metadata),
      ...(keysFor === undefined ? { config: {} } : await vend([folder], [folder], keysFor)),
    }
  }

  async function create(asker: Asker, prefix: string, _namespace: string, text: string, vended: boolean) {
    const { actor, baseUrl } = asker
    const root = await rootOf(actor, prefix)
    const body = readBody(text)
    const { name } = body
    if (typeof name !== 'string' || name === ROOT) throw refused('the table lacks its name')
    const row = await store.find(ownerOf(actor), name)
    if (row?.metadata !== undefined) throw new PlatformError('iceberg.tableExists', { table: `${RUN}.${name}`.slice(0, 200) })
    const schema = objectOf(body.schema, 'schema')
    const folder = row?.folder ?? `${root.folder}${randomUUID()}/`
    const made = newMetadata(
      randomUUID(),
      locationOf(folder),
      row?.target ? targetSchema(row.target, schema) : schema,
      clock.now(),
    )
    const metadata = withOptions(made, body)
    if (body['stage-create'] !== true) await keep(ownerOf(actor), row ?? { name, folder }, metadata)
    return shown(folder, metadata, vended ? baseUrl : undefined)
  }

  /** Requested settings besides columns. */
  const withOptions = (metadata: Metadata, body: Readonly<Record<string, unknown>>): Metadata =>
    applyUpdates(metadata, [
      ...(body['partition-spec']
        ? [
            { action: 'add-spec', spec: body['partition-spec'] },
            { action: 'set-default-spec', 'spec-id': -1 },
          ]
        : []),
      ...(body['write-order']
        ? [
            { action: 'add-sort-order', 'sort-order': body['write-order'] },
            { action: 'set-default-sort-order', 'sort-order-id': -1 },
          ]
        : []),
      ...(body.properties ? [{ action: 'set-properties', updates: body.properties }] : []),
    ])

  async function commit({ actor }: Asker, prefix: string, _namespace: string, name: string, text: string) {
    const root = await rootOf(actor, prefix)
    const body = readBody(text)
    const requirements = itemsOf(body.requirements, 'requirements')
    const updates = itemsOf(body.updates, 'updates')
    const row = name === ROOT ? undefined : await store.find(ownerOf(actor), name)
    const before = row?.metadata === undefined ? undefined : metadataOf(row.metadata)
    checkRunRequirements(requirements, before)
    const folder = row?.folder ?? folderOf(updates, root.folder)
    const metadata = applyUpdates(
      before ?? newMetadata('', locationOf(folder), { type: 'struct', fields: [] }, clock.now()),
      updates,
    )
    await keep(ownerOf(actor), row ?? { name, folder }, metadata)
    const { config: _, ...answer } = await shown(folder, metadata, undefined)
    return answer
  }

  /** The requested location of a staged table: below the folder of the run, and nowhere else. */
  function folderOf(updates: readonly Readonly<Record<string, unknown>>[], root: string): string {
    const location = updates.find(({ action }) => action === 'set-location')?.location
    const folder = typeof location === 'string' && location.startsWith(uriPrefix) ? `${location.slice(uriPrefix.length)}/` : ''
    if (!folder.startsWith(root) || !STAGED_FOLDER.test(folder.slice(root.length)))
      throw refused('its location is not one that this catalogue gave for a new table')
    return folder
  }

  async function keep(
    owner: RunOwner,
    row: Pick<RunTableRow, 'name' | 'folder'> & Partial<RunTableRow>,
    metadata: Metadata,
  ): Promise<void> {
    const text = JSON.stringify(withExactIntegers(metadata))
    const isKept = await inTransaction(async (trx) => {
      const before = { target: undefined, metadata: undefined, ...row }
      if (await store.replace(trx, owner, before, text)) return true
      if (await store.find(owner, row.name)) return false
      await store.insert(trx, owner, [{ ...before, metadata: text }], clock.now())
      return true
    })
    if (!isKept) throw changed('another change was published in between')
  }

  async function drop({ actor }: Asker, prefix: string, _namespace: string, name: string): Promise<void> {
    const { row } = await find(actor, prefix, name)
    if (row.target) throw refused('it is a result of the run')
    await inTransaction((trx) => store.remove(trx, ownerOf(actor), name))
  }

  /** For the job runner. */
  const ofRun: RunNamespace = {
    async open(owner, folder, results) {
      const rows = results.map(({ name, target }) => ({ name, folder: target.folder, target, metadata: undefined }))
      const root = { name: ROOT, folder, target: undefined, metadata: undefined }
      await inTransaction((trx) => store.insert(trx, owner, [root, ...rows], clock.now()))
    },

    async add(owner, name, folder, part) {
      const metadata = await writtenPart(folder, part)
      const row = { name, folder, target: undefined, metadata: JSON.stringify(metadata) }
      await inTransaction((trx) => store.insert(trx, owner, [row], clock.now()))
    },

    async rowsOf(owner, name) {
      const row = await store.find(owner, name)
      if (row?.metadata === undefined) return undefined
      const metadata = metadataOf(row.metadata)
      const current = itemsOf(metadata.schemas, 'schemas').find((one) => one['schema-id'] === metadata['current-schema-id'])
      const columns = itemsOf(current?.fields ?? [], 'fields').map((field) => String(field.name))
      const last = itemsOf(metadata.snapshots ?? [], 'snapshots').find(
        (one) => String(one['snapshot-id']) === String(metadata['current-snapshot-id']),
      )
      if (!last) return { columns, files: [] }
      const place = { snapshot: { segments: [] }, known: new Map(), folder: row.folder }
      return { columns, files: (await commitFiles.changesOf(place, textOf(last['manifest-list']))).addedFiles }
    },

    async close(owner) {
      const rows = await store.list(owner)
      await inTransaction((trx) => store.remove(trx, owner))
      const root = rows.find(({ name }) => name === ROOT)
      if (root) await removeBelow(root.folder)
    },
  }

  /** The metadata of a table of one state, whose files are there. */
  async function writtenPart(folder: string, { columns, files }: TablePart) {
    const schema: IcebergSchema = { type: 'struct', 'schema-id': 0, fields: schemaFields(columns) }
    const head = { sequence: 1, snapshotIdOf: String, parent: undefined }
    const entries = files.map(({ key, ...file }) => ({ ...file, path: `${uriPrefix}${key}`, sequence: head.sequence }))
    const bytes = await writeManifest(entries, { ...head, content: 'data', schema: JSON.stringify(schema), schemaId: 0 })
    const [manifestKey, listKey] = [`${folder}metadata/${randomUUID()}.avro`, `${folder}metadata/snap-1-${randomUUID()}.avro`]
    const rows = files.reduce((sum, file) => sum + file.rows, 0)
    const manifest = {
      path: `${uriPrefix}${manifestKey}`,
      bytes: bytes.length,
      content: 'data',
      sequence: head.sequence,
      minSequence: head.sequence,
      addedFiles: files.length,
      addedRows: rows,
      existingFiles: 0,
      existingRows: 0,
    } as const
    await objects.put(manifestKey, Readable.from([bytes]))
    await objects.put(listKey, Readable.from([await writeManifestList([manifest], head)]))
    const snapshot = {
      id: head.snapshotIdOf(head.sequence),
      sequence: head.sequence,
      createdAtMs: clock.now().getTime(),
      manifestList: `${uriPrefix}${listKey}`,
      schemaId: 0,
      summary: { operation: 'append', 'total-records': String(rows), 'total-data-files': String(files.length) },
    }
    return tableMetadata({
      uuid: randomUUID(),
      location: locationOf(folder),
      lastColumnId: Math.max(0, ...columns.map(({ fieldId }) => fieldId)),
      schemas: [schema],
      snapshots: [snapshot],
      properties: {},
    })
  }

  async function removeBelow(folder: string): Promise<void> {
    for (;;) {
      const { objects: found } = await objects.list({ prefix: folder })
      if (found.length === 0) return
      await objects.delete(found.map(({ key }) => key))
    }
  }

  const namespace: NamespaceOfRoutes = {
    getNamespace: async (actor, prefix) => {
      await rootOf(actor, prefix)
      return [RUN]
    },
    listTables: async (actor, prefix) => {
      await rootOf(actor, prefix)
      const rows = await store.list(ownerOf(actor))
      return rows.flatMap(({ name, metadata }) => (metadata === undefined ? [] : [{ namespace: [RUN], name }]))
    },
    findTable: (actor, prefix, _namespace, name) => find(actor, prefix, name),
    load: async (actor, prefix, _namespace, name, what) => {
      const { row, metadata } = await find(actor, prefix, name)
      return shown(row.folder, metadata, what.vended ? what.baseUrl : undefined)
    },
    credentials: async (actor, prefix, _namespace, name, baseUrl) => {
      const { row } = await find(actor, prefix, name)
      return { 'storage-credentials': (await vend([row.folder], [row.folder], baseUrl))['storage-credentials'] }
    },
    create,
    commit,
    drop,
  }

  return {
    namespace,
    ofRun,
    /** With the sweep of tables. */
    removeOld: () => inTransaction((trx) => store.removeBefore(trx, new Date(clock.now().getTime() - KEPT_MS))),
  }
}

const STAGED_FOLDER = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/$/

const metadataOf = (text: string): Metadata => objectOf(parseExactly(text), 'the metadata')

function itemsOf(value: unknown, what: string): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) throw refused(`${what} must be a list`)
  return value.map((item) => objectOf(item, `an item of ${what}`))
}

interface Loaded {
  readonly 'metadata-location': string
  readonly metadata: unknown
  readonly config: Record<string, string>
  readonly 'storage-credentials'?: unknown[]
}

/** The tables of one namespace, for the routes: of a bucket, or of the run that calls. */
export interface NamespaceOfRoutes {
  getNamespace(actor: Actor, prefix: string, namespace: string): Promise<readonly string[]>
  listTables(actor: Actor, prefix: string, namespace: string): Promise<{ namespace: string[]; name: string }[]>
  /** Throws when there is no such table for the caller. */
  findTable(actor: Actor, prefix: string, namespace: string, name: string): Promise<unknown>
  load(
    actor: Actor,
    prefix: string,
    namespace: string,
    name: string,
    what: { readonly snapshots: 'all' | 'refs'; readonly vended: boolean; readonly baseUrl: string },
  ): Promise<Loaded>
  credentials(
    actor: Actor,
    prefix: string,
    namespace: string,
    name: string,
    baseUrl: string,
  ): Promise<{ 'storage-credentials': unknown[] }>
  create(
    asker: Asker,
    prefix: string,
    namespace: string,
    text: string,
    vended: boolean,
  ): Promise<Omit<Loaded, 'metadata-location'> & { readonly 'metadata-location'?: string }>
  commit(
    asker: Asker,
    prefix: string,
    namespace: string,
    name: string,
    text: string,
  ): Promise<Pick<Loaded, 'metadata-location' | 'metadata'>>
  drop(asker: Asker, prefix: string, namespace: string, name: string): Promise<void>
}

export interface CatalogueOfRoutes extends Pick<Iceberg, 'prefixOf' | 'listNamespaces' | 'isToken'> {
  at(namespace: string): NamespaceOfRoutes
}

/** The catalogue for the routes, with the tables of the calling run beside those of the project. */
export function withRunNamespace(iceberg: Iceberg, writes: Writes, runs: RunCatalogue): CatalogueOfRoutes {
  const project: NamespaceOfRoutes = { ...iceberg, ...writes }
  return { ...iceberg, at: (namespace) => (namespace === RUN ? runs.namespace : project) }
}
