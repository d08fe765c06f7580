// millrace delivery: how far the targets of writers are behind, and rows that are sent again.

import type { Command } from 'commander'
import { effectiveConfiguration } from '../../../contract/effective-configuration.ts'
import { deliveredTable, deliveryKey, notChosen, sendAgain } from '../../../contract/send-again.ts'
import { createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table, timeText, UserError } from '../output.ts'
import { type Job, waitFor } from './job.ts'

interface Delivery {
  readonly componentId: string
  readonly configurationId: string
  readonly rowId: string | null
  readonly tableId: string
  readonly state: string
  readonly behindSeconds: number | null
  readonly lastDelivery: { readonly time: string; readonly counts: Readonly<Record<string, number>> } | null
  readonly failure: { readonly message: string | null } | null
}

interface Configuration {
  readonly configuration: object
  readonly rows: readonly { readonly id: string; readonly configuration: object }[]
}

export function addDeliveryCommands(program: Command): void {
  const delivery = program
    .command('delivery')
    .description('how far the targets of writers are behind, and rows that are sent again')

  stackOptions(delivery.command('list'))
    .description('tables that writers deliver, those that are behind the longest first')
    .action(async (_: object, command: Command) => {
      const found = await createClient(command).request<Delivery[]>('GET', '/v2/storage/deliveries')
      print(command, found, (rows) =>
        table(
          ['COMPONENT', 'CONFIG', 'ROW', 'TABLE', 'TARGET', 'LAST DELIVERY', 'WHAT'],
          rows.map((one) => [
            ...[one.componentId, one.configurationId, one.rowId ?? '', one.tableId, stateText(one)],
            ...[timeText(one.lastDelivery?.time), one.failure ? `failed: ${one.failure.message}` : countsText(one)],
          ]),
          'no deliveries',
        ),
      )
    })

  stackOptions(delivery.command('again <component> <config>'))
    .description('send rows of a delivery again, by the values of their key, and wait for the job')
    .requiredOption('--key <values...>', 'the key of each row; several columns as a,b')
    .option('--row <id>', 'the row of the configuration, if it has more than one')
    .action(async (component: string, config: string, options: { key: string[]; row?: string }, command: Command) => {
      const client = createClient(command)
      const place = `v2/storage/components/${encodeURIComponent(component)}/configs/${encodeURIComponent(config)}`
      const configuration = effective(await client.request<Configuration>('GET', place), config, options.row)
      const source = deliveredTable(configuration)
      const known = source === undefined ? undefined : await client.request<Table>('GET', `v2/storage/tables/${source}`)
      const key = deliveryKey(configuration, known?.primaryKey ?? [])
      const refusal = notChosen({ componentId: component, configuration, key })
      if (refusal !== undefined) throw new UserError(refusal)
      const rows = options.key.map((text) => ({ key: key.length === 1 ? [text] : text.split(',') }))
      const bad = rows.find((row) => row.key.length !== key.length)
      if (bad) throw new UserError(`"${bad.key.join(',')}" in --key must have ${key.length} values: ${key.join(',')}.`)
      const configData = sendAgain({ componentId: component, configuration, key, rows })
      const json = { component, config, mode: 'run', configData }
      const job = await waitFor(client, (await client.request<Job>('POST', 'queue/jobs', { json })).id)
      print(command, job, ({ id, status, result }) => `job ${id} ${status}: ${result.message ?? ''}`)
      if (job.status !== 'success') process.exitCode = 1
    })
}

interface Table {
  readonly primaryKey: readonly string[]
}

function effective({ configuration, rows }: Configuration, config: string, wanted: string | undefined) {
  const row = wanted === undefined ? rows[0] : rows.find(({ id }) => id === wanted)
  if (wanted !== undefined && !row) throw new UserError(`The configuration ${config} has no row "${wanted}".`)
  if (wanted === undefined && rows.length > 1)
    throw new UserError(`The configuration ${config} has ${rows.length} rows: choose one with --row.`)
  const { text } = effectiveConfiguration(JSON.stringify(configuration), row && JSON.stringify(row.configuration))
  return JSON.parse(text) as Readonly<Record<string, unknown>>
}

const stateText = ({ state, behindSeconds }: Delivery): string => (state === 'behind' ? `${behindSeconds} s behind` : state)

const countsText = ({ lastDelivery }: Delivery): string =>
  Object.entries(lastDelivery?.counts ?? {})
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
