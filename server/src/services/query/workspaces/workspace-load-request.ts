// Reads requests to load a workspace, in both spellings that clients use: `whereColumn` and `where_column`.

import { PlatformError } from '../../../kit/errors.ts'
import type { Scope } from '../../../model/scope.ts'
import { type SqlColumnMapping, sqlTypeOf } from '../../../model/sql-columns.ts'
import type { LoadItem, LoadType } from './workspace-load.ts'

export interface LoadRequest {
  readonly input?: unknown
  readonly preserve?: boolean | undefined
}

export interface LoadRequestDeps {
  readonly findBranch: (projectId: number, name: string) => Promise<Scope['branch'] | undefined>
  /** Refuses what cannot be read: no such table, no such column, a filter that is none. */
  readonly checkPart: (scope: Scope, tableId: string, query: Readonly<Record<string, unknown>>) => Promise<CheckedPart>
}

interface CheckedPart {
  readonly isWhole: boolean
  readonly columns: readonly string[]
  readonly isAlias: boolean
  /** An alias that shows some of the rows or columns only. */
  readonly isChosen: boolean
  readonly isTyped: boolean
}

type Fields = Readonly<Record<string, unknown>>

const LOAD_TYPES = ['COPY', 'CLONE', 'VIEW', 'AUTO']
const QUERY_FIELDS = ['changedSince', 'changedUntil', 'days', 'whereColumn', 'whereValues', 'whereOperator', 'whereFilters']

export type ReadLoadRequest = ReturnType<typeof createLoadRequestReader>

export function createLoadRequestReader({ findBranch, checkPart }: LoadRequestDeps) {
  return async (scope: Scope, { input, preserve = false }: LoadRequest, kind: 'load' | 'clone'): Promise<LoadItem[]> => {
    if (input !== undefined && input !== null && typeof input !== 'object') throw bad(0, 'This value should be of type array.')
    const list = Array.isArray(input) ? input : Object.values(input ?? {})
    if (list.length === 0) throw new PlatformError('workspace.loadRequestInputRequired')
    const fields = list.map(camelCased)
    refuseDuplicates(fields)
    const items: LoadItem[] = []
    for (const [index, one] of fields.entries()) {
      if (flag(one.overwrite) && !preserve)
        throw logical(
          index,
          '"overwrite" replaces one table of those that stay, and without "preserve" none does. Send "preserve" as well.',
        )
      items.push(await readItem(scope, one, index, kind))
    }
    return items
  }

  async function readItem(scope: Scope, fields: Fields, index: number, kind: 'load' | 'clone'): Promise<LoadItem> {
    if (fields.dataFileId !== undefined)
      throw bad(index, 'Files are not loaded into a workspace of tables. Send "source", a table.')
    const source = nameFrom(fields, 'source', index)
    const destination = nameFrom(fields, 'destination', index)
    const sourceBranch = await branchFrom(scope, fields, index)
    const named = readColumns(fields, index)
    const query = queryFrom(fields, index)
    const asked = { ...query, ...(named && { columns: named.map((column) => column.source) }) }
    const part = await checkPart({ ...scope, ...(sourceBranch && { branch: sourceBranch }) }, source, asked).catch(
      (error: unknown) => {
        throw sourceError(error, source, sourceBranch?.isDefault === true && isUnset(fields.sourceBranchId))
      },
    )
    const { isWhole } = part
    if (kind === 'clone' && (part.isChosen || !isWhole || named))
      throw logical(
        index,
        `A clone is a whole table. "${source}" is an alias of some rows or columns, or the request has filters: load a copy.`,
      )
    const mapping = withDatatypes(fields, named, part.columns, source, index)
    // A typed table keeps its types (corrections-2, W14).
    const columns = part.isTyped ? mapping?.map(({ type: _, ...column }) => column) : mapping
    const incremental = flag(fields.incremental)
    const canBeView = isWhole && !incremental && sourceBranch === undefined && !part.isAlias
    const loadType = kind === 'clone' ? 'COPY' : loadTypeFrom(fields, index, canBeView)
    const overwrite = flag(fields.overwrite)
    if (incremental && overwrite)
      throw logical(index, '"incremental" adds rows and "overwrite" replaces the table. Send one of them.')
    return {
      source,
      destination,
      query,
      incremental,
      overwrite,
      loadType,
      withLoadTime: kind === 'clone' && !flag(fields.dropTimestampColumn),
      possibleLoadTypes: canBeView && kind === 'load' ? ['COPY', 'VIEW'] : ['COPY'],
      ...(sourceBranch && { sourceBranch }),
      ...(columns && { columns }),
    }
  }

  /** Without sourceBranchId it is the default branch, wherever the workspace is (corrections-2, W10). */
  async function branchFrom({ actor, branch }: Scope, { sourceBranchId }: Fields, index: number) {
    if (isUnset(sourceBranchId) && branch.isDefault) return undefined
    const found = await findBranch(actor.projectId, isUnset(sourceBranchId) ? 'default' : String(sourceBranchId))
    if (!found) throw bad(index, `The branch "${String(sourceBranchId).slice(0, 40)}" of sourceBranchId does not exist.`)
    return found.id === branch.id ? undefined : found
  }
}

/** The rows to load. No limit is 0 or empty, as clients send it. */
function queryFrom(fields: Fields, index: number): Fields {
  const limit = fields.rows ?? fields.limit
  return {
    ...Object.fromEntries(filterFields(fields).flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]]))),
    ...(limit !== undefined && limit !== 0 && limit !== '0' && limit !== '' && { limit }),
    ...changedInTheLast(fields, index),
  }
}

/** An empty whereColumn is no filter. */
const filterFields = ({ whereColumn }: Fields): readonly string[] =>
  isUnset(whereColumn)
    ? QUERY_FIELDS.filter((name) => !['whereColumn', 'whereValues', 'whereOperator'].includes(name))
    : QUERY_FIELDS

/** Before anything is looked up. */
function refuseDuplicates(fields: readonly Fields[]): void {
  const seen = new Set<string>()
  for (const { destination } of fields) {
    const name = String(destination ?? '').toLowerCase()
    if (name !== '' && seen.has(name))
      throw new PlatformError('workspace.duplicateDestination', { destination: name.slice(0, 200) })
    seen.add(name)
  }
}

/** A view shows a whole table of the same branch; everything else is a copy. */
function loadTypeFrom({ loadType, useView }: Fields, index: number, canBeView: boolean): LoadType {
  const said = loadType === undefined || loadType === '' ? (flag(useView) ? 'VIEW' : 'COPY') : String(loadType).toUpperCase()
  if (!LOAD_TYPES.includes(said)) throw bad(index, `loadType "${said.slice(0, 40)}" is not one of ${LOAD_TYPES.join(', ')}.`)
  if (said === 'VIEW' && !canBeView)
    throw logical(
      index,
      'A view shows all rows of a table of the same branch that is not an alias. Omit filters, limits and "incremental", or load a copy.',
    )
  return (said === 'VIEW' || said === 'AUTO') && canBeView ? 'VIEW' : 'COPY'
}

/** `seconds` is another form of changedSince (corrections-2, W7). */
function changedInTheLast({ seconds, changedSince, days }: Fields, index: number): { readonly changedSince?: string } {
  if (isUnset(seconds) || seconds === 0 || seconds === '0') return {}
  if (!/^\d{1,10}$/.test(String(seconds)))
    throw bad(index, `"seconds" should be a whole number, not "${String(seconds).slice(0, 40)}".`)
  if (!isUnset(changedSince) || !isUnset(days))
    throw logical(index, '"seconds", "days" and "changedSince" are alternatives. Send one of them.')
  return { changedSince: `-${String(seconds)} seconds` }
}

/** The older form of column types: by name, or a list of objects with "column" (corrections-2, W16). */
function withDatatypes(
  { datatypes, columns: given, columnTypes }: Fields,
  columns: readonly SqlColumnMapping[] | undefined,
  known: readonly string[],
  source: string,
  index: number,
): readonly SqlColumnMapping[] | undefined {
  if (isUnset(datatypes)) return columns
  if (typeof datatypes !== 'object')
    throw bad(index, '"datatypes" should be an object of types by column, or a list of objects with "column" and "type".')
  const said = Object.entries(datatypes as object).map(([name, one]: [string, unknown]) => datatypeFrom(name, one, index))
  if (said.length === 0) return columns
  if (!isUnset(columnTypes) || (Array.isArray(given) ? given : []).some((one) => typeof one !== 'string'))
    throw logical(index, 'Set column types in "columns" or in "datatypes", not in both.')
  const [names, bySource] = [new Set(known), new Map(said.map((one) => [one.source, one]))]
  const unknown = said.filter((one) => !names.has(one.source)).map((one) => one.source)
  if (unknown.length > 0)
    throw new PlatformError('storage.tables.nonExistingColumns', { columns: unknown.join(', ').slice(0, 500), table: source })
  return known.map((name) => bySource.get(name) ?? untyped(name))
}

function datatypeFrom(name: string, one: unknown, index: number): SqlColumnMapping {
  if (typeof one === 'string') return columnFrom({ source: name, type: one }, index)
  const { column, ...fields } = camelCased(one, index)
  return columnFrom({ ...fields, source: column ?? name, destination: undefined }, index)
}

const untyped = (name: string): SqlColumnMapping => ({ source: name, destination: name, isNullable: true, emptyIsNull: false })

/** Names, or objects with source, destination and a type. */
function readColumns(fields: Fields, index: number): SqlColumnMapping[] | undefined {
  const given = fields.columnTypes ?? fields.columns
  if (given === undefined) return undefined
  const list = Array.isArray(given) ? given : typeof given === 'object' && given !== null ? Object.values(given) : undefined
  if (!list) throw bad(index, '"columns" should be a list of names, or of objects with "source", "type" and "destination".')
  if (list.length === 0) return undefined
  const columns = list.map((raw) => (typeof raw === 'string' ? untyped(raw) : columnFrom(camelCased(raw, index), index)))
  const names = new Set<string>()
  for (const { destination } of columns) {
    const name = destination.toLowerCase()
    if (names.has(name)) throw bad(index, `The column "${destination}" is duplicated (names are not case-sensitive).`)
    names.add(name)
  }
  return columns
}

function columnFrom(column: Fields, index: number): SqlColumnMapping {
  const source = nameFrom(column, 'source', index)
  const type = typeFrom(column, index)
  return {
    source,
    destination: typeof column.destination === 'string' && column.destination !== '' ? column.destination : source,
    isNullable: column.nullable === undefined || flag(column.nullable),
    emptyIsNull: flag(column.convertEmptyValuesToNull),
    ...(type !== undefined && { type }),
  }
}

function typeFrom({ type, length }: Fields, index: number): string | undefined {
  if (type === undefined || type === '') return undefined
  const read = sqlTypeOf(String(type), length === undefined ? '' : String(length))
  if ('problem' in read) throw new PlatformError('workspace.inputMapping', { index, reason: read.problem })
  return read.type
}

function camelCased(raw: unknown, index: number): Fields {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw bad(index, 'An object with "source" and "destination" is required.')
  const entries = Object.entries(raw).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(
    entries.map(([name, value]) => [name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), value]),
  )
}

function nameFrom(fields: Fields, member: 'source' | 'destination', index: number): string {
  const value = fields[member]
  if (typeof value !== 'string' || value === '' || value.length > 200 || value.includes('\0'))
    throw bad(index, `"${member}" is required: a text of 1 to 200 characters.`)
  return value
}

function sourceError(error: unknown, source: string, isOfDefault: boolean): unknown {
  if (!(error instanceof PlatformError)) return error
  const where = isOfDefault ? ' in the default branch. Send "sourceBranchId" for a table of another branch' : ''
  if (error.kind === 'not-found') return new PlatformError('workspace.sourceNotFound', { source, where })
  if (error.code === 'storage.tables.validation.columnNotExists')
    return new PlatformError('storage.tables.nonExistingColumns', {}, { text: error.message })
  return error.kind === 'forbidden' ? new PlatformError('workspace.tableAccessDenied', { source }) : error
}

const isUnset = (value: unknown): boolean => value === undefined || value === null || value === ''
const flag = (value: unknown): boolean => value === true || value === 1 || value === '1' || value === 'true' || value === 'True'
const bad = (index: number, reason: string) => new PlatformError('workspace.loadRequestBadInput', { index, reason })
const logical = (index: number, reason: string) => new PlatformError('workspace.loadRequestLogicalException', { index, reason })
