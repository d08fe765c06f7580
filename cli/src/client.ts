// The command line as a client of a running stack: where it is, with which token, and how its errors are shown.

import type { Command } from 'commander'
import {
  type Answer,
  type AnyInput,
  type Input,
  type OperationName,
  type PlainOperation,
  requestOf,
} from '../../client/src/client.ts'
import { defined } from '../../server/src/kit/defined.ts'
import { suggestion } from './did-you-mean.ts'
import { UserError } from './output.ts'
import { DEFAULT_URL, stackOf } from './stack-choice.ts'

export interface ClientRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly json?: unknown
  /** A body that is JSON text already and must be sent as it is. */
  readonly jsonText?: string
  /** Bytes, or a form, which has a content type of its own. */
  readonly content?: Blob | FormData
  readonly headers?: Readonly<Record<string, string>>
}

/** A job of the storage service, as far as the command line looks into it. */
export interface StorageJob {
  readonly id: number
  readonly status: string
  readonly url: string
  readonly results?: unknown
  readonly error?: { readonly message: string; readonly code?: string; readonly exceptionId?: string }
}

export type Client = ReturnType<typeof createClient>

/** Adds the options every command that talks to a stack has. */
export const stackOptions = (command: Command): Command =>
  command
    .option('--url <url>', `URL of the stack (default: $MILLRACE_URL, a profile, the stack of this machine or ${DEFAULT_URL})`)
    .option('--token <token>', 'storage token (default: $MILLRACE_TOKEN, or that of the profile)')
    .option('--profile <name>', 'stack and token as saved by millrace login (default: $MILLRACE_PROFILE, or the profile in use)')

export function createClient(command: Command) {
  const { url, token } = stackOf(command)
  if (!token)
    throw new UserError(
      `A token for ${url} is required: save one with millrace login, set MILLRACE_TOKEN or use --token. The first start printed the master token; "millrace token reset-master" creates a new one.`,
    )
  return clientOf(url, token)
}

/** A client of any stack that speaks this API. */
export function clientOf(url: string, token: string) {
  const headers = { 'X-StorageApi-Token': token }

  /** One request; `path` is relative to the stack or a whole address. Errors of the stack become one readable line. */
  async function send(
    method: string,
    path: string,
    { query = {}, json, jsonText, content, headers: more }: ClientRequest = {},
  ): Promise<Response> {
    const address = new URL(path, `${url}/`)
    const body = jsonText ?? (json === undefined ? undefined : JSON.stringify(json))
    for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, String(value))
    const response = await fetch(address, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...more },
      ...defined({ body: body ?? content }),
    }).catch((cause: unknown) => {
      throw new UserError(`No response from ${address.origin}: ${reasonOf(cause)}. Does the stack run? Start it with npm start.`)
    })
    if (response.ok) return response
    throw new UserError((await sentenceOf(response)) + (await suggested(response.status, address.pathname, json)))
  }

  /** The queue answers 400 where its body names something that is not there. */
  async function suggested(status: number, path: string, json: unknown): Promise<string> {
    if (status === 404) return suggestion(look, path, json)
    return status === 400 ? suggestion(look, '', json) : ''
  }

  /** For suggestions: an answer that is not one is no reason for another error. */
  const look = async (path: string): Promise<unknown> => (await fetch(new URL(path, `${url}/`), { headers })).json()

  /** The answer as JSON. The caller names the shape it reads; the stack's contract is the proof. */
  async function request<T>(method: string, path: string, options?: ClientRequest): Promise<T> {
    const text = await (await send(method, path, options)).text()
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** One operation of the API document, with its types. */
  function call<O extends PlainOperation>(operation: O): Promise<Answer<O>>
  function call<O extends OperationName>(operation: O, input: Input<O>, branch?: string): Promise<Answer<O>>
  function call<O extends OperationName>(operation: O, input: AnyInput = {}, branch?: string): Promise<Answer<O>> {
    const { method, address, body } = requestOf(operation, input, branch)
    return request<Answer<O>>(method, address, defined({ jsonText: body }))
  }

  /** Polls a storage job until it ends; a failed one is a UserError with its message. */
  async function waitForJob(job: StorageJob, onStatus: (status: string) => void = () => {}): Promise<StorageJob> {
    let current = job
    for (
      let delayMs = 50;
      current.status === 'waiting' || current.status === 'processing';
      delayMs = Math.min(delayMs * 1.5, 2000)
    ) {
      onStatus(current.status)
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      current = await request<StorageJob>('GET', job.url)
    }
    if (current.status === 'error')
      throw new UserError(`Job ${current.id} failed: ${current.error?.message ?? 'no reason was given'}`)
    return current
  }

  return { url, token, send, request, call, waitForJob }
}

async function sentenceOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { error, exceptionId } = JSON.parse(text) as { error?: unknown; exceptionId?: unknown }
    if (typeof error === 'string') return `${error} (${response.status}, ${String(exceptionId)})`
  } catch {
    // Not our envelope: a proxy, or another program on that port.
  }
  return `The stack answered ${response.status}: ${text.slice(0, 200)}`
}

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}
