/** Finished tables into the output folder, with their manifests (spec extractor 15). The only place that writes there. */
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { headerOf } from './csv.ts'
import type { TableSummary } from './page.ts'
import { requireSameColumns } from './same-columns.ts'

export type MadeTable = {
  readonly name: string
  readonly path: string
  readonly columns: readonly string[]
  readonly rows: number
  readonly primaryKey: readonly string[]
  /** Of a table that was made without a mapping: the data type for its items, '' for the lists inside them. */
  readonly dataType?: string
  /** Made without a row, because a mapping describes it. */
  readonly isMissing?: boolean
  /** The data type or place it comes from, for messages. */
  readonly origin: string
}

export type Target = {
  readonly outDir: string
  readonly workDir: string
  readonly bucket: string | undefined
  readonly incremental: boolean
}

/** Tables that are whole, with their manifests, and one step away from the output folder. */
export type Prepared = { readonly tables: readonly TableSummary[]; readonly publish: () => void }

/** Merges what belongs together and writes the manifests. Everything that can be wrong is found here. */
export function prepare(made: readonly MadeTable[], target: Target): Prepared {
  const { bucket, workDir, outDir } = target
  const tables = merged(made.filter(({ columns }) => columns.length > 0))
  const ready = tables.map((table, i) => {
    const manifest = join(workDir, `${i}.manifest`)
    writeFileSync(manifest, JSON.stringify(manifestOf(table, target)))
    return { table, manifest, file: bucket === undefined ? table.name : `${bucket}.${table.name}` }
  })
  return {
    tables: ready.map(({ table: { name, rows, columns, primaryKey }, file }) => ({
      table: name,
      file,
      rows,
      columns,
      primaryKey,
    })),
    publish: () => {
      mkdirSync(outDir, { recursive: true })
      for (const { table, manifest, file } of ready) {
        move(table.path, join(outDir, file))
        move(manifest, join(outDir, `${file}.manifest`))
      }
    },
  }
}

/** The order of the keys is the one of the original extractor, which differs for tables without rows. */
function manifestOf({ name, primaryKey, isMissing }: MadeTable, { bucket, incremental }: Target): Record<string, unknown> {
  const destination = bucket === undefined ? {} : { destination: `in.c-${bucket}.${name}` }
  const key = primaryKey.length === 0 ? {} : { primary_key: primaryKey }
  return isMissing ? { incremental, ...destination, ...key } : { ...destination, incremental, ...key }
}

/** Tables of one name become one when their columns are equal; rows of different shape must not be mixed (spec extractor 14, 23.7). */
function merged(made: readonly MadeTable[]): MadeTable[] {
  const byName = new Map<string, MadeTable>()
  for (const table of made) {
    const first = byName.get(table.name)
    if (first === undefined) {
      byName.set(table.name, table)
      continue
    }
    requireSameColumns(first, table)
    appendRows(table, first.path)
    const primaryKey = first.primaryKey.length > 0 ? first.primaryKey : table.primaryKey
    byName.set(table.name, {
      ...first,
      rows: first.rows + table.rows,
      primaryKey,
      isMissing: !!first.isMissing && !!table.isMissing,
    })
  }
  return [...byName.values()]
}

/** Appends everything after the header line, piece by piece. */
function appendRows(from: MadeTable, to: string): void {
  const fd = openSync(from.path, 'r')
  const piece = Buffer.alloc(1 << 16)
  let at = headerOf(from.columns).length
  for (let count = readSync(fd, piece, 0, piece.length, at); count > 0; count = readSync(fd, piece, 0, piece.length, at)) {
    appendFileSync(to, piece.subarray(0, count))
    at += count
  }
  closeSync(fd)
  rmSync(from.path)
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error // another disk: copy under a private name first
    const partial = join(to, '..', `.${basename(to)}.part`)
    copyFileSync(from, partial)
    renameSync(partial, to)
    rmSync(from)
  }
}
