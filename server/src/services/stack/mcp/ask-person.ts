// Decisions and secrets of a person, requested by the elicitation of the protocol in the mode `url` where the client supports it: the
// client shows the address of our page, and calls the tool again when the person has opened it. What came of it is read from the request
// itself, which belongs to the token: nothing that the client sends decides anything.

import { setTimeout as delay } from 'node:timers/promises'
import type { ServerContext } from '@modelcontextprotocol/server'
import type { AskedPerson } from './api.ts'
import type { AgentRequest } from './guards.ts'

type Protocol = typeof import('@modelcontextprotocol/server')

const MAX_WAIT_MS = 25_000
const POLL_MS = 500
const MAX_REQUESTS = 20
const SEPARATOR = '.'

/** The call is made again after the person was shown pages. */
export interface Round {
  /** Of the requests. */
  readonly ids: readonly string[]
  /** The person did not want to open a page. */
  readonly isDeclined: boolean
}

/** Undefined: the first call. */
export function roundOf({ inputResponse }: Protocol, { mcpReq }: ServerContext): Round | undefined {
  const state: unknown = mcpReq.requestState()
  if (typeof state !== 'string' || state === '') return undefined
  const ids = state.split(SEPARATOR).slice(0, MAX_REQUESTS)
  const views = ids.map((_, index) => inputResponse(mcpReq.inputResponses, keyOf(index)))
  return { ids, isDeclined: views.some((view) => view.kind === 'elicit' && view.action !== 'accept') }
}

export const inputRequiredBy = ({ inputRequired }: Protocol, asked: readonly (AskedPerson & { readonly message: string })[]) =>
  inputRequired({
    inputRequests: Object.fromEntries(
      asked.map(({ link, message }, index) => [keyOf(index), inputRequired.elicitUrl({ url: link, message })]),
    ),
    requestState: asked.map(({ id }) => id).join(SEPARATOR),
  })

/** The requests once all are decided, or after a while as they are then. */
export async function settled(
  { ids, isDeclined }: Round,
  find: (id: string) => Promise<AgentRequest>,
): Promise<readonly AgentRequest[]> {
  for (let waited = 0; ; waited += POLL_MS) {
    const requests = await Promise.all(ids.map(find))
    if (isDeclined || waited >= MAX_WAIT_MS || requests.every(({ state }) => state !== 'waiting')) return requests
    await delay(POLL_MS)
  }
}

const keyOf = (index: number): string => `page${index + 1}`
