// testConnection: logs in if the configuration has a login, and requests the first page of a job.

import { counted } from '../../../../contract/counted.ts'
import { type JsonValue, objectOf } from '../json/json.ts'
import type { ActionDeps } from './action.ts'
import { describeRequest, fetchFirstPage } from './first-page.ts'

export async function testConnection(deps: ActionDeps): Promise<JsonValue> {
  const { job, fetched, exchanges } = await fetchFirstPage(deps)
  const { items, warning } = job.pick(fetched.response)
  return objectOf([
    ['status', 'success'],
    ['message', `${fetched.request.method} '${job.endpoint}' answered ${fetched.status} with ${counted(items.length, 'item')}.`],
    ['warning', warning ?? null],
    ['request', describeRequest(exchanges.at(-1)!.request)],
    ['requests', exchanges.length],
  ])
}
