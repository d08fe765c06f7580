// The HTTP writer as a program: rows of a table become requests, and a table of receipts.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../../../contract/counted.ts'
import { untilJob } from '../../../contract/started-ahead.ts'
import { leaveCounts, leaveDryRun } from '../../connector-kit/src/delivered.ts'
import { type Cells, type InputTable, onlyInputTable, rowsOf } from '../../connector-kit/src/input-table.ts'
import { createOutputTable } from '../../connector-kit/src/output-table.ts'
import { type Program, runProgram } from '../../connector-kit/src/program.ts'
import { textAt } from '../../connector-kit/src/settings.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { addressText, resolveAddress } from '../../http-extractor/src/http/address.ts'
import { headersOf } from '../../http-extractor/src/http/headers.ts'
import { excerpt, failedRequest } from '../../http-extractor/src/http/response.ts'
import { withoutCredentials } from '../../http-extractor/src/redaction.ts'
import { type Api, openSender, readApiOf } from './client.ts'
import { type Delivery, readDelivery } from './configuration.ts'
import { type Delivered, deliver, type FailedRow, rowOf, templateFor } from './deliver.ts'
import { type Journal, openJournal, shortHash } from './journal.ts'
import { requestOf } from './request.ts'
import { RowError } from './template.ts'

untilJob()

const SHOWN_REQUESTS = 5

interface State {
  /** The last delivery that was stored with its receipts. */
  readonly delivery?: string
  readonly failed?: { readonly columns: readonly string[]; readonly rows: readonly FailedRow[] }
}

await runProgram({
  pointer: '/parameters/api',
  async run(program) {
    const { parameters, dataDir, log } = program
    const api = readApiOf(program)
    const input = onlyInputTable(dataDir)
    const delivery = readDelivery(parameters, input)
    if (delivery.dryRun || process.env.KBC_COMPONENT_RUN_MODE === 'debug') {
      const { requests, operations, invalid } = await tryOut(api, delivery, input)
      for (const request of requests) log.info(`Would send ${request.method} ${request.url}`, { body: request.body ?? null })
      leaveDryRun(dataDir)
      const counts = Object.entries(operations).map(([name, count]) => `${count} ${name}`)
      return log.info(
        `Dry run, nothing was sent: ${counts.join(', ') || 'no rows'}; ${counted(invalid, 'row')} without a request.`,
      )
    }
    const folder = process.env.MILLRACE_CHECKPOINT_DIR || dataDir
    const place = shortHash(addressText(api.base), JSON.stringify(parameters.requests))
    const journalFile = join(folder, `journal-${place}.jsonl`)
    const journal = await openJournal(journalFile, process.env.KBC_RUNID ?? '0', readState(dataDir).delivery)
    if (journal.isContinued) log.info(`Continuing the delivery ${journal.delivery}, which did not come to its end.`)
    const sender = await openSender(api, delivery, program)
    try {
      const parts = { base: api.base, headers: api.headers, scope: api.scope, input }
      const done = await deliver({ delivery, input, parts, api, sender, journal }, failedBefore(dataDir, input))
      writeState(dataDir, input, done, journal)
      log.info(`Delivered ${input.id}: ${summary(done)}.`)
    } finally {
      await sender.close()
      await writeReceipts(dataDir, delivery, journal)
      journal.close()
    }
  },
  async act(name, program) {
    const api = readApiOf(program)
    if (name === 'testConnection') return testConnection(api, program)
    if (name !== 'preview') throw new UserError(`The action "${name.slice(0, 60)}" does not exist. Use testConnection, preview.`)
    const input = onlyInputTable(program.dataDir)
    const delivery = readDelivery(program.parameters, input)
    return { status: 'success', rowsOfTable: input.rowsCount, ...(await tryOut(api, delivery, input)) }
  },
})

function summary({ delivered, rejected, failed, before, repeated }: Delivered): string {
  const parts = [`${counted(delivered, 'row')} delivered, ${rejected} rejected, ${failed} failed`]
  if (before > 0) parts.push(`${before} delivered before`)
  if (repeated > 0) parts.push(`${repeated} sent again, because it was unknown whether they had arrived`)
  return parts.join('; ')
}

/** The first requests as they would be sent, before authentication, and what all rows are. */
async function tryOut(api: Api, delivery: Delivery, input: InputTable) {
  const operations: Record<string, number> = {}
  const units = new Map<string, Cells[]>()
  let [rows, invalid] = [0, 0]
  const problems: string[] = []
  const parts = { base: api.base, headers: api.headers, scope: api.scope, input }
  const isList = delivery.rowsPerRequest > 1
  for await (const cells of rowsOf(input)) {
    rows++
    const { operation, given } = rowOf(cells, delivery, input)
    try {
      if (operation === undefined) throw new RowError(`"${given.slice(0, 60)}" in the column of operations has no request.`)
      requestOf(templateFor(delivery, operation), [cells], parts, isList)
      operations[operation] = (operations[operation] ?? 0) + 1
      const group = delivery.groupBy.map((at) => cells[at] ?? '')
      const full = Math.floor((operations[operation] - 1) / delivery.rowsPerRequest)
      const unit = JSON.stringify([operation, ...group, isList && group.length === 0 ? full : '', isList ? '' : rows])
      if (units.has(unit) || units.size < SHOWN_REQUESTS) {
        const gathered = units.get(unit) ?? []
        if (gathered.length < delivery.rowsPerRequest) gathered.push(cells)
        units.set(unit, gathered)
      }
    } catch (error) {
      if (!(error instanceof RowError)) throw error
      invalid++
      if (problems.length < SHOWN_REQUESTS) problems.push(`Row ${rows}: ${error.message}`)
    }
  }
  const requests = [...units].map(([unit, gathered]) => {
    const [operation] = JSON.parse(unit) as [Parameters<typeof templateFor>[1]] // made above
    const { method, address, headers, body } = requestOf(templateFor(delivery, operation), gathered, parts, isList)
    const shown = [
      ...withoutCredentials(headers.values()),
      ...(delivery.idempotencyHeader ? [[delivery.idempotencyHeader, '(one for each request)']] : []),
    ]
    return {
      operation,
      method,
      url: addressText(address),
      headers: Object.fromEntries(shown) as Record<string, string>,
      body: body?.slice(0, 4000),
    }
  })
  return { rows, operations, invalid, problems, requests }
}

async function testConnection(api: Api, program: Program) {
  const path = textAt(program.parameters, 'testPath', 'testPath')
  const request = { method: 'GET', address: resolveAddress(api.base, path), headers: headersOf(api.headers) } as const
  const once = { ...api, retry: { ...api.retry, maxRetries: 1 } }
  const sender = await openSender(once, { concurrency: 1, perSecond: undefined }, program)
  try {
    const { response } = await sender.send(request)
    if (response.status === 401 || response.status === 403 || response.status >= 500)
      throw failedRequest(response, request, 'job')
    return { status: 'success', httpStatus: response.status, answer: excerpt(response.body) }
  } finally {
    await sender.close()
  }
}

async function writeReceipts(dataDir: string, { receiptsTable, answerFields }: Delivery, journal: Journal): Promise<void> {
  const text = (name: string) => ({ name, base: 'STRING' as const })
  const columns = [
    ...[text('delivery'), { name: 'seq', base: 'INTEGER' as const }, text('key'), text('operation'), text('status')],
    ...[{ name: 'http_status', base: 'INTEGER' as const }, text('message'), { name: 'attempts', base: 'INTEGER' as const }],
    ...[
      { name: 'repeated', base: 'BOOLEAN' as const },
      { name: 'sent_at', base: 'TIMESTAMP' as const },
    ],
    ...answerFields.map(({ column }) => text(column)),
  ]
  const options = { primaryKey: ['delivery', 'seq'], incremental: true, always: true }
  const table = await createOutputTable(dataDir, receiptsTable, columns, options)
  const counts = { delivered: 0, rejected: 0, failed: 0 }
  let seq = 0
  try {
    for await (const { key, operation, status, httpStatus, message, attempts, repeated, at, answer } of journal.receipts()) {
      seq++
      counts[status]++
      const sent = at.replace('T', ' ').replace('Z', '')
      await table.write([
        ...[journal.delivery, String(seq), key, operation, status, httpStatus === null ? null : String(httpStatus), message],
        ...[String(attempts), String(repeated), sent, ...answerFields.map(({ path }) => answer[path] ?? null)],
      ])
    }
  } finally {
    await table.close()
  }
  leaveCounts(dataDir, counts)
}

function failedBefore(dataDir: string, input: InputTable): readonly FailedRow[] {
  const { failed } = readState(dataDir)
  if (!failed) return []
  const places = input.columns.map(({ name }) => failed.columns.indexOf(name))
  return failed.rows.map(({ idempotencyKey, cells }) => ({ idempotencyKey, cells: places.map((at) => cells[at] ?? null) }))
}

function readState(dataDir: string): State {
  try {
    const state = JSON.parse(readFileSync(join(dataDir, 'in', 'state.json'), 'utf8')) as State | [] // written by the last run
    return Array.isArray(state) ? {} : state
  } catch {
    return {} // the first run
  }
}

function writeState(dataDir: string, { columns }: InputTable, { again }: Delivered, { delivery }: Journal): void {
  const failed = { columns: columns.map(({ name }) => name), rows: again }
  const state: State = again.length === 0 ? { delivery } : { delivery, failed }
  writeFileSync(join(dataDir, 'out', 'state.json'), JSON.stringify(state))
}
