// What becomes of the files a component left (spec platform 1.9 to 1.11). Pure: names, manifests and the mapping in, loads out.
//  (1) Everything in out/tables and out/files is stored, mapped or not; a mapped source that is not there is an error.
//  (2) The mapping wins over the manifest, the manifest over what is assumed.

import { columnNameFrom } from '../../../../../../contract/column-name.ts'
import { BASE_TYPES, LOAD_TIME_COLUMN } from '../../../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { parseMoment } from '../../../../kit/relative-time.ts'
import type { ColumnSchema, DeleteRule, NewFile, StoredRows, TableLoad } from '../../../../model/run-ports.ts'
import {
  type FileManifestContent,
  type FileOutputMapping,
  isTableId,
  type Mapping,
  type TableManifestContent,
  type TableOutputMapping,
} from './mapping.ts'

/** One file, or folder of slices, that the component left, with its manifest. */
export interface Result<Manifest> {
  readonly name: string
  readonly path: string
  /** Paths of the slices, for a folder. */
  readonly slices: readonly string[] | undefined
  /** First record of a plain file without named columns. */
  readonly header: readonly string[] | undefined
  readonly manifest: Manifest | undefined
  /** Rows in the object store instead of a file, by destination. */
  readonly stored?: Readonly<Record<string, StoredRows>>
}

export interface OutputContext {
  readonly componentId: string
  readonly configurationId: string | null
  readonly rowId: string | null
  readonly branchId: number
  readonly runId: string
  readonly defaultBucket: boolean
  readonly defaultBucketStage: 'in' | 'out'
  /** The id that the default bucket is named after: one of the component. */
  readonly bucketComponentId: string
  readonly dataTypesSupport: 'none' | 'hints' | 'authoritative'
  readonly now: Date
}

/** A load, and whether it happens also when the run failed; values of a delete rule may still have to be fetched. */
export interface PlannedLoad extends TableLoad {
  readonly source: string
  readonly writeAlways: boolean
  readonly deferredFilters: readonly DeferredFilter[]
}

/** A filter whose values come from a column of another table. */
export interface DeferredFilter {
  readonly rule: number
  readonly column: string
  readonly operator: 'eq' | 'ne'
  readonly tableId: string
  readonly fromColumn: string | undefined
}

export interface TablePlan {
  readonly loads: readonly PlannedLoad[]
  /** Sentences for the job's log: what was renamed or guessed. */
  readonly warnings: readonly string[]
}

export function planTables(
  results: readonly Result<TableManifestContent>[],
  mapping: Mapping,
  context: OutputContext,
): TablePlan {
  refuseMissing('tables', results, mapping.outputTables)
  const warnings: string[] = []
  const entriesOf = bySource(mapping.outputTables)
  const loads = results.flatMap((result) => {
    const mapped = entriesOf.get(result.name) ?? []
    if (mapped.length > 1 && result.slices)
      throw failure(`the sliced table ${result.name} is mapped ${mapped.length} times; that works for plain files only`)
    return (mapped.length > 0 ? mapped : [undefined]).map((entry) => planTable(result, entry, mapping, context, warnings))
  })
  const taken = new Map<string, string>()
  for (const { destination, source } of loads) {
    const other = taken.get(destination.toLowerCase())
    if (other !== undefined) throw failure(`${other} and ${source} would both be stored as the table ${destination}`)
    taken.set(destination.toLowerCase(), source)
  }
  return { loads, warnings }
}

export const bySource = <T extends { readonly source: string }>(entries: readonly T[]): ReadonlyMap<string, readonly T[]> =>
  Map.groupBy(entries, ({ source }) => source)

/** Whether the columns have to be read from the file itself, as nothing else names them. */
export const needsHeader = ({ columns, schema }: TableManifestContent): boolean => !columns?.length && !schema?.length

/** The columns of a result: those of its schema, of its manifest or of its header. */
function columnsOf(
  { name, slices }: Result<TableManifestContent>,
  { columns, has_header }: ReturnType<typeof mergeResult>,
  schema: readonly { readonly name: string }[] | undefined,
  header: readonly string[] | undefined,
): readonly string[] {
  const given = schema?.map((column) => column.name) ?? (columns?.length ? columns : header)
  if (given && given.length > 0) return given
  if (slices) throw failure(`the table ${name} is a folder of slices, so its manifest or mapping must name its columns`)
  const reason = has_header === false ? 'has no header' : 'is empty'
  throw failure(`the table ${name} ${reason} and has no columns; write a header line, or name them in the manifest`)
}

function planTable(
  result: Result<TableManifestContent>,
  entry: TableOutputMapping | undefined,
  mapping: Mapping,
  context: OutputContext,
  warnings: string[],
): PlannedLoad {
  const merged = mergeResult(result.manifest ?? {}, entry)
  refuseExclusive(result.name, merged)
  if (merged.unload_strategy)
    throw failure(
      `the manifest of ${result.name} asks for unload_strategy "${merged.unload_strategy}", and results of components come from files here`,
    )
  const schema = merged.schema?.length ? merged.schema : undefined
  checkTypes(result.name, schema, context.dataTypesSupport)
  const header = merged.has_header === false ? undefined : result.header
  const given = columnsOf(result, merged, schema, header)
  refuseReserved(result.name, [...given, ...Object.keys(merged.column_metadata ?? {})])
  const names = cleanColumns(result.name, given, warnings)
  const nameOf = (column: string): string => names.get(column) ?? column
  const key = merged.primary_key ?? (schema ? schema.filter((column) => column.primary_key).map(({ name }) => name) : undefined)
  const rules = planDeletes(result.name, merged, context.now)
  const mark = deletedMark(result.name, merged, given)
  return {
    source: result.name,
    destination: destinationOf(result, entry, mapping, context, warnings),
    files: result.stored ? [] : (result.slices ?? [result.path]),
    stored: result.stored?.[entry?.destination ?? ''],
    columns: given.map(nameOf),
    hasHeader: merged.has_header ?? (header !== undefined && needsHeader(merged)),
    incremental: merged.incremental ?? false,
    primaryKey: key?.filter((column) => column !== '').map(nameOf),
    delimiter: merged.delimiter ?? ',',
    enclosure: merged.enclosure ?? '"',
    schema: typesOf(schema, mark, nameOf, context),
    nullValues: merged.treat_values_as_null ?? mapping.nullValues,
    modifications: mapping.tableModifications,
    deduplication: merged.deduplication_strategy ?? undefined,
    deleteWhere: rules.rules,
    deletedColumn: mark && nameOf(mark),
    deferredFilters: rules.deferred,
    metadata: [...textEntries(merged.metadata), ...objectEntries(merged.table_metadata)],
    columnMetadata: columnMetadataOf(merged, nameOf, context.dataTypesSupport),
    description: merged.description ?? undefined,
    writer: {
      componentId: context.componentId,
      configurationId: context.configurationId,
      rowId: context.rowId,
      branchId: context.branchId,
    },
    writeAlways: merged.write_always ?? false,
  }
}

/** The column that marks rows which leave the table: one of the file, and none of the table. */
function deletedMark(
  name: string,
  { deleted_rows_column }: TableManifestContent,
  columns: readonly string[],
): string | undefined {
  const mark = deleted_rows_column || undefined
  if (mark !== undefined && !columns.includes(mark))
    throw failure(`the manifest of ${name} names the deleted_rows_column "${mark}", which is not a column of the file`)
  return mark
}

/** Types count only where the component declares them. */
const typesOf = (
  schema: readonly SchemaColumn[] | undefined,
  mark: string | undefined,
  nameOf: (column: string) => string,
  { dataTypesSupport }: OutputContext,
): readonly ColumnSchema[] | undefined =>
  dataTypesSupport === 'authoritative'
    ? schema?.filter(({ name }) => name !== mark).map((column) => columnSchema(column, nameOf))
    : undefined

/** Defaults that are only assumed in a mapping do not override the manifest; lists by key are merged. */
export function mergeResult(manifest: TableManifestContent, entry: TableOutputMapping | undefined): TableManifestContent {
  if (!entry) return manifest
  const stated = Object.entries(entry).filter(([name, value]) => value !== null && !isAssumed(name, value))
  const merged: TableManifestContent = { ...manifest, ...Object.fromEntries(stated) }
  const metadata = mergeBy('key', manifest.metadata ?? [], entry.metadata ?? [])
  const schema = mergeBy('name', manifest.schema ?? [], entry.schema ?? [])
  const [under, over] = [objectOf(manifest.column_metadata), objectOf(entry.column_metadata)]
  const columns = [...new Set([...Object.keys(under), ...Object.keys(over)])]
  return {
    ...merged,
    ...(metadata.length > 0 && { metadata }),
    ...(schema.length > 0 && { schema }),
    table_metadata: { ...objectOf(manifest.table_metadata), ...objectOf(entry.table_metadata) },
    column_metadata: Object.fromEntries(
      columns.map((column) => [column, mergeBy('key', under[column] ?? [], over[column] ?? [])]),
    ),
  }
}

/** PHP writes an empty object as a list. */
const objectOf = <T>(given: Readonly<Record<string, T>> | readonly never[] | null | undefined): Readonly<Record<string, T>> =>
  given && !Array.isArray(given) ? (given as Readonly<Record<string, T>>) : {} // no list, by this line

const ASSUMED: Readonly<Record<string, unknown>> = {
  incremental: false,
  delimiter: ',',
  enclosure: '"',
  write_always: false,
  delete_where_operator: 'eq',
}
const isAssumed = (name: string, value: unknown): boolean =>
  (name in ASSUMED && ASSUMED[name] === value) || (Array.isArray(value) && value.length === 0) || name === 'source'

function mergeBy<K extends string, T extends Readonly<Record<K, unknown>>>(key: K, under: readonly T[], over: readonly T[]): T[] {
  const merged = new Map(under.map((item) => [item[key], item]))
  for (const item of over) merged.set(item[key], { ...merged.get(item[key]), ...item })
  return [...merged.values()]
}

const DESCRIPTION = 'KBC.description'

function refuseExclusive(name: string, merged: TableManifestContent): void {
  const twice = (description: unknown, metadata: TableManifestContent['table_metadata']): boolean =>
    Boolean(description) && DESCRIPTION in objectOf(metadata)
  if (twice(merged.description, merged.table_metadata))
    throw failure(`the manifest of ${name} has both "description" and "${DESCRIPTION}" in table_metadata; use one of them`)
  const column = merged.schema?.find(({ description, metadata }) => twice(description, metadata))
  if (column)
    throw failure(
      `the column "${column.name}" of ${name} has both "description" and "${DESCRIPTION}" in metadata; use one of them`,
    )
  if (!merged.schema?.length) return
  const clash = (['columns', 'metadata', 'primary_key', 'distribution_key'] as const).find((key) => merged[key]?.length)
  const columnMetadata = merged.column_metadata && Object.keys(merged.column_metadata).length > 0 ? 'column_metadata' : undefined
  const other = clash ?? columnMetadata
  if (other) throw failure(`the manifest of ${name} has both "schema" and "${other}"; use the schema only`)
}

function destinationOf(
  result: Result<TableManifestContent>,
  entry: TableOutputMapping | undefined,
  mapping: Mapping,
  context: OutputContext,
  warnings: string[],
): string {
  const name = result.name.replace(/\.csv$/, '')
  const stated = result.manifest?.destination
  if (entry?.destination) return entry.destination
  if (stated && isTableId(stated)) return stated
  if (stated && !stated.includes('.')) return `${bucketOf(result.name, mapping, context)}.${stated}`
  if (!stated && IN_A_STAGE.test(name) && isTableId(name)) {
    warnings.push(
      `The table ${name} takes its place from the name of its file. Name the destination in the manifest or the mapping instead.`,
    )
    return name
  }
  if (stated)
    throw failure(
      `the destination "${stated}" of ${result.name} is neither a table id such as in.c-main.orders nor a name without dots`,
    )
  return `${bucketOf(result.name, mapping, context)}.${tableName(name)}`
}

/** Other names with two dots are only names: `data.csv.gz`. */
const IN_A_STAGE = /^(in|out|sys)\./

/** What a bucket may not hold in a table's name becomes an underscore. */
const tableName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_')

function bucketOf(result: string, mapping: Mapping, context: OutputContext): string {
  if (mapping.defaultBucket) return mapping.defaultBucket
  if (!context.defaultBucket)
    throw failure(
      `the table ${result} has no destination: the component has no default bucket. Set a destination in the mapping or the manifest`,
    )
  if (context.configurationId === null)
    throw failure(
      `the table ${result} would go to the default bucket, which is named after the configuration, and the job has none`,
    )
  return defaultBucketId(context.defaultBucketStage, context.bucketComponentId, context.configurationId)
}

export const defaultBucketId = (stage: string, componentId: string, configurationId: string): string =>
  `${stage}.c-${componentId.replace(/[^A-Za-z0-9-]/g, '-')}-${configurationId}`

/** Old name to new name of the columns that storage cannot keep as they are. */
function cleanColumns(table: string, columns: readonly string[], warnings: string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const column of columns) {
    const clean = columnNameFrom(column)
    if (clean === column) continue
    names.set(column, clean)
    warnings.push(`The column "${column}" of ${table} is stored as "${clean}".`)
  }
  return names
}

function refuseReserved(table: string, columns: readonly string[]): void {
  if (columns.some((column) => column.toLowerCase() === LOAD_TIME_COLUMN))
    throw failure(`the table ${table} has a column "_timestamp", which is reserved`)
}

/** A type that is stated is a base type; where the types of the results count, every column has one. */
function checkTypes(
  table: string,
  schema: readonly SchemaColumn[] | undefined,
  support: OutputContext['dataTypesSupport'],
): void {
  if (!schema && support === 'authoritative')
    throw failure(`the types of ${table} count (data_type_support is "authoritative"), so its manifest must have a "schema"`)
  for (const { name, data_type: type } of schema ?? []) {
    if (!type?.base) {
      if (type || support === 'authoritative')
        throw failure(`the column "${name}" of ${table} has no data_type.base in its schema`)
    } else if (!BASE_TYPES.some((known) => known === type.base?.type.toUpperCase()))
      throw failure(
        `the column "${name}" of ${table} has the base type "${type.base.type}", which is not one of ${BASE_TYPES.join(', ')}`,
      )
  }
}

type SchemaColumn = NonNullable<NonNullable<TableManifestContent['schema']>[number]>

function columnSchema(column: SchemaColumn, nameOf: (column: string) => string): ColumnSchema {
  const base = column.data_type?.base
  return {
    name: nameOf(column.name),
    baseType: base?.type.toUpperCase(),
    length: base?.length === undefined || base.length === null ? undefined : String(base.length),
    nullable: column.nullable ?? true,
    default: base?.default ?? undefined,
  }
}

interface Entry {
  readonly key: string
  readonly value: string
}

function columnMetadataOf(
  merged: TableManifestContent,
  nameOf: (column: string) => string,
  support: OutputContext['dataTypesSupport'],
): Record<string, readonly Entry[]> {
  const entries = Object.entries(objectOf(merged.column_metadata)).map(
    ([column, items]) => [nameOf(column), textEntries(items)] as const,
  )
  const typed = (merged.schema ?? []).map((column) => {
    const base = column.data_type?.base
    const hints = base && support === 'hints' ? typeHints(base, column.nullable) : []
    const described = column.description ? [{ key: DESCRIPTION, value: column.description }] : []
    return [nameOf(column.name), [...hints, ...described, ...objectEntries(column.metadata)]] as const
  })
  return Object.fromEntries([...entries, ...typed].filter(([, items]) => items.length > 0))
}

const typeHints = (
  { type, length, default: fallback }: NonNullable<SchemaColumn['data_type']>[string],
  nullable: SchemaColumn['nullable'],
): Entry[] => [
  { key: 'KBC.datatype.basetype', value: type.toUpperCase() },
  ...(nullable === undefined || nullable === null ? [] : [{ key: 'KBC.datatype.nullable', value: nullable ? '1' : '' }]),
  ...(length === undefined || length === null ? [] : [{ key: 'KBC.datatype.length', value: String(length) }]),
  ...(fallback === undefined || fallback === null ? [] : [{ key: 'KBC.datatype.default', value: fallback }]),
]

const textEntries = (items: readonly { readonly key: string; readonly value: unknown }[] | null | undefined): Entry[] =>
  (items ?? []).map(({ key, value }) => ({ key, value: String(value) }))

const objectEntries = (given: Parameters<typeof objectOf>[0]): Entry[] =>
  Object.entries(objectOf(given)).map(([key, value]) => ({ key, value: String(value) }))

function planDeletes(name: string, merged: TableManifestContent, now: Date): { rules: DeleteRule[]; deferred: DeferredFilter[] } {
  const deferred: DeferredFilter[] = []
  const legacy = merged.delete_where_column
  if (legacy && merged.delete_where?.length) throw failure(`${name} has both delete_where and delete_where_column`)
  if (legacy) {
    if (!merged.delete_where_values?.length) throw failure(`${name}: delete_where_column needs delete_where_values`)
    const values = merged.delete_where_values.map(String)
    const filters = [
      { column: legacy, operator: merged.delete_where_operator === 'ne' ? ('ne' as const) : ('eq' as const), values },
    ]
    return { rules: [{ changedSince: undefined, changedUntil: undefined, filters }], deferred }
  }
  const rules = (merged.delete_where ?? []).map((rule, at) => {
    const filters: DeleteRule['filters'][number][] = []
    for (const filter of rule.where_filters ?? []) {
      const operator = filter.operator ?? 'eq'
      const sources = [filter.values_from_set, filter.values_from_storage, filter.values_from_workspace].filter(
        (source) => source !== undefined,
      )
      if (sources.length !== 1)
        throw failure(
          `${name}: delete_where[${at}] needs exactly one of values_from_set, values_from_storage and values_from_workspace for column ${filter.column}`,
        )
      if (filter.values_from_workspace)
        throw failure(
          `${name}: delete_where[${at}] takes values from a workspace; components read files here, so name values or a table of the storage`,
        )
      if (filter.values_from_set) filters.push({ column: filter.column, operator, values: filter.values_from_set.map(String) })
      const from = filter.values_from_storage
      if (from)
        deferred.push({
          rule: at,
          column: filter.column,
          operator,
          tableId: `${from.bucket_id}.${from.table}`,
          fromColumn: from.column,
        })
    }
    const changedSince = momentOf(name, rule.changed_since, now)
    const changedUntil = momentOf(name, rule.changed_until, now)
    const conditions = filters.length + deferred.filter((one) => one.rule === at).length
    if (conditions === 0 && changedSince === undefined && changedUntil === undefined)
      throw failure(`${name}: delete_where[${at}] has no condition; it would empty the table`)
    return { changedSince, changedUntil, filters }
  })
  return { rules, deferred }
}

function momentOf(name: string, text: string | null | undefined, now: Date): number | undefined {
  if (!text) return undefined
  const moment = parseMoment(text, now)
  if (!moment) throw failure(`${name}: "${text}" in delete_where is not a time`)
  return moment.getTime()
}

export function planFiles(
  results: readonly Result<FileManifestContent>[],
  mapped: readonly FileOutputMapping[],
  context: OutputContext,
): NewFile[] {
  refuseMissing('files', results, mapped)
  const system = systemTags(context)
  const entryOf = new Map(mapped.toReversed().map((entry) => [entry.source, entry])) // the first of a name counts
  return results.map(({ name, path, slices, manifest }) => {
    const said: FileManifestContent = entryOf.get(name) ?? manifest ?? {}
    return {
      name,
      path,
      slices,
      tags: [...new Set([...(said.tags ?? []), ...system])],
      isPublic: said.is_public ?? false,
      isPermanent: said.is_permanent ?? false,
      isEncrypted: said.is_encrypted ?? true,
      notify: said.notify ?? false,
    }
  })
}

/** Tables of a run that stores none (`runtime.use_file_storage_only`): each is a file of the project, as it is. */
export function planTableFiles(
  results: readonly Result<TableManifestContent>[],
  { outputTables, tableFiles }: Mapping,
  context: OutputContext,
): NewFile[] {
  refuseMissing('tables', results, outputTables)
  const entriesOf = bySource(outputTables)
  const tagsOf = ({ name, manifest }: Result<TableManifestContent>): string[] => {
    const entries = entriesOf.get(name)
    const own = entries ? entries.flatMap((entry) => mergeResult(manifest ?? {}, entry).tags ?? []) : manifest?.tags
    return [...new Set([...tableFiles.tags, ...(own ?? []), ...systemTags(context)])]
  }
  return results.map((result) => ({
    name: result.name,
    path: result.path,
    slices: result.slices,
    tags: tagsOf(result),
    isPublic: false,
    isPermanent: tableFiles.isPermanent,
    isEncrypted: true,
    notify: false,
  }))
}

/** Tags with the origin of a file. */
const systemTags = (context: OutputContext): string[] => [
  `componentId: ${context.componentId}`,
  ...(context.configurationId === null ? [] : [`configurationId: ${context.configurationId}`]),
  ...(context.rowId === null ? [] : [`configurationRowId: ${context.rowId}`]),
  `branchId: ${context.branchId}`,
  `runId: ${context.runId}`,
]

function refuseMissing(
  kind: string,
  results: readonly { readonly name: string }[],
  mapped: readonly { readonly source: string }[],
): void {
  const written = new Set(results.map(({ name }) => name))
  const missing = mapped.filter(({ source }) => !written.has(source)).map(({ source }) => source)
  if (missing.length > 0)
    throw failure(`the output mapping names ${kind} that the component did not write: ${[...new Set(missing)].join(', ')}`)
}

const failure = (reason: string): PlatformError => new PlatformError('jobRunner.outputInvalid', { reason: `${reason}.` })
