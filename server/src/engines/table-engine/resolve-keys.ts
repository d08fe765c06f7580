// What a load by primary key does to the rows of a table. New rows are already in fresh segments; this decides, by scanning key
// columns only, which positions die:
//  - a row of the load whose key comes again later in the load (the last one wins),
//  - a row of the table whose key the load brings,
//  - a row of the load that is marked as deleted, and rows of the table with its key,
//  - except where the load brings exactly the same row: then the new one is dropped, and the old one keeps its load time.
// Everything is hash aggregation and hash joins, which spill to disk; nothing is sorted or windowed over the whole table.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from './database.ts'
import { LOAD_TIME, outAs, pathOf, scan } from './relation.ts'
import { copyToDeleteFile, rowGroupRows, writeToSegment } from './segment-file.ts'
import { type Column, columnById, type Segment } from './snapshot.ts'
import { fieldName, literal, sameness } from './sql.ts'
import type { FreshSegment, ResolvedKeys, ResolveKeysJob, SegmentChange } from './worker-protocol.ts'

/** A place in the load: the number of the fresh segment in the upper bits, the position in it in the lower. */
const PLACE = '(file_index::BIGINT << 40) + file_row_number'
const POSITION_MASK = '((1::BIGINT << 40) - 1)'

/** A fresh segment with more dead rows than this is written again: it is local, warm and small next to the table. */
const REWRITE_SHARE = 0.25

export async function resolveKeys(db: Database, job: ResolveKeysJob): Promise<ResolvedKeys> {
  const keys = job.snapshot.primaryKey.map((id) => columnById(job.snapshot, id))
  const names = keys.map((c) => fieldName(c.fieldId)).join(', ')
  const { deletedMark: mark } = job
  const freshKeys = freshRows(job, mark ? [...keys, mark] : keys)
  const isGone = mark ? `lower(arg_max(${fieldName(mark.fieldId)}, place)::VARCHAR) IN ('true', '1')` : 'false'

  // A full load only needs the keys that repeat; an incremental one looks every key up in the table.
  const having = job.incremental || mark ? '' : 'HAVING count(*) > 1'
  await db.run(
    `CREATE TEMP TABLE latest AS SELECT ${names}, max(place) AS place, count(*) AS n, coalesce(${isGone}, false) AS gone FROM (${freshKeys}) GROUP BY ${names} ${having}`,
  )
  await db.run(
    `CREATE TEMP TABLE dead AS SELECT f.place FROM (${freshKeys}) f JOIN (FROM latest WHERE n > 1) l USING (${names}) WHERE f.place < l.place`,
  )
  const duplicate = await countOf(db, 'dead')
  if (mark) await db.run('INSERT INTO dead SELECT place FROM latest WHERE gone')
  const marked = (await countOf(db, 'dead')) - duplicate
  const old = job.incremental ? await resolveExisting(db, job, keys) : { existing: {}, replaced: 0, deleted: 0 }
  const fresh: Record<string, SegmentChange> = {}
  for (const [i, segment] of job.fresh.entries()) {
    const change = await settleFresh(db, job, segment, i)
    if (change) fresh[segment.key] = change
  }
  return { ...old, fresh, unchanged: (await countOf(db, 'dead')) - duplicate - marked, duplicate, marked }
}

const freshRows = (job: ResolveKeysJob, columns: readonly Column[]): string => {
  const files = job.fresh.map((f) => f.path)
  return `SELECT ${columns.map((c) => fieldName(c.fieldId)).join(', ')}, ${PLACE} AS place FROM ${scan(files, columns, job.snapshot.typed)}`
}

/** All segments of the table in one scan; `file_index` is the number of the segment. */
const oldRows = (job: ResolveKeysJob, columns: readonly Column[]): string =>
  scan(
    job.snapshot.segments.map((s) => pathOf(job.local, s.key)),
    columns,
    job.snapshot.typed,
  )

async function resolveExisting(
  db: Database,
  job: ResolveKeysJob,
  keys: readonly Column[],
): Promise<Pick<ResolvedKeys, 'existing' | 'replaced' | 'deleted'>> {
  await findHits(db, job, keys)
  if (job.keepUnchanged) {
    await findUnchanged(db, job, keys)
    await db.run('INSERT INTO dead SELECT DISTINCT place FROM same ANTI JOIN dead USING (place)')
    await db.run('CREATE OR REPLACE TEMP TABLE hit AS FROM hit ANTI JOIN same USING (seg, pos)')
  }
  const counts = await db.rows('SELECT seg, count(*) FROM hit GROUP BY seg')
  const existing: Record<string, SegmentChange> = {}
  for (const [seg, count] of counts) {
    const segment = job.snapshot.segments[Number(seg)]
    if (!segment) continue
    const path = join(job.workDir, `old-${seg}.parquet`)
    existing[segment.key] = await deleteFrom(
      db,
      segment,
      { positions: `SELECT pos FROM hit WHERE seg = ${seg}`, count: Number(count) },
      job,
      path,
    )
  }
  const deleted = job.deletedMark ? await countOf(db, '(SELECT 1 FROM hit JOIN (FROM latest WHERE gone) USING (place))') : 0
  return { existing, replaced: counts.reduce((sum, [, count]) => sum + Number(count), 0) - deleted, deleted }
}

/** `hit`: live rows of the table whose key the load brings, as segment number and position, each with the place of its successor. */
async function findHits(db: Database, job: ResolveKeysJob, keys: readonly Column[]): Promise<void> {
  const names = keys.map((c) => fieldName(c.fieldId)).join(', ')
  await db.run(`CREATE TEMP TABLE hit AS
    SELECT s.file_index::BIGINT AS seg, s.file_row_number AS pos, l.place FROM ${oldRows(job, keys)} s JOIN latest l USING (${names})`)
  const gone = job.snapshot.segments.flatMap(({ deletes }, seg) =>
    deletes ? [`SELECT ${seg}::BIGINT AS seg, pos FROM read_parquet(${literal(pathOf(job.local, deletes.key))})`] : [],
  )
  if (gone.length === 0) return
  // Rows that died before are many and hits are few: look the dead up among the hits, not the other way round.
  await db.run(
    `CREATE TEMP TABLE hit_before AS SELECT h.seg, h.pos FROM (${gone.join(' UNION ALL ')}) g JOIN hit h USING (seg, pos)`,
  )
  await db.run('CREATE OR REPLACE TEMP TABLE hit AS FROM hit ANTI JOIN hit_before USING (seg, pos)')
}

/**
 * `same`: the hits whose other columns are all equal. Column by column, smallest first, stopping when nothing is left: rows that did
 * change are mostly found out by the first column or two, so the wide ones are rarely read.
 */
async function findUnchanged(db: Database, job: ResolveKeysJob, keys: readonly Column[]): Promise<void> {
  await db.run('CREATE TEMP TABLE same AS FROM hit ANTI JOIN dead USING (place)') // what a mark deletes is not compared
  const keyIds = new Set(keys.map((c) => c.fieldId))
  const others = job.snapshot.columns.filter((c) => !keyIds.has(c.fieldId))
  const largest = job.snapshot.segments.toSorted((a, b) => b.bytes - a.bytes)[0]
  const ordered = largest ? await bySize(db, pathOf(job.local, largest.key), others) : others
  for (const columns of inSteps(ordered)) {
    if ((await countOf(db, 'same')) === 0) return
    const [old, fresh] = ['o', 'n'].map((alias) => columns.flatMap((c) => sameness(c, alias))) as [string[], string[]] // of both aliases
    const equal = old.map((value, at) => `${value} IS NOT DISTINCT FROM ${fresh[at]}`).join(' AND ')
    await db.run(`CREATE OR REPLACE TEMP TABLE same_next AS
      SELECT h.seg, h.pos, h.place FROM ${oldRows(job, columns)} o
      JOIN same h ON o.file_index = h.seg AND o.file_row_number = h.pos JOIN (${freshRows(job, columns)}) n ON n.place = h.place WHERE ${equal}`)
    await db.run('CREATE OR REPLACE TEMP TABLE same AS FROM same_next')
  }
}

async function bySize(db: Database, path: string, columns: readonly Column[]): Promise<readonly Column[]> {
  const sizes = await db.rows(
    `SELECT path_in_schema, sum(total_compressed_size)::DOUBLE FROM parquet_metadata(${literal(path)}) GROUP BY ALL`,
  )
  const bytes = new Map(sizes.map(([name, size]) => [String(name), Number(size)]))
  return columns.toSorted((a, b) => (bytes.get(a.name) ?? 0) - (bytes.get(b.name) ?? 0))
}

/** Columns compared at once: a table of 4,000 must not take 4,000 scans, and its rows must not be in memory as a whole. */
const COLUMNS_AT_ONCE = 100

/** The first three alone, then the others in bundles. */
function inSteps(columns: readonly Column[]): Column[][] {
  const steps = columns.slice(0, 3).map((c) => [c])
  for (let i = 3; i < columns.length; i += COLUMNS_AT_ONCE) steps.push(columns.slice(i, i + COLUMNS_AT_ONCE))
  return steps
}

/** A new delete file for a segment: the positions that were dead before and those that die now. */
export async function deleteFrom(
  db: Database,
  segment: Segment,
  /** A select of the positions, and how many it gives. */
  dying: { readonly positions: string; readonly count: number },
  { local, uriPrefix }: Pick<ResolveKeysJob, 'local' | 'uriPrefix'>,
  path: string,
): Promise<SegmentChange> {
  const rows = (segment.deletes?.rows ?? 0) + dying.count
  if (rows === segment.rows) return { kind: 'gone' }
  const before = segment.deletes ? `SELECT pos FROM read_parquet(${literal(pathOf(local, segment.deletes.key))}) UNION ALL ` : ''
  await db.run(copyToDeleteFile(`${before}${dying.positions}`, `${uriPrefix}${segment.key}`, path))
  return { kind: 'deletes', path, rows, bytes: (await stat(path)).size, uriPrefix }
}

async function settleFresh(
  db: Database,
  job: ResolveKeysJob,
  segment: FreshSegment,
  index: number,
): Promise<SegmentChange | null> {
  const positions = `SELECT DISTINCT place & ${POSITION_MASK} AS pos FROM dead WHERE place >> 40 = ${index}`
  const rows = await countOf(db, `(${positions})`)
  if (rows === 0 && !job.deletedMark) return null
  if (rows === segment.rows) return { kind: 'gone' }
  const path = join(job.workDir, `new-${index}.parquet`)
  // With a mark it is always written again, without the mark.
  if (rows / segment.rows <= REWRITE_SHARE && !job.deletedMark) {
    await db.run(copyToDeleteFile(positions, `${job.uriPrefix}${segment.key}`, path))
    return { kind: 'deletes', path, rows, bytes: (await stat(path)).size, uriPrefix: job.uriPrefix }
  }
  const { columns, typed } = job.snapshot
  const select = `SELECT ${columns.map((c) => `s.${outAs(c)}`).join(', ')}, s.c1 AS "_timestamp"
    FROM ${scan([segment.path], [...columns, LOAD_TIME], typed, segment.loadedAt)} s ANTI JOIN (${positions}) d ON s.file_row_number = d.pos`
  const bytesPerRow = (await stat(segment.path)).size / segment.rows
  const groupRows = rowGroupRows(4 * bytesPerRow, columns.length)
  const left = await db.inFileOrder(() => writeToSegment(db, select, columns, path, groupRows))
  return { kind: 'rewritten', path, rows: left, bytes: (await stat(path)).size }
}

async function countOf(db: Database, relation: string): Promise<number> {
  const [row] = await db.rows(`SELECT count(*) FROM ${relation}`)
  return Number(row?.[0] ?? 0)
}
