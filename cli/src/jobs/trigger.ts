// millrace trigger: run a configuration when tables were imported.

import { type Command, InvalidArgumentError } from 'commander'
import { createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table, timeText, UserError } from '../output.ts'

interface Trigger {
  readonly id: string
  readonly component: string
  readonly configurationId: string
  readonly coolDownPeriodMinutes: number
  readonly runWithTokenId: number
  readonly lastRun: string | null
  readonly tables: readonly { readonly tableId: string }[]
}

interface TriggerOptions {
  readonly table?: string[]
  readonly everyMinutes?: number
  readonly runWithToken?: number
}

export function addTriggerCommands(program: Command): void {
  const trigger = program.command('trigger').description('run a configuration when all of some tables were imported')
  const withFields = (command: Command) =>
    stackOptions(command)
      .option('--table <id...>', 'tables that all have to be imported since the last run')
      .option('--every-minutes <n>', 'the minimum time between two runs, at least 1', whole)
      .option('--run-with-token <id>', 'id of the token the runs use (default: your own); it must not expire', whole)

  stackOptions(trigger.command('list'))
    .description('all triggers')
    .option('--component <id>', 'only those that run this component')
    .option('--config <id>', 'only those that run this configuration')
    .action(async ({ component, config }: { component?: string; config?: string }, command: Command) => {
      const query = { component, configurationId: config }
      const found = await createClient(command).request<Trigger[]>('GET', '/v2/storage/triggers', { query })
      print(command, found, (rows) =>
        table(
          ['ID', 'COMPONENT', 'CONFIG', 'MINUTES', 'LAST RUN', 'TABLES'],
          rows.map((one) => [
            one.id,
            one.component,
            one.configurationId,
            one.coolDownPeriodMinutes,
            timeText(one.lastRun),
            tablesOf(one),
          ]),
          'no triggers',
        ),
      )
    })

  stackOptions(trigger.command('show <id>'))
    .description('one trigger')
    .action(async (id: string, _: object, command: Command) => {
      print(command, await createClient(command).request<Trigger>('GET', pathOf(id)), textOf)
    })

  withFields(trigger.command('create <component> <config>'))
    .description('create a trigger')
    .action(async (component: string, configurationId: string, options: TriggerOptions, command: Command) => {
      if (options.everyMinutes === undefined)
        throw new UserError(
          'A trigger requires a minimum time between two runs: use --every-minutes, for example --every-minutes 10.',
        )
      if (options.table === undefined) throw new UserError('A trigger requires at least one table: use --table.')
      const client = createClient(command)
      const runWithTokenId =
        options.runWithToken ?? Number((await client.request<{ id: string }>('GET', '/v2/storage/tokens/verify')).id)
      const json = { component, configurationId, ...bodyOf(options), runWithTokenId }
      print(command, await client.request<Trigger>('POST', '/v2/storage/triggers', { json }), textOf)
    })

  withFields(trigger.command('update <id>'))
    .description('change a trigger; omitted options are unchanged')
    .action(async (id: string, options: TriggerOptions, command: Command) => {
      print(command, await createClient(command).request<Trigger>('PUT', pathOf(id), { json: bodyOf(options) }), textOf)
    })

  stackOptions(trigger.command('delete <id>'))
    .description('delete a trigger')
    .action(async (id: string, _: object, command: Command) => {
      await createClient(command).send('DELETE', pathOf(id))
      print(command, { id }, () => `Trigger ${id} is deleted.`)
    })
}

const pathOf = (id: string): string => `/v2/storage/triggers/${encodeURIComponent(id)}`

const bodyOf = ({ table: tableIds, everyMinutes, runWithToken }: TriggerOptions) => ({
  ...(tableIds && { tableIds }),
  ...(everyMinutes !== undefined && { coolDownPeriodMinutes: everyMinutes }),
  ...(runWithToken !== undefined && { runWithTokenId: runWithToken }),
})

const tablesOf = (one: Trigger): string => one.tables.map(({ tableId }) => tableId).join(', ')

const textOf = (one: Trigger): string =>
  `Trigger ${one.id}: ${one.component} / ${one.configurationId} after ${tablesOf(one)}, at most every ${one.coolDownPeriodMinutes} minutes`

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is a whole number.')
  return Number(text)
}
