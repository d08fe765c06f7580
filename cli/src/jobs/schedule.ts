// millrace schedule: run configurations on a cron expression. Creating one stores its configuration and activates it, in the two steps of spec platform 3.1.

import { type Command, InvalidArgumentError } from 'commander'
import { type Client, createClient, stackOptions } from '../client.ts'
import { print } from '../json-output.ts'
import { table, timeText, UserError } from '../output.ts'

interface Schedule {
  readonly id: string
  readonly configurationId: string
  readonly schedule: { readonly cronTab: string; readonly timezone: string; readonly state: string }
  readonly target: {
    readonly componentId: string
    readonly configurationId: string
    readonly configurationRowIds: readonly string[]
    readonly mode: string
    readonly tag: string
  }
  readonly executions: readonly {
    readonly jobId: string | null
    readonly executionTime: string
    readonly status: string
    readonly reason: string | null
  }[]
  readonly nextExecutionTime: string | null
  readonly stoppedReason: string | null
}

interface PlannedRun {
  readonly executionTime: string
  readonly dst: string | null
}

interface CreateOptions {
  readonly name?: string
  readonly timezone: string
  readonly row?: string[]
  readonly tag?: string
}

const SCHEDULER = 'keboola.scheduler'

export function addScheduleCommands(program: Command): void {
  const schedule = program.command('schedule').description('run configurations on a cron expression (needs a master token)')

  stackOptions(schedule.command('create <cron> <component> <configuration>'))
    .description('create a schedule and activate it, for example: create "0 6 * * *" keboola.ex-generic-v2 123')
    .option('--name <name>')
    .option('--timezone <name>', 'IANA time zone', 'UTC')
    .option('--row <id...>', 'run only these rows')
    .option('--tag <tag>', 'version of the component')
    .action(async (cronTab: string, componentId: string, configurationId: string, options: CreateOptions, command: Command) => {
      const client = createClient(command)
      const configuration = {
        schedule: { cronTab, timezone: options.timezone, state: 'enabled' },
        target: {
          componentId,
          configurationId,
          mode: 'run',
          ...(options.row && { configurationRowIds: options.row }),
          ...(options.tag && { tag: options.tag }),
        },
      }
      const stored = await client.request<{ id: string }>('POST', `/v2/storage/components/${SCHEDULER}/configs`, {
        json: { name: options.name ?? `${cronTab} ${componentId} ${configurationId}`, configuration },
      })
      const activated = await activate(client, stored.id).catch(async (refusal: unknown) => {
        const path = `/v2/storage/components/${SCHEDULER}/configs/${encodeURIComponent(stored.id)}`
        for (let twice = 0; twice < 2; twice++) await client.send('DELETE', path) // into the trash, and out of it
        throw refusal
      })
      print(command, activated, describe)
    })

  stackOptions(schedule.command('list'))
    .description('all schedules of the project')
    .action(async (_options, command: Command) => {
      const found = await createClient(command).request<Schedule[]>('GET', '/scheduler/schedules')
      print(command, found, (all) =>
        table(
          ['ID', 'CRON', 'ZONE', 'STATE', 'COMPONENT', 'CONFIGURATION', 'NEXT'],
          all.map((one) => [
            one.id,
            one.schedule.cronTab,
            one.schedule.timezone,
            one.stoppedReason ? 'stopped' : one.schedule.state,
            one.target.componentId,
            one.target.configurationId,
            timeText(one.nextExecutionTime),
          ]),
          'no schedules',
        ),
      )
    })

  stackOptions(schedule.command('show <id>'))
    .description('one schedule and its last executions')
    .action(async (id: string, _options, command: Command) => print(command, await get(createClient(command), id), describe))

  stackOptions(schedule.command('next <id>'))
    .description('when it runs next, with marks where the clock changes')
    .option('--count <number>', 'how many runs', wholeNumber, 10)
    .action(async (id: string, { count }: { count: number }, command: Command) => {
      const path = `/scheduler/schedules/${encodeURIComponent(id)}/next`
      const runs = await createClient(command).request<PlannedRun[]>('GET', path, { query: { count } })
      print(
        command,
        runs,
        (all) => all.map((run) => `${timeText(run.executionTime)}${run.dst ? `  (${run.dst})` : ''}`).join('\n') || 'no next run',
      )
    })

  for (const [verb, state, words] of [
    ['pause', 'disabled', 'keep a schedule from firing'],
    ['resume', 'enabled', 'let a paused or stopped schedule fire again'],
  ] as const) {
    stackOptions(schedule.command(`${verb} <id>`))
      .description(words)
      .action(async (id: string, _options, command: Command) => {
        const client = createClient(command)
        const { configurationId } = await get(client, id)
        await setState(client, configurationId, state)
        print(command, await activate(client, configurationId), describe)
      })
  }

  stackOptions(schedule.command('delete <id>'))
    .description('end a schedule and delete its configuration')
    .action(async (id: string, _options, command: Command) => {
      const client = createClient(command)
      const { configurationId } = await get(client, id)
      await client.send('DELETE', `/scheduler/schedules/${encodeURIComponent(id)}`)
      await client.send('DELETE', `/v2/storage/components/${SCHEDULER}/configs/${encodeURIComponent(configurationId)}`)
      print(command, { deleted: id }, () => `Schedule ${id} is gone.`)
    })

  stackOptions(schedule.command('run-now <id>'))
    .description('run the target of a schedule once, now')
    .action(async (id: string, _options, command: Command) => {
      const client = createClient(command)
      const { target } = await get(client, id)
      const job = await client.request<{ id: string; url: string }>('POST', '/queue/jobs', {
        json: {
          component: target.componentId,
          config: target.configurationId,
          mode: target.mode,
          ...(target.configurationRowIds.length > 0 && { configRowIds: target.configurationRowIds }),
          ...(target.tag !== '' && { tag: target.tag }),
        },
      })
      print(command, job, ({ id: jobId }) => `Job ${jobId} is queued.`)
    })
}

const get = (client: Client, id: string) => client.request<Schedule>('GET', `/scheduler/schedules/${encodeURIComponent(id)}`)

const activate = (client: Client, configurationId: string) =>
  client.request<Schedule>('POST', '/scheduler/schedules', { json: { configurationId } })

/** Only the state changes; what else the configuration holds is sent back as it came. */
async function setState(client: Client, configurationId: string, state: string): Promise<void> {
  const path = `/v2/storage/components/${SCHEDULER}/configs/${encodeURIComponent(configurationId)}`
  const { configuration } = await client.request<{ configuration: { schedule?: Record<string, unknown> } }>('GET', path)
  if (!configuration.schedule) throw new UserError(`Configuration ${configurationId} holds no schedule.`)
  const changed = { ...configuration, schedule: { ...configuration.schedule, state } }
  const changeDescription = state === 'enabled' ? 'Schedule resumed' : 'Schedule paused'
  await client.send('PUT', path, { json: { configuration: changed, changeDescription } })
}

function describe(one: Schedule): string {
  const rows = one.target.configurationRowIds.length > 0 ? `, rows ${one.target.configurationRowIds.join(', ')}` : ''
  const state = one.stoppedReason ? `stopped: ${one.stoppedReason}` : one.schedule.state
  return [
    `Schedule ${one.id}   ${one.schedule.cronTab} (${one.schedule.timezone}), ${state}`,
    `Target       ${one.target.componentId}, configuration ${one.target.configurationId}${rows}`,
    `Next run     ${timeText(one.nextExecutionTime) || 'none'}`,
    ...one.executions
      .slice(0, 10)
      .map((run) => `  ${timeText(run.executionTime)}  ${run.status}  ${run.jobId ? `job ${run.jobId}` : (run.reason ?? '')}`),
  ].join('\n')
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is a whole number.')
  return Number(text)
}
