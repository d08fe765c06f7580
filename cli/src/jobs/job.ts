// millrace job: run configurations, follow their logs, terminate them.

import type { Command } from 'commander'
import { type Client, createClient, type StorageJob, stackOptions } from '../client.ts'
import { print, wantsJson } from '../json-output.ts'
import { progress, table, timeText, UserError } from '../output.ts'

export interface Job {
  readonly id: string
  readonly status: string
  readonly component: string
  readonly config: string | null
  readonly createdTime: string
  readonly durationSeconds: number
  readonly isFinished: boolean
  readonly waitingReason: string | null
  readonly error?: { readonly message: string }
  readonly result: {
    readonly message?: string
    readonly output?: { readonly tables?: readonly { readonly id: string; readonly importedRowsCount: number }[] }
  }
}

interface FollowedJob extends Job {
  /** The last line that was printed of its log. */
  readonly lastSaid?: string
}

interface JobEvent {
  readonly id: string | number
  readonly created: string
  readonly type: string
  readonly message: string
}

interface RunOptions {
  readonly row?: string[]
  readonly tag?: string
  readonly branch?: string
  readonly mode?: string
  readonly parallelism?: string
  readonly variable?: string[]
  readonly follow?: boolean
  readonly wait?: boolean
}

export function addJobCommands(program: Command): void {
  const job = program.command('job').description('jobs of the queue')

  stackOptions(job.command('run <component> <config>'))
    .description('run a configuration')
    .option('--row <id...>', 'only these rows, also when they are disabled')
    .option('--tag <tag>', 'tag of the image')
    .option('--branch <id>')
    .option('--mode <mode>', 'run, forceRun or debug')
    .option('--parallelism <n>', 'maximum number of parallel rows, or infinity')
    .option('--variable <name=value...>', 'values of variables')
    .option('--follow', 'print the log until the job finishes')
    .option('--no-wait', 'do not wait for the end')
    .action(async (component: string, config: string, options: RunOptions, command: Command) => {
      const client = createClient(command)
      const created = await client.request<Job>('POST', 'queue/jobs', { json: bodyOf(component, config, options) })
      const ended = options.follow
        ? await follow(client, command, created.id)
        : options.wait === false
          ? created
          : await waitFor(client, created.id)
      show(command, ended)
    })

  stackOptions(job.command('list'))
    .description('newest jobs first')
    .option('--component <id>')
    .option('--config <id>')
    .option('--status <status>')
    .option('--limit <n>', 'how many', '20')
    .action(async ({ component, config, status, limit }: Record<string, string | undefined>, command: Command) => {
      const query = { componentId: component, configId: config, status, limit }
      const jobs = await createClient(command).request<Job[]>('GET', 'queue/search/jobs', { query })
      print(command, jobs, (rows) =>
        table(
          ['ID', 'STATUS', 'COMPONENT', 'CONFIG', 'CREATED', 'SECONDS'],
          rows.map((row) => [row.id, row.status, row.component, row.config, timeText(row.createdTime), row.durationSeconds]),
        ),
      )
    })

  stackOptions(job.command('show <id>'))
    .description('one job')
    .action(async (id: string, _: object, command: Command) => show(command, await getJob(createClient(command), id), false))

  stackOptions(job.command('wait <id>'))
    .description('wait until a job has finished: a job of the queue or, with --storage or its URL, a storage job')
    .option('--storage', 'the id is that of a storage job')
    .action(async (id: string, { storage }: { storage?: boolean }, command: Command) => {
      const client = createClient(command)
      const [, ofUrl] = /\/v2\/storage\/jobs\/(\d+)$/.exec(id) ?? []
      if (!storage && ofUrl === undefined) return show(command, await waitFor(client, id))
      const ended = await waitForStorage(client, ofUrl ?? id)
      print(command, ended, (one) => `Job ${one.id} ${one.status}`)
    })

  stackOptions(job.command('logs <id>'))
    .description('show the log of a job')
    .option('--follow', 'continue until the job finishes')
    .action(async (id: string, { follow: following }: RunOptions, command: Command) => {
      const client = createClient(command)
      if (following) {
        const ended = await follow(client, command, id)
        if (ended.status === 'error') process.exitCode = 1
        return
      }
      const events = await saidBy(client, id)
      print(command, events, (rows) => rows.map(lineOf).join('\n') || 'the log is empty')
    })

  stackOptions(job.command('kill <id>'))
    .description('end a job')
    .action(async (id: string, _: object, command: Command) => {
      const killed = await createClient(command).request<Job>('POST', `${jobPath(id)}/kill`)
      print(command, killed, ({ status }) => `Job ${id} is ${status}`)
    })

  stackOptions(job.command('rerun <id>'))
    .description('run a job again, with the configuration as it is now')
    .option('--follow', 'print the log until the job finishes')
    .action(async (id: string, options: RunOptions, command: Command) => {
      const client = createClient(command)
      const created = await client.request<Job>('POST', `${jobPath(id)}/rerun`)
      show(command, options.follow ? await follow(client, command, created.id) : await waitFor(client, created.id))
    })
}

/** `name=value` for each. */
export const variablesOf = (texts: readonly string[] = []): { readonly name: string; readonly value: string }[] =>
  texts.map((text) => {
    const equals = text.indexOf('=')
    if (equals < 1) throw new UserError(`--variable is written name=value, not "${text}".`)
    return { name: text.slice(0, equals), value: text.slice(equals + 1) }
  })

function bodyOf(component: string, config: string, options: RunOptions): Record<string, unknown> {
  const values = variablesOf(options.variable)
  return {
    component,
    config,
    ...(options.row && { configRowIds: options.row }),
    ...(options.tag && { tag: options.tag }),
    ...(options.branch && { branchId: options.branch }),
    ...(options.mode && { mode: options.mode }),
    ...(options.parallelism && { parallelism: options.parallelism }),
    ...(values.length > 0 && { variableValuesData: { values } }),
  }
}

export const jobPath = (id: string): string => `queue/jobs/${encodeURIComponent(id)}`

const getJob = (client: Client, id: string): Promise<Job> => client.request<Job>('GET', jobPath(id))

/** As many as one answer may have. */
const PAGE = 10_000

/** The log of a job so far. */
export async function saidBy(client: Client, id: string): Promise<JobEvent[]> {
  const events: JobEvent[] = []
  for (;;) {
    const page = await client.request<JobEvent[]>('GET', `${jobPath(id)}/events`, {
      query: { limit: PAGE, sinceId: events.at(-1)?.id },
    })
    events.push(...page)
    if (page.length < PAGE) return events
  }
}

/** Waits for the end. Meanwhile a terminal shows the last log line; elsewhere each change of its status is a line. */
export async function waitFor(client: Client, id: string): Promise<Job> {
  const line = progress(`job ${id}`)
  let since: string | number | undefined
  let said = ''
  for (let delayMs = 50; ; delayMs = Math.min(delayMs * 1.5, 2_000)) {
    const job = await getJob(client, id)
    if (job.isFinished) {
      line.done(job.status)
      return job
    }
    line.step(job.waitingReason ?? job.status)
    if (process.stderr.isTTY && job.status === 'processing') {
      const [last] = (
        await client.request<JobEvent[]>('GET', `${jobPath(id)}/events`, { query: { limit: PAGE, sinceId: since } })
      ).slice(-1)
      since = last?.id ?? since
      said = last?.message ?? said
      line.say([job.status, said.replace(/\s+/g, ' ')].join(' '))
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs))
  }
}

async function waitForStorage(client: Client, id: string): Promise<StorageJob> {
  const line = progress(`storage job ${id}`)
  const job = await client.request<StorageJob>('GET', `/v2/storage/jobs/${encodeURIComponent(id)}`)
  const ended = await client.waitForJob(job, line.say)
  line.done(ended.status)
  return ended
}

/** A stack that is being restarted is back within this time. */
const PATIENCE_MS = 30_000
const AGAIN_MS = 500

/** Prints log lines as they come; answers the job as it ended. A broken stream resumes where it stopped, also with a stack that restarts. */
async function follow(client: Client, command: Command, id: string): Promise<FollowedJob> {
  let since: string | undefined
  let lastSaid = ''
  let wasOpen = false
  const print = (event: JobEvent) => {
    since = String(event.id)
    lastSaid = event.message
    process.stdout.write(`${wantsJson(command) ? JSON.stringify(event) : lineOf(event)}\n`)
  }
  for (let waitedMs = 0; ; waitedMs += AGAIN_MS) {
    try {
      const response = await client.send('GET', `${jobPath(id)}/events`, {
        headers: { accept: 'text/event-stream', ...(since && { 'last-event-id': since }) },
      })
      wasOpen = true
      waitedMs = 0
      for await (const { name, data } of readStream(response.body ?? [])) {
        if (name === 'end') return { ...(data as Job), lastSaid } // the stack's own record
        if (name === 'log') print(data as JobEvent) // the stack's own record
      }
    } catch (error) {
      if (!wasOpen || waitedMs >= PATIENCE_MS) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}

async function* readStream(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<{ name: string; data: unknown }> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (key: string): string | undefined =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${key}: `))
          ?.slice(key.length + 2)
      const data = field('data')
      if (data !== undefined) yield { name: field('event') ?? 'message', data: JSON.parse(data) as unknown }
    }
  }
}

const lineOf = ({ created, type, message }: JobEvent): string => `${timeText(created)} ${type.padEnd(7)} ${message}`

/** A failed job is a failed command. */
function show(command: Command, { lastSaid, ...job }: FollowedJob, failing = true): void {
  print(command, job, () => textOf(job, lastSaid))
  if (failing && job.isFinished && job.status !== 'success' && job.status !== 'warning') process.exitCode = 1
}

/** What stands last in the log that was followed is not repeated. */
function textOf(job: Job, lastSaid: string | undefined): string {
  const tables = job.result.output?.tables?.map(({ id, importedRowsCount }) => `  ${id}  ${importedRowsCount} rows`) ?? []
  const reason = job.error?.message ?? job.waitingReason ?? job.result.message
  return [
    `Job ${job.id}  ${job.status}  ${job.component}${job.config === null ? '' : ` / ${job.config}`}  ${job.durationSeconds} s`,
    ...(reason && reason !== lastSaid ? [reason] : []),
    ...tables,
  ].join('\n')
}
