// Which objects hold the bytes of a file, for readers on the server side (table loads, input mapping): one object, or
// the slices a manifest lists, in its order. A manifest is what a client wrote, so nothing in it is believed.

import type { ObjectAccess } from '../../../engines/object-store/object-access.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import { azureNames, azureSliceKey } from '../../../engines/object-store/shared-access.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { FileRecord } from './files.store.ts'
import { manifestKey } from './files.ts'

export interface FileSlice {
  readonly key: string
  readonly sizeBytes: number
}

const MAX_MANIFEST_BYTES = 16 * 1024 * 1024
const MAX_SLICES = 100_000

const GZIP_START = Buffer.from([0x1f, 0x8b])
const isNamedGzip = (name: string): boolean => /\.gz$/i.test(name)

export interface FileSlices {
  of(file: FileRecord): Promise<readonly FileSlice[]>
  /** Whether the object is gzip: by its own name (spec storage 2.5.5), or by its first bytes. */
  isPacked(file: FileRecord, slice: FileSlice): Promise<boolean>
  /** `baseUrl`: of the API as the caller reached it. */
  writeManifest(file: FileRecord, sliceKeys: readonly string[], baseUrl: string): Promise<void>
}

export function createFileSlices(objects: ObjectStore, access: Pick<ObjectAccess, 'bucket' | 'endpointFor'>): FileSlices {
  const s3Prefix = `s3://${access.bucket}/`

  async function slicesOf(file: FileRecord): Promise<readonly FileSlice[]> {
    if (!file.isSliced) {
      const info = await objects.head(file.key)
      if (!info) throw new PlatformError('storage.fileNotUploaded', { id: file.id })
      return [{ key: file.key, sizeBytes: info.sizeBytes }]
    }
    const urls = entriesOf(file, await readManifest(file))
    return Promise.all(
      urls.map(async (url) => {
        const key = keyIn(file, url)
        const info = await objects.head(key)
        if (!info) throw new PlatformError('storage.importFileMissing', { id: file.id, slice: url.slice(0, 200) })
        return { key, sizeBytes: info.sizeBytes }
      }),
    )
  }

  async function isPacked(file: FileRecord, { key, sizeBytes }: FileSlice): Promise<boolean> {
    if (isNamedGzip(file.isSliced ? key : file.name)) return true
    // Clients pack slices of files that are not called .gz, and whole files that are called .csv. No CSV begins like gzip, so the bytes decide.
    return sizeBytes > 1 && (await beginsAsGzip(key))
  }

  async function beginsAsGzip(key: string): Promise<boolean> {
    const found = await objects.get(key, { start: 0, end: 1 })
    if (!found) return false
    const chunks: Buffer[] = []
    for await (const chunk of found.body as AsyncIterable<Buffer>) chunks.push(chunk)
    return Buffer.concat(chunks).subarray(0, 2).equals(GZIP_START)
  }

  async function readManifest(file: FileRecord): Promise<string> {
    const found = await objects.get(manifestKey(file))
    if (!found) throw new PlatformError('storage.manifestFileMissing', { id: file.id })
    if (found.info.sizeBytes > MAX_MANIFEST_BYTES) {
      found.body.destroy()
      throw new PlatformError('storage.invalidManifest', { id: file.id, reason: `it has more than ${MAX_MANIFEST_BYTES} bytes` })
    }
    const chunks: Buffer[] = []
    for await (const chunk of found.body as AsyncIterable<Buffer>) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  /** Only keys that start with the file's own: a manifest must not reach into another file. */
  function keyIn(file: FileRecord, url: string): string {
    const key = url.startsWith(s3Prefix) ? url.slice(s3Prefix.length) : (azureSliceKey(url, access.bucket) ?? '')
    if (!key.startsWith(file.key) || key === manifestKey(file))
      throw new PlatformError('storage.unauthorizedAccess', { id: file.id, slice: url.slice(0, 200) })
    return key
  }

  /** `{"entries":[{"url":"s3://bucket/key..."}]}`, with the addresses that clients of the provider expect. */
  async function writeManifest(file: FileRecord, sliceKeys: readonly string[], baseUrl: string): Promise<void> {
    const prefix = file.provider === 'azure' ? azureNames(access.endpointFor(baseUrl), access.bucket).slicePrefix : s3Prefix
    const manifest = JSON.stringify({
      entries: sliceKeys.map((key) => ({ url: prefix + key, mandatory: true })),
    })
    const body = async function* () {
      yield Buffer.from(manifest)
    }
    await objects.put(manifestKey(file), body(), { atRest: true, attributes: { contentType: 'application/json' } })
  }

  return { of: slicesOf, isPacked, writeManifest }
}

function entriesOf(file: FileRecord, text: string): readonly string[] {
  const invalid = (reason: string) => new PlatformError('storage.invalidManifest', { id: file.id, reason })
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw invalid('it is not JSON')
  }
  const entries = typeof parsed === 'object' && parsed !== null && 'entries' in parsed ? parsed.entries : undefined
  if (!Array.isArray(entries)) throw invalid('it is not an object with a list of entries')
  if (entries.length > MAX_SLICES) throw invalid(`it names more than ${MAX_SLICES} slices`)
  return entries.map((entry: unknown, i) => {
    const url = typeof entry === 'object' && entry !== null && 'url' in entry ? entry.url : undefined
    if (typeof url !== 'string') throw invalid(`entry ${i} has no url`)
    return url
  })
}
