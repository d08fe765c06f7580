// What a worker decided about a segment, applied to the snapshot.

import { type FinishedFile, newKey } from './object-files.ts'
import type { Segment } from './snapshot.ts'
import type { SegmentChange } from './worker-protocol.ts'

/** The segments that take the place of one; its new delete file joins `files`. */
export function applyChange(
  segment: Segment,
  change: SegmentChange | undefined,
  keyPrefix: string,
  files: FinishedFile[],
): Segment[] {
  if (!change) return [segment]
  switch (change.kind) {
    case 'gone':
      return []
    case 'rewritten':
      return [{ ...segment, rows: change.rows, bytes: change.bytes, deletes: null }]
    case 'deletes': {
      const { kind: _, path, ...deletes } = change
      const key = newKey(`${keyPrefix}deletes-`)
      files.push({ key, path })
      return [{ ...segment, deletes: { key, ...deletes } }]
    }
  }
}
