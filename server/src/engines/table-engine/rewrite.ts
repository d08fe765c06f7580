// Changes that need no CSV: rows deleted by a filter, and a query written as a new segment (compaction, materialisation).

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from './database.ts'
import { segmentLoadTimes } from './load-slices.ts'
import { converted, distinctColumns, LOAD_TIME, liveSegment, namedColumns, query, rowConditions } from './relation.ts'
import { deleteFrom } from './resolve-keys.ts'
import { rowGroupRows, writeToSegment } from './segment-file.ts'
import { fieldName, identifier } from './sql.ts'
import type {
  DeletedRows,
  DeleteRowsJob,
  LoadedSegment,
  NameDeletesJob,
  SegmentChange,
  WriteSegmentJob,
} from './worker-protocol.ts'

export async function deleteRows(db: Database, job: DeleteRowsJob): Promise<DeletedRows> {
  const { request, local } = job
  const conditions = rowConditions(request)
  const read = distinctColumns([...namedColumns(request), LOAD_TIME])
  const changes: Record<string, SegmentChange> = {}
  let deletedRows = 0
  for (const [i, segment] of request.snapshot.segments.entries()) {
    const live = liveSegment(segment, read, request.snapshot.typed, local)
    const where = conditions.length ? `WHERE ${conditions.join(' AND ')}` : ''
    const dying = await db.run(`CREATE OR REPLACE TEMP TABLE dying AS SELECT file_row_number AS pos FROM (${live}) ${where}`)
    if (dying === 0) continue
    deletedRows += dying
    changes[segment.key] = await deleteFrom(
      db,
      segment,
      { positions: 'SELECT pos FROM dying', count: dying },
      job,
      join(job.workDir, `deletes-${i}.parquet`),
    )
  }
  return { changes, deletedRows }
}

export async function nameDeletes(db: Database, job: NameDeletesJob): Promise<Record<string, SegmentChange>> {
  const changes: Record<string, SegmentChange> = {}
  for (const [i, segment] of job.segments.entries())
    changes[segment.key] = await deleteFrom(
      db,
      segment,
      { positions: NO_POSITIONS, count: 0 },
      job,
      join(job.workDir, `deletes-${i}.parquet`),
    )
  return changes
}

const NO_POSITIONS = 'SELECT NULL::BIGINT AS pos WHERE false'

/** Rows of the request under the field ids and types of `job.columns`, in order, with the load times they had. */
export async function writeSegment(db: Database, job: WriteSegmentJob): Promise<LoadedSegment> {
  const { from, columns } = query(job.request, job.local, [LOAD_TIME])
  const names = columns.map((c, i) => {
    const to = job.columns[i] ?? c
    return `${converted(c, to)} AS ${identifier(to.name)}`
  })
  const bytesPerRow = averageBytes(job)
  const select = `SELECT ${names.join(', ')}, ${fieldName(LOAD_TIME.fieldId)} AS "_timestamp" ${from}`
  const rows = await writeToSegment(db, select, job.columns, job.outPath, rowGroupRows(4 * bytesPerRow, columns.length))
  return { rows, csvBytes: 0, bytes: (await stat(job.outPath)).size, ...(await segmentLoadTimes(db, job.outPath, 0)) }
}

const averageBytes = ({ request: { snapshot } }: WriteSegmentJob): number => {
  const rows = snapshot.segments.reduce((sum, s) => sum + s.rows, 0)
  return rows === 0 ? 1 : snapshot.segments.reduce((sum, s) => sum + s.bytes, 0) / rows
}
