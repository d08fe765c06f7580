// millrace sql: queries over tables of a running stack, one from the command line or many in a shell.

import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Command, Option } from 'commander'
import { defined } from '../../../server/src/kit/defined.ts'
import { type Client, createClient, stackOptions } from '../client.ts'
import { printJson, wantsJson } from '../json-output.ts'
import { table, UserError } from '../output.ts'
import { startSqlShell } from './sql-shell.ts'

export interface QueryAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly rows: readonly (readonly unknown[])[]
  readonly rowCount: number
  readonly isTruncated: boolean
}

interface SqlOptions {
  readonly file?: string
  readonly format: 'table' | 'csv'
  readonly limit?: string
}

/** What fits on a screen, and some more. */
const SHOWN_ROWS = 1000

export function addSqlCommand(program: Command): void {
  stackOptions(program.command('sql [query]').description('SQL over tables: "in.c-bucket"."table"; without a query a shell'))
    .option('--file <path>', 'read the query from a file')
    .addOption(new Option('--format <format>', 'table for reading, csv for programs').choices(['table', 'csv']).default('table'))
    .option('--limit <rows>', `maximum number of rows (default: ${SHOWN_ROWS} as a table, all as csv)`)
    .action(async (query: string | undefined, options: SqlOptions, command: Command) => {
      const client = createClient(command)
      const sql = options.file === undefined ? query : await readFile(options.file, 'utf8').catch(unreadable)
      if (sql !== undefined) await printQuery(client, sql, options, command)
      else if (process.stdin.isTTY) await startSqlShell(client, (text) => printQuery(client, text, options, command))
      else await printQuery(client, await textOf(process.stdin), options, command)
    })
}

async function printQuery(client: Client, sql: string, { format, limit }: SqlOptions, command: Command): Promise<void> {
  const rows = limit === undefined ? undefined : Number(limit)
  if (rows !== undefined && !(Number.isInteger(rows) && rows > 0))
    throw new UserError(`--limit ${limit} is not a number of rows.`)
  const query = (body: object) => client.send('POST', '/v2/storage/query', { json: { sql, ...body } })
  if (format === 'csv') {
    const { body } = await query({ format: 'csv', ...defined({ limit: rows }) })
    // fetch has its own name for the stream that Node has.
    await pipeline(Readable.fromWeb(body as ReadableStream), process.stdout, { end: false })
    return
  }
  const text = await (await query({ limit: rows ?? SHOWN_ROWS })).text()
  if (wantsJson(command)) printJson(command, text)
  else process.stdout.write(`${asTable(JSON.parse(text) as QueryAnswer)}\n`)
}

export function asTable({ columns, rows, rowCount, isTruncated }: QueryAnswer): string {
  const shown = rows.map((row) => row.map((value) => (typeof value === 'object' ? nested(value) : value)))
  const end = `(${rowCount} ${rowCount === 1 ? 'row' : 'rows'}${isTruncated ? ', there are more' : ''})`
  const titles = columns.map(({ name }) => name)
  return rows.length === 0 ? `${titles.join('  ')}\n${end}` : `${table(titles, shown)}\n${end}`
}

const nested = (value: unknown): string => (value === null ? 'NULL' : JSON.stringify(value))

const textOf = async (stream: NodeJS.ReadableStream): Promise<string> => {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}

function unreadable(error: unknown): never {
  throw new UserError(`The file with the query cannot be read: ${error instanceof Error ? error.message : String(error)}`)
}
