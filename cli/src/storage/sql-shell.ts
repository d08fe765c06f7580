// The shell of millrace sql: a line editor with history and completion. A query ends with a semicolon, a command begins with \.

import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { homeFolder } from '../../../server/src/kit/machine/home-folder.ts'
import type { Client } from '../client.ts'
import { UserError } from '../output.ts'

interface Table {
  readonly id: string
  readonly columns?: readonly string[]
}

const KEYWORDS =
  'SELECT FROM WHERE GROUP BY ORDER BY HAVING LIMIT JOIN LEFT JOIN ON WITH AS DISTINCT COUNT SUM AVG MIN MAX CASE WHEN THEN ELSE END AND OR NOT NULL IS IN BETWEEN LIKE UNION ALL DESCRIBE SUMMARIZE EXPLAIN'.split(
    ' ',
  )
const HISTORY_LINES = 1000

const HELP = `A query ends with ; and names tables as "in.c-bucket"."table". Tab completes tables, columns and keywords.
  \\dt          tables of the project
  \\d <table>   columns of a table
  \\q           leave`

export async function startSqlShell(client: Client, run: (sql: string) => Promise<void>): Promise<void> {
  const tables = await client.request<Table[]>('GET', '/v2/storage/tables', { query: { include: 'columns' } })
  const home = homeFolder()
  const historyFile = home && join(home, '.millrace_sql_history')
  const history = historyFile === undefined ? [] : await readHistory(historyFile)
  const shell = createInterface({
    input: process.stdin,
    output: process.stdout,
    completer: (line: string) => completionsOf(line, tables),
    history: [...history],
    historySize: HISTORY_LINES,
    removeHistoryDuplicates: true,
  })
  process.stdout.write(`${HELP}\n`)
  let open = ''
  shell.setPrompt('sql> ')
  shell.prompt()
  for await (const line of shell) {
    if (historyFile && line.trim() !== '') await appendFile(historyFile, `${line}\n`, { mode: 0o600 }).catch(() => {}) // a shell without history works
    const text = open === '' ? line : `${open}\n${line}`
    open = ''
    if (text.trim() === '\\q') break
    if (text.trimStart().startsWith('\\')) process.stdout.write(`${commandOf(text.trim(), tables)}\n`)
    else if (text.trimEnd().endsWith(';')) await run(text).catch(show)
    else open = text.trim() === '' ? '' : text
    shell.setPrompt(open === '' ? 'sql> ' : '...> ')
    shell.prompt()
  }
  shell.close()
}

/** What a command that begins with \ prints. */
export function commandOf(text: string, tables: readonly Table[]): string {
  const [name, argument = ''] = text.split(/\s+/)
  if (name === '\\dt') return tables.map(({ id }) => sqlNameOf(id)).join('\n') || 'the project has no tables'
  if (name !== '\\d') return HELP
  const found = tables.find(({ id }) => id === argument || sqlNameOf(id) === argument)
  return found ? (found.columns ?? []).join('\n') : `table ${argument} does not exist; \\dt lists all tables`
}

/** Node's completer: the ends that fit, and the part of the line they replace. */
export function completionsOf(line: string, tables: readonly Table[]): [string[], string] {
  const word = /[\w".-]*$/.exec(line)?.[0] ?? ''
  if (word === '') return [[], word]
  const bare = word.replaceAll('"', '').toLowerCase()
  const names = tables.filter(({ id }) => id.toLowerCase().startsWith(bare)).map(({ id }) => sqlNameOf(id))
  const used = tables.filter(({ id }) => line.includes(sqlNameOf(id)))
  const columns = used.flatMap((one) => one.columns ?? []).filter((name) => name.toLowerCase().startsWith(bare))
  const keywords = KEYWORDS.filter((keyword) => keyword.startsWith(word.toUpperCase()))
  return [[...new Set([...names, ...columns, ...keywords])], word]
}

/** `in.c-main.orders` as SQL writes it. */
const sqlNameOf = (id: string): string => {
  const at = id.lastIndexOf('.')
  return `"${id.slice(0, at)}"."${id.slice(at + 1)}"`
}

/** Newest first, as the line editor expects it. */
async function readHistory(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .slice(-HISTORY_LINES)
    .reverse()
}

function show(error: unknown): void {
  if (!(error instanceof UserError)) throw error
  process.stdout.write(`${error.message}\n`)
}
