// millrace event: what happened in the project.

import type { Command } from 'commander'
import { createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table, timeText } from '../output.ts'

interface Event {
  readonly id: number | string
  readonly created: string
  readonly type: string
  readonly component: string
  readonly message: string
  readonly description: string
  readonly params: unknown
  readonly results: unknown
}

export function addEventCommands(program: Command): void {
  const event = program.command('event').description('events of the project')

  stackOptions(event.command('list'))
    .description('newest first')
    .option('--component <id>')
    .option('--config <id>')
    .option('--run <id>', 'events of this run, with those of the jobs it started')
    .option('--query <query>', 'for example "type:error" or "message:imported"')
    .option('--limit <n>', 'how many', '20')
    .action(async (options: Readonly<Record<string, string | undefined>>, command: Command) => {
      const { component, config: configurationId, run: runId, query: q, limit } = options
      const found = await createClient(command).request<Event[]>('GET', '/v2/storage/events', {
        query: { component, configurationId, runId, q, limit },
      })
      print(command, found, (rows) =>
        table(
          ['ID', 'CREATED', 'TYPE', 'COMPONENT', 'MESSAGE'],
          rows.map((one) => [
            one.id,
            timeText(one.created),
            one.type,
            one.component,
            one.message.replace(/\s+/g, ' ').slice(0, 160),
          ]),
          'no events',
        ),
      )
    })

  stackOptions(event.command('show <id>'))
    .description('one event with its params and results')
    .action(async (id: string, _: object, command: Command) => {
      const one = await createClient(command).request<Event>('GET', `/v2/storage/events/${encodeURIComponent(id)}`)
      print(command, one, ({ created, type, component, message, description, params, results }) =>
        [`${timeText(created)}  ${type}  ${component}`, message, description, json('params', params), json('results', results)]
          .filter((line) => line !== '')
          .join('\n'),
      )
    })
}

const json = (name: string, value: unknown): string => `${name} ${JSON.stringify(value, null, 2)}`
