// Tools that change what tables hold: create, load, export and delete them, and the tests on their data.

import { Type } from 'typebox'
import { path } from '../../../../http/inner/inner-api.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { waitForStorageJob } from '../storage-job.ts'
import { Anything, asData, Data, defineTool, Name, objectOf, optionalText, TableId, type Tool, text } from '../tool.ts'
import { stepUp } from './build.ts'

const Columns = Type.Array(
  Type.Object({ name: Type.String(), type: Type.Optional(Type.String()) }, { additionalProperties: false }),
  { description: 'Types: STRING, INTEGER, NUMERIC, DATE, TIMESTAMP...; texts without any.' },
)
const DESCRIPTION = 'KBC.description'

interface StoredFile {
  readonly id: number
  readonly name: string
  readonly sizeBytes: number
  readonly url: string
}

interface TestRun {
  readonly status: string
  readonly results: readonly {
    readonly testId: string
    readonly name: string
    readonly status: string
    readonly message: string | null
  }[]
  readonly examples: readonly unknown[]
}

export const dataTools: readonly Tool[] = [
  defineTool('build', 'create_table', {
    description: 'Create an empty table, with its bucket if that does not exist.',
    input: {
      table: text('Table id to create, such as in.c-main.orders.'),
      columns: Columns,
      primaryKey: Type.Optional(Type.Array(Type.String())),
      csv: optionalText('Rows to load, with a header.'),
    },
    output: { table: Anything },
    kind: 'writes',
    run: async ({ table, columns, primaryKey = [], csv }, api) => {
      const [stage = '', bucketName = '', ...rest] = table.split('.')
      const bucket = `${stage}.${bucketName}`
      if (csv !== undefined && api.onlyProposes) throw new PlatformError('proposals.noRows', { table })
      if (!api.onlyProposes && (await api.find(path`/v2/storage/buckets/${bucket}`)) === undefined)
        await api.send('POST', '/v2/storage/buckets', { stage, name: bucketName.replace(/^c-/, '') })
      const isTyped = columns.some(({ type }) => type !== undefined)
      const job = await api.send<{ id: number }>('POST', path`/v2/storage/buckets/${bucket}/tables-definition`, {
        name: rest.join('.'),
        primaryKeysNames: primaryKey,
        columns: columns.map(({ name, type }) => (isTyped ? { name, definition: { type: type ?? 'STRING' } } : { name })),
      })
      await waitForStorageJob(api, job.id)
      if (csv !== undefined) await api.send('POST', path`/v2/storage/tables/${table}/import`, { dataString: csv })
      const made = await api.get<{ id: string; rowsCount: number }>(path`/v2/storage/tables/${table}`)
      return { table: { id: made.id, rows: made.rowsCount } }
    },
  }),

  defineTool('build', 'document_table', {
    description: 'Save descriptions of a table and of its columns.',
    input: { table: TableId, description: optionalText('Of the table.'), columns: Type.Optional(objectOf('Texts by column.')) },
    output: { described: Type.Integer() },
    kind: 'writes',
    run: async ({ table, description, columns = {} }, api) => {
      const texts = Object.entries(columns).map(([columnName, value]) => ({ columnName, key: DESCRIPTION, value }))
      const count = texts.length + (description === undefined ? 0 : 1)
      if (count === 0) throw new PlatformError('mcp.invalidCall', { reason: 'Give description or columns.' })
      await api.send('POST', path`/v2/storage/tables/${table}/metadata`, {
        provider: 'user',
        ...(description !== undefined && { metadata: [{ key: DESCRIPTION, value: description }] }),
        ...(texts.length > 0 && { columnsMetadata: { all: texts } }),
      })
      return { described: count }
    },
  }),

  defineTool('build', 'load_table', {
    description: 'Add rows to a table; those with a known primary key are replaced.',
    input: {
      table: TableId,
      csv: optionalText('Rows with a header.'),
      file: Type.Optional(Type.Integer({ description: 'File id.' })),
      isReplaced: Type.Optional(Type.Boolean({ description: 'Replace all rows; a person allows it.' })),
    },
    output: { table: Anything },
    needsDirect: true,
    needsPerson: ({ table, isReplaced = false }) => (isReplaced ? stepUp('replace all rows of table', table) : undefined),
    kind: 'destroys',
    run: async ({ table, csv, file, isReplaced = false }, api) => {
      if ((csv === undefined) === (file === undefined)) throw oneOf('csv or file')
      const incremental = !isReplaced
      if (csv !== undefined) await api.send('POST', path`/v2/storage/tables/${table}/import`, { dataString: csv, incremental })
      else {
        const body = { dataFileId: file, incremental }
        const job = await api.send<{ id: number }>('POST', path`/v2/storage/tables/${table}/import-async`, body)
        await waitForStorageJob(api, job.id)
      }
      const loaded = await api.get<{ id: string; rowsCount: number }>(path`/v2/storage/tables/${table}`)
      return { table: { id: loaded.id, rows: loaded.rowsCount } }
    },
  }),

  defineTool('run', 'export_rows', {
    description: 'Rows of a table or of one SELECT as a file, with a link that works for an hour.',
    input: {
      table: Type.Optional(TableId),
      sql: optionalText('One statement that reads, instead of a table.'),
      format: optionalText('csv (default), parquet or, of a table, jsonl.'),
    },
    output: { data: Data },
    needsDirect: true,
    kind: 'writes',
    run: async ({ table, sql, format = 'csv' }, api) => {
      if ((table === undefined) === (sql === undefined)) throw oneOf('table or sql')
      const job =
        table === undefined
          ? await api.send<{ id: number }>('POST', '/v2/storage/query/export', { sql, fileType: format })
          : await api.send<{ id: number }>('POST', path`/v2/storage/tables/${table}/export-async`, {
              ...{ fileType: format, merged: true },
            })
      const { file } = await waitForStorageJob<{ file: { id: number } }>(api, job.id)
      const { id, name, sizeBytes, url } = await api.get<StoredFile>(`/v2/storage/files/${file.id}`)
      return { data: asData({ file: id, name, bytes: sizeBytes, link: url }) }
    },
  }),

  defineTool('build', 'delete_table', {
    description: 'Delete a table and its rows. `isDryRun` shows what would be lost.',
    input: { table: TableId, isDryRun: Type.Optional(Type.Boolean()) },
    output: { result: Type.Unknown() },
    needsPerson: ({ table, isDryRun = false }) => (isDryRun ? undefined : stepUp('delete table', table)),
    kind: 'destroys',
    run: async ({ table, isDryRun = false }, api) => ({
      result: await api.send('DELETE', `${path`/v2/storage/tables/${table}`}${isDryRun ? '?dryRun=1' : ''}`),
    }),
  }),

  defineTool('build', 'save_test', {
    description:
      'Create a data test of a table, or change one. Every load runs it: stop (default) refuses the load, warn reports. read_docs "data tests" explains types and parameters.',
    input: {
      table: optionalText('Table id, of a new one.'),
      test: optionalText('Test id, to change it.'),
      name: Type.Optional(Name),
      type: optionalText(
        'notNull, unique, acceptedValues, range, pattern, relationships, rowCount, usual, freshness, schema or sql.',
      ),
      parameters: Type.Optional(objectOf('Such as {"columns": ["id"]}.')),
      severity: optionalText('stop or warn.'),
      isEnabled: Type.Optional(Type.Boolean()),
    },
    output: { test: Anything },
    kind: 'writes',
    run: async ({ table, test, ...rest }, api) => {
      if ((table === undefined) === (test === undefined)) throw oneOf('table or test')
      const saved =
        test === undefined
          ? await api.send('POST', '/v2/storage/data-tests', { tableId: table, ...rest })
          : await api.send('PUT', path`/v2/storage/data-tests/${test}`, rest)
      const { id, tableId, name, type, parameters, severity, isEnabled } = saved
      return { test: { id, table: tableId, name, type, parameters, severity, isEnabled } }
    },
  }),

  defineTool('build', 'delete_test', {
    description: 'Delete a data test.',
    input: { test: text('Test id.') },
    output: { deleted: Type.String() },
    needsPerson: ({ test }) => stepUp('delete data test', test),
    kind: 'destroys',
    run: async ({ test }, api) => {
      await api.send('DELETE', path`/v2/storage/data-tests/${test}`)
      return { deleted: test }
    },
  }),

  defineTool('run', 'run_tests', {
    description: 'Run the data tests of a table on its rows as they are now.',
    input: { table: TableId },
    output: { status: Type.String(), data: Data },
    kind: 'writes',
    run: async ({ table }, api) => {
      const job = await api.send<{ id: number }>('POST', path`/v2/storage/tables/${table}/data-tests/run`)
      const { status, results, examples } = await waitForStorageJob<TestRun>(api, job.id)
      return { status, data: asData({ results, examples }) }
    },
  }),
]

const oneOf = (names: string) => new PlatformError('mcp.invalidCall', { reason: `Give either ${names}.` })
