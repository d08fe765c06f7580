// HTTP for the definitions of tables: typed columns, and what can be changed of them later (spec storage 2.5.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { JobView, jobStarter } from '../../http/job-view.ts'
import { PlatformError } from '../../kit/errors.ts'
import { checkNewTable, scopeOf, writable } from './table-data.routes.ts'
import { checkPrimaryKey, MAX_COLUMNS } from './table-load.ts'
import { checkTableName } from './table-names.ts'
import { type Fields, isSet, nameFrom, primaryKeyFrom } from './table-requests.ts'
import {
  ByBucket,
  ByColumn,
  ByTable,
  ColumnDefinitionChange,
  TableDefinition,
  TableDefinitionChange,
} from './table-route-shapes.ts'
import type { TableStructureDeps } from './table-structure.routes.ts'
import { type ColumnChange, changeColumn, changesType, readColumnChange, readColumnDefinition } from './table-types.ts'
import { jobOn } from './tables.routes.ts'
import { lockOf, refuseAlias, type Table, tableExists } from './tables.ts'

export function tableDefinitionRoutes({ tables, createJob }: TableStructureDeps): FastifyPluginAsyncTypebox {
  const { store } = tables

  const start = jobStarter(createJob)

  /** Refused at once where that is possible; what only the data can tell fails the job. */
  async function checkChanges(table: Table, changes: readonly ColumnChange[]): Promise<void> {
    if (changes.length === 0) return
    const { snapshot } = await tables.reading(table)
    for (const change of changes) {
      const column = snapshot.columns.find(({ name }) => name === change.column)
      if (!column)
        throw new PlatformError('notFound', { what: `The column "${change.column.slice(0, 100)}" of table "${table.id}"` })
      if (!changesType(change)) continue
      if (!snapshot.typed)
        throw new PlatformError('storage.tables.validation', {
          reason: `The table "${table.id}" is not typed: its columns hold text and have nothing but a description to change.`,
        })
      if (change.nullable && table.primaryKey.includes(change.column))
        throw new PlatformError('storage.tables.validation', {
          reason: `The column "${change.column}" is part of the primary key and cannot be nullable.`,
        })
      changeColumn(column, change)
    }
  }

  return async (app) => {
    app.post(
      '/v2/storage/buckets/:bucketId/tables-definition',
      {
        config: {
          operation: 'tables.createDefinition',
          summary: 'Create an empty table with typed columns',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByBucket, body: TableDefinition, response: { 202: JobView } },
      },
      async (req, reply) => {
        const bucket = await writable(tables, scopeOf(req), req.params.bucketId)
        const name = nameFrom(req.body)
        const displayName = isSet(req.body.displayName) ? String(req.body.displayName) : name
        await checkNewTable(tables, bucket, name, displayName)
        refuseOtherBackends(req.body)
        const primaryKey = primaryKeyFrom(req.body.primaryKeysNames)
        const { columns } = req.body
        if (!Array.isArray(columns) || columns.length === 0 || columns.length > MAX_COLUMNS)
          throw new PlatformError('storage.tables.validation', {
            reason: `The parameter "columns" should be a list of 1 to ${MAX_COLUMNS} columns.`,
          })
        const defined = columns.map((column, i) => readColumnDefinition(column, i, primaryKey))
        checkDistinct(defined.map(({ column }) => column.name))
        checkPrimaryKey(
          primaryKey,
          defined.map(({ column }) => column.name),
        )
        const input = {
          bucketKey: bucket.key,
          name,
          displayName,
          primaryKey,
          typed: defined.some((one) => one.isTyped),
          columns: defined,
        }
        return start(req, reply, {
          operationName: 'tableDefinitionCreate',
          operationParams: { name, primaryKeysNames: primaryKey, columns },
          input,
          branchId: bucket.branchId,
          lockKeys: [lockOf(bucket, name)],
        })
      },
    )

    app.put(
      '/v2/storage/tables/:tableId/columns/:column/definition',
      {
        config: {
          operation: 'tables.changeColumn',
          summary: 'Change length, nullable, default and description of a column',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByColumn, body: ColumnDefinitionChange, response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        refuseAlias(table)
        const change = readColumnChange(req.params.column, req.body, req.params.column)
        await checkChanges(table, [change])
        return start(req, reply, jobOn(table, 'tableColumnDefinitionUpdate', { change }, { ...change }))
      },
    )

    app.put(
      '/v2/storage/tables/:tableId/definition',
      {
        config: {
          operation: 'tables.changeDefinition',
          summary: 'Change display name, description and columns of a table',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, body: TableDefinitionChange, response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        const { displayName, description } = req.body
        const columns = columnChangesFrom(req.body.columns)
        if (!isSet(displayName) && description === undefined && columns.length === 0)
          throw new PlatformError('storage.tables.validation', {
            reason: 'Nothing to change: send displayName, description or columns.',
          })
        if (columns.length > 0) refuseAlias(table)
        await checkChanges(table, columns)
        if (isSet(displayName)) {
          checkTableName(String(displayName), 'display name')
          const same = await store.findNamed(table.row.bucketKey, String(displayName))
          if (same && same.key !== table.row.key) throw tableExists(same.name, String(displayName))
        }
        const input = {
          ...(isSet(displayName) && { displayName: String(displayName) }),
          ...(description !== undefined && { description: description === null ? '' : String(description) }),
          ...(columns.length > 0 && { columns }),
        }
        return start(req, reply, jobOn(table, 'tableDefinitionUpdate', input))
      },
    )
  }
}

/** How other backends lay tables out; this one lays them out by itself, and every row carries its load time. */
const LAYOUTS = ['timePartitioning', 'rangePartitioning', 'clustering', 'distribution', 'index'] as const

function refuseOtherBackends(fields: Fields): void {
  const refuse = (field: string, reason: string) =>
    new PlatformError(
      'storage.tables.validation',
      { reason: `Invalid request:\n - ${field}: "${reason}"` },
      { errors: [{ key: field, message: reason }] },
    )
  const layout = LAYOUTS.find((name) => isSet(fields[name]) && !(Array.isArray(fields[name]) && fields[name].length === 0))
  if (layout) throw refuse(layout, 'This backend does not take it. Leave it out; tables need no layout here.')
  if (isSet(fields.timestampType) && fields.timestampType !== 'MANAGED')
    throw refuse('timestampType', 'Every row carries its load time here. Use MANAGED, or leave it out.')
}

/** `columns` of a changed definition: `[{name, definition: {length, nullable, default}, description}]`. */
function columnChangesFrom(value: unknown): readonly ColumnChange[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value))
    throw new PlatformError('storage.tables.validation', { reason: 'The parameter "columns" should be a list of columns.' })
  const changes = value.map((item: unknown, i) => {
    const name = typeof item === 'object' && item !== null && 'name' in item ? item.name : undefined
    if (typeof name !== 'string')
      throw new PlatformError('validation.failed', { field: `columns[${i}][name]`, reason: 'This field is missing.' })
    return readColumnChange(name, item, `columns[${i}]`)
  })
  checkDistinct(changes.map(({ column }) => column))
  return changes
}

function checkDistinct(names: readonly string[]): void {
  const lower = names.map((name) => name.toLowerCase())
  const twice = names.find((_, i) => lower.indexOf(lower[i] ?? '') !== i)
  if (twice !== undefined) throw new PlatformError('storage.tables.columnAlreadyExists', { column: twice })
}
