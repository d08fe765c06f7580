/** CSV as every table is written: each cell in double quotes, LF after each line (contract 13.3). */
import { closeSync, openSync, writeSync } from 'node:fs'
import { ByteWriter } from './bytes.ts'

/** Rows are gathered to this many bytes before they go to the disk. */
const BATCH = 1 << 18

/** The header line. */
export function headerOf(columns: readonly string[]): Uint8Array {
  const line = new ByteWriter()
  for (const column of columns) line.cell(column)
  if (columns.length > 0) line.endRow()
  return line.bytes.subarray(0, line.length)
}

/** A file being written. Rows of a page count only once the page is committed, so a page can be taken back. */
export class CsvFile {
  readonly path: string
  /** Rows go here, cell by cell; `rowDone` after each. */
  readonly out = new ByteWriter()
  private readonly fd: number
  private pageRows = 0
  private committedRows = 0
  private committedBytes: number

  constructor(path: string, columns: readonly string[]) {
    this.path = path
    this.fd = openSync(path, 'w', 0o600)
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

  commit(): void {
    this.committedRows += this.pageRows
    this.pageRows = 0
    if (this.out.length > BATCH) this.flush()
    this.committedBytes = this.out.length
  }

  rollBack(): void {
    this.pageRows = 0
    this.out.length = this.committedBytes
  }

  close(): void {
    this.flush()
    closeSync(this.fd)
  }

  private flush(): void {
    const { bytes, length } = this.out
    for (let at = 0; at < length; ) at += writeSync(this.fd, bytes, at, length - at)
    this.out.length = 0
  }
}
