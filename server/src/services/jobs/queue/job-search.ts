// Search of jobs (spec platform 2.5): names and spellings clients use, turned into what the store compares.

import { readByRule } from '../../../http/parameters.ts'
import { parseMoment } from '../../../kit/relative-time.ts'
import { isJobStatus } from './job-states.ts'
import { isJobField, JOB_FIELDS, type JobField } from './job-view.ts'
import { refusal } from './refusal.ts'

export type EqualColumn =
  | 'id'
  | 'project_id'
  | 'run_id'
  | 'branch_id'
  | 'token_id'
  | 'token_description'
  | 'component_id'
  | 'configuration_id'
  | 'status'
  | 'mode'
  | 'type'
  | 'variable_values_id'
  | 'parent_run_id'
  | 'config_version'
  | 'cause_kind'
export type TimeColumn = 'created_at' | 'started_at' | 'ended_at'
export type SortColumn = EqualColumn | TimeColumn | 'updated_at' | 'duration'

export interface JobSearch {
  readonly equal: readonly { readonly column: EqualColumn; readonly values: readonly (string | number)[] }[]
  readonly ranges: readonly { readonly column: TimeColumn; readonly operator: '>=' | '<='; readonly value: number }[]
  readonly rowIds: readonly string[]
  /** Only jobs of these components and of this token; undefined: all. */
  readonly visible?: { readonly componentIds: readonly string[]; readonly tokenId: number } | undefined
  readonly durationMsFrom: number | undefined
  readonly durationMsTo: number | undefined
  readonly limit: number
  readonly offset: number
  readonly sortBy: SortColumn
  readonly sortOrder: 'asc' | 'desc'
  /** Undefined: jobs whole. */
  readonly fields: readonly JobField[] | undefined
}

export type Query = Readonly<Record<string, unknown>>

const EQUAL: Readonly<Record<string, EqualColumn>> = {
  id: 'id',
  projectId: 'project_id', // a token sees its own project only: of others nothing is found
  runId: 'run_id',
  branchId: 'branch_id',
  tokenId: 'token_id',
  tokenDescription: 'token_description',
  componentId: 'component_id',
  component: 'component_id',
  configId: 'configuration_id',
  config: 'configuration_id',
  status: 'status',
  mode: 'mode',
  type: 'type',
  variableValuesId: 'variable_values_id',
  parentRunId: 'parent_run_id',
  configVersion: 'config_version',
  causeKind: 'cause_kind',
}
const NUMERIC: ReadonlySet<EqualColumn> = new Set(['id', 'project_id', 'branch_id', 'token_id', 'config_version'])
const TIMES: Readonly<Record<string, TimeColumn>> = { createdTime: 'created_at', startTime: 'started_at', endTime: 'ended_at' }
const SORTS: Readonly<Record<string, SortColumn>> = {
  id: 'id',
  runId: 'run_id',
  projectId: 'project_id',
  branchId: 'branch_id',
  componentId: 'component_id',
  configId: 'configuration_id',
  tokenDescription: 'token_description',
  status: 'status',
  createdTime: 'created_at',
  updatedTime: 'updated_at',
  startTime: 'started_at',
  endTime: 'ended_at',
  durationSeconds: 'duration',
}
/** What jobs can be grouped by; each is a name of `EQUAL`. */
const GROUPS = ['projectId', 'branchId', 'componentId', 'configId', 'status', 'tokenId', 'type', 'mode']
const MAX_JOBS = 500
const LONGEST_SECONDS = 1_000_000_000

const FILTERS = {
  id: 'Only jobs with one of these ids.',
  projectId: 'Only this project; a token finds only jobs of its project.',
  runId: 'Only jobs of one of these runs.',
  branchId: 'Only jobs of one of these branches.',
  tokenId: 'Only jobs that one of these tokens started.',
  tokenDescription: 'Only jobs of tokens with one of these descriptions.',
  componentId: 'Only jobs of one of these components.',
  component: 'Alias of componentId.',
  configId: 'Only jobs of one of these configurations.',
  config: 'Alias of configId.',
  configRowIds: 'Only jobs that ran one of these rows.',
  status: 'Only jobs with one of these statuses.',
  mode: 'Only jobs with one of these modes.',
  type: 'Only jobs of one of these types.',
  variableValuesId: 'Only jobs with one of these rows of values.',
  parentRunId: 'Only jobs that are part of one of these runs.',
  configVersion: 'Only jobs that ran one of these versions of their configuration.',
  causeKind: 'Only jobs that failed for one of these causes, such as `http.unauthorized`.',
  createdTimeFrom: 'Only jobs created at this time or later: ISO 8601, or words such as `-2 days`.',
  createdTimeTo: 'Only jobs created at this time or earlier.',
  startTimeFrom: 'Only jobs started at this time or later.',
  startTimeTo: 'Only jobs started at this time or earlier.',
  endTimeFrom: 'Only jobs ended at this time or later.',
  endTimeTo: 'Only jobs ended at this time or earlier.',
  durationSecondsFrom: 'Only jobs that took this many seconds or more.',
  durationSecondsTo: 'Only jobs that took this many seconds or fewer.',
  filters: 'The filters above as fields of one parameter, such as `filters[status]`.',
}
const PAGE = {
  limit: 'Maximum number of items, up to 500; 100 by default.',
  offset: 'Number of items to skip; 0 by default.',
  sortBy: `One of ${Object.keys(SORTS).join(', ')}; id by default.`,
  sortOrder: '`asc` or `desc`.',
}
const FIELDS = {
  fields: `Fields of each job to return, separated by commas, for a compact list, such as \`id,status,component,config,startTime,durationMs,usual,cause\`. Members: ${JOB_FIELDS.join(', ')}.`,
}
export const SearchQuery = readByRule({ ...FILTERS, ...PAGE, ...FIELDS })
/** Events are made of whole jobs. */
export const LineageQuery = readByRule({ ...FILTERS, ...PAGE, sortOrder: '`asc`, the default, or `desc`.' })
/** Filters alone: what is counted has no pages. */
export const CountQuery = readByRule(FILTERS)
export const FailuresQuery = readByRule({
  ...FILTERS,
  endTimeFrom: 'Only jobs ended at this time or later; seven days ago by default.',
  limit: 'Maximum number of groups, up to 500; 100 by default.',
})
export const GroupedSearchQuery = readByRule({
  ...FILTERS,
  ...PAGE,
  groupBy: `List of ${GROUPS.join(', ')}; componentId and configId by default.`,
  jobsPerGroup: 'Maximum number of jobs per group; 10 by default.',
  limit: 'Maximum number of groups, up to 500; 100 by default.',
})

/** Names of `groupBy` with the columns they mean, each once. */
export function parseGroups(names: readonly string[]): ReadonlyMap<string, EqualColumn> {
  return new Map(
    names.map((name) => {
      const column = GROUPS.includes(name) ? EQUAL[name] : undefined
      if (!column) throw refusal('groupBy', `"${name.slice(0, 60)}" is not one of ${GROUPS.join(', ')}.`)
      return [name, column]
    }),
  )
}

/** Unknown names are refused by name; `canonicalId` translates the component ids of clients to ours. */
export function parseJobSearch(query: Query, now: Date, canonicalId: (id: string) => string): JobSearch {
  const equal: { column: EqualColumn; values: (string | number)[] }[] = []
  const ranges: { column: TimeColumn; operator: '>=' | '<='; value: number }[] = []
  let rowIds: string[] = []
  for (const [name, given] of Object.entries(query)) {
    const column = Object.hasOwn(EQUAL, name) ? EQUAL[name] : undefined
    const time = /^(\w+)(From|To)$/.exec(name)
    const timeColumn = time && Object.hasOwn(TIMES, time[1]!) ? TIMES[time[1]!] : undefined
    if (column) equal.push({ column, values: equalValues(name, column, listOf(given), canonicalId) })
    else if (timeColumn)
      ranges.push({ column: timeColumn, operator: time?.[2] === 'From' ? '>=' : '<=', value: momentOf(name, given, now) })
    else if (name === 'configRowIds') rowIds = listOf(given)
    else if (!OTHERS.has(name)) throw refusal(name, 'This field was not expected.')
  }
  return {
    equal,
    ranges,
    rowIds,
    // By the seconds that are shown, which are rounded.
    durationMsFrom: secondsOf('durationSecondsFrom', query.durationSecondsFrom, -500),
    durationMsTo: secondsOf('durationSecondsTo', query.durationSecondsTo, 499),
    limit: numberOf('limit', query.limit, 100, 1, MAX_JOBS),
    offset: numberOf('offset', query.offset, 0, 0, Number.MAX_SAFE_INTEGER),
    sortBy: sortOf(query.sortBy),
    sortOrder: orderOf(query.sortOrder),
    fields: fieldsOf(query.fields),
  }
}

/** What clients send as a search: `status=a&status=b` means both, as `status[]=a&status[]=b` does, and `filters[status]` is `status`. */
export function searchQuery(parsed: Query, url: string): Record<string, unknown> {
  const { filters, ...flat } = parsed
  const nested = typeof filters === 'object' && filters !== null ? (filters as Query) : {} // an object, just checked
  const written = new URLSearchParams(url.slice(url.indexOf('?') + 1))
  const repeated = Object.keys(EQUAL).flatMap((name) => {
    const values = written.getAll(name)
    return values.length > 1 ? [[name, values] as const] : []
  })
  return { ...flat, ...nested, ...Object.fromEntries(repeated) }
}

const OTHERS: ReadonlySet<string> = new Set([
  'limit',
  'offset',
  'sortBy',
  'sortOrder',
  'durationSecondsFrom',
  'durationSecondsTo',
  'fields',
])

const listOf = (given: unknown): string[] =>
  Array.isArray(given)
    ? given.map(String)
    : typeof given === 'object' && given !== null
      ? Object.values(given).map(String)
      : [String(given ?? '')]

function equalValues(
  name: string,
  column: EqualColumn,
  values: readonly string[],
  canonicalId: (id: string) => string,
): (string | number)[] {
  if (NUMERIC.has(column)) return values.map((value) => (/^\d{1,15}$/.test(value) ? Number(value) : -1)) // no such id: nothing is found
  if (column === 'status') {
    const wrong = values.find((value) => !isJobStatus(value))
    if (wrong !== undefined) throw refusal(name, `"${wrong.slice(0, 60)}" is not a status of a job.`)
  }
  return column === 'component_id' ? values.map(canonicalId) : [...values]
}

/** Undefined: all. */
export function fieldsOf(given: unknown): readonly JobField[] | undefined {
  if (given === undefined || given === '') return undefined
  const names = listOf(given).flatMap((names) => names.split(',').map((name) => name.trim()))
  const wrong = names.find((name) => !isJobField(name))
  if (wrong !== undefined) throw refusal('fields', `"${wrong.slice(0, 60)}" is not one of ${JOB_FIELDS.join(', ')}.`)
  return names.filter(isJobField)
}

function momentOf(name: string, given: unknown, now: Date): number {
  const moment = parseMoment(String(given), now)
  if (!moment) throw refusal(name, 'This value should be a time, such as 2026-01-31T12:00:00+0000 or "-8 hours".')
  return moment.getTime()
}

function secondsOf(name: string, given: unknown, roundedMs: number): number | undefined {
  return given === undefined ? undefined : numberOf(name, given, 0, 0, LONGEST_SECONDS) * 1000 + roundedMs
}

export function numberOf(name: string, given: unknown, fallback: number, min: number, max: number): number {
  if (given === undefined || given === '') return fallback
  const number = Number(given)
  if (!Number.isInteger(number) || number < min || number > max)
    throw refusal(name, `This value should be a whole number between ${min} and ${max}.`)
  return number
}

function sortOf(given: unknown): SortColumn {
  const name = String(given ?? 'id')
  const column = Object.hasOwn(SORTS, name) ? SORTS[name] : undefined
  if (!column) throw refusal('sortBy', `This value should be one of ${Object.keys(SORTS).join(', ')}.`)
  return column
}

function orderOf(given: unknown): 'asc' | 'desc' {
  const order = String(given ?? 'desc').toLowerCase()
  if (order !== 'asc' && order !== 'desc') throw refusal('sortOrder', 'This value should be asc or desc.')
  return order
}
