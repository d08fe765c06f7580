// Input mapping: tables and files of the project into the data folder of a row, read only now, when the rows before it are done.

import { join } from 'node:path'
import { type DataFolder, writeDataFile } from '../../../engines/runner/data-folder.ts'
import { allOrFirstFailure } from '../../../kit/all-or-first-failure.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { parseMoment } from '../../../kit/relative-time.ts'
import type {
  FileInfo,
  OnBytes,
  RunFiles,
  RunScope,
  RunSql,
  RunTables,
  S3Place,
  SqlInput,
  TableInfo,
  TableQuery,
} from '../../../model/run-ports.ts'
import { sqlTypeOf } from '../../../model/sql-columns.ts'
import { fileManifest, tableManifest } from './mapping/manifests.ts'
import { type FileInputMapping, invalid, type Mapping, type TableInputMapping } from './mapping/mapping.ts'
import { stateName, writeChanges, writeQuery } from './query-input.ts'
import type { FileState, RunState, TableState } from './state.ts'

export interface InputDeps {
  readonly tables: RunTables
  readonly files: RunFiles
  readonly sql: RunSql
  readonly findBranch: (
    projectId: number,
    name: string,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
}

export interface Inputs {
  /** Tables that were read, once each, for the result of the job. */
  readonly tables: readonly TableInfo[]
  readonly bytes: number
  readonly tableStates: readonly TableState[]
  readonly fileStates: readonly FileState[]
  /** Files to be tagged when the run has succeeded. */
  readonly processed: readonly { readonly fileId: number; readonly tags: readonly string[] }[]
  /** Keys of the object store that the manifests hold. */
  readonly secrets: readonly string[]
  /** For a SQL script, which reads tables without files. */
  readonly sql: readonly SqlInput[]
  /** Tables that queries of the mapping read. */
  readonly namedTables: readonly string[]
}

export interface InputRequest {
  readonly scope: RunScope
  readonly mapping: Mapping
  readonly state: RunState
  readonly folder: DataFolder
  readonly staging: 'local' | 's3' | 'sql' | 'none'
  readonly signal: AbortSignal
  readonly now: Date
  /** For components that distinguish null from an empty text. */
  readonly bareNulls: boolean
  /** Tables that were read, by their size. */
  readonly onRead?: OnBytes
}

const NOTHING: Inputs = {
  tables: [],
  bytes: 0,
  tableStates: [],
  fileStates: [],
  processed: [],
  secrets: [],
  sql: [],
  namedTables: [],
}

/** Everything is read side by side. */
export async function readInputs(deps: InputDeps, request: InputRequest): Promise<Inputs> {
  const { mapping } = request
  if (request.staging === 'none') return NOTHING
  const entries = mapping.inputTables.map((entry, at) => ({ entry, pointer: `/storage/input/tables/${at}` }))
  for (const { entry, pointer } of entries)
    if ((entry.query || entry.changes) && request.staging !== 'local')
      throw invalid('query and changes of an input table are for components that read files', { pointer })
  const queries = entries.flatMap(({ entry: { query, destination, limit }, pointer }) =>
    query ? [{ query, name: destination ?? '', limit: limit || undefined, pointer }] : [],
  )
  const tableEntries = entries.filter(({ entry }) => !entry.query)
  const sources = await Promise.all(
    tableEntries.map(({ entry, pointer }) => pointing(pointer, () => findSource(deps, request.scope, entry))),
  )
  refuseClashes([...sources, ...queries])
  // What fails stops the rest, and nothing is still being written afterwards: the folder is about to be removed.
  const total = sources.reduce((sum, { table }) => sum + table.dataSizeBytes, 0)
  let done = 0
  const tablesRead = sources.map((source, at) => async (signal: AbortSignal) => {
    const place = await pointing(tableEntries[at]?.pointer ?? '', () => readTable(deps, { ...request, signal }, source))
    done += source.table.dataSizeBytes
    request.onRead?.(done, total)
    return place
  })
  const filesRead = mapping.inputFiles.map(
    (entry, at) => (signal: AbortSignal) =>
      pointing(`/storage/input/files/${at}`, () => readFiles(deps, { ...request, signal }, entry)),
  )
  const queriesRun = queries.map((one) => (signal: AbortSignal) => {
    const { scope, folder } = request
    return writeQuery(deps.sql, { scope, folder, signal, fileName: safeName(one.name), limit: one.limit }, one)
  })
  const isSql = request.staging === 'sql'
  const [placesOfTables, files, named] = await allOrFirstFailure(request.signal, [
    (signal) => allOrFirstFailure(signal, isSql ? [] : tablesRead),
    (signal) => allOrFirstFailure(signal, filesRead),
    (signal) => allOrFirstFailure(signal, queriesRun),
  ])
  const tables = sources.map(({ table }) => table)
  const places = [...placesOfTables, ...files.flatMap(({ places }) => places)]
  const byId = new Map(tables.map((table) => [table.id, table]))
  return {
    tables: [...byId.values()],
    bytes: [...byId.values()].reduce((sum, table) => sum + table.dataSizeBytes, 0),
    tableStates: [...byId.values()].map((table) => ({
      source: table.id,
      lastImportDate: exactTime(table.lastImportAt),
      ...(sources.some(({ entry, table: { id } }) => entry.changes && id === table.id) && { state: stateName(table) }),
    })),
    namedTables: [...new Set(named.flat())],
    fileStates: files.flatMap(({ state }) => (state ? [state] : [])),
    processed: files.flatMap(({ processed }) => processed),
    sql: isSql ? sources.map((source) => sqlInput(request, source)) : [],
    secrets: places.flatMap((s3) => (s3 ? [s3.credentials.secret_access_key, s3.credentials.session_token] : [])),
  }
}

/** An error names the entry of the mapping. */
async function pointing<T>(pointer: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'jobRunner.inputMissing') throw error
    throw new PlatformError(error.code, error.details, { facts: { pointer, ...error.facts } })
  }
}

/** An entry of the mapping, the table it means, and the name of the file it becomes. */
interface Source {
  readonly entry: TableInputMapping
  readonly table: TableInfo
  readonly name: string
  /** Where it is read: another branch, if the entry names one. */
  readonly scope: RunScope
}

async function findSource(deps: InputDeps, own: RunScope, entry: TableInputMapping): Promise<Source> {
  const scope = entry.source_branch_id ? await scopeOfBranch(deps, own, String(entry.source_branch_id)) : own
  const id = entry.source ?? (await searchSource(deps, scope, entry.source_search ?? { key: '', value: '' }))
  const table = await deps.tables.find(scope, id)
  if (!table) throw failure(`the table "${id}" does not exist, or the token may not read it.`, id)
  return { entry, table, name: entry.destination || table.id, scope }
}

async function scopeOfBranch(deps: InputDeps, scope: RunScope, name: string): Promise<RunScope> {
  const branch = await deps.findBranch(scope.projectId, name)
  if (!branch) throw failure(`the branch "${name.slice(0, 60)}" does not exist (source_branch_id).`)
  return { ...scope, branchId: branch.id, isDefaultBranch: branch.isDefault }
}

async function searchSource(
  deps: InputDeps,
  scope: RunScope,
  { key, value }: { readonly key: string; readonly value: string },
): Promise<string> {
  const [found, ...more] = await deps.tables.findByMetadata(scope, key, value)
  const wanted = `metadata key "${key}" and value "${value}"`
  if (found === undefined) throw failure(`no table with ${wanted} exists (source_search).`)
  if (more.length > 0) throw failure(`more than one table has ${wanted} (source_search): ${[found, ...more].join(', ')}.`)
  return found
}

function refuseClashes(sources: readonly Pick<Source, 'name'>[]): void {
  const taken = new Set<string>()
  for (const file of sources.flatMap(({ name }) => [safeName(name), `${safeName(name)}.manifest`])) {
    if (taken.has(file))
      throw failure(`two tables of the input mapping would be written to the file "${file}". Give them different destinations.`)
    taken.add(file)
  }
}

/** Answers where the rows are when they are not in the folder. */
async function readTable(deps: InputDeps, request: InputRequest, source: Source): Promise<S3Place | undefined> {
  const { folder, signal, staging } = request
  const { table, name, scope } = source
  const path = join(folder.data, 'in/tables', safeName(name))
  const query = queryOf(request, source)
  if (source.entry.changes) {
    const since = request.state.tables.find(({ source: id }) => id === table.id)?.state
    const run = { scope, folder, signal, fileName: safeName(name), limit: query.limit }
    const { columns } = query
    await writeChanges(deps.sql, run, { table, columns, since, manifest: tableManifest(table, columns) })
    return undefined
  }
  const s3 =
    staging === 's3' ? await deps.files.s3Place(scope, await deps.tables.exportFile(scope, table.id, query, signal)) : undefined
  if (!s3) await deps.tables.download(scope, table.id, query, path, signal)
  await writeDataFile(`${path}.manifest`, tableManifest(table, query.columns, s3))
  return s3
}

function sqlInput(request: InputRequest, source: Source): SqlInput {
  const { entry, table, name, scope } = source
  const loadType = (entry.load_type || 'AUTO').toUpperCase()
  if (!['AUTO', 'VIEW', 'COPY', 'CLONE'].includes(loadType))
    throw failure(`load_type "${loadType.slice(0, 40)}" of ${name} is not one of AUTO, VIEW, COPY and CLONE.`)
  const columns = entry.column_types?.map((column) => {
    const read = column.type ? sqlTypeOf(column.type, String(column.length ?? '')) : undefined
    if (read && 'problem' in read) throw failure(`column_types of ${name}: ${read.problem}`)
    return {
      source: column.source,
      destination: column.destination || column.source,
      isNullable: column.nullable ?? true,
      emptyIsNull: column.convert_empty_values_to_null ?? false,
      ...(read && { type: read.type }),
    }
  })
  return {
    name,
    scope,
    tableId: table.id,
    query: queryOf(request, source),
    columns: columns?.length ? columns : undefined,
    isCopied: loadType === 'COPY' || loadType === 'CLONE',
  }
}

function queryOf(request: InputRequest, { entry, table }: Source): TableQuery {
  return {
    columns: columnsOf(entry, table),
    where: entry.where_column
      ? {
          column: entry.where_column,
          operator: entry.where_operator === 'ne' ? ('ne' as const) : ('eq' as const),
          values: (entry.where_values ?? []).map(String),
        }
      : undefined,
    changedSince: changedSince(entry, table, request),
    limit: entry.limit || undefined,
    bareNulls: request.bareNulls,
  }
}

function columnsOf(entry: TableInputMapping, table: TableInfo): readonly string[] | undefined {
  const named = entry.columns?.length ? entry.columns : entry.column_types?.map(({ source }) => source)
  if (!named || named.length === 0) return undefined
  const unknown = named.filter((column) => !table.columns.includes(column))
  if (unknown.length > 0) throw failure(`the table "${table.id}" has no column ${unknown.join(', ')}.`, table.id)
  return named
}

function changedSince(entry: TableInputMapping, table: TableInfo, { state, now }: InputRequest): number | undefined {
  if (entry.days) return now.getTime() - entry.days * 86_400_000
  const text = entry.changed_since === undefined || entry.changed_since === null ? '' : String(entry.changed_since)
  if (text === '') return undefined
  if (text !== 'adaptive') return momentOf(text, now)
  const known = state.tables.find(({ source }) => source === table.id)?.lastImportDate
  return known ? momentOf(known, now) : undefined // no state: the whole table
}

function momentOf(text: string, now: Date): number {
  const moment = parseMoment(text, now)
  if (!moment)
    throw failure(`"${text}" in changed_since is not a time. Write "-2 days", a unix time, an ISO time, or "adaptive".`)
  return moment.getTime()
}

/** Not of adaptive mappings: what is left out today would be taken for read tomorrow. */
const DEFAULT_FILES = 10

async function readFiles(deps: InputDeps, request: InputRequest, entry: FileInputMapping) {
  const { scope, state } = request
  if (entry.query && !scope.isDefaultBranch)
    throw failure('a files mapping with "query" does not work in a development branch. Use tags.')
  const sourceTags = entry.source?.tags ?? (entry.tags ?? []).map((name) => ({ name, match: 'include' as const }))
  const tags = sourceTags.map(({ name, match }) => ({ name, match: match ?? 'include' }))
  const isAdaptive = entry.changed_since === 'adaptive'
  const known = state.files.find((one) => sameTags(one.tags, tags))
  const files = await deps.files.list(scope, {
    fileIds: entry.file_ids?.map(Number),
    tags: tags.filter(({ match }) => match === 'include').map(({ name }) => name),
    withoutTags: tags.filter(({ match }) => match === 'exclude').map(({ name }) => name),
    query: entry.query ?? undefined,
    createdSince: entry.changed_since && !isAdaptive ? momentOf(String(entry.changed_since), request.now) : undefined,
    sinceId: isAdaptive && known ? Number(known.lastImportId) : undefined,
    limit: entry.limit ?? (entry.file_ids ? entry.file_ids.length : isAdaptive ? Number.POSITIVE_INFINITY : DEFAULT_FILES),
  })
  const places = await Promise.all(files.map((file) => readFile(deps, request, file)))
  const newest = files.reduce((max, { id }) => Math.max(max, id), 0)
  return {
    places,
    state: files.length > 0 && tags.length > 0 ? { tags, lastImportId: String(newest) } : known,
    processed: files.flatMap(({ id }) => (entry.processed_tags?.length ? [{ fileId: id, tags: entry.processed_tags }] : [])),
  }
}

async function readFile(deps: InputDeps, request: InputRequest, file: FileInfo): Promise<S3Place | undefined> {
  const { scope, folder, signal, staging } = request
  const path = join(folder.data, 'in/files', safeName(`${file.id}_${file.name}`))
  const s3 = staging === 's3' ? await deps.files.s3Place(scope, file.id) : undefined
  if (!s3) await deps.files.download(scope, file.id, path, signal)
  await writeDataFile(`${path}.manifest`, fileManifest(file, s3))
  return s3
}

type Tags = readonly { readonly name: string; readonly match: string }[]

const sameTags = (a: Tags, b: Tags): boolean => keyOf(a) === keyOf(b)
const keyOf = (tags: Tags): string => JSON.stringify(tags.map(({ name, match }) => [name, match]).sort())

/** With milliseconds: a second may hold rows that were read and rows that come after. */
const exactTime = (date: Date | undefined): string => (date ? date.toISOString().replace('Z', '+0000') : '')

/** A name of one file in the folder: nothing that leads elsewhere, and no longer than disks allow with a manifest beside it. */
function safeName(name: string): string {
  const clean = name.replace(/[/\\\0]/g, '_')
  if (clean === '' || clean === '.' || clean === '..') throw failure(`"${name}" cannot be the name of a file.`)
  return Buffer.byteLength(clean) <= 240
    ? clean
    : Buffer.from(clean)
        .subarray(0, 240)
        .toString('utf8')
        .replace(/\uFFFD+$/, '')
}

const failure = (reason: string, table?: string): PlatformError =>
  new PlatformError(
    'jobRunner.inputMissing',
    { reason },
    { facts: table === undefined ? {} : { subject: table, place: { table } } },
  )
