// millrace flow: run flows, watch their phases and tasks, resume from what failed, check for mistakes.

import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { type Client, createClient, stackOptions } from '../client.ts'
import { print, wantsJson } from '../json-output.ts'
import { UserError } from '../output.ts'
import { jobPath, variablesOf } from './job.ts'

export interface FlowTask {
  readonly id: string
  readonly name: string
  readonly phase: string
  readonly status: string
  readonly type: string
  readonly component: string | null
  readonly jobId: string | null
  readonly duration: number
  readonly isKept?: boolean
  readonly results: readonly { readonly result: { readonly message?: string } }[]
}

export interface FlowPhase {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly duration: number
}

export interface FlowJob {
  readonly id: string
  readonly status: string
  readonly component: string
  readonly config: string | null
  readonly durationSeconds: number
  readonly isFinished: boolean
  readonly waitingReason: string | null
  readonly error?: { readonly message: string }
  readonly result: { readonly message?: string; readonly phases?: readonly FlowPhase[]; readonly tasks?: readonly FlowTask[] }
}

interface RunOptions {
  readonly component: string
  readonly task?: string[]
  readonly variable?: string[]
  readonly branch?: string
  readonly parallelism?: string
  readonly wait?: boolean
}

interface Validation {
  readonly isValid: boolean
  readonly problems: readonly { readonly level: string; readonly path: string; readonly message: string }[]
}

const COMPONENT = 'keboola.flow'
const LOOK_MS = 300

export function addFlowCommands(program: Command): void {
  const flow = program.command('flow').description('flows: configurations that run others in phases')

  stackOptions(flow.command('run <config>'))
    .description('run a flow and show its phases and tasks until it finishes')
    .option('--component <id>', 'component of the configuration, for example keboola.orchestrator', COMPONENT)
    .option('--task <id...>', 'only these tasks')
    .option('--variable <name=value...>', 'values of variables')
    .option('--branch <id>')
    .option('--parallelism <n>', 'maximum number of parallel tasks')
    .option('--no-wait', 'do not wait for the end')
    .action(async (config: string, options: RunOptions, command: Command) => {
      const client = createClient(command)
      const created = await client.request<FlowJob>('POST', 'queue/jobs', { json: bodyOf(config, options) })
      await finish(command, options.wait === false ? created : await watch(client, command, created.id))
    })

  stackOptions(flow.command('show <job>'))
    .description('phases and tasks of a run')
    .option('--follow', 'continue until it finishes')
    .action(async (id: string, { follow }: { follow?: boolean }, command: Command) => {
      const client = createClient(command)
      if (follow) return finish(command, await watch(client, command, id))
      print(command, await getFlow(client, id), flowText)
    })

  stackOptions(flow.command('rerun <job>'))
    .description('run a flow again from the failed tasks; successful tasks are kept')
    .option('--no-wait', 'do not wait for the end')
    .action(async (id: string, { wait }: RunOptions, command: Command) => {
      const client = createClient(command)
      await getFlow(client, id)
      const created = await client.request<FlowJob>('POST', `${jobPath(id)}/rerun`)
      await finish(command, wait === false ? created : await watch(client, command, created.id))
    })

  stackOptions(flow.command('validate <file>'))
    .description('all that is wrong with the configuration of a flow in a JSON file; - reads standard input')
    .option('--component <id>', 'component it is meant for', COMPONENT)
    .option('--config <id>', 'configuration it is meant for')
    .action(async (file: string, { component, config }: { component: string; config?: string }, command: Command) => {
      const json = { component, configuration: readConfiguration(file), ...(config && { config }) }
      const found = await createClient(command).request<Validation>('POST', 'queue/flows/validate', { json })
      print(command, found, validationText)
      if (!found.isValid) process.exitCode = 1
    })
}

function bodyOf(config: string, { component, task, variable, branch, parallelism }: RunOptions): Record<string, unknown> {
  const values = variablesOf(variable)
  const isOrchestrator = component.endsWith('.orchestrator')
  return {
    component,
    config,
    ...(task && { [isOrchestrator ? 'onlyOrchestrationTaskIds' : 'onlyFlowTaskIds']: task }),
    ...(values.length > 0 && { variableValuesData: { values } }),
    ...(branch && { branchId: branch }),
    ...(parallelism && { parallelism }),
  }
}

function readConfiguration(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    throw new UserError(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function getFlow(client: Client, id: string): Promise<FlowJob> {
  const job = await client.request<FlowJob & { readonly type: string }>('GET', jobPath(id))
  if (job.type !== 'orchestrationContainer') throw new UserError(`Job ${id} is not a run of a flow; see millrace job show ${id}.`)
  return job
}

/** On a terminal the tree is drawn again in place; elsewhere what has changed is printed, line by line. */
async function watch(client: Client, command: Command, id: string): Promise<FlowJob> {
  const isDrawn = process.stderr.isTTY && !wantsJson(command)
  let drawnLines = 0
  let before: ReadonlyMap<string, string> = new Map()
  for (;;) {
    const job = await getFlow(client, id)
    if (isDrawn) {
      const lines = flowText(job)
        .split('\n')
        .slice(0, process.stderr.rows - 1 || undefined)
      process.stderr.write(
        `${drawnLines > 0 ? `\u001b[${drawnLines}A\u001b[J` : ''}${job.isFinished ? '' : `${lines.join('\n')}\n`}`,
      )
      drawnLines = lines.length
    } else if (!wantsJson(command)) {
      const now = statusesOf(job)
      for (const [what, status] of now)
        if (before.get(what) !== status && status !== 'waiting') process.stderr.write(`${what}: ${status}\n`)
      before = now
    }
    if (job.isFinished) return job
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

const statusesOf = ({ result: { phases = [], tasks = [] } }: FlowJob): ReadonlyMap<string, string> =>
  new Map([
    ...phases.map(({ name, status }) => [`phase ${name}`, status] as const),
    ...tasks.map(({ name, status }) => [`task ${name}`, status] as const),
  ])

/** A failed flow is a failed command. */
async function finish(command: Command, job: FlowJob): Promise<void> {
  print(command, job, flowText)
  if (job.isFinished && job.status !== 'success' && job.status !== 'warning') process.exitCode = 1
}

const MARKS: Readonly<Record<string, string>> = {
  success: '✔',
  warning: '!',
  error: '✖',
  processing: '▶',
  terminating: '▶',
  skipped: '-',
}
const markOf = (status: string): string => MARKS[status] ?? '·'

/** A tree: the flow, its phases, their tasks. */
function flowText(job: FlowJob): string {
  const { phases = [], tasks = [] } = job.result
  const where = job.config === null ? job.component : `${job.component} / ${job.config}`
  const branches = phases.flatMap((phase, at) => {
    const isLast = at === phases.length - 1
    const own = tasks.filter((task) => task.phase === phase.id)
    const leaves = own.map((task, leaf) => `${isLast ? '   ' : '│  '}${leaf === own.length - 1 ? '└─' : '├─'} ${taskText(task)}`)
    return [`${isLast ? '└─' : '├─'} ${markOf(phase.status)} ${phase.name}  ${phase.status}  ${phase.duration} s`, ...leaves]
  })
  const reason = job.error?.message ?? job.waitingReason ?? job.result.message
  return [
    `${markOf(job.status)} Flow ${job.id}  ${job.status}  ${where}  ${job.durationSeconds} s`,
    ...branches,
    ...(reason ? [reason] : []),
  ].join('\n')
}

function taskText(task: FlowTask): string {
  const failure = task.status === 'error' ? (task.results.at(-1)?.result.message ?? '').split('\n')[0] : ''
  const parts = [
    `${markOf(task.status)} ${task.name}`,
    task.status,
    ...(task.component ? [task.component] : [task.type]),
    ...(task.jobId ? [`job ${task.jobId}`] : []),
    ...(task.results.length > 1 ? [`${task.results.length} runs`] : []),
    ...(task.isKept ? ['kept'] : []),
    ...(task.duration > 0 ? [`${task.duration} s`] : []),
    ...(failure ? [failure] : []),
  ]
  return parts.join('  ')
}

function validationText({ isValid, problems }: Validation): string {
  const lines = problems.map(({ level, path, message }) => `${level.padEnd(7)}  ${path}  ${message}`)
  return [...lines, isValid ? 'The flow can be saved and run.' : 'The flow would be refused.'].join('\n')
}
