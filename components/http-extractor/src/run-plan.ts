// One iteration, read and checked: everything that can be wrong in a configuration is found here, before the first request.

import { createAuthentication } from './auth/authentication.ts'
import type { Authentication } from './auth/authentication.types.ts'
import { checkAllowedHosts } from './configuration/allowed-hosts.ts'
import { type ApiSettings, readApi } from './configuration/api.ts'
import type { Configuration } from './configuration/configuration.ts'
import { at, flagAt, integerAt, listAt, objectAt, textAt } from './configuration/read.ts'
import { UserError } from './errors.ts'
import type { Scope } from './functions/evaluate.ts'
import type { Send } from './http/exchange.ts'
import { type JobDefinition, readJob } from './jobs/job.ts'
import { entriesOf, isArray, isEmpty, isObject, type JsonObject, type JsonValue, objectOf } from './json/json.ts'
import { isNumeric } from './json/numbers.ts'
import type { Log } from './log.ts'
import { createPagination } from './pagination/pagination.ts'
import type { ScrollerFactory } from './pagination/scroller.ts'
import { hideCredentialHeaders, type Redactor } from './redaction.ts'
import type { PrimaryKeys } from './tables/tables.ts'

export interface RunPlan {
  readonly config: JsonObject
  readonly api: ApiSettings
  readonly jobs: readonly JobDefinition[]
  readonly scrollers: ScrollerFactory
  readonly authenticate: (send: Send) => Authentication
  /** For params and userData. */
  readonly scope: Scope
  readonly userData: JsonValue | undefined
  readonly bucket: string | undefined
  readonly incremental: boolean
  readonly mappings: JsonValue | undefined
  /** config.primaryKey: columns by data type or table. */
  readonly primaryKeys: PrimaryKeys
  readonly compatLevel: 1 | 2 | 3
  /** Requests at once; 1 keeps the order of the original extractor. */
  readonly concurrency: number
  /** Per host. */
  readonly maxRequestsPerSecond: number | undefined
}

export interface PlanDeps {
  readonly previousStart: number
  readonly currentStart: number
  /** What time it is for expressions, in milliseconds, where it has to stay the same; otherwise they see the clock. */
  readonly fixedTime?: number | undefined
  /** Milliseconds. */
  readonly now: () => number
  readonly redactor: Redactor
  readonly log: Log
}

export function createPlan(configuration: Configuration, config: JsonObject, deps: PlanDeps): RunPlan {
  const { now, redactor, log, fixedTime } = deps
  const nowSeconds = () => Math.floor((fixedTime ?? now()) / 1000)
  const attributes: Scope = { references: { attr: config }, nowSeconds, hide: redactor.add }
  const time = objectOf([
    ['previousStart', deps.previousStart],
    ['currentStart', deps.currentStart],
  ])
  const scope: Scope = { ...attributes, references: { attr: config, time }, hide: redactor.addPassing }
  const api = readApi(configuration.api, config, attributes, { ...scope, hide: redactor.add }, log)
  hideCredentialHeaders([...api.headers, ...api.defaults.headers], redactor.add)
  const compatLevel = readCompatLevel(config)
  const jobs = readJobs(config, compatLevel, redactor)
  checkAllowedHosts(configuration.allowedHosts, api.base, jobs)
  const authentication = withoutOldNames(configuration.api, log)
  const authenticate = (send: Send) =>
    createAuthentication(authentication, {
      attributes: config,
      credentials: configuration.oauthCredentials,
      base: api.base,
      send,
      now,
      redactor,
      log,
    })
  // Made once and thrown away, so that wrong settings are found now and not with the first request.
  authenticate(() => Promise.reject(new Error('not connected')))
  return {
    config,
    api,
    jobs,
    scrollers: checkedScrollers(createPagination(at(configuration.api, 'pagination'), { now }), jobs),
    authenticate,
    scope,
    userData: at(config, 'userData'),
    bucket: bucketOf(api, config),
    incremental: flagAt(at(config, 'incrementalOutput'), 'config.incrementalOutput'),
    mappings: at(config, 'mappings'),
    primaryKeys: readPrimaryKeys(config),
    compatLevel,
    concurrency: readConcurrency(config),
    maxRequestsPerSecond: readRate(config),
  }
}

/** More connections than this help no API. */
const MAX_CONCURRENCY = 100

function readConcurrency(config: JsonObject): number {
  const concurrency = integerAt(at(config, 'concurrency'), 'config.concurrency') ?? 1
  if (concurrency >= 1 && concurrency <= MAX_CONCURRENCY) return concurrency
  throw new UserError(
    `Invalid configuration: 'config.concurrency' must be between 1 and ${MAX_CONCURRENCY}, given ${concurrency}.`,
  )
}

function readRate(config: JsonObject): number | undefined {
  const given = at(config, 'maxRequestsPerSecond')
  if (given === undefined || given === null) return undefined
  const rate = isNumeric(given) ? Number(String(given)) : Number.NaN
  if (rate > 0 && Number.isFinite(rate)) return rate
  throw new UserError("Invalid configuration: 'config.maxRequestsPerSecond' must be a number above 0.")
}

function readJobs(config: JsonObject, compatLevel: number, redactor: Redactor): JobDefinition[] {
  const jobs = at(config, 'jobs')
  if (isEmpty(jobs) || !isArray(jobs)) throw new UserError("The 'jobs' section is required in the configuration.")
  const read = listAt(jobs, 'config.jobs').map((job, i) => readJob(job, `config.jobs.${i}`, compatLevel))
  for (const job of read) hideCredentialHeaders(job.headers, redactor.add)
  return read
}

/** A job that picks an unknown scroller is found before it runs. */
function checkedScrollers(scrollers: ScrollerFactory, jobs: readonly JobDefinition[]): ScrollerFactory {
  for (const job of jobs) {
    scrollers(job.scroller)
    checkedScrollers(scrollers, job.children)
  }
  return scrollers
}

function readCompatLevel(config: JsonObject): 1 | 2 | 3 {
  const level = integerAt(at(config, 'compatLevel'), 'config.compatLevel') ?? 3
  return level <= 1 ? 1 : level === 2 ? 2 : 3
}

function readPrimaryKeys(config: JsonObject): PrimaryKeys {
  const mappings = at(config, 'mappings')
  const keys = entriesOf(objectAt(at(config, 'primaryKey'), 'config.primaryKey')).map(([type, given]): [string, string[]] => {
    const path = `config.primaryKey.${type}`
    if (at(mappings, type) !== undefined)
      throw new UserError(`Invalid configuration: '${type}' has a mapping, which names its primary key itself. Remove '${path}'.`)
    const columns = (isArray(given) ? given : [given]).map((column, i) => textAt(column, `${path}.${i}`, ''))
    if (columns.length === 0 || columns.includes(''))
      throw new UserError(`Invalid configuration: '${path}' must be the name of a column, or a list of names.`)
    return [type, columns]
  })
  return new Map(keys)
}

function bucketOf(api: ApiSettings, config: JsonObject): string | undefined {
  const bucket = at(config, 'outputBucket')
  if (!isEmpty(bucket)) return textAt(bucket, 'config.outputBucket')
  const id = at(config, 'id')
  return isEmpty(id) ? undefined : `ex-api-${api.name}-${textAt(id, 'config.id')}`
}

/** `url.query` is the old name of `query`, `api.query` the old place of `authentication.query`. */
function withoutOldNames(api: JsonObject, log: Log): JsonValue | undefined {
  const authentication = at(api, 'authentication')
  if (at(authentication, 'type') === 'url.query') log.warning("Authentication type 'url.query' is deprecated, use 'query'.")
  const query = at(api, 'query')
  if (isEmpty(query) || !isObject(authentication) || at(authentication, 'query') !== undefined) return authentication
  const type = at(authentication, 'type')
  if (type !== 'query' && type !== 'url.query') return authentication
  log.warning("'api.query' is deprecated, use 'api.authentication.query'.")
  return objectOf([...(authentication instanceof Map ? authentication : Object.entries(authentication)), ['query', query!]])
}
