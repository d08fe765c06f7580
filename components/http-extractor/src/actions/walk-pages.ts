// walkPages: the login and the first pages of a job, one request after the other, each as it was sent and answered. What fails ends the
// walk with its message; what was answered before, and the answer that failed, are shown all the same.

import { at, flagAt, integerAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { addressText } from '../http/address.ts'
import type { HttpRequest } from '../http/exchange.ts'
import { type JsonObject, type JsonValue, objectOf } from '../json/json.ts'
import type { ActionDeps } from './action.ts'
import { beforeDeadline, describeRequest, type Exchange, type OpenJob, openJob, recordingOf } from './first-page.ts'
import { describeResponse, SHOWN_ITEMS, tablesOf } from './preview-page.ts'

const DEFAULT_PAGES = 3
const MAX_PAGES = 10

interface Walk {
  readonly steps: JsonObject[]
  /** How many exchanges are among the steps. */
  noted: number
  /** The requested page; all other requests lead to it. */
  page: HttpRequest | undefined
  next: JsonObject
}

/** `parameters.pages`: how many; with 0 it only logs in. */
export async function walkPages(deps: ActionDeps): Promise<JsonValue> {
  const open = await openJob(deps)
  const pages = integerAt(at(open.configuration.parameters, 'pages'), 'pages') ?? DEFAULT_PAGES
  if (pages < 0 || pages > MAX_PAGES) throw new UserError(`'pages' must be from 0 to ${MAX_PAGES}, not ${pages}.`)
  const walk: Walk = { steps: [], noted: 0, page: undefined, next: objectOf([]) }
  let error: string | null = null
  try {
    await beforeDeadline(pages === 0 ? logIn(open, walk) : fetchPages(open, pages, walk, deps), deps)
  } catch (failure) {
    if (!(failure instanceof UserError)) throw failure
    noteExchanges(open, walk)
    error = failure.message
  } finally {
    await open.close()
  }
  return objectOf([
    ['steps', walk.steps],
    ['next', walk.next],
    ['error', error],
    ...(flagAt(at(open.configuration.parameters, 'record'), 'record') ? recordingOf(open, deps) : []),
  ])
}

/** Signs the first request, which makes the login, and sends nothing else. */
async function logIn(open: OpenJob, walk: Walk): Promise<void> {
  const { plan, client, job, settings, send } = open
  const signed = await plan.authenticate(send)(client.request(plan.scrollers(job.scroller).first(settings)))
  noteExchanges(open, walk)
  walk.next = objectOf([['request', describeRequest(signed)]])
}

async function fetchPages(open: OpenJob, pages: number, walk: Walk, deps: ActionDeps): Promise<void> {
  const { plan, client, job, settings } = open
  const scroller = plan.scrollers(job.scroller)
  let request = scroller.first(settings)
  for (let page = 1; page <= pages; page++) {
    walk.page = client.request(request)
    const fetched = await client.fetch(request, job.decode)
    const exchange = noteExchanges(open, walk, 1)
    const { items: picked, warning } = job.pick(fetched.response)
    const items = job.filter(picked)
    walk.steps.push(
      objectOf([
        ...describe('page', exchange!),
        ['page', page],
        ['warning', warning ?? null],
        ['itemCount', items.length],
        ['items', items.slice(0, SHOWN_ITEMS)],
        ['tables', await tablesOf(open, items, deps)],
      ]),
    )
    const next = scroller.next(settings, { response: fetched.response, headers: fetched.headers, items })
    if ('stop' in next) {
      walk.next = objectOf([['stop', next.stop || 'The job has no pagination.']])
      return
    }
    walk.next = objectOf([['request', describeRequest(client.request(next.request))]])
    request = next.request
  }
}

/** Puts down the exchanges since the last time, but for the last `kept`, of which the first is answered. */
function noteExchanges({ exchanges }: OpenJob, walk: Walk, kept = 0): Exchange | undefined {
  const to = exchanges.length - kept
  for (const exchange of exchanges.slice(walk.noted, to)) walk.steps.push(objectOf(describe(kindOf(exchange, walk), exchange)))
  walk.noted = exchanges.length
  return exchanges[to]
}

const kindOf = ({ request }: Exchange, { page }: Walk): string => (page && placeOf(request) === placeOf(page) ? 'page' : 'login')

/** An address without its query, to which a login may add. */
const placeOf = ({ address }: HttpRequest): string => addressText(address).replace(/\?.*$/s, '')

const describe = (kind: string, exchange: Exchange): [string, JsonValue][] => [
  ['kind', kind],
  ['request', describeRequest(exchange.request)],
  ['response', describeResponse(exchange)],
  ['durationMs', exchange.durationMs],
]
