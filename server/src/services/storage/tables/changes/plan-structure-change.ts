// Changes of columns, keys and rows: each checks what can be checked at once and answers the job that does the rest.

import { columnNameFrom } from '../../../../../../contract/column-name.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { Origin } from '../../../../model/event.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { NewStorageJob } from '../../../../model/storage-job.ts'
import { lockOf, refuseAlias, type Table, type TableParts } from '../catalog/table-catalog.ts'
import { checkColumnName } from '../catalog/table-names.ts'
import { MAX_COLUMNS } from '../rows/table-load.ts'
import { hasNoFilter, readDeletion, splitWorkspaceFilters } from '../rows/table-query.ts'
import { type Fields, flag, isSet, primaryKeyFrom } from '../rows/table-requests.ts'
import { checkFilters, checkFits, jobOn, linksShowing, ownTable } from '../table-checks.ts'
import { readType } from './table-types.ts'

export type StructureChanges = ReturnType<typeof createStructureChanges>

export function createStructureChanges(
  parts: TableParts,
  /** Refuses workspaces the caller may not use. */
  checkWorkspace: (scope: Scope, workspaceId: number) => Promise<void>,
) {
  const { catalog, store, buckets, clock } = parts

  async function addColumn(scope: Scope, tableId: string, fields: Fields): Promise<NewStorageJob> {
    const table = await catalog.getForChange(scope, tableId)
    if (table.row.alias?.columns) return addToAlias(table, table.row.alias.columns, fields)
    if (table.source)
      throw new PlatformError('storage.tables.validation.cannotAddColumn', { table: table.id, source: table.source.id })
    const name = newColumnName(fields)
    if (table.columns.some((column) => column.toLowerCase() === name.toLowerCase()))
      throw new PlatformError('storage.tables.columnAlreadyExists', { column: name })
    if (table.columns.length >= MAX_COLUMNS)
      throw new PlatformError('storage.tables.validation', { reason: `A table has at most ${MAX_COLUMNS} columns.` })
    if (!table.data.isTyped) refuseTypes(fields)
    const { column, isTyped, metadata } = readType(name, fields, false, await parts.backendName(scope.actor.projectId))
    checkFits(table, column)
    if (table.data.isTyped && !isTyped)
      throw new PlatformError('storage.tables.validation', { reason: 'Column "definition" or "basetype" must be set.' })
    return jobOn(table, 'tableColumnAdd', { column, metadata }, { name })
  }

  /** An alias with columns of its own shows one more column of its table. */
  async function addToAlias(table: Table, shown: readonly string[], fields: Fields): Promise<NewStorageJob> {
    const name = isSet(fields.name) ? String(fields.name) : ''
    if (shown.includes(name)) throw new PlatformError('storage.tables.columnAlreadyExists', { column: name })
    if (!table.data.columns.includes(name))
      throw new PlatformError('storage.tables.columnNotExists', { column: name.slice(0, 100) })
    return jobOn(table, 'tableColumnAdd', { aliasColumns: [...shown, name], column: { name } }, { name })
  }

  /** And one less: the table behind it keeps the column. */
  async function deleteFromAlias(table: Table, shown: readonly string[], column: string): Promise<NewStorageJob> {
    if (shown.length === 1) throw new PlatformError('storage.tables.cannotDeleteLastColumn', { column })
    return jobOn(table, 'tableColumnDelete', { aliasColumns: shown.filter((name) => name !== column), column }, { column })
  }

  async function deleteColumn(scope: Scope, tableId: string, column: string, force: boolean): Promise<NewStorageJob> {
    const table = await catalog.getForChange(scope, tableId)
    const shown = table.row.alias?.columns
    if (!shown) refuseAlias(table)
    if (!table.columns.includes(column))
      throw new PlatformError('notFound', { what: `The column "${column.slice(0, 100)}" of table "${table.id}"` })
    if (shown) return deleteFromAlias(table, shown, column)
    if (table.primaryKey.includes(column)) throw new PlatformError('storage.tables.cannotDeletePrimaryKeyColumn', { column })
    if (table.columns.length === 1) throw new PlatformError('storage.tables.cannotDeleteLastColumn', { column })
    const aliases = (await catalog.aliasesOf(table.row.key)).filter(
      ({ alias }) => alias?.filter?.column === column || (alias?.columns ? alias.columns.includes(column) : !force),
    )
    const users = [...aliases.map(({ name }) => name), ...(force ? [] : await linksShowing(parts, table))]
    if (users.length > 0)
      throw new PlatformError('storage.tables.cannotDeleteReferencedColumn', { column, aliases: users.join(', ') })
    return jobOn(table, 'tableColumnDelete', { column })
  }

  async function addPrimaryKey(scope: Scope, tableId: string, fields: Fields): Promise<NewStorageJob> {
    const table = await ownTable(parts, scope, tableId)
    const columns = primaryKeyFrom(fields.columns)
    const refuse = (reason: string) => new PlatformError('storage.validation.primaryKey', { reason })
    if (columns.length === 0) throw refuse('The parameter "columns" should name the columns of the primary key.')
    if (table.primaryKey.length > 0)
      throw refuse(`The table already has the primary key ${table.primaryKey.join(', ')}. Delete it first.`)
    const unknown = columns.find((column) => !table.columns.includes(column))
    if (unknown !== undefined) throw refuse(`The column "${unknown.slice(0, 100)}" does not exist in the table.`)
    const input = { columns, skipDuplicatesCheck: flag(fields, 'skipDuplicatesCheck') }
    return jobOn(table, 'tablePrimaryKeyAdd', input)
  }

  async function deletePrimaryKey(scope: Scope, tableId: string): Promise<NewStorageJob> {
    const table = await ownTable(parts, scope, tableId)
    const aliases = (await catalog.aliasesOf(table.row.key)).filter(({ alias }) =>
      table.primaryKey.includes(alias?.filter?.column ?? ''),
    )
    if (aliases.length > 0)
      throw new PlatformError('storage.tables.cannotRemoveReferencedColumnFromPrimaryKey', {
        aliases: aliases.map(({ name }) => name).join(', '),
      })
    return jobOn(table, 'tablePrimaryKeyDelete', {})
  }

  async function deleteRows(scope: Scope, tableId: string, fields: Fields): Promise<NewStorageJob> {
    const table = await ownTable(parts, scope, tableId)
    const { rest, workspaceFilters } = splitWorkspaceFilters(fields, table.columns, clock.now())
    for (const { by } of workspaceFilters) await checkWorkspace(scope, by.workspaceId)
    if (isSet(fields.whereColumn) && !isSet(fields.whereValues)) {
      const reason = 'To use "whereColumn" specify "whereValues".'
      const errors = [{ key: 'whereColumn', message: reason }]
      throw new PlatformError('validation.failed', {}, { errors, text: `Invalid request:\n - whereColumn: "${reason}"` })
    }
    const query = readDeletion(rest, table.columns, clock.now())
    if (hasNoFilter(query) && workspaceFilters.length === 0 && !flag(fields, 'allowTruncate'))
      throw new PlatformError('storage.tables.validation.unintendedTruncation')
    await checkFilters(parts, table, query)
    const { actor, branch } = scope
    const shown = { query, ...(workspaceFilters.length > 0 && { workspaceFilters }) }
    return jobOn(table, 'tableRowsDelete', { ...shown, ...(workspaceFilters.length > 0 && { scope: { actor, branch } }) }, shown)
  }

  async function profile(scope: Scope, tableId: string): Promise<NewStorageJob> {
    const table = await catalog.get(scope, tableId)
    if (table.bucket.sourceKey !== undefined) refuseAlias(table)
    // Only reads one state of the table: it holds no lock.
    return { ...jobOn(table, 'tableProfile', {}), lockKeys: [] }
  }

  /** `uuid` of a profile, or `latest`. */
  async function getProfile(scope: Scope, tableId: string, uuid: string) {
    const table = await catalog.get(scope, tableId)
    const found = await store.findProfile(scope.actor.projectId, table.row.key, uuid === 'latest' ? undefined : uuid)
    if (!found) throw new PlatformError('storage.tables.profileNotFound', { table: table.id })
    return found.value
  }

  async function swap(scope: Scope, tableId: string, targetTableId: string): Promise<NewStorageJob> {
    const table = await catalog.getForChange(scope, tableId)
    const target = await catalog.getForChange(scope, targetTableId)
    if (table.row.key === target.row.key) throw new PlatformError('storage.tables.sameTableSwap')
    for (const one of [table, target])
      if (one.source) throw new PlatformError('storage.tables.cannotSwapAlias', { table: one.id })
    if (table.bucket.key !== target.bucket.key)
      throw new PlatformError('storage.tables.crossBucketSwap', { a: table.id, b: target.id })
    const job = jobOn(table, 'tableSwap', { targetKey: target.row.key }, { targetTableId: target.id })
    return { ...job, lockKeys: [...(job.lockKeys ?? []), lockOf(target.bucket, target.row.name)] }
  }

  /** Copies a table of the default branch into the branch of the caller. */
  async function pull(scope: Scope, tableId: string, origin: Origin): Promise<NewStorageJob> {
    if (scope.branch.isDefault)
      throw new PlatformError('storage.tables.validation', {
        reason: 'Tables are pulled into a development branch, from the default one.',
      })
    const source = await catalog.getInDefaultBranch(scope, tableId)
    refuseAlias(source)
    const bucket = await buckets.ensureInBranch(scope, source.bucket, origin)
    return {
      operationName: 'devBranchTablePull',
      operationParams: { tableId: source.id },
      input: { sourceKey: source.row.key, bucketKey: bucket.key, name: source.row.name },
      tableId: source.id,
      branchId: bucket.branchId,
      lockKeys: [lockOf(bucket, source.row.name)],
    }
  }

  return {
    addColumn,
    deleteColumn,
    addPrimaryKey,
    deletePrimaryKey,
    deleteRows,
    profile,
    getProfile,
    optimize: async (scope: Scope, tableId: string) => jobOn(await ownTable(parts, scope, tableId), 'tableOptimize', {}),
    swap,
    pull,
  }
}

/** Columns of an untyped table are text; clients expect this sentence. */
function refuseTypes(fields: Fields): void {
  const given = ['definition', 'basetype'].find((name) => isSet(fields[name]))
  if (given)
    throw new PlatformError('storage.tables.validation', {
      reason: `Invalid parameters - ${given}: This field was not expected.`,
    })
}

export function newColumnName(fields: Fields): string {
  if (fields.name === undefined || fields.name === null)
    throw new PlatformError('validation.failed', { field: 'name', reason: 'This value should not be blank.' })
  if (typeof fields.name !== 'string' && typeof fields.name !== 'number')
    throw new PlatformError('validation.failed', { field: 'name', reason: 'This value should be of type string.' })
  const given = String(fields.name)
  // A run of other characters is one underscore here; in the header of a file each is (corrections-2, A15).
  const name = columnNameFrom(given.replace(/[\x20-\x2f:-@[-^`{-~]+/g, '_'))
  try {
    checkColumnName(name, `"${given.slice(0, 60)}"`)
  } catch (error) {
    throw error instanceof PlatformError ? new PlatformError('storage.tables.invalidColumnName', error.details) : error
  }
  return name
}
