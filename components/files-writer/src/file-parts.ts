// Rows become files of the run's own folder: one, or one for each partition and each so many rows.

import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, statSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished, pipeline } from 'node:stream/promises'
import { createGzip, type Gzip } from 'node:zlib'
import { type Cells, type InputColumn, type InputTable, rowsOf } from '../../connector-kit/src/input-table.ts'
import { JSON_NUMBER } from '../../connector-kit/src/json-number.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { createExcel } from './excel.ts'
import type { FileOfRows, FormatWork } from './file-of-rows.ts'
import { inPartition, partOf } from './names.ts'
import { createParquet } from './parquet.ts'
import type { RowSettings } from './settings.ts'

/** A file that is not sent yet. */
export interface LocalFile {
  /** Where it goes. */
  readonly path: string
  readonly local: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
  /** It goes behind a file that exists. */
  readonly isAppended: boolean
}

const MAX_FILES = 2000

interface OpenFile {
  readonly path: string
  readonly local: string
  readonly file: FileOfRows
  readonly isAppended: boolean
  rows: number
}

export async function makeFiles(
  input: InputTable,
  path: string,
  settings: RowSettings,
  folder: string,
  {
    isAppendedTo,
    template,
  }: { readonly isAppendedTo: (path: string) => Promise<boolean>; readonly template: Uint8Array | undefined },
): Promise<readonly LocalFile[]> {
  const { partitionBy, maxRows, skipEmpty } = settings
  const kept = input.columns.map((_, at) => at).filter((at) => !partitionBy.includes(at))
  if (kept.length === 0) throw new UserError('partitionBy names every column: nothing is left for the files.')
  const columns = kept.map((at) => input.columns[at]!) // its places
  const names = partitionBy.map((at) => input.columns[at]!.name)
  const open = new Map<string, OpenFile>()
  const parts = new Map<string, number>()
  const done: OpenFile[] = []

  async function fileFor(values: readonly (string | null)[]): Promise<OpenFile> {
    const place = inPartition(path, names, values)
    const present = open.get(place)
    if (present && (maxRows === undefined || present.rows < maxRows)) return present
    if (present) await end(place, present)
    const number = (parts.get(place) ?? 0) + 1
    parts.set(place, number)
    if (open.size + done.length >= MAX_FILES)
      throw new UserError(`More than ${MAX_FILES} files would be written. Use fewer partitions, or more rows in a file.`)
    const local = join(folder, `part-${open.size + done.length}`)
    const to = partOf(place, number)
    const isAppended = await isAppendedTo(to)
    const made: OpenFile = {
      ...{ path: to, local, isAppended },
      rows: 0,
      file: await createFile(local, { columns, settings, isAppended, template }),
    }
    open.set(place, made)
    return made
  }

  async function end(place: string, made: OpenFile): Promise<void> {
    open.delete(place)
    await made.file.close()
    done.push(made)
  }

  for await (const row of rowsOf(input)) {
    const made = await fileFor(partitionBy.map((at) => row[at] ?? null))
    made.rows++
    await made.file.write(partitionBy.length === 0 ? row : kept.map((at) => row[at] ?? null))
  }
  if (open.size + done.length === 0 && !skipEmpty && partitionBy.length === 0) await fileFor([])
  for (const [place, made] of open) await end(place, made)
  return Promise.all(
    done.map(async ({ path: to, local, rows, isAppended }) => ({
      ...{ path: to, local, rows, isAppended, bytes: statSync(local).size },
      sha256: await digestOf(local),
    })),
  )
}

function createFile(local: string, work: FormatWork): FileOfRows | Promise<FileOfRows> {
  const { format } = work.settings
  if (format === 'parquet') return createParquet(local, work)
  if (format === 'excel') return createExcel(local, work)
  return createText(local, work)
}

async function digestOf(local: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(local), hash)
  return hash.digest('hex')
}

/** Texts are gathered: a write for each row would take most of the time. */
const CHUNK = 2 ** 16

function createText(local: string, { columns, settings, isAppended }: FormatWork): FileOfRows {
  const file = createWriteStream(local)
  const out: Gzip | WriteStream = settings.gzip ? createGzip() : file
  if (out !== file) out.pipe(file)
  const line = settings.format === 'csv' ? csvLine(settings.delimiter) : jsonLine(columns)
  let gathered = settings.format === 'csv' && settings.header && !isAppended ? line(columns.map(({ name }) => name)) : ''
  const flush = async () => {
    const text = gathered
    gathered = ''
    if (!out.write(text)) await new Promise<void>((drained) => out.once('drain', drained))
  }
  return {
    write(row) {
      gathered += line(row)
      return gathered.length > CHUNK ? flush() : undefined
    },
    async close() {
      if (gathered !== '') await flush()
      out.end()
      await finished(file)
    },
  }
}

/** An absent value is nothing, an empty text is `""`. */
function csvLine(delimiter: string): (row: Cells) => string {
  const special = new RegExp(`["\\r\\n${delimiter.replace(/[\\\]^-]/, '\\$&')}]`)
  const cell = (value: string | null) =>
    value === null ? '' : value === '' || special.test(value) ? `"${value.replaceAll('"', '""')}"` : value
  return (row) => `${row.map(cell).join(delimiter)}\n`
}

/** Numbers digit by digit. */
function jsonLine(columns: readonly InputColumn[]): (row: Cells) => string {
  const members = columns.map(({ name, base }) => {
    const start = `${JSON.stringify(name)}:`
    const isNumber = base === 'INTEGER' || base === 'NUMERIC' || base === 'FLOAT'
    return (value: string | null): string => {
      if (value === null) return `${start}null`
      if (isNumber && JSON_NUMBER.test(value)) return start + value
      if (base === 'BOOLEAN' && (value === 'true' || value === 'false')) return start + value
      return (isNumber || base === 'BOOLEAN') && value === '' ? `${start}null` : start + JSON.stringify(value)
    }
  })
  return (row) => `{${members.map((member, at) => member(row[at] ?? null)).join(',')}}\n`
}
