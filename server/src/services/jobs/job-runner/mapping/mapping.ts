// The mapping of a configuration (`storage`), validated after the merge. A message names the place: storage.input.tables[0].source.

import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type FailureFacts, jsonPointer } from '../../../../../../contract/failure-causes.ts'
import { PlatformError } from '../../../../kit/errors.ts'

const Text = Type.String()
const Texts = Type.Array(Type.Union([Type.String(), Type.Number()]))
const Flag = Type.Boolean()
const optional = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const oneOf = <T extends string>(...words: T[]) => Type.Union(words.map((word) => Type.Literal(word)))

const TableInput = Type.Object({
  source: Type.Optional(Type.String({ minLength: 1 })),
  source_search: Type.Optional(Type.Object({ key: Text, value: Text })),
  destination: optional(Text),
  columns: optional(Type.Array(Text)),
  column_types: optional(
    Type.Array(
      Type.Object({
        source: Text,
        destination: optional(Text),
        type: optional(Text),
        length: optional(Type.Union([Text, Type.Integer()])),
        nullable: optional(Flag),
        convert_empty_values_to_null: optional(Flag),
      }),
    ),
  ),
  load_type: optional(Text),
  where_column: optional(Text),
  where_values: optional(Texts),
  where_operator: optional(Type.Union([Type.Literal('eq'), Type.Literal('ne'), Type.Literal('')])),
  changed_since: optional(Type.Union([Text, Type.Number()])),
  changes: optional(Flag),
  query: optional(Text),
  days: optional(Type.Integer()),
  limit: optional(Type.Integer({ minimum: 0 })),
  overwrite: optional(Flag),
  source_branch_id: optional(Type.Union([Text, Type.Integer()])),
  file_type: optional(Text),
})
const FileInput = Type.Object({
  tags: optional(Type.Array(Text)),
  source: optional(
    Type.Object({
      tags: Type.Array(
        Type.Object({ name: Text, match: Type.Optional(Type.Union([Type.Literal('include'), Type.Literal('exclude')])) }),
      ),
    }),
  ),
  query: optional(Text),
  file_ids: optional(Type.Array(Type.Union([Type.Integer(), Type.String({ pattern: '^[0-9]{1,15}$' })]))),
  limit: optional(Type.Integer({ minimum: 1 })),
  changed_since: optional(Type.Union([Text, Type.Number()])),
  processed_tags: optional(Type.Array(Text)),
  overwrite: optional(Flag),
})
const Values = Type.Optional(Texts)
const DeleteWhere = Type.Object({
  changed_since: optional(Text),
  changed_until: optional(Text),
  where_filters: Type.Optional(
    Type.Array(
      Type.Object({
        column: Text,
        operator: Type.Optional(Type.Union([Type.Literal('eq'), Type.Literal('ne')])),
        values_from_set: Values,
        values_from_workspace: Type.Optional(
          Type.Object({ workspace_id: Type.Optional(Text), table: Text, column: Type.Optional(Text) }),
        ),
        values_from_storage: Type.Optional(Type.Object({ bucket_id: Text, table: Text, column: Type.Optional(Text) })),
      }),
    ),
  ),
})
const MetadataList = Type.Array(Type.Object({ key: Text, value: Type.Union([Text, Type.Number(), Flag]) }))

/** Keys a mapping of a result table and its manifest share. */
const TABLE_RESULT = {
  destination: optional(Text),
  incremental: optional(Flag),
  primary_key: optional(Type.Array(Text)),
  columns: optional(Type.Array(Text)),
  distribution_key: optional(Type.Array(Text)),
  delete_where: optional(Type.Array(DeleteWhere)),
  delete_where_column: optional(Text),
  delete_where_values: optional(Texts),
  delete_where_operator: optional(Type.Union([Type.Literal('eq'), Type.Literal('ne'), Type.Literal('')])),
  deleted_rows_column: optional(Text),
  delimiter: optional(Text),
  enclosure: optional(Text),
  deduplication_strategy: optional(oneOf('insert', 'upsert')),
  unload_strategy: optional(Text),
  tags: optional(Type.Array(Text)),
  write_always: optional(Flag),
  treat_values_as_null: optional(Type.Array(Text)),
  metadata: optional(MetadataList),
  column_metadata: optional(Type.Union([Type.Record(Text, MetadataList), Type.Array(Type.Never())])),
  description: optional(Text),
  table_metadata: optional(Type.Union([Type.Record(Text, Type.Unknown()), Type.Array(Type.Never())])),
  manifest_type: optional(Text),
  has_header: optional(Flag),
  schema: optional(
    Type.Array(
      Type.Object({
        name: Text,
        data_type: optional(
          Type.Record(
            Text,
            Type.Object({ type: Text, length: optional(Type.Union([Text, Type.Number()])), default: optional(Text) }),
          ),
        ),
        nullable: optional(Flag),
        primary_key: optional(Flag),
        distribution_key: optional(Flag),
        description: optional(Text),
        metadata: optional(Type.Union([Type.Record(Text, Type.Unknown()), Type.Array(Type.Never())])),
      }),
    ),
  ),
}
export const TableManifest = Type.Object(TABLE_RESULT)
const TableOutput = Type.Object({ source: optional(Text), ...TABLE_RESULT })

const FILE_RESULT = {
  tags: optional(Type.Array(Text)),
  is_public: optional(Flag),
  is_permanent: optional(Flag),
  is_encrypted: optional(Flag),
  notify: optional(Flag),
}
export const FileManifest = Type.Object(FILE_RESULT)
const FileOutput = Type.Object({ source: Type.String({ minLength: 1 }), ...FILE_RESULT })

/** PHP writes empty objects as lists. */
const objectOrEmpty = <T extends TSchema>(schema: T) => optional(Type.Union([schema, Type.Array(Type.Never())]))

export const Storage = Type.Object({
  input: objectOrEmpty(Type.Object({ tables: optional(Type.Array(TableInput)), files: optional(Type.Array(FileInput)) })),
  output: objectOrEmpty(
    Type.Object({
      tables: optional(Type.Array(TableOutput)),
      files: optional(Type.Array(FileOutput)),
      default_bucket: optional(Text),
      table_files: objectOrEmpty(Type.Object({ tags: optional(Type.Array(Text)), is_permanent: optional(Flag) })),
      data_type_support: optional(oneOf('none', 'hints', 'authoritative')),
      table_modifications: optional(oneOf('none', 'non-destructive', 'all')),
      treat_values_as_null: optional(Type.Array(Text)),
    }),
  ),
})
const Processor = Type.Object({
  definition: Type.Object({ component: Type.String({ minLength: 1 }), tag: optional(Text) }),
  parameters: Type.Optional(Type.Unknown()),
})
export const Processors = Type.Object({ before: optional(Type.Array(Processor)), after: optional(Type.Array(Processor)) })
export const Runtime = Type.Object({
  tag: optional(Text),
  image_tag: optional(Text),
  process_timeout: optional(Type.Integer({ minimum: 1 })),
  backend: objectOrEmpty(Type.Object({ type: optional(Text), context: optional(Text) })),
  parallelism: optional(Type.Union([Type.Integer({ minimum: 0, maximum: 100 }), Text])),
  safe: optional(Flag),
  use_file_storage_only: optional(Flag),
})

export type TableInputMapping = Static<typeof TableInput>
export type FileInputMapping = Static<typeof FileInput>
export type TableOutputMapping = Static<typeof TableOutput> & { readonly source: string }
export type TableManifestContent = Static<typeof TableManifest>
export type FileOutputMapping = Static<typeof FileOutput>
export type FileManifestContent = Static<typeof FileManifest>
export type ProcessorDefinition = Static<typeof Processor>
export type RuntimeSettings = Static<typeof Runtime>

export interface Mapping {
  readonly inputTables: readonly TableInputMapping[]
  readonly inputFiles: readonly FileInputMapping[]
  readonly outputTables: readonly TableOutputMapping[]
  readonly outputFiles: readonly FileOutputMapping[]
  readonly defaultBucket: string | undefined
  /** How result tables become files, for runs that store no tables. */
  readonly tableFiles: { readonly tags: readonly string[]; readonly isPermanent: boolean }
  /** Undefined: by the component's description. */
  readonly dataTypesSupport: 'none' | 'hints' | 'authoritative' | undefined
  /** What a run may change of tables that are there. Undefined: what its results need. */
  readonly tableModifications: 'none' | 'non-destructive' | 'all' | undefined
  /** Undefined: empty values only. */
  readonly nullValues: readonly string[] | undefined
}

const checkers = new Map<TSchema, ReturnType<typeof Compile>>()

/** Compiled on first use; the schemas are constants of this file. */
export function read<T extends TSchema>(schema: T, value: unknown, place: string, refusal = invalid): Static<T> {
  const checker = checkers.get(schema) ?? Compile(schema)
  checkers.set(schema, checker)
  if (checker.Check(value)) return value as Static<T> // just checked
  const errors = checker.Errors(value)
  const [error] = errors
  const path = (error?.instancePath ?? '')
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
  const missing = (error?.params as { requiredProperties?: readonly string[] } | undefined)?.requiredProperties // typebox: set for `required`
  if (missing) throw refusal(`${place}${path}.${missing[0]} is missing`)
  const words = errors.flatMap(({ instancePath, params }) =>
    instancePath === error?.instancePath && 'allowedValue' in params ? [`"${params.allowedValue}"`] : [],
  )
  throw refusal(`${place}${path} ${words.length > 0 ? `must be one of ${words.join(', ')}` : (error?.message ?? 'is not valid')}`)
}

/** A reason that begins with a path, `storage.input.tables[0].source is missing`, names the place. */
export const invalid = (reason: string, facts: FailureFacts = {}): PlatformError =>
  new PlatformError('jobRunner.invalidConfiguration', { reason }, { facts: { ...pointedAt(reason), ...facts } })

function pointedAt(reason: string): FailureFacts {
  const path = /^(?:storage|runtime|processors|artifacts)(?:\.\w+|\[\d+\])*/.exec(reason)?.[0]
  return path === undefined ? {} : { pointer: jsonPointer(path.match(/\w+/g) ?? []) }
}

/** What a configuration refers to, and is not there. */
export const gone = (reason: string, pointer?: string): PlatformError =>
  invalid(reason, { kind: 'configuration.notFound', ...(pointer !== undefined && { pointer }) })

export function readMapping(storage: unknown): Mapping {
  const { input, output } =
    storage === undefined || isEmptyList(storage) ? { input: undefined, output: undefined } : read(Storage, storage, 'storage')
  const from = input && !Array.isArray(input) ? input : {}
  const to = output && !Array.isArray(output) ? output : {}
  const mapping: Mapping = {
    inputTables: from.tables ?? [],
    inputFiles: from.files ?? [],
    outputTables: (to.tables ?? []).map((table, at) => checkTableOutput(table, `storage.output.tables[${at}]`)),
    outputFiles: to.files ?? [],
    defaultBucket: to.default_bucket || undefined,
    tableFiles: {
      tags: (Array.isArray(to.table_files) ? undefined : to.table_files?.tags) ?? [],
      isPermanent: (Array.isArray(to.table_files) ? undefined : to.table_files?.is_permanent) ?? true,
    },
    dataTypesSupport: to.data_type_support ?? undefined,
    tableModifications: to.table_modifications ?? undefined,
    nullValues: to.treat_values_as_null ?? undefined,
  }
  if (mapping.defaultBucket && !/^[^.]+\.[^.]+$/.test(mapping.defaultBucket))
    throw invalid(`storage.output.default_bucket "${mapping.defaultBucket}" must be a whole bucket id such as in.c-main`)
  for (const [at, table] of mapping.inputTables.entries()) checkTableInput(table, `storage.input.tables[${at}]`)
  for (const [at, file] of mapping.inputFiles.entries()) checkFileInput(file, `storage.input.files[${at}]`)
  return mapping
}

export const readProcessors = (
  node: unknown,
): { readonly before: readonly ProcessorDefinition[]; readonly after: readonly ProcessorDefinition[] } => {
  if (node === undefined || isEmptyList(node)) return { before: [], after: [] }
  const { before, after } = read(Processors, node, 'processors')
  return { before: before ?? [], after: after ?? [] }
}

export const readRuntime = (node: unknown): RuntimeSettings =>
  node === undefined || isEmptyList(node) ? {} : read(Runtime, node, 'runtime')

export const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

export function checkTableInput(table: TableInputMapping, place: string): void {
  if (table.query) {
    checkQueryInput(table, place)
    return
  }
  if (!table.source && !table.source_search) throw invalid(`${place}.source is missing`)
  if (table.changes) {
    const other = (['changed_since', 'days', 'where_column', 'limit', 'column_types', 'source_branch_id'] as const).find(
      (name) => table[name] && (!Array.isArray(table[name]) || table[name].length > 0),
    )
    if (other) throw invalid(`${place}: changes and ${other} exclude each other`)
  }
  const hasValues = (table.where_values?.length ?? 0) > 0
  if (Boolean(table.where_column) !== hasValues) throw invalid(`${place}: where_column and where_values must be given together`)
  if (table.days && table.changed_since) throw invalid(`${place}: days and changed_since exclude each other`)
  if (table.file_type && table.file_type !== 'csv')
    throw invalid(`${place}.file_type is "${table.file_type}"; tables are given as csv`)
  const typed = table.column_types?.map(({ source }) => source) ?? []
  if (typed.length > 0 && table.columns && table.columns.length > 0) {
    const surplus = [
      ...typed.filter((name) => !table.columns!.includes(name)),
      ...table.columns.filter((name) => !typed.includes(name)),
    ]
    if (surplus.length > 0) throw invalid(`${place}: columns and column_types name different columns: ${surplus.join(', ')}`)
  }
}

/** The query itself selects rows and columns. */
function checkQueryInput(
  { query: _, destination, limit: __, overwrite: ___, ...others }: TableInputMapping,
  place: string,
): void {
  if (!destination) throw invalid(`${place}.destination is missing: the name of the table that the rows of the query are`)
  const other = Object.entries(others).find(([, value]) => value && (!Array.isArray(value) || value.length > 0))
  if (other) throw invalid(`${place}: query and ${other[0]} exclude each other`)
}

export function checkFileInput(file: FileInputMapping, place: string): void {
  const byTags = (file.tags?.length ?? 0) > 0
  const bySource = (file.source?.tags.length ?? 0) > 0
  const byIds = (file.file_ids?.length ?? 0) > 0
  if (!byTags && !bySource && !byIds && !file.query)
    throw invalid(`${place}: one of tags, source.tags, query and file_ids is required`)
  if (byTags && bySource) throw invalid(`${place}: tags and source.tags exclude each other`)
  if (file.query && file.changed_since) throw invalid(`${place}: query and changed_since exclude each other`)
  if (byIds && (byTags || bySource || file.query || file.changed_since || file.limit))
    throw invalid(`${place}: file_ids can only be combined with overwrite and processed_tags`)
  if (file.overwrite === false) throw invalid(`${place}.overwrite must be true: files are written into an empty folder`)
}

const TABLE_ID = /^[^.]+\.[^.]+\.[^.]+$/

export function checkTableOutput(table: Static<typeof TableOutput>, place: string): TableOutputMapping {
  const { source, destination, unload_strategy: strategy } = table
  if (strategy) throw invalid(`${place}.unload_strategy "${strategy}" is for results in a workspace; components write files here`)
  if (!source) throw invalid(`${place}.source is missing`)
  if (destination && !TABLE_ID.test(destination))
    throw invalid(`${place}.destination "${destination}" must be a whole table id such as in.c-main.orders`)
  return { ...table, source }
}

export const isTableId = (text: string): boolean => TABLE_ID.test(text)
