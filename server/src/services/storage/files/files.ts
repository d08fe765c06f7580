// Rules for files. Independent of HTTP.
//  1. A token sees files of its project only; without canReadAllFileUploads, those it made itself. It changes and deletes only those.
//  2. Bytes first, record last, where we write them (upload); record first, bytes last, where we remove them.
//  3. Whatever a file's credentials could still write after its record is gone is swept until they have expired.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Grant, ObjectAccess, SharedAccess, TemporaryCredentials } from '../../../engines/object-store/object-access.ts'
import type { Bytes, ObjectStore, OpenObject } from '../../../engines/object-store/object-store.ts'
import type { Clock } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, mayChangeEverything } from '../../../model/actor.ts'
import { type EventSource, eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { FileProvider } from '../../../model/file-provider.ts'
import type { Scope } from '../../../model/scope.ts'
import type { JobHandler } from '../../../model/storage-job.ts'
import type { UsagePort } from '../../../model/usage-port.ts'
import { attachment, fileKey } from './file-key.ts'
import { type FileQuery, parseFileQuery } from './file-query.ts'
import { createFilesStore, type FileRecord, type NewFile } from './files.store.ts'

export interface FilesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly objects: ObjectStore
  readonly access: ObjectAccess
  readonly recordEvent: RecordEvent
  /** The transfer protocol of new files of a project. */
  readonly providerOf: (projectId: number) => Promise<FileProvider>
  readonly usage: UsagePort
}

export interface FileRequest {
  readonly name: string
  readonly sizeBytes?: number
  readonly contentType?: string
  readonly isPermanent?: boolean
  readonly isPublic?: boolean
  readonly isEncrypted?: boolean
  readonly isSliced?: boolean
  readonly notify?: boolean
  readonly tags?: readonly string[]
  /** Days until the file expires; 15 by default, never for permanent ones. */
  readonly maxAgeDays?: number
}

/** The branch of the caller. The default branch has its own files; a development branch can also read those by their id. */
export type FileBranch = Scope['branch']

export interface FileListQuery {
  readonly limit?: number
  readonly offset?: number
  readonly tags?: readonly string[]
  readonly q?: string
  /** The same question, parsed already. */
  readonly parsed?: FileQuery | undefined
  readonly sinceId?: number
  readonly maxId?: number
  readonly isPublic?: boolean
  readonly runId?: string
  readonly showExpired?: boolean
}

const DEFAULT_MAX_AGE_DAYS = 15
const DAY_MS = 24 * 3600 * 1000
/** How long a link is valid by default; object stores sign for a week at most. */
const LINK_SECONDS = 3600
export const MAX_LINK_SECONDS = 7 * 24 * 3600
const MAX_LIMIT = 10_000
/** Of one list: a page of the default length. Behind an external S3 every look is a request. */
const MAX_SIZES_LOOKED_UP = 100
/** The route that shows content is for looking at small files. */
const MAX_CONTENT_BYTES = 10 * 1024 * 1024

export type Files = ReturnType<typeof createFiles>

export function createFiles({ db, inTransaction, clock, objects, access, recordEvent, providerOf, usage }: FilesDeps) {
  const store = createFilesStore(db)

  const newFile = async (
    source: EventSource,
    request: FileRequest,
    runId: string | null,
    state: FileRecord['state'],
    branch?: FileBranch,
  ): Promise<NewFile> => {
    const createdAt = clock.now()
    const provider = await usableProvider(source.projectId)
    const maxAgeDays = request.isPermanent ? null : (request.maxAgeDays ?? DEFAULT_MAX_AGE_DAYS)
    return {
      projectId: source.projectId,
      state,
      name: storable(request.name),
      contentType: request.contentType,
      sizeBytes: request.sizeBytes,
      isSizeConfirmed: false,
      // Azure encrypts every blob and publishes none (corrections-2 A33, G10).
      isPublic: provider !== 'azure' && (request.isPublic ?? false),
      isSliced: request.isSliced ?? false,
      isEncrypted: provider === 'azure' || (request.isEncrypted ?? false),
      provider,
      notify: request.notify ?? false,
      maxAgeDays,
      runId,
      branchId: branch === undefined || branch.isDefault ? null : branch.id,
      creatorToken: { id: source.tokenId, description: source.tokenDescription },
      createdAt,
      expiresAt: maxAgeDays === null ? undefined : new Date(createdAt.getTime() + maxAgeDays * DAY_MS),
      tags: (request.tags ?? []).filter((tag) => tag !== '').map(storable),
    }
  }

  async function usableProvider(projectId: number): Promise<FileProvider> {
    const provider = await providerOf(projectId)
    if (provider === 'azure' && !access.sharedAccess) throw new PlatformError('storage.files.providerUnavailable', { provider })
    return provider
  }

  const insert = (trx: Trx, file: NewFile): Promise<FileRecord> =>
    store.insert(trx, file, (fileId) => fileKey({ ...file, fileId }))

  const announce = (trx: Trx, source: EventSource, file: FileRecord, what: 'Uploaded' | 'Deleted', origin?: Origin) =>
    recordEvent(
      trx,
      source,
      eventOf(
        `storage.file${what}`,
        { name: file.name.slice(0, 200), sizeBytes: file.sizeBytes ?? null, isSliced: file.isSliced },
        { objectId: String(file.id), objectName: file.name.slice(0, 200) },
      ),
      origin,
    )

  /** A record, and the place to upload to. */
  async function prepare(actor: Actor, request: FileRequest, origin: Origin, branch?: FileBranch): Promise<FileRecord> {
    // As clients expect it back: a dash becomes an underscore.
    const name = request.name.replaceAll('-', '_')
    const made = await newFile(actor, { ...request, name }, origin.runId, 'visible', branch)
    return inTransaction(async (trx) => {
      await usage.fileAdded(trx, actor.projectId, request.sizeBytes ?? 0)
      const file = await insert(trx, made)
      await announce(trx, actor, file, 'Uploaded', origin)
      return file
    })
  }

  /** An id and a key that are invisible until `publish`: for bytes we write ourselves. Unpublished ones are swept. */
  async function reserve(
    source: EventSource,
    request: FileRequest,
    runId: string | null = null,
    branch?: FileBranch,
  ): Promise<FileRecord> {
    const made = await newFile(source, request, runId, 'reserved', branch)
    return inTransaction((trx) => insert(trx, made))
  }

  /** Makes a reserved file visible, in the caller's transaction: after its bytes are in the store. */
  async function publish(
    trx: Trx,
    source: EventSource,
    file: FileRecord,
    sizeBytes: number,
    origin?: Origin,
  ): Promise<FileRecord> {
    await usage.fileAdded(trx, file.projectId, sizeBytes)
    const changed = await store.changeState(trx, file, ['reserved'], 'visible', clock.now())
    if (!changed) throw new PlatformError('storage.files.notFound')
    await store.confirmSize(trx, file.projectId, file.id, sizeBytes)
    const published: FileRecord = { ...file, state: 'visible', sizeBytes, isSizeConfirmed: true }
    await announce(trx, source, published, 'Uploaded', origin)
    return published
  }

  /**
   * Stores the bytes of one file. Its attributes may follow its bytes (fields of a form after its file), hence
   * `finish`, which is called when the body has ended.
   */
  async function upload(
    actor: Actor,
    name: string,
    body: Bytes,
    finish: () => Promise<FileRequest & { readonly branch?: FileBranch }>,
    origin: Origin,
  ): Promise<FileRecord> {
    const reserved = await reserve(actor, { name }, origin.runId)
    try {
      const { sizeBytes } = await objects.put(reserved.key, body, { attributes: { contentDisposition: attachment(name) } })
      const { branch, ...request } = await finish()
      const described = describe(reserved, await newFile(actor, request, origin.runId, 'reserved', branch))
      const moved = described.key !== reserved.key
      if (moved) {
        await objects.copy(reserved.key, described.key)
        await objects.delete(reserved.key)
      }
      return await inTransaction(async (trx) => {
        await store.describe(trx, described)
        return publish(trx, actor, described, sizeBytes, origin)
      })
    } catch (cause) {
      await discard(reserved).catch(() => {}) // the sweep finds what is left
      throw cause
    }
  }

  /** Lets go of a reserved file and its bytes. One that was published after all stays. */
  async function discard(reserved: FileRecord): Promise<void> {
    const { projectId, id } = reserved
    const isGone = await inTransaction((trx) => store.changeState(trx, { projectId, id }, ['reserved'], 'deleted', clock.now()))
    if (isGone) await removeBytes(reserved)
  }

  /** A reserved file with its later attributes. Only permanence moves it: permanent files are outside the folders that expire. */
  const describe = (reserved: FileRecord, said: NewFile): FileRecord => ({
    ...reserved,
    ...said,
    createdAt: reserved.createdAt,
    expiresAt: said.maxAgeDays === null ? undefined : reserved.expiresAt,
    tags: [...new Set(said.tags)],
    key: said.maxAgeDays === null ? permanentKey(reserved) : reserved.key,
  })

  const permanentKey = (file: FileRecord): string => fileKey({ ...file, fileId: file.id, maxAgeDays: null })

  async function findVisible(projectId: number, id: number): Promise<FileRecord | undefined> {
    const file = await store.find(projectId, id)
    const expired = file?.expiresAt !== undefined && file.expiresAt <= clock.now()
    return file?.state === 'visible' && !expired ? file : undefined
  }

  async function find(projectId: number, id: number, branch?: FileBranch): Promise<FileRecord> {
    const file = await findVisible(projectId, id)
    const isElsewhere = branch && file && (file.branchId === null ? branch.isOwnOnly : file.branchId !== branch.id)
    if (!file || isElsewhere) throw new PlatformError('storage.files.notFound')
    return file
  }

  async function get(actor: Actor, id: number, branch?: FileBranch): Promise<FileRecord> {
    const file = await find(actor.projectId, id, branch)
    if (!maySee(actor, file)) throw new PlatformError('accessDenied')
    return withSize(file)
  }

  /** The right to read all files is no right to change them. */
  const mayChange = (actor: Actor, file: FileRecord): boolean =>
    mayChangeEverything(actor) || file.creatorToken.id === actor.tokenId

  const maySee = (actor: Actor, file: FileRecord): boolean =>
    actor.isMasterToken ||
    actor.canReadAllFileUploads ||
    file.creatorToken.id === actor.tokenId ||
    file.readerTokenIds.includes(actor.tokenId)

  /** A file that a token could have made itself is given to it, and to the run it works for. */
  async function giveAgain(trx: Trx, file: FileRecord, tokenId: number, runId: string | null): Promise<void> {
    const runs = runId === null || runId === file.runId ? [] : [runId]
    const readers = tokenId === file.creatorToken.id ? [] : [tokenId]
    await store.changeGivenTo(trx, file.projectId, file.id, ({ moreRunIds, readerTokenIds }) => ({
      moreRunIds: [...new Set([...moreRunIds, ...runs])],
      readerTokenIds: [...new Set([...readerTokenIds, ...readers])],
    }))
  }

  /** In the transaction that ends what it belongs to; its bytes go with the next sweep. */
  const forget = (trx: Trx, projectId: number, id: number): Promise<boolean> =>
    store.changeState(trx, { projectId, id }, ['visible'], 'deleted', clock.now())

  /** The announced size until the bytes are there, then theirs. An upload may be followed by another, so the record is no proof. */
  async function withSize(file: FileRecord): Promise<FileRecord> {
    if (file.isSizeConfirmed && file.isSliced) return file // adding up many slices each time would cost more than it is worth
    const sizeBytes = await storedSize(file).catch(() => undefined) // reading the bytes reports what is wrong with them
    if (sizeBytes === undefined || (file.isSizeConfirmed && sizeBytes === file.sizeBytes)) return file
    await store.confirmSize(db, file.projectId, file.id, sizeBytes)
    return { ...file, sizeBytes, isSizeConfirmed: true }
  }

  async function storedSize(file: FileRecord): Promise<number | undefined> {
    if (!file.isSliced) return (await objects.head(file.key))?.sizeBytes
    if (!(await objects.head(manifestKey(file)))) return undefined
    let total = 0
    for await (const object of everything(file.key)) if (object.key !== manifestKey(file)) total += object.sizeBytes
    return total
  }

  async function list(actor: Actor, query: FileListQuery, branch?: FileBranch): Promise<FileRecord[]> {
    const limit = query.limit ?? 100
    if (limit < 0 || limit > MAX_LIMIT)
      throw new PlatformError('storage.validation', {
        field: 'limit',
        reason: `This value should be between 0 and ${MAX_LIMIT}.`,
      })
    const wanted = query.q === undefined ? query.parsed : parseFileQuery(storable(query.q))
    const seesAll = actor.isMasterToken || actor.canReadAllFileUploads
    const found = await store.list(actor.projectId, {
      limit,
      offset: query.offset ?? 0,
      tags: (query.tags ?? []).map(storable),
      showExpired: query.showExpired ?? false,
      now: clock.now(),
      ...(wanted && { query: wanted }),
      ...defined({ sinceId: query.sinceId, maxId: query.maxId, isPublic: query.isPublic }),
      ...(query.runId !== undefined && query.runId !== '' && { runId: storable(query.runId) }),
      ...(branch && { branchId: branch.isDefault ? null : branch.id }),
      ...(!seesAll && { creatorTokenId: actor.tokenId }),
    })
    const unsure = new Set(
      found.filter((file) => !file.isSizeConfirmed && file.state === 'visible').slice(0, MAX_SIZES_LOOKED_UP),
    )
    return Promise.all(found.map((file) => (unsure.has(file) ? withSize(file) : file)))
  }

  /** Refuses files the caller may not read. */
  async function checkReadable({ actor, branch }: Scope, id: number): Promise<void> {
    await get(actor, id, branch)
  }

  async function remove(actor: Actor, id: number, origin: Origin, branch?: FileBranch): Promise<void> {
    const file = await getChangeable(actor, id, branch)
    await inTransaction((trx) => markDeleted(trx, actor, file, origin))
    await removeBytes(file)
  }

  async function getChangeable(actor: Actor, id: number, branch?: FileBranch): Promise<FileRecord> {
    const file = await find(actor.projectId, id, branch)
    if (!mayChange(actor, file)) throw new PlatformError('accessDenied')
    return file
  }

  async function markDeleted(trx: Trx, source: EventSource, file: FileRecord, origin: Origin): Promise<void> {
    if (!(await store.changeState(trx, file, ['visible'], 'deleted', clock.now())))
      throw new PlatformError('storage.files.notFound')
    await announce(trx, source, file, 'Deleted', origin)
  }

  /** The same as a storage job, whose route has checked the permission. */
  const runDelete: JobHandler = async ({ job, publish: finish }) => {
    const { fileId } = job.input as { fileId: number } // written by the route
    const file = await find(job.projectId, fileId)
    await finish(async (trx) => {
      await markDeleted(trx, job.source, file, job.origin)
      return undefined
    })
    await removeBytes(file)
  }

  /** Bytes of a file, and of abandoned multipart uploads to it. */
  async function removeBytes(file: FileRecord): Promise<void> {
    for (const { key, uploadId } of await objects.multipart.listUploads(file.key))
      await objects.multipart.abort(key, uploadId).catch(() => {}) // completed or aborted in between
    // An upload that ended while it moved its bytes has left them there.
    if (!file.isSliced) return objects.delete([...new Set([file.key, permanentKey(file)])])
    let batch: string[] = []
    for await (const object of everything(file.key)) {
      batch.push(object.key)
      if (batch.length === 1000) {
        await objects.delete(batch)
        batch = []
      }
    }
    if (batch.length > 0) await objects.delete(batch)
  }

  async function* everything(prefix: string) {
    for (let after = ''; ; ) {
      const page = await objects.list({ prefix, after })
      yield* page.objects
      if (!page.more) return
      after = page.objects.at(-1)!.key
    }
  }

  async function addTag(actor: Actor, id: number, tag: string, branch?: FileBranch): Promise<void> {
    const file = await getChangeable(actor, id, branch)
    await inTransaction((trx) => store.addTags(trx, file.projectId, id, [storable(tag)]))
  }

  /** For runs, in the transaction that publishes their results: a file that was deleted meanwhile needs no tags any more. */
  const tagPresent = (trx: Trx, actor: Actor, id: number, tags: readonly string[]): Promise<void> =>
    store.tagPresent(trx, actor.projectId, id, tags.map(storable))

  async function removeTag(actor: Actor, id: number, tag: string, branch?: FileBranch): Promise<void> {
    const file = await getChangeable(actor, id, branch)
    if (!(await inTransaction((trx) => store.removeTag(trx, file.projectId, id, storable(tag)))))
      throw new PlatformError('storage.files.tagNotFound', { id, tag: tag.slice(0, 100) })
  }

  const credentials = (file: FileRecord, action: Grant['action']): Promise<TemporaryCredentials> =>
    access.credentials({
      grants: [{ action, key: file.key, isPrefix: file.isSliced }],
      demandEncryption: action === 'upload' && file.isEncrypted,
    })

  /** The same for SDKs of Azure. */
  function sharedAccess(file: FileRecord, action: Grant['action'], endpoint: string): SharedAccess {
    if (!access.sharedAccess) throw new PlatformError('storage.files.providerUnavailable', { provider: file.provider })
    return access.sharedAccess(
      { grants: [{ action, key: file.key, isPrefix: file.isSliced }], demandEncryption: false },
      endpoint,
    )
  }

  /** A link that downloads the file, or the manifest of a sliced one. */
  const link = (file: FileRecord, endpoint: string, expiresInSeconds = LINK_SECONDS): string =>
    file.isSliced
      ? access.link(manifestKey(file), {
          endpoint,
          expiresInSeconds,
          contentDisposition: attachment(`${file.name}.manifest`),
          contentType: 'application/json',
        })
      : access.link(file.key, {
          endpoint,
          expiresInSeconds,
          contentDisposition: attachment(file.name),
          ...(file.contentType && { contentType: file.contentType }),
        })

  /** Whether files are still there, and a link to those the actor may read. */
  async function statesOf(actor: Actor, ids: readonly number[], endpoint: string) {
    const states = new Map<number, { readonly isExpired: boolean; readonly url: string | null }>()
    for (const id of ids) {
      const file = await findVisible(actor.projectId, id)
      states.set(id, { isExpired: !file, url: file && maySee(actor, file) ? link(file, endpoint) : null })
    }
    return states
  }

  /** The bytes of a small file, for looking at it. */
  async function content(actor: Actor, id: number, branch?: FileBranch): Promise<OpenObject & { readonly contentType: string }> {
    const file = await get(actor, id, branch)
    if (file.isSliced) throw new PlatformError('storage.files.noContent', { id, reason: 'it is sliced' })
    const info = await objects.head(file.key)
    if (!info) throw new PlatformError('storage.fileNotUploaded', { id })
    if (info.sizeBytes > MAX_CONTENT_BYTES)
      throw new PlatformError('storage.files.noContent', {
        id,
        reason: `it has ${info.sizeBytes} bytes and at most ${MAX_CONTENT_BYTES} are shown`,
      })
    const found = await objects.get(file.key)
    if (!found) throw new PlatformError('storage.fileNotUploaded', { id })
    return { ...found, contentType: file.contentType ?? found.info.attributes.contentType ?? 'application/octet-stream' }
  }

  return {
    checkReadable,
    prepare,
    reserve,
    publish,
    upload,
    find,
    findVisible,
    statesOf,
    get,
    list,
    remove,
    getChangeable,
    runDelete,
    removeBytes,
    discard,
    forget,
    giveAgain,
    addTag,
    tagPresent,
    removeTag,
    credentials,
    sharedAccess,
    link,
    content,
    usageOf: store.usageOf,
    /** Files by a part of their name. */
    findNamed: async ({ actor }: Scope, text: string, limit: number) => {
      const tokenId = actor.isMasterToken || actor.canReadAllFileUploads ? undefined : actor.tokenId
      const found = await store.listContaining(actor.projectId, tokenId, text, limit, clock.now())
      return found.map(({ id, name }) => ({ kind: 'file' as const, id: String(id), name }))
    },
    /** The files of a deleted project; no credentials for them are valid any more. */
    async removeBytesOfProject(projectId: number): Promise<void> {
      for (const file of await store.listOfProject(projectId)) await removeBytes(file)
    },
    /**
     * Called when the branch is gone: credentials that were given before read nothing more (corrections-2, A4). What a crash leaves goes
     * with the next sweep.
     */
    async removeBytesOfBranch(projectId: number, branchId: number): Promise<void> {
      for (const file of await store.listDeletedOfBranch(projectId, branchId)) await removeBytes(file)
    },
    /** With a development branch go its files; their bytes follow by `removeBytesOfBranch`. */
    deleteOfBranch: (trx: Trx, projectId: number, branchId: number) =>
      store.deleteOfBranch(trx, projectId, branchId, clock.now()),
    /** For the sweep. */
    store,
  }
}

/** PostgreSQL cannot hold NUL in a text, and neither can hold half a surrogate pair. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

/** Slices are the key and whatever follows it; the manifest is one of them. */
export const manifestKey = (file: Pick<FileRecord, 'key'>): string => `${file.key}manifest`
