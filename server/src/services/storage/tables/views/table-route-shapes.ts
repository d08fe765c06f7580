// Shapes that the routes of this module share.

import { Type } from 'typebox'
import { BucketId, FormFile, readByRule, TableId } from '../../../../http/parameters.ts'

export const ByBucket = Type.Object({ bucketId: BucketId })
export const ByTable = Type.Object({ tableId: TableId })
export const ByColumn = Type.Object({
  tableId: TableId,
  column: Type.String({ description: 'Name of the column.', examples: ['id'] }),
})

const CSV = {
  delimiter: 'Character between fields; a comma by default. A tab is written \\t.',
  enclosure: 'Character around fields; a double quote by default.',
  escapedBy: 'Escape character; none by default.',
  columns: 'Names of the columns, for data without a header.',
  withoutHeaders: 'True: the first line is data.',
  ignoredLinesCount: 'Number of lines to skip at the start.',
}
const NEW_TABLE = {
  name: 'Name of the table. Required.',
  displayName: 'Display name; the name by default.',
  primaryKey: 'Columns of the primary key: a list, or names joined by commas.',
}
const LOAD = {
  incremental: 'True: add the rows, and replace those with the same primary key. False: replace the whole table.',
  treatValuesAsNull: 'The value that is loaded as NULL in typed columns, and as the empty string in others.',
  useTimestampFromDataFile: 'True: the column `_timestamp` of the data contains the load time of each row.',
  deduplicationStrategy: 'Only `upsert` is supported: the last row of a key wins.',
}
const DATA = { dataString: 'The data as text, instead of a file.' }

/** Which rows and columns are meant. */
const ROWS = {
  changedSince: 'Only rows loaded at this time or later: seconds since 1970, ISO 8601, or words such as `-2 days`.',
  changedUntil: 'Only rows loaded before this time.',
  days: 'Only rows loaded in the last days, as a number.',
  whereColumn: 'Column that whereValues are compared with.',
  whereValues: 'Values to compare with; one must match.',
  whereOperator: '`eq` by default, or `ne`.',
  whereFilters:
    'List of filters, each with column, operator (eq, ne, gt, ge, lt, le, contains, startsWith, isEmpty, isNotEmpty), values and dataType; all must match.',
  fulltextSearch: 'Text that any column must contain. Cannot be combined with filters.',
}
const SELECTION = {
  ...ROWS,
  columns: 'Columns to return: a list, or names joined by commas; all by default.',
  orderBy: 'List of objects with column, order (ASC or DESC) and dataType.',
}

export const NewTableFromSource = readByRule(
  {
    ...NEW_TABLE,
    ...CSV,
    dataFileId: 'File with the rows.',
    snapshotId: 'Snapshot to create the table from, instead of a file.',
    sourceTableId: 'Table whose earlier state becomes the new table, with timestamp.',
    timestamp: 'Time of that state.',
  },
  { name: 'orders', primaryKey: 'id', dataFileId: 1017 },
)
export const NewTableWithData = Type.Object({
  data: FormFile,
  ...readByRule({ ...NEW_TABLE, ...CSV, ...DATA }, { name: 'orders' }).properties,
})
export const LoadFromFile = readByRule(
  { dataFileId: 'File with the rows. Required.', ...LOAD, ...CSV },
  { dataFileId: 1017, incremental: true },
)
export const LoadWithData = Type.Object({ data: FormFile, ...readByRule({ ...LOAD, ...CSV, ...DATA }).properties })
export const LoadNamedTable = Type.Object({
  ...LoadWithData.properties,
  ...readByRule(
    { tableId: 'Id of the table. Required.', branchId: 'Branch by id, or `default`.' },
    { tableId: 'in.c-main.orders' },
  ).properties,
})
export const ExportFields = readByRule(
  {
    ...SELECTION,
    limit: 'Maximum number of rows; all by default.',
    fileType: '`csv` by default, `parquet` or `jsonl` (JSON lines).',
    gzip: 'True: compress CSV and JSON lines.',
    includeInternalTimestamp: 'True: add the column _timestamp, the time of the load.',
    merged: 'True: one file instead of slices; CSV then has a header.',
    format: 'Only `rfc`.',
    timezone: 'Only UTC.',
    sourceBranchId: 'Branch by id, or `default`; that of the URL if omitted.',
  },
  { columns: ['id', 'amount'], gzip: true },
)
export const PreviewQuery = readByRule({
  ...SELECTION,
  limit: 'Maximum number of rows; 100 by default.',
  format: '`rfc` (CSV) by default, or `json`.',
  maxColumns: 'For CSV without `columns`: maximum number of columns; larger tables are refused. 100 by default.',
})
export const DownloadQuery = readByRule({
  ...SELECTION,
  limit: 'Maximum number of rows; all by default.',
  format: '`csv` (with a header) by default, `parquet` or `jsonl` (JSON lines).',
})
const OF_STATE = {
  state: 'State of the table to read, from an earlier response; the current one by default.',
  timestamp: 'Read the state at this time instead.',
}
export const RowsQuery = readByRule({
  ...SELECTION,
  offset: 'Number of rows to skip; 0 by default.',
  limit: 'Maximum number of rows, up to 1000; 100 by default.',
  cellChars: 'Maximum number of characters per value, up to 16384, or 8388608 for a single column; 1024 by default.',
  count: 'True: count matching rows, even if this requires another scan.',
  ...OF_STATE,
})
export const ProfileQuery = readByRule({
  ...ROWS,
  columns: 'Columns, at most 100: a list, or names joined by commas; all by default.',
  exact: 'True: read all rows. Otherwise a sample of large tables.',
  sampleRows: 'Approximate number of sampled rows, up to 5000000; 100000 by default.',
  bins: 'Number of bars of each histogram, up to 200; 20 by default.',
  ...OF_STATE,
})
export const RowsToDelete = readByRule(
  { ...ROWS, allowTruncate: 'True: delete all rows if there is no filter.' },
  { whereColumn: 'id', whereValues: ['7'] },
)

export const NewAlias = readByRule(
  {
    sourceTable: 'Id of the table to show. Required.',
    name: 'Name of the alias; that of the table by default.',
    displayName: 'Display name; the name by default.',
    aliasColumns: 'Columns to show; all by default.',
    aliasFilter: 'An object with column, operator (eq, ne) and values: the rows to show.',
    aliasColumnsAutoSync: 'True: columns that are added to the table later are shown, too.',
  },
  { sourceTable: 'in.c-main.orders', name: 'recent-orders' },
)
export const AliasFilterFields = readByRule(
  {
    column: 'Column to filter by.',
    operator: '`eq` by default, or `ne`.',
    values: 'List of values; one must match.',
  },
  { column: 'status', values: ['paid'] },
)

const DEFINITION = 'An object with type, length, nullable and default.'
export const NewColumn = readByRule(
  {
    name: 'Name of the column. Required.',
    basetype: 'STRING, INTEGER, NUMERIC, FLOAT, BOOLEAN, DATE or TIMESTAMP; or send a definition.',
    definition: DEFINITION,
  },
  { name: 'amount', basetype: 'NUMERIC' },
)
export const NewPrimaryKey = readByRule(
  {
    columns: 'Columns of the primary key. Required.',
    skipDuplicatesCheck: 'True: do not check for duplicate keys.',
  },
  { columns: ['id'] },
)
const LAYOUT = 'Layout for other backends: an object that is stored and returned without effect.'
export const TableDefinition = readByRule(
  {
    name: 'Name of the table. Required.',
    displayName: 'Display name; the name by default.',
    primaryKeysNames: 'Columns of the primary key.',
    columns: 'List of columns, each with name and either basetype or definition. Required.',
    timestampType: 'Only `MANAGED`: every row has the time of its load.',
    timePartitioning: LAYOUT,
    rangePartitioning: LAYOUT,
    clustering: LAYOUT,
    distribution: LAYOUT,
    index: LAYOUT,
  },
  { name: 'prices', primaryKeysNames: ['item'], columns: [{ name: 'item', basetype: 'STRING' }] },
)
const cleared = (description: string) => Type.Optional(Type.Union([Type.Unknown(), Type.Null()], { description }))
export const ColumnDefinitionChange = Type.Object({
  ...readByRule({
    definition: DEFINITION,
    length: 'New length; numbers may only get more digits.',
    nullable: 'True: the column may be empty.',
    name: 'New name of the column, by the rules of new columns. Rows, metadata, aliases and data tests keep it; configurations, queries and data contracts that use the old name have to be changed.',
  }).properties,
  default: cleared('Default value; null removes it.'),
  description: cleared('Free text; null removes it.'),
})
export const ColumnTypeChange = readByRule({
  type: 'A base type (STRING, INTEGER, NUMERIC, FLOAT, BOOLEAN, DATE, TIMESTAMP) or its usual name in SQL.',
  length: 'Precision and scale of NUMERIC (`18,4`), or number of characters of a string.',
  invalidValues:
    'Handling of values that do not fit the type: `refuse` (default) refuses the change, `null` replaces them by null.',
})
export const TableDefinitionChange = Type.Object({
  ...readByRule({
    displayName: 'New display name.',
    columns: 'List of changes, each with the name of the column and a definition or a description.',
  }).properties,
  description: cleared('Free text; null removes it.'),
})
