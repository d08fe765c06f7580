// Whether a state can be read by other engines as it is, and what has to be rewritten if not. Three things are valid here and invalid there:
//  (1) a segment that lacks a column: this engine fills it with an empty text or the default, an Iceberg reader with null;
//  (2) a delete file that names its segment in another way than the reader does: the reader shows the dead rows;
//  (3) many files in folders of other tables: readers get credentials for the folder of the table and for few other files.

import { type Column, referencedKeys, type Segment, type TableSnapshot } from './snapshot.ts'

/** Files of other tables that credentials may name one by one; AWS limits a policy to 2,048 characters. */
export const MAX_FOREIGN_FILES = 8
/** Neighbours are written as one segment up to this size. */
const MAX_RUN_BYTES = 256 << 20

export interface OpenShape {
  /** The folder of the table. */
  readonly keyPrefix: string
  /** The prefix of keys in delete files. */
  readonly uriPrefix: string
}

export interface OpenShapePlan {
  /** Runs of neighbouring segments, as [from, to), each to become one segment. */
  readonly rewrites: readonly (readonly [from: number, to: number])[]
  /** Segments of which only the delete file has to be rewritten. */
  readonly renames: readonly Segment[]
}

/** Null: other engines read this state right. */
export function planOpenShape(snapshot: TableSnapshot, shape: OpenShape): OpenShapePlan | null {
  const filled = snapshot.columns.filter((column) => isFilledHere(snapshot, column))
  const foreign = foreignKeys(snapshot, shape.keyPrefix).length > MAX_FOREIGN_FILES
  const isWrong = (segment: Segment): boolean =>
    filled.some(({ fieldId }) => !segment.fieldIds.includes(fieldId)) || (foreign && isForeign(segment, shape.keyPrefix))
  const rewrites = runsOf(snapshot.segments, isWrong)
  const renames = snapshot.segments.filter((s) => !isWrong(s) && s.deletes !== null && s.deletes.uriPrefix !== shape.uriPrefix)
  return rewrites.length + renames.length === 0 ? null : { rewrites, renames }
}

/** Where a file lacks it, an Iceberg reader has null: right for typed columns without a default only. */
const isFilledHere = ({ typed }: TableSnapshot, column: Column): boolean => !typed || column.default !== undefined

/** The files of a state that lie neither in the folder of the table nor in one that a first load had for itself. */
export const foreignKeys = (snapshot: TableSnapshot, keyPrefix: string): readonly string[] =>
  referencedKeys(snapshot).filter((key) => folderOf(key, keyPrefix) === undefined)

const isForeign = ({ key, deletes }: Segment, keyPrefix: string): boolean =>
  folderOf(key, keyPrefix) === undefined || (deletes !== null && folderOf(deletes.key, keyPrefix) === undefined)

const FIRST_LOAD = /^tables\/\d+\/new-[^/]+\//

/** Where the files of a state lie besides the folder of the table: folders of first loads, which end with a slash, and single files. */
export const placesOutside = (snapshot: TableSnapshot, keyPrefix: string): readonly string[] => [
  ...new Set(referencedKeys(snapshot).map((key) => folderOf(key, keyPrefix) ?? key)).difference(new Set([keyPrefix])),
]

/** The folder that readers of the table may read as a whole; undefined for a file among those of another table. */
const folderOf = (key: string, keyPrefix: string): string | undefined =>
  key.startsWith(keyPrefix) ? keyPrefix : FIRST_LOAD.exec(key)?.[0]

function runsOf(segments: readonly Segment[], isWanted: (segment: Segment) => boolean): (readonly [number, number])[] {
  const runs: [number, number][] = []
  let bytes = 0
  for (const [i, segment] of segments.entries()) {
    if (!isWanted(segment)) continue
    const last = runs.at(-1)
    bytes += segment.bytes
    if (last?.[1] === i && bytes <= MAX_RUN_BYTES) last[1] = i + 1
    else {
      runs.push([i, i + 1])
      bytes = segment.bytes
    }
  }
  return runs
}
