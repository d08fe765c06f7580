// From the manifests of a writer to the files that enter and leave a table. What the table has after the commit is what the last snapshot lists;
// the writer may leave out files of the state before and add files that it put into its own folder, and nothing else.

import type { TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import type { CommittedFile } from '../../../model/table-commit.ts'
import { refused } from './commit-request.ts'
import { type ListedManifest, type ReadEntry, readManifest, readManifestList } from './read-manifests.ts'

export interface CommitFilesDeps {
  readonly readObject: (key: string, maxBytes: number) => Promise<Uint8Array | undefined>
  /** `s3://<bucket>/`. */
  readonly uriPrefix: string
}

export interface WrittenTable {
  readonly snapshot: Pick<TableSnapshot, 'segments'>
  /** Manifests of the state before by path, with the keys of their files. */
  readonly known: ReadonlyMap<string, readonly string[]>
  /** Where the writer may put files. */
  readonly folder: string
}

export interface FileChanges {
  readonly addedFiles: readonly CommittedFile[]
  readonly removedFiles: readonly string[]
}

const MAX_MANIFESTS = 1000
const MAX_MANIFEST_BYTES = 32 << 20
const MAX_ADDED_FILES = 10_000

export function createCommitFiles({ readObject, uriPrefix }: CommitFilesDeps) {
  async function changesOf(table: WrittenTable, manifestList: string): Promise<FileChanges> {
    const listKey = keyBelow(manifestList, table.folder, 'the manifest list')
    const manifests = await readManifestList(await bytesOf(listKey), manifestList)
    if (manifests.length > MAX_MANIFESTS) throw refused(`it has more than ${MAX_MANIFESTS} manifests. Rewrite them into fewer`)
    const before = keysOf(table.snapshot)
    const live = new Set<string>()
    const addedFiles: CommittedFile[] = []
    for (const manifest of manifests)
      for (const { key, added } of await filesOf(table, manifest, before)) {
        if (live.has(key)) throw refused(`it lists the file ${uriPrefix}${key} twice`)
        live.add(key)
        if (added) addedFiles.push(added)
        if (addedFiles.length > MAX_ADDED_FILES) throw refused(`it adds more than ${MAX_ADDED_FILES} files at once`)
      }
    checkDeletes(table.snapshot, live)
    return { addedFiles, removedFiles: [...before.segments].filter((key) => !live.has(key)) }
  }

  /** The files that a manifest lists. */
  async function filesOf(table: WrittenTable, manifest: ListedManifest, before: KeysBefore): Promise<LiveFile[]> {
    const known = table.known.get(manifest.path)
    if (known) return known.map((key) => ({ key }))
    if (manifest.partitionSpec !== 0) throw refused(`the manifest ${manifest.path} has partitions, and tables have none`)
    const key = keyBelow(manifest.path, table.folder, 'the manifest')
    const entries = await readManifest(await bytesOf(key), manifest.path)
    return entries.filter(({ status }) => status !== 'deleted').map((entry) => liveFile(table, entry, before))
  }

  function liveFile({ folder }: WrittenTable, entry: ReadEntry, before: KeysBefore): LiveFile {
    const own = entry.path.startsWith(uriPrefix) ? entry.path.slice(uriPrefix.length) : ''
    if (before.segments.has(own) && entry.content === 'data') return { key: own }
    if (before.deletes.has(own) && entry.content === 'deletes') return { key: own }
    if (entry.content === 'deletes')
      throw refused(
        `${entry.path} is a delete file. Delete rows by rewriting files: set write.delete.mode, write.update.mode and write.merge.mode to copy-on-write`,
      )
    if (entry.status === 'existing') throw refused(`${entry.path} is not a file of the current state of the table`)
    if (entry.isPartitioned) throw refused(`${entry.path} has a partition, and tables have none`)
    if (entry.isEncrypted) throw refused(`${entry.path} is encrypted`)
    if (entry.format.toUpperCase() !== 'PARQUET')
      throw refused(`${entry.path} is ${entry.format.slice(0, 20)}, and tables are made of Parquet files`)
    const key = keyBelow(entry.path, folder, 'the file')
    return { key, added: { key, rows: entry.rows, bytes: entry.bytes } }
  }

  function keyBelow(path: string, folder: string, what: string): string {
    const start = `${uriPrefix}${folder}`
    if (!path.startsWith(start))
      throw refused(`${what} ${path.slice(0, 300)} is not below ${start}, where files for this table are written`)
    return path.slice(uriPrefix.length)
  }

  async function bytesOf(key: string): Promise<Uint8Array> {
    const bytes = await readObject(key, MAX_MANIFEST_BYTES)
    if (!bytes) throw refused(`${uriPrefix}${key} is not there, or larger than ${MAX_MANIFEST_BYTES} bytes`)
    return bytes
  }

  return { changesOf }
}

interface LiveFile {
  readonly key: string
  readonly added?: CommittedFile
}

interface KeysBefore {
  readonly segments: ReadonlySet<string>
  readonly deletes: ReadonlySet<string>
}

const keysOf = ({ segments }: Pick<TableSnapshot, 'segments'>): KeysBefore => ({
  segments: new Set(segments.map(({ key }) => key)),
  deletes: new Set(segments.flatMap(({ deletes }) => (deletes ? [deletes.key] : []))),
})

/** A file that stays keeps its delete file: deleted rows never come back. */
function checkDeletes({ segments }: Pick<TableSnapshot, 'segments'>, live: ReadonlySet<string>): void {
  const bare = segments.find(({ key, deletes }) => live.has(key) && deletes !== null && !live.has(deletes.key))
  if (bare) throw refused(`it keeps the file ${bare.key} and leaves out its delete file ${bare.deletes?.key}`)
}
