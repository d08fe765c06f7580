// millrace query: queries with parameters that a project shares.

import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Command, Option } from 'commander'
import { type Client, createClient, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print, printJson, wantsJson } from '../json-output.ts'
import { table, UserError } from '../output.ts'
import { asTable, type QueryAnswer } from './sql.ts'

interface SavedQuery {
  readonly id: string
  readonly name: string
  readonly sql: string
  readonly parameters: readonly Parameter[]
}

interface Parameter {
  readonly name: string
  readonly type: string
  readonly default?: string
}

interface SaveOptions {
  readonly file?: string
  readonly parameter: readonly string[]
  readonly description?: string
}

interface RunOptions {
  readonly set: readonly string[]
  readonly format: 'table' | 'csv'
  readonly limit?: string
  readonly refresh?: boolean
}

const QUERIES = '/v2/storage/saved-queries'
const PAGE = 1000
const collected = (value: string, before: readonly string[]): readonly string[] => [...before, value]

export function addQueryCommands(program: Command): void {
  const query = program.command('query').description('saved queries with parameters, shared in the project')

  stackOptions(query.command('save <name> [sql]'))
    .description('create a saved query, or update the existing one of this name')
    .option('--file <path>', 'read the SQL from a file')
    .option(
      '--parameter <name:type=default>',
      'a $name of the SQL: text, number, boolean, date or timestamp; repeatable',
      collected,
      [],
    )
    .option('--description <text>', 'what it is for')
    .action(async (name: string, given: string | undefined, options: SaveOptions, command: Command) => {
      const sql = options.file === undefined ? given : await readFile(options.file, 'utf8').catch(unreadable(options.file))
      if (sql === undefined)
        throw new UserError('The SQL is missing. Write it as the second argument, or name a file with --file.')
      const client = createClient(command)
      const known = (await listAll(client)).find((one) => one.name === name)
      const json = {
        name,
        sql,
        parameters: options.parameter.map(parameterOf),
        ...(options.description !== undefined && { description: options.description }),
      }
      const saved = known
        ? await client.request<SavedQuery>('PUT', pathOf(known.id), { json })
        : await client.request<SavedQuery>('POST', QUERIES, { json })
      print(command, saved, ({ id }) => `Query ${id} ${known ? 'changed' : 'created'}`)
    })

  stackOptions(query.command('list'))
    .description('saved queries of the project')
    .action(async (_: object, command: Command) => {
      const all = await listAll(createClient(command))
      const text = ({ name, type, default: value }: Parameter) => `${name}:${type}${value === undefined ? '' : `=${value}`}`
      print(command, all, (queries) =>
        table(
          ['ID', 'NAME', 'PARAMETERS'],
          queries.map((one) => [one.id, one.name, one.parameters.map(text).join(' ')]),
        ),
      )
    })

  stackOptions(query.command('run <query>'))
    .description('print the rows of a saved query, by its id or name')
    .option('--set <name=value>', 'the value of a parameter; repeatable', collected, [])
    .addOption(new Option('--format <format>', 'table for reading, csv for programs').choices(['table', 'csv']).default('table'))
    .option('--limit <rows>', 'maximum number of rows')
    .option('--refresh', 'compute the rows again, whatever is cached')
    .action(async (wanted: string, { set, format, limit, refresh }: RunOptions, command: Command) => {
      if (limit !== undefined && !/^[1-9]\d*$/.test(limit)) throw new UserError(`--limit ${limit} is not a number of rows.`)
      const client = createClient(command)
      const { id } = await find(client, wanted)
      const { body, text } = await result(client, id, {
        parameters: JSON.stringify(Object.fromEntries(set.map(assigned))),
        format: format === 'csv' ? 'csv' : 'json',
        ...(limit !== undefined && { limit }),
        ...(refresh && { refresh: 'true' }),
      })
      if (format === 'csv') {
        // fetch has its own name for the stream that Node has.
        await pipeline(Readable.fromWeb(body as ReadableStream), process.stdout, { end: false })
        return
      }
      const json = await text()
      if (wantsJson(command)) printJson(command, json)
      else process.stdout.write(`${asTable(JSON.parse(json) as QueryAnswer)}\n`)
    })

  withYes(stackOptions(query.command('delete <query>')))
    .description('delete a saved query, by its id or name')
    .action(async (wanted: string, _: object, command: Command) => {
      const client = createClient(command)
      const { id, name } = await find(client, wanted)
      await confirm(command, `Delete the query ${name}`)
      await client.request('DELETE', pathOf(id))
      print(command, { id }, () => `Query ${id} deleted`)
    })
}

async function result(client: Client, id: string, query: Record<string, string>) {
  const answer = await client.send('GET', `${pathOf(id)}/result`, { query })
  return { body: answer.body, text: () => answer.text() }
}

async function listAll(client: Client): Promise<SavedQuery[]> {
  const all: SavedQuery[] = []
  for (let page: SavedQuery[] | undefined; page === undefined || page.length === PAGE; all.push(...page))
    page = await client.request<SavedQuery[]>('GET', QUERIES, { query: { limit: PAGE, offset: all.length } })
  return all
}

async function find(client: Client, wanted: string): Promise<SavedQuery> {
  const all = await listAll(client)
  const found = all.find(({ name }) => name === wanted) ?? all.find(({ id }) => id === wanted)
  if (!found) throw new UserError(`Saved query ${wanted} does not exist. \`millrace query list\` prints those of the project.`)
  return found
}

const pathOf = (id: string): string => `${QUERIES}/${encodeURIComponent(id)}`

/** `city:text=Praha`: the type is text, and there is no default, unless they are given. */
function parameterOf(text: string): Parameter {
  const [, name, type = 'text', value] = /^([^:=]+)(?::([^=]+))?(?:=(.*))?$/s.exec(text) ?? []
  if (name === undefined)
    throw new UserError(`--parameter ${text} is not a parameter. Expected: name, name:type or name:type=default.`)
  return { name, type, ...(value !== undefined && { default: value }) }
}

function assigned(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UserError(`--set ${text} has no value. Expected: name=value.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

const unreadable = (path: string) => (error: Error) => {
  throw new UserError(`${path} cannot be read: ${error.message}`)
}
