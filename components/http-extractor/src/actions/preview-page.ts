// previewPage: the first page of a job as the extractor sees it. The request as sent, the answer, its items, the rows they
// become, and the request that would follow.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addedColumns, TOP } from '../jobs/run-jobs.ts'
import { type JsonObject, type JsonValue, objectOf } from '../json/json.ts'
import type { RunPlan } from '../run-plan.ts'
import { createTables, type Tables } from '../tables/tables.ts'
import type { ActionDeps } from './action.ts'
import { parseCsv } from './csv.ts'
import { describeRequest, type Exchange, type FirstPage, fetchFirstPage, type OpenJob } from './first-page.ts'

export const SHOWN_ITEMS = 20
const SHOWN_ROWS = 20
const SHOWN_BODY = 20_000

export async function previewPage(deps: ActionDeps): Promise<JsonValue> {
  const page = await fetchFirstPage(deps)
  const { job, fetched, exchanges } = page
  const { items: picked, warning } = job.pick(fetched.response)
  const items = job.filter(picked)
  const last = exchanges.at(-1)!
  return objectOf([
    ['request', describeRequest(last.request)],
    ['response', describeResponse(last)],
    ['warning', warning ?? null],
    ['itemCount', items.length],
    ['items', items.slice(0, SHOWN_ITEMS)],
    ['tables', await tablesOf(page, items, deps)],
    ['next', nextOf(page, items)],
  ])
}

export const describeResponse = ({ response }: Exchange, shownBytes = SHOWN_BODY): JsonObject =>
  objectOf([
    ['status', response.status],
    ['headers', objectOf(Object.entries(response.headers))],
    ['body', response.body.subarray(0, shownBytes).toString()],
    ['bytes', response.body.length],
  ])

function nextOf({ plan, client, job, settings, fetched }: FirstPage, items: readonly JsonValue[]): JsonObject {
  const scroller = plan.scrollers(job.scroller)
  scroller.first(settings)
  const next = scroller.next(settings, { response: fetched.response, headers: fetched.headers, items })
  if ('stop' in next) return objectOf([['stop', next.stop || 'The job has no pagination.']])
  return objectOf([['request', describeRequest(client.request(next.request))]])
}

/** The tables of some items of a job. */
export const tablesOf = (
  { plan, job }: Pick<OpenJob, 'plan' | 'job'>,
  items: readonly JsonValue[],
  deps: ActionDeps,
): Promise<JsonObject[]> =>
  withTables(plan, deps, async (store) => store({ type: job.dataType, items, added: addedColumns(job, TOP, plan) }))

/** Written as a run would write them, in a folder of their own. */
export async function withTables(
  plan: RunPlan,
  { log }: ActionDeps,
  fill: (store: Tables['add']) => Promise<void>,
): Promise<JsonObject[]> {
  const dir = mkdtempSync(join(tmpdir(), 'extractor-preview-'))
  try {
    const tables = createTables({
      outDir: join(dir, 'out'),
      workDir: join(dir, 'work'),
      mappings: plan.mappings,
      compatLevel: plan.compatLevel,
      log,
    })
    await fill(tables.add)
    const { tables: made } = tables.complete({ incremental: plan.incremental })
    tables.publish()
    return made.map(({ table, file, rows, columns }) => {
      const cells = parseCsv(readFileSync(join(dir, 'out', file), 'utf8'), SHOWN_ROWS + 1).slice(1)
      return objectOf([
        ['table', table],
        ['columns', [...columns]],
        ['rowCount', rows],
        ['rows', cells],
      ])
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
