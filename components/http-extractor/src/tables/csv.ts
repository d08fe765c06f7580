/** CSV as every table is written: each cell in double quotes, LF after each line (contract 13.3). */
import { closeSync, openSync, writeSync } from 'node:fs'

/** Rows are gathered to about this many characters before they go to the disk. */
const BATCH = 1 << 17

export function escapeCell(text: string): string {
  return text.includes('"') ? text.replaceAll('"', '""') : text
}

/** A line of cells that are escaped already. */
export function csvLine(cells: readonly string[]): string {
  return `"${cells.join('","')}"\n`
}

/** A file being written. Lines of a page count only once the page is committed, so a page can be taken back. */
export class CsvFile {
  readonly path: string
  private readonly fd: number
  private page = ''
  private pageRows = 0
  private pending = ''
  private committedRows = 0

  constructor(path: string, columns: readonly string[]) {
    this.path = path
    this.fd = openSync(path, 'w', 0o600)
    this.pending = csvLine(columns.map(escapeCell))
  }

  get rows(): number {
    return this.committedRows
  }

  add(line: string): void {
    this.page += line
    this.pageRows++
  }

  commit(): void {
    this.pending += this.page
    this.committedRows += this.pageRows
    this.rollBack()
    if (this.pending.length > BATCH) this.flush()
  }

  rollBack(): void {
    this.page = ''
    this.pageRows = 0
  }

  close(): void {
    this.flush()
    closeSync(this.fd)
  }

  private flush(): void {
    const bytes = Buffer.from(this.pending, 'utf8')
    for (let at = 0; at < bytes.length; ) at += writeSync(this.fd, bytes, at)
    this.pending = ''
  }
}
