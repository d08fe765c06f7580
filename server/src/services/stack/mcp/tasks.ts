// Jobs as tasks, for clients that declare the extension of the protocol (io.modelcontextprotocol/tasks, SEP-2663). A task is a job under
// another name: nothing is kept for it, so any node answers for it, with the rights of the caller.

import type { Server, ServerContext, StandardSchemaV1 } from '@modelcontextprotocol/server'
import { path, Refused } from '../../../http/inner/inner-api.ts'
import type { Api } from './api.ts'
import { described, type Job } from './tools/run.ts'

export const TASKS = 'io.modelcontextprotocol/tasks'

type Protocol = typeof import('@modelcontextprotocol/server')
type Result = Readonly<Record<string, unknown>>

export interface TaskParts {
  readonly protocol: Protocol
  readonly api: Api
  /** The answer of a tool, as a call of it returns it. */
  readonly answered: (found: ReturnType<typeof described>) => Promise<Result>
  readonly onCancelled: (args: unknown, outcome: 'success' | 'refused') => void
}

const PREFIX = 'job-'
const POLL_MS = 2_000
const CAPABILITY = { extensions: { [TASKS]: {} } }

interface ClientCapabilities {
  readonly elicitation?: { readonly url?: object }
  readonly extensions?: Readonly<Record<string, object>>
}

/** What the client of this request supports; undefined for clients of versions without capabilities in each request. */
export const capabilitiesOf = ({ CLIENT_CAPABILITIES_META_KEY }: Protocol, { mcpReq }: ServerContext) =>
  (mcpReq.envelope as Readonly<Record<string, ClientCapabilities | undefined>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] // by the version of the protocol

/** The answer to a call that started a job. */
export const createdTask = (job: Pick<Job, 'id' | 'status' | 'createdTime' | 'startTime' | 'endTime'>) => ({
  resultType: 'task' as const,
  ...taskOf(job),
  content: [{ type: 'text' as const, text: `Job ${job.id} was started. Follow the task, or call get_job.` }],
})

export function serveTasks(server: Server, { protocol, api, answered, onCancelled }: TaskParts): void {
  const { ProtocolError, ProtocolErrorCode, MissingRequiredClientCapabilityError } = protocol
  const unknown = (taskId: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, `Task ${taskId.slice(0, 60)} not found`)

  function check(context: ServerContext): void {
    if (capabilitiesOf(protocol, context)?.extensions?.[TASKS] === undefined)
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: CAPABILITY })
  }

  async function jobOf(taskId: string): Promise<Job> {
    const id = taskId.startsWith(PREFIX) ? taskId.slice(PREFIX.length) : ''
    if (!/^\d{1,20}$/.test(id)) throw unknown(taskId)
    return found(taskId, () => api.get<Job>(path`/queue/jobs/${id}`))
  }

  async function found<T>(taskId: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof Refused && (error.status === 404 || error.status === 403)) throw unknown(taskId)
      if (error instanceof Refused && error.status < 500)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message.slice(0, 500))
      throw error
    }
  }

  server.setRequestHandler('tasks/get', { params: TaskParams }, async ({ taskId }, context) => {
    check(context)
    const job = await jobOf(taskId)
    const task = taskOf(job)
    if (task.status !== 'completed') return task
    const result = await answered(described(job))
    return { ...task, result: { ...result, isError: job.status !== 'success' && job.status !== 'warning' } }
  })

  server.setRequestHandler('tasks/cancel', { params: TaskParams }, async ({ taskId }, context) => {
    check(context)
    const job = await jobOf(taskId)
    if (job.isFinished) return {}
    try {
      await found(taskId, () => api.send('POST', path`/queue/jobs/${String(job.id)}/kill`, {}))
    } catch (error) {
      onCancelled({ taskId }, 'refused')
      throw error
    }
    onCancelled({ taskId }, 'success')
    return {}
  })

  /** No job waits for input: a person decides before it starts. */
  server.setRequestHandler('tasks/update', { params: TaskParams }, async ({ taskId }, context) => {
    check(context)
    await jobOf(taskId)
    return {}
  })
}

function taskOf({ id, status, createdTime, startTime, endTime }: Parameters<typeof createdTask>[0]) {
  return {
    taskId: `${PREFIX}${id}`,
    status: STATUS[status] ?? ('working' as const),
    statusMessage: `The job is in the state ${status}.`,
    createdAt: isoOf(createdTime),
    lastUpdatedAt: isoOf(endTime ?? startTime ?? createdTime),
    ttlMs: null, // jobs are kept as long as the project keeps them
    pollIntervalMs: POLL_MS,
  }
}

/** A job that failed is a call that was answered; all others are still working. */
const STATUS: Readonly<Record<string, 'completed' | 'cancelled'>> = {
  success: 'completed',
  warning: 'completed',
  error: 'completed',
  cancelled: 'cancelled',
  terminated: 'cancelled',
}

const isoOf = (time: string): string => new Date(time).toISOString()

/** As the library requires it: a standard schema. */
const TaskParams: StandardSchemaV1<unknown, { readonly taskId: string }> = {
  '~standard': {
    version: 1,
    vendor: 'millrace',
    validate: (value) => {
      const taskId = (value as { readonly taskId?: unknown } | null)?.taskId
      return typeof taskId === 'string' ? { value: { taskId } } : { issues: [{ message: 'taskId is a text' }] }
    },
  },
}
