// millrace table: tables of a running stack. A load is prepare, upload, job and polling in one command.

import { createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Command, Option } from 'commander'
import { counted } from '../../../contract/counted.ts'
import { defined } from '../../../server/src/kit/defined.ts'
import { type Client, createClient, type StorageJob, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { progress, table, timeText, UserError } from '../output.ts'
import { uploadFile } from './file-upload.ts'

interface Table {
  readonly id: string
  readonly name: string
  readonly columns?: readonly string[]
  readonly primaryKey: readonly string[]
  readonly rowsCount: number | null
  readonly dataSizeBytes: number | null
  readonly created: string
  readonly lastChangeDate: string | null
  readonly isAlias: boolean
  readonly isTyped: boolean
}

interface CsvOptions {
  readonly delimiter?: string
  readonly enclosure?: string
  readonly columns?: string
}

interface QueryOptions {
  readonly columns?: string
  readonly where?: string[]
  readonly changedSince?: string
  readonly changedUntil?: string
  readonly limit?: string
}

interface DeleteRowsOptions extends QueryOptions {
  readonly all?: boolean
  readonly dryRun?: boolean
}

interface ExportOptions extends QueryOptions {
  readonly format: string
  readonly gzip?: boolean
}

export function addTableCommands(program: Command): void {
  const group = program.command('table').description('tables: load, export, look, change')
  const withCsv = (command: Command) =>
    stackOptions(command)
      .option('--delimiter <character>', 'default a comma; \\t is a tab')
      .option('--enclosure <character>', 'default a double quote')
      .option('--columns <names>', 'names of the columns, with commas; the file then has no header')
  const withQuery = (command: Command) =>
    stackOptions(command)
      .option('--columns <names>', 'only these columns, with commas')
      .option('--where <column=value...>', 'only rows with this value; != for all others, > >= < <= to compare numbers')
      .option('--changed-since <time>', 'only rows loaded since, for example "-2 days"')
      .option('--changed-until <time>', 'only rows loaded before')
      .option('--limit <rows>', 'at most so many rows')

  stackOptions(group.command('list [bucket]'))
    .description('all tables, or those of a bucket')
    .action(async (bucket: string | undefined, _: object, command: Command) => {
      const path = bucket === undefined ? '/v2/storage/tables' : `/v2/storage/buckets/${encodeURIComponent(bucket)}/tables`
      const found = await createClient(command).request<Table[]>('GET', path, { query: { include: 'columns' } })
      print(command, found, (rows) =>
        table(
          ['ID', 'ROWS', 'BYTES', 'KEY', 'CHANGED'],
          rows.map((row) => [row.id, row.rowsCount, row.dataSizeBytes, row.primaryKey.join(','), timeText(row.lastChangeDate)]),
          'no tables yet; load one with: millrace table import in.c-main.orders orders.csv',
        ),
      )
    })

  stackOptions(group.command('show <table>'))
    .description('columns, key and size of a table')
    .action(async (id: string, _: object, command: Command) => {
      print(command, await createClient(command).request<Table>('GET', tablePath(id)), (one) =>
        [
          `${one.id}${one.isAlias ? '  alias' : ''}${one.isTyped ? '  typed' : ''}`,
          `rows ${one.rowsCount ?? 'unknown'}, ${one.dataSizeBytes ?? 0} bytes, changed ${timeText(one.lastChangeDate) || 'never'}`,
          ...(one.columns ?? []).map((column) => `  ${column}${one.primaryKey.includes(column) ? '  key' : ''}`),
        ].join('\n'),
      )
    })

  withCsv(group.command('create <table> <file>'))
    .description('create a table from a CSV file, plain or gzip')
    .option('--primary-key <columns>', 'with commas')
    .action(async (id: string, file: string, options: CsvOptions & { primaryKey?: string }, command: Command) => {
      const client = createClient(command)
      await createTable(client, command, id, file, options)
    })

  withCsv(group.command('import <table> <file>'))
    .description('load a CSV file into a table; the table and its bucket are created if they do not exist')
    .option('--incremental', 'add rows, or replace those of the same key, instead of replacing all')
    .option('--primary-key <columns>', 'for a new table')
    .option('--without-headers', 'the file has no header; its fields are the columns in their order')
    .action(
      async (
        id: string,
        file: string,
        options: CsvOptions & { incremental?: boolean; primaryKey?: string; withoutHeaders?: boolean },
        command: Command,
      ) => {
        const client = createClient(command)
        const [stage = '', bucket = ''] = partsOf(id).bucket.split('.')
        if (!(await exists(client, tablePath(id)))) {
          const bucketPath = `/v2/storage/buckets/${stage}.${bucket}`
          if (!(await exists(client, bucketPath)))
            await client.request('POST', '/v2/storage/buckets', { json: { stage, name: bucket.replace(/^c-/, '') } })
          return createTable(client, command, id, file, options)
        }
        const { incremental = false, withoutHeaders = false, primaryKey: _, ...csv } = options
        const json = { dataFileId: await upload(client, file), incremental, withoutHeaders, ...csvFields(csv) }
        const job = await run<StorageJob>(client, 'POST', `${tablePath(id)}/import-async`, json)
        const { totalRowsCount } = job.results as { totalRowsCount: number } // the results of tableImport
        print(command, job, () => `${id} has ${counted(totalRowsCount, 'row')} now`)
      },
    )

  withQuery(group.command('export <table> [file]'))
    .description('write a table to a file, CSV with a header; without a file, to standard output')
    .addOption(new Option('--format <format>', 'of the file').choices(['csv', 'parquet', 'jsonl']).default('csv'))
    .option('--gzip', 'packed; Parquet is packed in itself')
    .action(async (id: string, file: string | undefined, options: ExportOptions, command: Command) => {
      const client = createClient(command)
      const json = { merged: true, fileType: options.format, gzip: options.gzip ?? false, ...queryFields(options) }
      const job = await run<StorageJob>(client, 'POST', `${tablePath(id)}/export-async`, json)
      const { file: made } = job.results as { file: { id: number } } // the results of tableExport
      const bytes = await download(client, made.id, file)
      if (file !== undefined) print(command, { file, bytes, fileId: made.id }, () => `${file}: ${bytes} bytes`)
    })

  withQuery(group.command('preview <table>'))
    .description('the first rows of a table')
    .action(async (id: string, options: QueryOptions, command: Command) => {
      const query: Record<string, string> = { format: 'json', limit: options.limit ?? '20' }
      for (const [name, value] of Object.entries(queryFields(options))) if (name !== 'limit') flatten(name, value, query)
      const found = await createClient(command).request<{ columns: string[]; rows: { value: string | null }[][] }>(
        'GET',
        `${tablePath(id)}/data-preview`,
        { query },
      )
      print(command, found, ({ columns, rows }) =>
        table(
          columns,
          rows.map((row) => row.map(({ value }) => oneLine(value))),
          'no rows',
        ),
      )
    })

  withYes(stackOptions(group.command('delete-rows <table>')))
    .description('delete the rows that match; all of them with --all')
    .option('--where <column=value...>', 'rows with this value; != for all others, > >= < <= to compare numbers')
    .option('--changed-since <time>', 'rows loaded since, for example "-2 days"')
    .option('--changed-until <time>', 'rows loaded before')
    .option('--all', 'all rows of the table')
    .option('--dry-run', 'only print how many rows match')
    .action(async (id: string, options: DeleteRowsOptions, command: Command) => {
      const fields = queryFields(options)
      if ((Object.keys(fields).length === 0) !== (options.all ?? false))
        throw new UserError('Select rows with --where, --changed-since or --changed-until, or use --all for all of them.')
      const client = createClient(command)
      const query: Record<string, string> = options.all ? { allowTruncate: '1' } : {}
      for (const [name, value] of Object.entries(fields)) flatten(name, value, query)
      if (options.dryRun) {
        const plan = await client.request<object>('DELETE', `${tablePath(id)}/rows`, { query: { ...query, dryRun: true } })
        return print(command, plan, (value) => JSON.stringify(value, null, 2))
      }
      await confirm(command, `Delete ${options.all ? 'all rows' : 'rows'} of table ${id}`)
      const job = await client.waitForJob(await client.request<StorageJob>('DELETE', `${tablePath(id)}/rows`, { query }))
      const { deletedRows } = job.results as { deletedRows: number } // the results of tableRowsDelete
      return print(command, job.results, () => `Deleted ${counted(deletedRows, 'row')} of ${id}.`)
    })

  withYes(stackOptions(group.command('drop <table>')))
    .description('delete a table')
    .option('--force', 'with its aliases')
    .action(async (id: string, { force }: { force?: boolean }, command: Command) => {
      await confirm(command, `Delete table ${id}${force ? ' with its aliases' : ''}`)
      const client = createClient(command)
      const query = { async: 1, force: force ? 1 : 0 }
      const job = await client.waitForJob(await client.request<StorageJob>('DELETE', tablePath(id), { query }))
      print(command, job, () => `Table ${id} is gone`)
    })

  stackOptions(group.command('snapshot <table>'))
    .description('keep the present state of a table')
    .option('--description <text>')
    .action(async (id: string, { description = '' }: { description?: string }, command: Command) => {
      const job = await run<StorageJob>(createClient(command), 'POST', `${tablePath(id)}/snapshots`, { description })
      const { id: snapshot } = job.results as { id: string } // the results of tableSnapshotCreate
      print(
        command,
        job.results,
        () => `Snapshot ${snapshot}; create a table from it with: millrace table restore ${snapshot} <table>`,
      )
    })

  stackOptions(group.command('history <table> [switch]'))
    .description('show the status of the history of a table, or enable or disable it')
    .action(async (id: string, wanted: string | undefined, _: object, command: Command) => {
      if (wanted !== undefined && wanted !== 'on' && wanted !== 'off')
        throw new UserError(`"${wanted}" is not a switch. Write on or off, or omit it to see the history of the table.`)
      const client = createClient(command)
      const path = `${tablePath(id)}/history`
      const history =
        wanted === undefined
          ? await client.request<History>('GET', path)
          : await client.request<History>('PUT', path, { json: { isEnabled: wanted === 'on' } })
      print(command, history, historyText)
    })

  stackOptions(group.command('restore <snapshot> <table>'))
    .description('create a table from a snapshot')
    .action(async (snapshotId: string, id: string, _: object, command: Command) => {
      const { bucket, name } = partsOf(id)
      const job = await run<StorageJob>(createClient(command), 'POST', `/v2/storage/buckets/${bucket}/tables-async`, {
        name,
        snapshotId,
      })
      print(command, job.results, () => `Table ${id} created`)
    })
}

interface History {
  readonly tableId: string
  readonly isEnabled: boolean
  readonly historyTableId: string | null
  readonly isCurrent: boolean
  readonly problem: string | null
}

function historyText({ tableId, isEnabled, historyTableId, isCurrent, problem }: History): string {
  if (!isEnabled) return `The history of ${tableId} is disabled`
  const state = problem ?? (isCurrent ? 'it has the current state' : 'the current state is being added')
  return `The history of ${tableId} is kept in ${historyTableId}: ${state}`
}

const tablePath = (id: string): string => `/v2/storage/tables/${encodeURIComponent(id)}`

function partsOf(id: string): { readonly bucket: string; readonly name: string } {
  const [stage, bucket, name, ...rest] = id.split('.')
  if (!stage || !bucket || !name || rest.length > 0)
    throw new UserError(`"${id}" is not the id of a table. Ids look like in.c-main.orders.`)
  return { bucket: `${stage}.${bucket}`, name }
}

async function createTable(
  client: Client,
  command: Command,
  id: string,
  file: string,
  options: CsvOptions & { primaryKey?: string },
) {
  const { bucket, name } = partsOf(id)
  const { primaryKey = '', ...csv } = options
  const json = { name, primaryKey, dataFileId: await upload(client, file), ...csvFields(csv) }
  const job = await run<StorageJob>(client, 'POST', `/v2/storage/buckets/${bucket}/tables-async`, json)
  const made = job.results as Table // the results of tableCreate
  print(command, made, (one) => `${one.id} has ${counted(one.rowsCount ?? 0, 'row')}`)
}

export async function exists(client: Client, path: string): Promise<boolean> {
  try {
    await client.request('GET', path)
    return true
  } catch (error) {
    if (error instanceof UserError && / \(404, /.test(error.message)) return false
    throw error
  }
}

async function upload(client: Client, path: string): Promise<number> {
  const bar = progress(`upload ${path}`)
  const file = await uploadFile(client, path, {
    tags: ['file-import'],
    onProgress: bar.update,
    onResume: () => bar.say('resumed'),
  })
  bar.done('done')
  return file.id
}

async function run<T extends StorageJob>(client: Client, method: string, path: string, json: object): Promise<T> {
  const bar = progress('job')
  const job = await client.waitForJob(await client.request<T>(method, path, { json }), bar.say)
  bar.done(job.status)
  return job as T // waitForJob answers the same kind of record
}

async function download(client: Client, fileId: number, path: string | undefined): Promise<number> {
  const file = await client.request<{ url: string; sizeBytes: number }>('GET', `/v2/storage/files/${fileId}`)
  const answer = await fetch(file.url)
  if (!answer.ok || !answer.body) throw new UserError(`The object store answered ${answer.status} for file ${fileId}.`)
  const bar = progress(`download ${path ?? ''}`)
  let bytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      bar.update(bytes, file.sizeBytes)
      done(null, chunk)
    },
  })
  const body = Readable.fromWeb(answer.body as ReadableStream) // the two declarations of the same class
  if (path === undefined) await pipeline(body, counter, process.stdout, { end: false })
  else await pipeline(body, counter, createWriteStream(path))
  bar.done('done')
  return bytes
}

const csvFields = ({ delimiter, enclosure, columns }: CsvOptions) => ({
  ...defined({ delimiter, enclosure }),
  ...(columns !== undefined && { columns: columns.split(',') }),
})

const OPERATORS: Readonly<Record<string, string>> = { '=': 'eq', '!=': 'ne', '>': 'gt', '>=': 'ge', '<': 'lt', '<=': 'le' }

function queryFields({ columns, where = [], changedSince, changedUntil, limit }: QueryOptions) {
  const whereFilters = where.map((condition) => {
    const [, column, operator = '', value = ''] = /^([^=!<>]+)(!=|>=|<=|=|>|<)(.*)$/s.exec(condition) ?? []
    if (column === undefined) throw new UserError(`--where ${condition}: write column=value, or use != > >= < <=.`)
    const name = OPERATORS[operator]
    return { column, operator: name, values: [value], ...(name !== 'eq' && name !== 'ne' && { dataType: 'DOUBLE' }) }
  })
  return {
    ...defined({ columns }),
    ...(whereFilters.length > 0 && { whereFilters }),
    ...defined({ changedSince, changedUntil, limit }),
  }
}

/** `whereFilters[0][values][0]=x`: the way queries carry lists. */
function flatten(name: string, value: unknown, into: Record<string, string>): void {
  if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) flatten(`${name}[${key}]`, item, into)
  else if (value !== undefined) into[name] = String(value)
}

const MAX_CELL = 60
const oneLine = (value: string | null): string => {
  if (value === null) return ''
  const text = value.replace(/\s+/g, ' ')
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL - 1)}…` : text
}
