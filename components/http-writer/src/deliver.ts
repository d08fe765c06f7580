// One delivery: rows become requests, in order for each key and side by side across keys; every row gets a receipt.

import { type Cells, type InputTable, rowsOf } from '../../connector-kit/src/input-table.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { HttpRequest, HttpResponse } from '../../http-extractor/src/http/exchange.ts'
import { headersOf } from '../../http-extractor/src/http/headers.ts'
import { excerpt, failedRequest } from '../../http-extractor/src/http/response.ts'
import { TransportError } from '../../http-extractor/src/http/transport-error.ts'
import { isArray, isEmpty, isScalar, type JsonValue, valueAt } from '../../http-extractor/src/json/json.ts'
import { JsonSyntaxError, parseJson } from '../../http-extractor/src/json/parse.ts'
import { exactJson, toText } from '../../http-extractor/src/json/text.ts'
import type { Api, Sender } from './client.ts'
import type { Delivery, Operation, RequestTemplate } from './configuration.ts'
import { type Journal, type Receipt, shortHash } from './journal.ts'
import { lookupOf, type RequestParts, requestOf } from './request.ts'
import { RowError } from './template.ts'

/** A row that is sent again by the next run. */
export interface FailedRow {
  /** Empty of a row that failed together with others: alone it is another request. */
  readonly idempotencyKey: string
  readonly cells: Cells
}

export interface Delivered {
  delivered: number
  rejected: number
  failed: number
  /** By the run that this one continues. */
  before: number
  repeated: number
  readonly again: FailedRow[]
}

interface Row {
  readonly id: string
  readonly key: string
  readonly operation: Operation
  readonly cells: Cells
}

interface Unit {
  readonly template: RequestTemplate
  readonly rows: Row[]
  readonly most: number
  readonly idempotencyKey: string | undefined
  /** Sent before, and whether it arrived is not known. */
  readonly repeated: boolean
}

export interface Work {
  readonly delivery: Delivery
  readonly input: InputTable
  readonly parts: RequestParts
  readonly api: Api
  readonly sender: Sender
  readonly journal: Journal
}

/** Rows that wait for others of their request, all together. */
const MAX_WAITING = 50_000
const MAX_AGAIN = 1000
/** A few refusals at the beginning are no share yet. */
const FEW = 10
const SPLIT = new Set([400, 413, 422])

export async function deliver(work: Work, previous: readonly FailedRow[]): Promise<Delivered> {
  const { delivery, input, journal, api, sender } = work
  const result: Delivered = { delivered: 0, rejected: 0, failed: 0, before: 0, repeated: 0, again: [] }
  const slots = createSlots(delivery.concurrency)
  const inFlight = new Map<string, Promise<void>>()
  const gathering = new Map<string, Unit>()
  const gatheredKeys = new Map<string, string>()
  const openOf = new Map(journal.open.flatMap((unit) => unit.rows.map((row) => [row, unit] as const)))
  let waiting = 0
  let failure: unknown

  /** The outcome of a unit is written immediately. */
  function settle(unit: Unit, number: number, receipts: readonly Receipt[]): void {
    journal.done(number, receipts)
    for (const [at, { status }] of receipts.entries()) {
      result[status]++
      const row = unit.rows[at]
      if (row && (status === 'failed' ? delivery.resend !== 'none' : status === 'rejected' && delivery.resend === 'all'))
        result.again.push({
          idempotencyKey: unit.rows.length > 1 ? '' : (unit.idempotencyKey ?? keyFor(journal, unit.rows)),
          cells: row.cells,
        })
    }
    const [bad, all] = [result.rejected + result.failed, result.rejected + result.failed + result.delivered]
    if (bad >= FEW && bad > (all * delivery.maxFailedPercent) / 100) failure ??= tooMany(bad, all, delivery, receipts)
    if (result.again.length > MAX_AGAIN)
      failure ??= new UserError(
        `More than ${MAX_AGAIN} rows have failed, which are too many to be kept for the next run. Look at the receipts.`,
      )
  }

  async function send(unit: Unit): Promise<void> {
    const { rows, template } = unit
    const receipt = (row: Row, status: Receipt['status'], more: Partial<Receipt>): Receipt => ({
      row: row.id,
      key: row.key,
      operation: row.operation,
      status,
      httpStatus: null,
      message: '',
      attempts: 0,
      repeated: unit.repeated,
      at: new Date().toISOString(),
      answer: {},
      ...more,
    })
    const idempotencyKey = unit.idempotencyKey ?? keyFor(journal, rows)
    let request: HttpRequest
    let lookup: HttpRequest | undefined
    try {
      lookup = lookupFor(unit)
      request = requestOf(
        template,
        rows.map(({ cells }) => cells),
        work.parts,
        delivery.rowsPerRequest > 1,
      )
    } catch (error) {
      if (!(error instanceof RowError)) throw error
      if (rows.length > 1) return split(unit)
      const number = journal.send(idempotencyKey, [])
      return settle(
        unit,
        number,
        rows.map((row) => receipt(row, 'rejected', { message: error.message })),
      )
    }
    if (delivery.idempotencyHeader !== undefined)
      request = { ...request, headers: headersOf(request.headers.values(), [[delivery.idempotencyHeader, idempotencyKey]]) }
    const number = journal.send(
      idempotencyKey,
      rows.map(({ id }) => id),
    )
    let response: HttpResponse
    let attempts = 0
    try {
      const found = lookup && (await lookedUp(lookup))
      if (found !== undefined)
        return settle(
          unit,
          number,
          rows.map((row) => receipt(row, 'delivered', { message: 'The lookup found it; nothing was sent.', answer: found })),
        )
      const sent = await sender.send(request)
      response = sent.response
      attempts = sent.attempts()
    } catch (error) {
      if (!(error instanceof TransportError)) {
        journal.done(number, [])
        throw error
      }
      attempts = (error as { attempts?: number }).attempts ?? 1
      return settle(
        unit,
        number,
        rows.map((row) => receipt(row, 'failed', { message: error.message, attempts })),
      )
    }
    const { status } = response
    if (status === 401) {
      journal.done(number, [])
      throw failedRequest(response, request, 'job')
    }
    const isGood = (status >= 200 && status < 300) || api.ignoreErrors.has(status)
    if (!isGood && rows.length > 1 && SPLIT.has(status)) {
      journal.done(number, [])
      return split(unit)
    }
    const answers = answersTo(response, rows.length, delivery)
    settle(
      unit,
      number,
      rows.map((row, at) => {
        const { reason, fields } = answers[at]! // one for each row
        const outcome = !isGood
          ? api.retry.httpCodes.has(status)
            ? 'failed'
            : 'rejected'
          : reason === ''
            ? 'delivered'
            : 'rejected'
        const message = isGood ? reason : excerpt(response.body, 500)
        return receipt(row, outcome, { httpStatus: status, message, attempts, answer: fields })
      }),
    )
  }

  function lookupFor({ rows: [row], repeated }: Unit): HttpRequest | undefined {
    const { lookup } = delivery
    const creates = row?.operation === 'create' || row?.operation === 'upsert'
    return lookup && row && creates && (lookup.always || repeated) ? lookupOf(lookup, row.cells, work.parts) : undefined
  }

  /** The answer fields of a record that exists already; undefined when there is none. */
  async function lookedUp(request: HttpRequest): Promise<Receipt['answer'] | undefined> {
    const { resultsPath = '.' } = delivery.lookup ?? {}
    const { response } = await sender.send(request)
    if (response.status === 404) return undefined
    if (response.status < 200 || response.status >= 300) throw failedRequest(response, request, 'job')
    const answer = parsed(response.body)
    const records = answer === undefined || resultsPath === '.' ? answer : valueAt(answer, resultsPath)
    const record = isArray(records) ? records[0] : records
    return record === undefined || isEmpty(record) ? undefined : fieldsIn(record, delivery)
  }

  /** The API refused many rows at once: smaller requests show which. */
  async function split({ rows, template, repeated }: Unit): Promise<void> {
    const middle = Math.ceil(rows.length / 2)
    for (const half of [rows.slice(0, middle), rows.slice(middle)])
      if (failure === undefined) await send({ template, rows: half, most: half.length, idempotencyKey: undefined, repeated })
  }

  async function dispatch(unit: Unit): Promise<void> {
    waiting -= unit.rows.length
    for (const { key } of unit.rows) gatheredKeys.delete(key)
    if (unit.repeated) result.repeated += unit.rows.length
    await slots.enter()
    if (failure !== undefined) return slots.leave()
    const before = [...new Set(unit.rows.flatMap(({ key }) => inFlight.get(key) ?? []))]
    const done = (before.length === 0 ? send(unit) : Promise.all(before).then(() => send(unit)))
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => {
        for (const { key } of unit.rows) if (inFlight.get(key) === done) inFlight.delete(key)
        slots.leave()
      })
    for (const { key } of unit.rows) inFlight.set(key, done)
  }

  const flush = async (name: string): Promise<void> => {
    const unit = gathering.get(name)
    gathering.delete(name)
    if (unit) await dispatch(unit)
  }

  async function add(row: Row, given: string | undefined): Promise<void> {
    const template = templateFor(delivery, row.operation)
    const open = given === undefined ? openOf.get(row.id) : undefined
    const group = delivery.groupBy.map((at) => row.cells[at] ?? '')
    const name = given ?? (open ? `open ${open.idempotencyKey}` : JSON.stringify([row.operation, ...group]))
    const earlier = gatheredKeys.get(row.key)
    if (earlier !== undefined && earlier !== name) await flush(earlier) // what came first is sent first
    const unit = gathering.get(name) ?? {
      template,
      rows: [],
      most: given === undefined ? (open?.rows.length ?? delivery.rowsPerRequest) : 1,
      idempotencyKey: given ?? open?.idempotencyKey,
      repeated: open !== undefined || given !== undefined,
    }
    unit.rows.push(row)
    waiting++
    gathering.set(name, unit)
    gatheredKeys.set(row.key, name)
    if (unit.rows.length >= unit.most) await flush(name)
    else if (waiting >= MAX_WAITING) await flush(gathering.keys().next().value ?? '')
  }

  async function take(cells: Cells, given?: string): Promise<void> {
    if (failure !== undefined) throw failure
    const row = rowOf(cells, delivery, input)
    if (row.operation === undefined) {
      const number = journal.send('', [])
      const message = `"${row.given.slice(0, 60)}" in the column of operations has no request.`
      const receipt = { row: row.id, key: row.key, operation: row.given, status: 'rejected', httpStatus: null, message } as const
      settle({ template: [...delivery.requests.values()][0]!, rows: [], most: 1, idempotencyKey: '', repeated: false }, number, [
        { ...receipt, attempts: 0, repeated: false, at: new Date().toISOString(), answer: {} },
      ])
      return
    }
    if (journal.takeDelivered(row.id)) result.before++
    else await add({ ...row, operation: row.operation }, given)
  }

  try {
    for (const { cells, idempotencyKey } of previous) await take(cells, idempotencyKey || undefined)
    for await (const cells of rowsOf(input)) await take(cells)
    for (const name of [...gathering.keys()]) await flush(name)
  } finally {
    await slots.idle()
  }
  if (failure !== undefined) throw failure
  const [bad, all] = [result.rejected + result.failed, result.rejected + result.failed + result.delivered]
  if (bad > (all * delivery.maxFailedPercent) / 100) throw tooMany(bad, all, delivery, [])
  return result
}

const keyFor = (journal: Journal, rows: readonly Row[]): string => shortHash(journal.delivery, ...rows.map(({ id }) => id))

function tooMany(bad: number, all: number, { maxFailedPercent }: Delivery, receipts: readonly Receipt[]): UserError {
  const last = receipts.find(({ message }) => message !== '')
  return new UserError(
    `${bad} of ${all} rows were not delivered, which is more than ${maxFailedPercent} %. The receipts say why${last ? `; the last: ${last.message.slice(0, 200)}` : ''}`,
  )
}

export const templateFor = ({ requests }: Delivery, operation: Operation): RequestTemplate =>
  (requests.get(operation) ?? requests.get('upsert'))! // rowOf looks for it

export function rowOf(
  cells: Cells,
  { key, operationAt, requests }: Delivery,
  { columns }: InputTable,
): Omit<Row, 'operation'> & { readonly operation: Operation | undefined; readonly given: string } {
  const [only] = requests.keys()
  const word = operationAt === undefined ? String(only) : (cells[operationAt] ?? '').trim().toLowerCase()
  const given = word === 'insert' ? 'create' : word
  const isKnown = (name: string): name is Operation =>
    requests.has(name as Operation) || ((name === 'create' || name === 'update') && requests.has('upsert'))
  const values = key.map((at) => cells[at] ?? null)
  const id = shortHash(
    given,
    ...cells.map((cell, at) => (cell === null ? `${columns[at]?.name}` : `${columns[at]?.name}=${cell}`)),
  )
  return {
    id,
    key: values.length === 0 ? id : values.length === 1 ? (values[0] ?? '') : JSON.stringify(values),
    operation: isKnown(given) ? given : undefined,
    given,
    cells,
  }
}

interface Answer {
  /** Empty: the row was taken. */
  readonly reason: string
  readonly fields: Receipt['answer']
}

function answersTo(
  response: HttpResponse,
  rows: number,
  { answerFields, resultsPath, resultErrorPath }: Delivery,
): readonly Answer[] {
  const isAsked = answerFields.length > 0 || resultsPath !== undefined || resultErrorPath !== undefined
  const answer = isAsked ? parsed(response.body) : undefined
  const fieldsOf = (one: JsonValue | undefined) => fieldsIn(one, { answerFields })
  const reasonOf = (one: JsonValue | undefined): string => {
    const found = one === undefined || resultErrorPath === undefined ? undefined : valueAt(one, resultErrorPath)
    return isEmpty(found) ? '' : (shownValue(found) ?? '').slice(0, 500)
  }
  const list =
    answer === undefined || resultsPath === undefined ? undefined : resultsPath === '.' ? answer : valueAt(answer, resultsPath)
  const each = isArray(list) && list.length === rows ? list : Array.from({ length: rows }, () => answer)
  return each.map((one) => ({ reason: reasonOf(one), fields: fieldsOf(one) }))
}

const fieldsIn = (one: JsonValue | undefined, { answerFields }: Pick<Delivery, 'answerFields'>): Receipt['answer'] =>
  Object.fromEntries(answerFields.map(({ path }) => [path, shownValue(one === undefined ? undefined : valueAt(one, path))]))

const shownValue = (value: JsonValue | undefined): string | null =>
  value === undefined || value === null ? null : isScalar(value) ? toText(value) : exactJson(value)

function parsed(body: Buffer): JsonValue | undefined {
  try {
    return parseJson(body)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined // then there is nothing to take from it
    throw error
  }
}

/** So many at once; `idle` when none is left. */
function createSlots(count: number) {
  const waiting: (() => void)[] = []
  let [inside, onIdle] = [0, () => {}]
  return {
    async enter(): Promise<void> {
      if (inside >= count) await new Promise<void>((admitted) => waiting.push(admitted))
      else inside++
    },
    leave(): void {
      const next = waiting.shift()
      if (next) next()
      else if (--inside === 0) onIdle()
    },
    idle: (): Promise<void> =>
      inside === 0
        ? Promise.resolve()
        : new Promise((done) => {
            onIdle = done
          }),
  }
}
