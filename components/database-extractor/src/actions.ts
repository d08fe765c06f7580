// Sync actions: queries of a form before a row is saved. Each answers with one JSON object.

import { UserError } from '../../http-extractor/src/errors.ts'
import { columnChanges, driftOf } from './compare/drift.ts'
import { openHere } from './compare/here.ts'
import { readRow, readSource, readTables } from './configuration.ts'
import type { Database } from './databases/database.ts'
import { readColumns } from './extract.ts'
import { outputTableId } from './output-table-id.ts'
import { estimateRows } from './parts.ts'

type Fields = Readonly<Record<string, unknown>>
type Action = (database: Database, parameters: Fields, file: Fields) => Promise<unknown>

const PREVIEW_ROWS = 50

const ACTIONS: Readonly<Record<string, Action>> = {
  testConnection: async (database) => {
    await database.listSchemas()
    return { status: 'success' }
  },
  listSchemas: async (database) => ({ status: 'success', schemas: await database.listSchemas() }),
  listTables: async (database, { table }) => {
    const { schema } = (table ?? {}) as { schema?: unknown } // shown only when it is a text
    return {
      status: 'success',
      tables: await database.listTables(typeof schema === 'string' && schema !== '' ? schema : undefined),
    }
  },
  listColumns: async (database, parameters) => ({ status: 'success', ...(await database.describe(readSource(parameters))) }),
  /** How many rows a run would read, by the statistics of the database or, for a query, by counting. */
  estimate: async (database, parameters) => {
    const sources = readTables(parameters)?.map(({ source }) => source) ?? [readSource(parameters)]
    const estimates = []
    for (const source of sources) estimates.push(await estimateRows(database, source))
    const rows = estimates.reduce((sum, one) => sum + one.rows, 0)
    return { status: 'success', rows, isExact: estimates.every(({ isExact }) => isExact) }
  },
  /** What the next run would change in the columns of the table, and who reads it. */
  previewChanges: async (database, parameters, file) => {
    const row = readRow(parameters)
    const tableId = row.verifyTable ?? outputTableId(row, file, process.env)
    if (tableId === undefined) throw new UserError('verifyTable is missing: the table of the project, such as in.c-main.orders.')
    const here = openHere(process.env)
    const [table, { columns }] = await Promise.all([here.findTable(tableId), readColumns(database, row)])
    if (!table) return { status: 'success', table: tableId, exists: false, changes: [], stops: false, readBy: [] }
    const drift = driftOf(columns, table)
    const readers = await here.readersOf(tableId)
    const report = columnChanges(drift, row, tableId, readers)
    return { status: 'success', exists: true, ...report, readBy: readers.map(({ computed: _, ...reader }) => reader) }
  },
  preview: async (database, parameters) => {
    const source = readSource(parameters)
    const { columns } = await database.describe(source)
    return {
      status: 'success',
      columns: columns.map(({ name }) => name),
      rows: await database.preview(source, columns, PREVIEW_ROWS),
    }
  },
}

export function actionNamed(name: string): Action {
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
  if (!action) throw new UserError(`The action "${name.slice(0, 60)}" does not exist. Use ${Object.keys(ACTIONS).join(', ')}.`)
  return action
}
