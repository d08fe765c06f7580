// Files as a run of a component sees them: the port of the job runner (model/run-ports.ts), filled by this module.

import { basename, join } from 'node:path'
import type { ObjectAccess } from '../../../engines/object-store/object-access.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import type { WaitForStore } from '../../../engines/object-store/wait-for-store.ts'
import { receiveFile, sendFile } from '../../../engines/runner/data-folder.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { mapBounded } from '../../../kit/map-bounded.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import type { FileInfo, FileQuery, RunFiles, RunScope } from '../../../model/run-ports.ts'
import { attachment } from './file-key.ts'
import type { FileQuery as ParsedQuery } from './file-query.ts'
import type { FileSlices } from './file-slices.ts'
import type { FileRecord } from './files.store.ts'
import { type FileBranch, type Files, manifestKey } from './files.ts'

export interface RunFilesDeps {
  readonly files: Files
  readonly access: ObjectAccess
  readonly slices: FileSlices
  readonly objects: ObjectStore
  readonly waitForStore: WaitForStore
}

/** Files are looked through in pages of this size. */
const PAGE = 1000
/** Of one sliced file, stored side by side. */
const SLICES_AT_ONCE = 4

export function createRunFiles({ files, access, slices, objects, waitForStore }: RunFilesDeps): RunFiles {
  /** As with tables: a branch reads its own files, and those of the default branch where it has none. */
  async function list(scope: RunScope, query: FileQuery): Promise<readonly FileInfo[]> {
    const { fileIds } = query
    if (fileIds) return Promise.all(fileIds.map(async (id) => infoOf(await named(scope, id))))
    const own = await search(scope, query, branchOf(scope))
    const found = own.length > 0 || scope.isDefaultBranch ? own : await search(scope, query, { id: 0, isDefault: true })
    return found.map(infoOf)
  }

  async function search({ actor }: RunScope, query: FileQuery, branch: FileBranch): Promise<readonly FileRecord[]> {
    const found: FileRecord[] = []
    for (let offset = 0; found.length < query.limit; offset += PAGE) {
      const wanted = {
        ...(query.query === undefined ? { parsed: tagsQuery(query) } : { q: query.query }),
        limit: PAGE,
        offset,
        ...defined({ sinceId: query.sinceId }),
      }
      const page = await files.list(actor, wanted, branch)
      const since = query.createdSince
      found.push(...page.filter((file) => since === undefined || file.createdAt.getTime() >= since))
      if (page.length < PAGE) break
    }
    return found.slice(0, query.limit)
  }

  async function named(scope: RunScope, id: number): Promise<FileRecord> {
    try {
      return await files.get(scope.actor, id, branchOf(scope))
    } catch (error) {
      if (!(error instanceof PlatformError) || error.kind !== 'not-found') throw error
      throw new PlatformError('jobRunner.inputMissing', {
        reason: `the file ${id} does not exist, or the token may not read it.`,
      })
    }
  }

  async function read(key: string): Promise<AsyncIterable<Uint8Array>> {
    const found = await objects.get(key)
    if (!found) throw new PlatformError('storage.importFileMissing', { id: 0, slice: key })
    return found.body
  }

  return {
    list,
    async download({ actor }, fileId, path, signal) {
      const file = await files.get(actor, fileId)
      for (const { key } of await waitForStore(() => slices.of(file), signal)) {
        const target = file.isSliced ? join(path, basename(key)) : path
        await waitForStore(async () => receiveFile(target, await read(key), signal), signal)
      }
    },
    async s3Place({ actor, baseUrl }, fileId) {
      const file = await files.get(actor, fileId)
      const { AccessKeyId, SecretAccessKey, SessionToken } = await files.credentials(file, 'download')
      return {
        isSliced: file.isSliced,
        region: access.region,
        bucket: access.bucket,
        key: file.isSliced ? manifestKey(file) : file.key,
        endpoint: access.endpointFor(baseUrl),
        credentials: { access_key_id: AccessKeyId, secret_access_key: SecretAccessKey, session_token: SessionToken },
      }
    },
    async stage(scope, file, signal) {
      const request = { ...file, isSliced: file.slices !== undefined }
      const reserved = await files.reserve(scope.actor, request, scope.runId, branchOf(scope))
      const attributes = { contentDisposition: attachment(file.name) }
      const put = async (key: string, path: string): Promise<number> => {
        signal.throwIfAborted()
        return (await waitForStore(() => objects.put(key, sendFile(path), { attributes }), signal)).sizeBytes
      }
      const parts = file.slices?.map((path, at) => ({
        path,
        key: `${reserved.key}${String(at).padStart(6, '0')}_${basename(path)}`,
      }))
      const sizes = parts
        ? await mapBounded(parts, SLICES_AT_ONCE, ({ key, path }) => put(key, path))
        : [await put(reserved.key, file.path)]
      if (parts)
        await waitForStore(
          () =>
            slices.writeManifest(
              reserved,
              parts.map(({ key }) => key),
              scope.baseUrl,
            ),
          signal,
        )
      const sizeBytes = sizes.reduce((sum, size) => sum + size, 0)
      return {
        id: reserved.id,
        publish: async (trx) => {
          await files.publish(trx, scope.actor, reserved, sizeBytes, { ...NO_ORIGIN, runId: scope.runId })
        },
      }
    },
    addTags: (trx, { actor }, fileId, tags) => files.tagPresent(trx, actor, fileId, tags),
  }
}

const branchOf = ({ branchId, isDefaultBranch }: RunScope): FileBranch => ({ id: branchId, isDefault: isDefaultBranch })

/** All of the tags, none of the others; undefined when there are neither. */
function tagsQuery({ tags, withoutTags }: FileQuery): ParsedQuery | undefined {
  const items = [...tags.map(hasTag), ...withoutTags.map((tag): ParsedQuery => ({ kind: 'not', item: hasTag(tag) }))]
  return items.length === 0 ? undefined : { kind: 'and', items }
}

const hasTag = (value: string): ParsedQuery => ({ kind: 'term', field: 'tags', value, hasWildcard: false })

const infoOf = (file: FileRecord): FileInfo => ({
  id: file.id,
  name: file.name,
  created: formatTimestamp(file.createdAt),
  isPublic: file.isPublic,
  isEncrypted: file.isEncrypted,
  isSliced: file.isSliced,
  tags: file.tags,
  maxAgeDays: file.maxAgeDays,
  sizeBytes: file.sizeBytes ?? 0,
  creatorToken: file.creatorToken,
})
