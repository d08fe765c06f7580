// Tools that read rows. Their items are data.

import { Type } from 'typebox'
import { path } from '../../../../http/inner/inner-api.ts'
import { asData, defineTool, Items, Next, offsetOf, optionalText, TableId, type Tool, text } from '../tool.ts'

const MAX_ROWS = 200
const PAGE = 100
const MAX_CELL = 300

type Rows = readonly (readonly unknown[])[]

export const queryTools: readonly Tool[] = [
  defineTool('query', 'query', {
    description:
      'Run one SELECT in the DuckDB dialect; tables are "in.c-bucket"."table". Read-only in the engine. Prefer aggregates to many rows.',
    input: {
      sql: text('One statement that reads.'),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ROWS, description: 'Rows; 50 by default.' })),
    },
    output: { notice: Type.String(), columns: Items, items: Items },
    kind: 'reads',
    run: async ({ sql, limit = 50 }, api) => {
      const body = { sql, format: 'json', limit }
      const found = await api.send<{ columns: unknown; rows: Rows; isTruncated: boolean }>('POST', '/v2/storage/query', body)
      return { ...asData({ columns: found.columns }), items: found.rows.map(cutRow), hasMore: found.isTruncated }
    },
  }),

  defineTool('query', 'read_rows', {
    description: 'Rows of one table by page, optionally only those that contain a text.',
    input: {
      table: TableId,
      columns: optionalText('Comma-separated; all by default.'),
      search: optionalText('Text that a row contains.'),
      next: Next,
    },
    output: { notice: Type.String(), columns: Items, items: Items },
    kind: 'reads',
    run: async ({ table, columns, search, next }, api) => {
      const offset = offsetOf(next)
      const found = await api.get<{ columns: unknown; rows: Rows; total: number | null; nextOffset: number | null }>(
        path`/v2/storage/tables/${table}/rows`,
        { limit: PAGE, offset, cellChars: MAX_CELL, columns, fulltextSearch: search },
      )
      return {
        ...asData({ columns: found.columns }),
        ...{ items: found.rows, offset, total: found.total, hasMore: found.nextOffset !== null },
      }
    },
  }),
]

const cutRow = (row: readonly unknown[]): readonly unknown[] =>
  row.map((cell) => (typeof cell === 'string' && cell.length > MAX_CELL ? `${cell.slice(0, MAX_CELL)}…` : cell))
