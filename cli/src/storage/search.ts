// millrace search and millrace usage: what is in the project, and what it used.

import type { Command } from 'commander'
import { createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table } from '../output.ts'

interface Found {
  readonly kind: string
  readonly id?: unknown
  readonly name?: unknown
}

interface Used {
  readonly day?: string
  readonly componentId?: string
  readonly configurationId?: string
  readonly jobs: number
  readonly failedJobs: number
  readonly jobSeconds: number
  readonly sqlSeconds: number
  readonly rowsLoaded: number
  readonly bytesLoaded: number
}

export function addSearchCommands(program: Command): void {
  stackOptions(program.command('search <text>'))
    .description('find tables, columns, configurations, files, jobs, schedules and users by a word')
    .option('--kind <kind...>', 'only these: table, column, configuration, row, content, file, job, schedule, person')
    .option('--limit <n>', 'how many', '20')
    .action(async (text: string, { kind = [], limit }: { kind?: string[]; limit: string }, command: Command) => {
      const kinds = Object.fromEntries(kind.map((one, at) => [`kinds[${at}]`, one]))
      const { items, more } = await createClient(command).request<{ items: Found[]; more: readonly string[] }>(
        'GET',
        '/v2/storage/search',
        {
          query: { text, limit, ...kinds },
        },
      )
      print(command, items, (rows) =>
        [
          table(
            ['KIND', 'ID', 'NAME'],
            rows.map((one) => [one.kind, idOf(one), one.name]),
            'nothing found',
          ),
          ...(more.length > 0 ? ['more results exist; raise --limit'] : []),
        ].join('\n'),
      )
    })

  stackOptions(program.command('usage'))
    .description('usage of the project, by day, component and configuration')
    .option('--from <day>', 'first day, such as 2026-01-01')
    .option('--to <day>', 'last day')
    .option('--group-by <names>', 'day, component and configuration, with commas', 'day')
    .action(async ({ from, to, groupBy }: { from?: string; to?: string; groupBy: string }, command: Command) => {
      const found = await createClient(command).request<Used[]>('GET', '/billing/usage', { query: { from, to, groupBy } })
      print(command, found, (rows) =>
        table(
          ['DAY', 'COMPONENT', 'CONFIG', 'JOBS', 'FAILED', 'JOB SECONDS', 'SQL SECONDS', 'ROWS LOADED', 'BYTES LOADED'],
          rows.map((one) => [
            one.day,
            one.componentId,
            one.configurationId,
            one.jobs,
            one.failedJobs,
            one.jobSeconds,
            one.sqlSeconds,
            one.rowsLoaded,
            one.bytesLoaded,
          ]),
          'nothing was used',
        ),
      )
    })
}

const idOf = ({ id }: Found): string => (typeof id === 'object' ? JSON.stringify(id) : String(id ?? ''))
