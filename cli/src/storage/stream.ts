// millrace stream: addresses that take records, and the tables they become.

import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import { counted } from '../../../contract/counted.ts'
import { type Client, createClient, stackOptions } from '../client.ts'
import { confirm, withYes } from '../confirm.ts'
import { print } from '../json-output.ts'
import { table, UserError } from '../output.ts'

interface Source {
  readonly sourceId: string
  readonly type: 'http' | 'otlp'
  readonly name: string
  readonly http?: { readonly url: string }
  readonly otlp?: { readonly url: string }
  readonly disabled?: object
  readonly sinks?: readonly Sink[]
}

interface Sink {
  readonly sinkId: string
  readonly table: { readonly tableId: string }
  readonly statistics: { readonly recordsCount: number; readonly lastLoadedAt: string | null; readonly lastError: string | null }
}

interface SinkOptions {
  readonly table?: string
  readonly column?: string[]
}

interface BatchOptions {
  readonly records?: string
  readonly size?: string
  readonly age?: string
}

const SOURCES = 'stream/v1/branches/default/sources'
const TRIGGER = 'storage.level.target.import.trigger'
const COLUMN = /^(\w+)=(uuid|datetime|ip|body|headers|path|template)(?::(.*))?$/s
const DEFAULT_COLUMNS = ['id=uuid', 'received=datetime', 'body=body']
const COLUMN_HELP = `such as id=uuid, order=path:order.id or line=template:"{{ body.name }}" (default: ${DEFAULT_COLUMNS.join(', ')})`

export function addStreamCommands(program: Command): void {
  const stream = program.command('stream').description('URLs that accept records, and the tables they are loaded into')

  stackOptions(stream.command('list'))
    .description('sources, with their tables')
    .action(async (_: object, command: Command) => {
      const { sources } = await createClient(command).request<{ sources: Source[] }>(
        'GET',
        'stream/v1/branches/default/aggregation/sources',
      )
      print(command, sources, (rows) =>
        table(
          ['ID', 'TYPE', 'NAME', 'STATE', 'TABLES'],
          rows.map((one) => [
            one.sourceId,
            one.type,
            one.name,
            one.disabled ? 'disabled' : 'enabled',
            one.sinks?.map((sink) => sink.table.tableId).join(' '),
          ]),
        ),
      )
    })

  stackOptions(stream.command('add <name>'))
    .description('create a source, and with --table a table for its records')
    .option('--id <id>', 'its id (default: from the name)')
    .option('--otlp', 'for telemetry by OTLP/HTTP: logs, metrics and traces')
    .option('--table <id>', 'load the records into this table')
    .option('--column <column...>', COLUMN_HELP)
    .action(async (name: string, options: SinkOptions & { id?: string; otlp?: boolean }, command: Command) => {
      const client = createClient(command)
      const json = { name, type: options.otlp ? 'otlp' : 'http', ...(options.id !== undefined && { sourceId: options.id }) }
      const { outputs } = await client.request<{ outputs: { sourceId: string } }>('POST', SOURCES, { json })
      if (options.table !== undefined)
        await addSink(client, outputs.sourceId, options.table, options).catch(async (error: unknown) => {
          await client.request('DELETE', pathOf(outputs.sourceId)) // it was created for this table
          throw error
        })
      await show(client, outputs.sourceId, command)
    })

  stackOptions(stream.command('sink <source>'))
    .description('add a table that the records of a source are loaded into')
    .requiredOption('--table <id>', 'the table; created if it does not exist')
    .option('--column <column...>', COLUMN_HELP)
    .action(async (sourceId: string, options: SinkOptions & { table: string }, command: Command) => {
      const client = createClient(command)
      await addSink(client, sourceId, options.table, options)
      await show(client, sourceId, command)
    })

  stackOptions(stream.command('show <source>'))
    .description('show the URL of a source, and the load status of its tables')
    .action((sourceId: string, _: object, command: Command) => show(createClient(command), sourceId, command))

  stackOptions(stream.command('send <source> [text]'))
    .description('send a record; without a text it is read from standard input')
    .option('--type <media type>', 'content type of the text', 'application/json')
    .action(async (sourceId: string, given: string | undefined, { type }: { type: string }, command: Command) => {
      const client = createClient(command)
      const { http } = await client.request<Source>('GET', pathOf(sourceId))
      if (!http) throw new UserError(`Source ${sourceId} takes telemetry; send it with an OTLP exporter.`)
      const jsonText = given ?? (await readAll(process.stdin))
      await client.send('POST', new URL(http.url).pathname.slice(1), { jsonText, headers: { 'Content-Type': type } })
      print(command, { sourceId }, () => 'the record is stored')
    })

  stackOptions(stream.command('batch <source>'))
    .description('when records are loaded, whatever comes first')
    .option('--records <number>', 'when so many wait')
    .option('--size <bytes>', 'when they have so many bytes, such as 5MB')
    .option('--age <time>', 'when the first is so old, such as 30s or 5m')
    .action(async (sourceId: string, { records, size, age }: BatchOptions, command: Command) => {
      const client = createClient(command)
      const settings = [
        ...(records === undefined ? [] : [{ key: `${TRIGGER}.count`, value: Number(records) }]),
        ...(size === undefined ? [] : [{ key: `${TRIGGER}.size`, value: size }]),
        ...(age === undefined ? [] : [{ key: `${TRIGGER}.interval`, value: age }]),
      ]
      if (settings.length > 0) await client.request('PATCH', `${pathOf(sourceId)}/settings`, { json: { settings } })
      const now = await client.request<{ settings: { key: string; value: unknown }[] }>('GET', `${pathOf(sourceId)}/settings`)
      print(command, now.settings, (rows) =>
        table(
          ['SETTING', 'VALUE'],
          rows.map(({ key, value }) => [key.slice(TRIGGER.length + 1), value]),
        ),
      )
    })

  for (const [word, method, said] of [
    ['enable', 'PUT', 'takes records'],
    ['disable', 'PUT', 'no longer accepts records'],
    ['rotate-secret', 'POST', 'has a new URL; the old one stops working within a second'],
  ] as const)
    stackOptions(stream.command(`${word} <source>`))
      .description(`source ${said}`)
      .action(async (sourceId: string, _: object, command: Command) => {
        const client = createClient(command)
        await client.request(method, `${pathOf(sourceId)}/${word}`)
        await show(client, sourceId, command)
      })

  withYes(stackOptions(stream.command('delete <source>')))
    .description('remove a source; its tables stay')
    .action(async (sourceId: string, _: object, command: Command) => {
      await confirm(command, `Delete source ${sourceId}`)
      await createClient(command).request('DELETE', pathOf(sourceId))
      print(command, { sourceId }, () => `source ${sourceId} is deleted`)
    })
}

const pathOf = (sourceId: string): string => `${SOURCES}/${encodeURIComponent(sourceId)}`

async function addSink(
  client: Client,
  sourceId: string,
  tableId: string,
  { column = DEFAULT_COLUMNS }: SinkOptions,
): Promise<void> {
  const name = tableId.split('.').at(-1) ?? tableId
  const mapping = { columns: column.map(columnOf) }
  await client.request('POST', `${pathOf(sourceId)}/sinks`, { json: { name, table: { tableId, mapping } } })
}

function columnOf(text: string): object {
  const [, name, type, detail] = COLUMN.exec(text) ?? []
  if (name === undefined) throw new UserError(`--column "${text}" is not a column. Write one ${COLUMN_HELP}.`)
  if (type === 'path') return { name, type, path: detail ?? '', rawString: true }
  if (type === 'template') return { name, type, template: { language: 'text', content: detail ?? '' } }
  return { name, type }
}

async function show(client: Client, sourceId: string, command: Command): Promise<void> {
  const source = await client.request<Source>('GET', pathOf(sourceId))
  const { sinks } = await client.request<{ sinks: Sink[] }>('GET', `${pathOf(sourceId)}/sinks`)
  print(command, { ...source, sinks }, () =>
    [
      `${source.name} (${source.sourceId})${source.disabled ? ', disabled' : ''}`,
      `url: ${source.http?.url ?? source.otlp?.url}`,
      ...sinks.map(({ table: { tableId }, statistics: { recordsCount, lastError } }) =>
        [`${tableId}: ${counted(recordsCount, 'record')}`, ...(lastError === null ? [] : [lastError])].join(', not loaded: '),
      ),
    ].join('\n'),
  )
}
