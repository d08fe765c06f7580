/** CSV as every table is written: each cell in double quotes, LF after each line (spec extractor 13.3). */
import { appendFileSync } from 'node:fs'
import { ByteWriter } from './bytes.ts'

/** All tables of a run together gather about this many bytes before they go to the disk; with many tables each gathers less. */
const GATHERED_BYTES = 1 << 23
const BATCH_BYTES = 1 << 18
const SMALLEST_BATCH_BYTES = 1 << 12
/** A buffer that one large page has blown up is not kept. */
const KEPT_BUFFER_BYTES = 1 << 21

export function batchBytes(files: number): number {
  return Math.max(SMALLEST_BATCH_BYTES, Math.min(BATCH_BYTES, Math.floor(GATHERED_BYTES / files)))
}

/** The header line. */
export function headerOf(columns: readonly string[]): Uint8Array {
  const line = new ByteWriter()
  for (const column of columns) line.cell(column)
  if (columns.length > 0) line.endRow()
  return line.bytes.subarray(0, line.length)
}

/**
 * A file being written. Rows of a page count only once the page is committed, so a page can be rolled back. The file is open only while
 * bytes are written to it, so the number of tables is not limited by the number of open files.
 */
export class CsvFile {
  readonly path: string
  /** Rows go here, cell by cell; `rowDone` after each. */
  readonly out = new ByteWriter()
  private pageRows = 0
  private committedRows = 0
  private committedBytes: number

  constructor(path: string, columns: readonly string[]) {
    this.path = path
    this.out.copy(headerOf(columns))
    this.committedBytes = this.out.length
  }

  get rows(): number {
    return this.committedRows
  }

  rowDone(): void {
    this.out.endRow()
    this.pageRows++
  }

  /** Writes what has gathered when it is at least `batch` bytes. */
  commit(batch: number): void {
    this.committedRows += this.pageRows
    this.pageRows = 0
    if (this.out.length >= batch) this.flush()
    this.committedBytes = this.out.length
  }

  rollBack(): void {
    this.pageRows = 0
    this.out.length = this.committedBytes
  }

  flush(): void {
    appendFileSync(this.path, this.out.bytes.subarray(0, this.out.length), { mode: 0o600 })
    this.out.length = 0
    this.out.shrink(KEPT_BUFFER_BYTES)
  }
}
