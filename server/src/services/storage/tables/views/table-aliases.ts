// Aliases: a table shown under another name, through a filter (one column, equal or not to one of some values) or with some of its
// columns (spec storage 2.5.8).

import { isUniqueViolation } from '../../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { Origin } from '../../../../model/event.ts'
import type { Scope } from '../../../../model/scope.ts'
import { type BucketRef, type Table, type TableParts, tableEvent, tableExists } from '../catalog/table-catalog.ts'
import { cannotFilterBy, namesFrom } from '../rows/table-query.ts'
import { type Fields, flag, isSet } from '../rows/table-requests.ts'
import { checkFilters, checkNewTable, writableBucket } from '../table-checks.ts'
import type { Alias, AliasFilter } from '../tables.store.ts'

export type TableAliases = ReturnType<typeof createTableAliases>

export function createTableAliases(parts: TableParts) {
  const { catalog, store, clock, inTransaction, recordEvent, metadata } = parts

  async function create(scope: Scope, bucketId: string, fields: Fields, origin: Origin): Promise<Table> {
    if (!scope.branch.isDefault)
      throw invalidAlias('Aliases are not supported in a development branch. Make the alias in the default branch.')
    const bucket = await writableBucket(parts, scope, bucketId)
    const source = await sourceOf(scope, fields)
    await refuseBranchBuckets(source.bucket, bucket)
    const name = isSet(fields.name) ? String(fields.name) : source.row.name
    const displayName = isSet(fields.displayName) ? String(fields.displayName) : name
    await checkNewTable(parts, bucket, name, displayName)
    const alias = await readAlias(source, fields)
    return insert(scope, { bucket, name, displayName, alias, source }, origin)
  }

  /** Older clients keep development branches in buckets of the default branch, marked by metadata. */
  async function refuseBranchBuckets(from: BucketRef, into: BucketRef): Promise<void> {
    const isOfBranch = ({ projectId, key }: BucketRef) => metadata.isOnBucket(projectId, key, 'KBC.createdBy.branch.id')
    if (await isOfBranch(from)) throw invalidAlias('Creating aliases from Dev/Branch tables is not supported yet.')
    if (await isOfBranch(into)) throw invalidAlias('Creating aliases in Dev/Branch buckets is not supported yet.')
  }

  async function sourceOf(scope: Scope, { sourceTable }: Fields): Promise<Table> {
    if (!isSet(sourceTable))
      throw new PlatformError('storage.tables.validation', {
        reason: 'The parameter "sourceTable" is missing: name the table that the alias shows.',
      })
    const source = await catalog.get(scope, String(sourceTable))
    if (source.row.alias?.filter || source.row.alias?.columns)
      throw invalidAlias('Aliasing an advanced alias is not allowed. Make an alias of the table behind it.')
    return source
  }

  async function readAlias(source: Table, fields: Fields): Promise<Alias> {
    const columns = namesFrom('aliasColumns', fields.aliasColumns)
    const unknown = columns.find((column) => !source.columns.includes(column))
    if (unknown !== undefined) throw invalidAlias(`The table "${source.id}" has no column "${unknown.slice(0, 100)}".`)
    const filter = readAliasFilter(fields.aliasFilter, source.columns)
    await checkFilters(parts, source, { filters: filter ? [filter] : [] })
    const isSynced = columns.length === 0 && (!isSet(fields.aliasColumnsAutoSync) || flag(fields, 'aliasColumnsAutoSync'))
    return {
      sourceKey: source.row.key,
      filter,
      columns: isSynced ? undefined : columns.length > 0 ? columns : source.columns,
    }
  }

  async function insert(
    { actor }: Scope,
    { bucket, name, displayName, alias, source }: NewAlias,
    origin: Origin,
  ): Promise<Table> {
    const id = `${bucket.id}.${name}`
    const row = await inTransaction(async (trx) => {
      const { projectId } = actor
      const table = { projectId, bucketKey: bucket.key, name, displayName, alias, createdAt: clock.now() }
      const created = await store.insertAlias(trx, table)
      const event = tableEvent({ id, bucket }, 'storage.tableAliasCreated', { sourceTableId: source.id })
      await recordEvent(trx, actor, event, origin)
      return created
    }).catch((error: unknown) => {
      throw isUniqueViolation(error) ? tableExists(name, displayName) : error
    })
    return catalog.resolve(bucket, row)
  }

  async function get(scope: Scope, tableId: string): Promise<{ readonly table: Table; readonly alias: Alias }> {
    const table = await catalog.getForChange(scope, tableId)
    if (!table.row.alias) throw new PlatformError('storage.tables.notAnAlias', { table: table.id })
    return { table, alias: table.row.alias }
  }

  async function setFilter(scope: Scope, tableId: string, fields: Fields): Promise<Table> {
    const { table, alias } = await get(scope, tableId)
    if (Object.keys(fields).length === 0) return table
    await refuseDependants(table, 'the filter of the alias')
    const filter = readAliasFilter(fields, table.data.columns)
    await checkFilters(parts, table, { filters: filter ? [filter] : [] })
    await inTransaction((trx) => store.updateAlias(trx, table.row.key, { ...alias, filter }))
    return catalog.get(scope, tableId)
  }

  async function removeFilter(scope: Scope, tableId: string): Promise<void> {
    const { table, alias } = await get(scope, tableId)
    await inTransaction((trx) => store.updateAlias(trx, table.row.key, { ...alias, filter: undefined }))
  }

  /** Synced: the alias follows the columns of its table. Else it keeps those it has now. */
  async function setSync(scope: Scope, tableId: string, isSynced: boolean): Promise<void> {
    const { table, alias } = await get(scope, tableId)
    await refuseDependants(table, 'auto sync settings')
    const columns = isSynced ? undefined : table.columns
    await inTransaction((trx) => store.updateAlias(trx, table.row.key, { ...alias, columns }))
  }

  async function refuseDependants(table: Table, what: string): Promise<void> {
    const aliases = await catalog.aliasesOf(table.row.key)
    if (aliases.length > 0) throw new PlatformError('storage.tables.aliasHasAliases', { what })
  }

  return { create, setFilter, removeFilter, setSync }
}

interface NewAlias {
  readonly bucket: BucketRef
  readonly name: string
  readonly displayName: string
  readonly alias: Alias
  readonly source: Table
}

const invalidAlias = (reason: string) => new PlatformError('storage.buckets.invalidAlias', { reason })

function readAliasFilter(value: unknown, columns: readonly string[]): AliasFilter | undefined {
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) return undefined
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalidAlias('The parameter "aliasFilter" should be an object with column, operator and values.')
  const { column, operator: given, values } = value as Readonly<Record<string, unknown>> // an object, by the line above
  const operator = isSet(given) ? given : 'eq'
  if (typeof column !== 'string' || !columns.includes(column))
    throw cannotFilterBy('storage.buckets.invalidAlias', String(column))
  if (operator !== 'eq' && operator !== 'ne')
    throw invalidAlias(`The operator "${String(operator).slice(0, 40)}" is not known. Operators: eq, ne.`)
  const list = Array.isArray(values) ? values : typeof values === 'object' && values !== null ? Object.values(values) : [values]
  if (list.length === 0 || !list.every((one) => typeof one === 'string' || typeof one === 'number'))
    throw invalidAlias('The parameter "values" should be a list of strings.')
  return { column, operator, values: list.map(String) }
}
