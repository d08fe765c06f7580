// Sync actions: what a form asks before a row is saved. Each answers with one JSON object.

import { UserError } from '../../http-extractor/src/errors.ts'
import { readSource } from './configuration.ts'
import type { Database } from './databases/database.ts'

type Fields = Readonly<Record<string, unknown>>
type Action = (database: Database, parameters: Fields) => Promise<unknown>

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
