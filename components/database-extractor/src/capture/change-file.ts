// The changes of one table as a CSV file, in the order in which they were committed. Written without waiting, so that the stream is read no faster
// than the disk takes it.

import { closeSync, ftruncateSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { cellOf } from '../../../connector-kit/src/csv-file.ts'

const BUFFER_CHARACTERS = 2 ** 18

export interface ChangeFile {
  /** A new transaction: `rollBack` returns to here. */
  begin(): void
  write(row: readonly (string | null)[]): void
  /** The table was emptied: what was written so far does not count any more. */
  empty(): void
  rollBack(): void
  /** True: the rows of the file replace the table. */
  readonly isEmptied: boolean
  /** How many were written since. */
  readonly rows: number
  /** Something was written, or the table was emptied. */
  readonly hasChanges: boolean
  close(): void
}

export function createChangeFile(path: string, nullMarker: string): ChangeFile {
  /** After each TRUNCATE another file, since a roll back may need the one before. */
  const parts: { readonly path: string; readonly file: number; bytes: number }[] = []
  let [gathered, rows] = ['', 0]
  let before = { parts: 1, bytes: 0, gathered, rows }
  const nextPart = () => {
    const part = `${path}.part-${parts.length}`
    const added = { path: part, file: openSync(part, 'w'), bytes: 0 }
    parts.push(added)
    return added
  }
  let current = nextPart()
  const flush = () => {
    const bytes = Buffer.from(gathered)
    gathered = ''
    for (let at = 0; at < bytes.length; ) at += writeSync(current.file, bytes, at, bytes.length - at, current.bytes + at)
    current.bytes += bytes.length
  }
  const discard = (part: { readonly path: string; readonly file: number }) => {
    closeSync(part.file)
    rmSync(part.path)
  }
  return {
    begin() {
      before = { parts: parts.length, bytes: current.bytes, gathered, rows }
    },
    write(row) {
      for (let at = 0; at < row.length; at++) gathered += (at === 0 ? '' : ',') + cellOf(row[at] ?? null, nullMarker)
      gathered += '\n'
      rows++
      if (gathered.length >= BUFFER_CHARACTERS) flush()
    },
    empty() {
      flush()
      current = nextPart()
      rows = 0
    },
    rollBack() {
      for (const part of parts.splice(before.parts)) discard(part)
      current = parts[before.parts - 1] ?? current
      current.bytes = before.bytes
      ftruncateSync(current.file, before.bytes)
      ;({ gathered, rows } = before)
    },
    get isEmptied() {
      return parts.length > 1
    },
    get rows() {
      return rows
    },
    get hasChanges() {
      return rows > 0 || parts.length > 1
    },
    close() {
      flush()
      for (const part of parts.slice(0, -1)) discard(part)
      closeSync(current.file)
      renameSync(current.path, path)
    },
  }
}
