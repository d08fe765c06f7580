// JSON, JSON lines and Parquet as CSV with a header, written by DuckDB, and workbooks and Avro by Node: a load then reads it as any other
// file. Texts stay as they are written, numbers as JSON prints them; objects and lists become JSON.

import { stat } from 'node:fs/promises'
import { PlatformError } from '../../../kit/errors.ts'
import type { Database } from '../database.ts'
import { identifier, literal, paths } from '../sql.ts'
import type { ConvertedFile, ConvertFileJob } from '../worker-protocol.ts'
import { convertRecords } from './convert-records.ts'

const WATCH_MS = 100
const NESTED = /^(STRUCT|MAP|UNION|JSON)|\]$/
const ZONED = /^TIMESTAMP WITH TIME ZONE/

export async function convertFile(db: Database, job: ConvertFileJob): Promise<ConvertedFile> {
  let isTooLarge = false
  // A few kilobytes of Parquet can hold any number of equal rows.
  const watch = setInterval(() => {
    void stat(job.outPath).then(
      ({ size }) => {
        if (size <= job.maxBytes || isTooLarge) return
        isTooLarge = true
        db.interrupt()
      },
      () => {}, // not written yet
    )
  }, WATCH_MS)
  try {
    if (job.format === 'excel' || job.format === 'avro') await convertRecords(job.format, job.files, job.outPath, job.maxBytes)
    else {
      const select = job.format === 'parquet' ? await selectParquet(db, job) : await selectJson(db, job)
      await db.run(`COPY (${select}) TO ${literal(job.outPath)} (FORMAT csv, HEADER true)`)
    }
  } catch (error) {
    if (isTooLarge) throw unreadable(job, `it unpacks to more than ${job.maxBytes} bytes`)
    const text = error instanceof Error ? error.message : String(error)
    if (/memory|space|disk/i.test(text)) throw error // of this machine, not of the file
    throw unreadable(job, reasonOf(text))
  } finally {
    clearInterval(watch)
  }
  return { bytes: (await stat(job.outPath)).size }
}

async function selectJson(db: Database, { files, maxRowBytes }: ConvertFileJob): Promise<string> {
  const size = `maximum_object_size = ${maxRowBytes}`
  // All rows are looked at: a name that comes late would be lost in silence.
  const found = await db.rows(
    `DESCRIBE SELECT * FROM read_json(${paths(files)}, sample_size = -1, maximum_depth = 1, map_inference_threshold = -1, ${size})`,
  )
  const names = found.map(([name]) => String(name))
  const columns = names.map((name) => `${literal(name)}: 'JSON'`).join(', ')
  const values = names.map((name) => `${identifier(name)}->>'$' AS ${identifier(name)}`).join(', ')
  return `SELECT ${values} FROM read_json(${paths(files)}, columns = {${columns}}, ${size})`
}

async function selectParquet(db: Database, { files }: ConvertFileJob): Promise<string> {
  const from = `read_parquet(${paths(files)}, union_by_name = true)`
  const found = await db.rows(`DESCRIBE SELECT * FROM ${from}`)
  const values = found.map(([name, type]) => `${asText(identifier(String(name)), String(type))} AS ${identifier(String(name))}`)
  return `SELECT ${values.join(', ')} FROM ${from}`
}

function asText(column: string, type: string): string {
  if (NESTED.test(type)) return `to_json(${column})::VARCHAR`
  if (ZONED.test(type)) return `timezone('UTC', ${column})::VARCHAR || '+00'`
  return column
}

/** What DuckDB found, without the paths of this machine and without its advice for programs. */
const reasonOf = (text: string): string =>
  (text.split('\n')[0] ?? '')
    .replace(/^\w+ Error: /, '')
    .replace(/"?\/[^\s"']+"?/g, 'the file')
    .replace(/\.\s+(Try|If|Consider)\b.*$/, '')
    .replace(/[.\s]+$/, '')

const NAMES = { json: 'JSON', parquet: 'Parquet', excel: 'Excel', avro: 'Avro' }

const unreadable = ({ name, format }: ConvertFileJob, reason: string) =>
  new PlatformError('storage.tables.fileUnreadable', { file: name, format: NAMES[format], reason })
