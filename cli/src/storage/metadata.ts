// millrace metadata: keys and values that are kept with a bucket, table, column, configuration or branch.

import { type Command, Option } from 'commander'
import { type Client, createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table, timeText, UserError } from '../output.ts'

interface Item {
  readonly id: string | number
  readonly key: string
  readonly value: string
  readonly provider?: string
  readonly timestamp: string
}

const ADDRESSES = {
  bucket: (id) => `/v2/storage/buckets/${encodeURIComponent(id)}/metadata`,
  table: (id) => `/v2/storage/tables/${encodeURIComponent(id)}/metadata`,
  column: (id) => `/v2/storage/columns/${encodeURIComponent(id)}/metadata`,
  branch: (id) => `/v2/storage/branch/${encodeURIComponent(id)}/metadata`,
  config: (id) => {
    const [component, ...rest] = id.split('/')
    if (!component || rest.length === 0) throw new UserError(`"${id}" is not of the form component/configuration.`)
    return `/v2/storage/components/${encodeURIComponent(component)}/configs/${encodeURIComponent(rest.join('/'))}/metadata`
  },
} as const satisfies Record<string, (id: string) => string>

type Kind = keyof typeof ADDRESSES
const KINDS = Object.keys(ADDRESSES) as Kind[] // a type forgets this
const WITH_PROVIDER: readonly Kind[] = ['bucket', 'table', 'column']

export function addMetadataCommands(program: Command): void {
  const metadata = program
    .command('metadata')
    .description('metadata (keys and values) of buckets, tables, columns, configurations and branches')
  const withPlace = (name: string) =>
    stackOptions(metadata.command(name))
      .argument('<kind>', KINDS.join(', '))
      .argument('<id>', 'in.c-main, in.c-main.orders, in.c-main.orders.id, component/configuration or a branch')

  withPlace('list')
    .description('list the metadata of an object')
    .action(async (kind: string, id: string, _: object, command: Command) => {
      print(command, await list(createClient(command), kind, id), (rows) =>
        table(
          ['ID', 'KEY', 'VALUE', 'PROVIDER', 'CHANGED'],
          rows.map((one) => [one.id, one.key, one.value, one.provider, timeText(one.timestamp)]),
          'no metadata',
        ),
      )
    })

  withPlace('set')
    .argument('<key=value...>')
    .description('set values; other keys stay')
    .addOption(new Option('--provider <name>', 'provider of the metadata, for buckets, tables and columns').default('user'))
    .action(async (kind: string, id: string, pairs: string[], { provider }: { provider: string }, command: Command) => {
      const client = createClient(command)
      const json = { metadata: pairs.map(pairOf), ...(WITH_PROVIDER.includes(kind as Kind) && { provider }) } // an unknown kind is refused below
      await client.request('POST', addressOf(kind, id), { json })
      print(command, await list(client, kind, id), (rows) => rows.map(({ key, value }) => `${key}=${value}`).join('\n'))
    })

  withPlace('delete')
    .argument('<key>')
    .description('delete a key, of all providers')
    .action(async (kind: string, id: string, key: string, _: object, command: Command) => {
      const client = createClient(command)
      const found = (await list(client, kind, id)).filter((one) => one.key === key)
      if (found.length === 0) throw new UserError(`${kind} ${id} has no metadata "${key}".`)
      for (const item of found) await client.send('DELETE', `${addressOf(kind, id)}/${item.id}`)
      print(command, { kind, id, key }, () => `${key} is deleted.`)
    })
}

function addressOf(kind: string, id: string): string {
  const known = KINDS.find((one) => one === kind)
  if (known === undefined) throw new UserError(`"${kind}" does not support metadata. Use one of: ${KINDS.join(', ')}.`)
  return ADDRESSES[known](id)
}

const list = (client: Client, kind: string, id: string): Promise<Item[]> => client.request<Item[]>('GET', addressOf(kind, id))

function pairOf(text: string): { key: string; value: string } {
  const at = text.indexOf('=')
  if (at < 1) throw new UserError(`"${text}" is not of the form key=value.`)
  return { key: text.slice(0, at), value: text.slice(at + 1) }
}
