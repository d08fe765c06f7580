// What people let the model do: explain a failed job, and write a query. They see what would be sent, and it is sent only as they saw it.

import { createHash } from 'node:crypto'
import { type InnerApi, path } from '../../../http/inner/inner-api.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Message, Model } from './model.ts'
import { explainPrompt, type KnownTable, type Passage, queryPrompt } from './prompts.ts'

export interface TaskRequest {
  readonly task: 'explain-job' | 'write-query'
  readonly jobId?: string | undefined
  readonly question?: string | undefined
}

export interface Prompt {
  /** Names exactly these messages to this model. */
  readonly promptId: string
  readonly messages: readonly Message[]
}

export type FindPassages = (question: string) => Promise<readonly (Passage & { readonly address: string })[]>

interface Job {
  readonly component: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string; readonly error?: { readonly cause?: Readonly<Record<string, unknown>> | null } }
  readonly error?: { readonly message: string }
}

interface Table {
  readonly id: string
  readonly primaryKey: readonly string[]
  readonly columns?: readonly string[]
  readonly definition?: {
    readonly columns?: readonly { readonly name: string; readonly definition?: { readonly type?: string } }[]
  }
}

/** Of the cause of a failure; `help` is an address of this stack. */
const SENT_OF_CAUSE = ['kind', 'text', 'subject', 'where', 'request', 'place', 'since', 'advice', 'code'] as const
const MAX_PASSAGES = 3
/** Tables that are read at once, and in all. */
const PAGE = 100
const MAX_TABLES = 10_000

/** With the rights of the caller: what they cannot read is not sent. */
export async function promptFor(model: Model, api: InnerApi, findPassages: FindPassages, request: TaskRequest): Promise<Prompt> {
  const messages =
    request.task === 'explain-job'
      ? await explained(api, findPassages, given(request.jobId, 'jobId', request.task))
      : await queried(api, given(request.question, 'question', request.task))
  const promptId = createHash('sha256')
    .update(JSON.stringify([model.host, model.name, messages]))
    .digest('base64url')
    .slice(0, 22)
  return { promptId, messages }
}

function given(value: string | undefined, name: string, task: string): string {
  if (value === undefined || value.trim() === '') throw new PlatformError('ai.missing', { name, task })
  return value
}

async function explained(api: InnerApi, findPassages: FindPassages, jobId: string): Promise<readonly Message[]> {
  const job = await api.get<Job>(path`/queue/jobs/${jobId}`)
  const message = job.error?.message ?? job.result.message
  const found = job.result.error?.cause
  if (!job.isFinished || !job.result.error || message === undefined) throw new PlatformError('ai.jobNotFailed', { id: jobId })
  const log = await api.find<readonly { readonly type: string; readonly message: string }[]>(path`/queue/jobs/${jobId}/events`, {
    limit: 200,
  })
  const cause = Object.fromEntries(SENT_OF_CAUSE.flatMap((name) => (found?.[name] == null ? [] : [[name, found[name]]])))
  const passages = await findPassages([found?.kind, found?.text, job.component].filter((part) => part != null).join(' '))
  return explainPrompt(
    { component: job.component, message, cause, log: (log ?? []).map((line) => `${line.type}: ${line.message}`) },
    passages.slice(0, MAX_PASSAGES),
  )
}

async function queried(api: InnerApi, question: string): Promise<readonly Message[]> {
  const { tables, isCut } = await tablesOf(api)
  return queryPrompt(question, tables, isCut)
}

/** Page by page: tables can have thousands of columns. */
async function tablesOf(api: InnerApi): Promise<{ readonly tables: readonly KnownTable[]; readonly isCut: boolean }> {
  const tables: KnownTable[] = []
  let limit = PAGE
  while (tables.length < MAX_TABLES) {
    const query = { include: 'columns,definition', limit, offset: tables.length }
    const page = await api.get<readonly Table[]>('/v2/storage/tables', query).catch((error: unknown) => {
      if (limit > 1 && error instanceof PlatformError && error.code === 'mcp.answerTooLarge') return undefined
      throw error
    })
    if (page) tables.push(...page.map(knownTable))
    else limit = Math.ceil(limit / 4)
    if (page && page.length < limit) return { tables, isCut: false }
  }
  return { tables, isCut: true }
}

function knownTable({ id, primaryKey, columns = [], definition }: Table): KnownTable {
  const types = new Map(definition?.columns?.map(({ name, definition: of }) => [name, of?.type]))
  return { id, primaryKey, columns: columns.map((name) => ({ name, type: types.get(name) })) }
}
