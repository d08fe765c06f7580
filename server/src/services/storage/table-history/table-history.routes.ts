// HTTP for the switch that keeps the history of a table (spec storage 2.5.14).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Nullable, TableId } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import type { TableHistories } from './table-history.ts'

const ByTable = Type.Object({ tableId: TableId })
const HistoryView = Type.Object(
  {
    tableId: Type.String(),
    isEnabled: Type.Boolean(),
    historyTableId: Nullable(Type.String({ description: 'The table that the changes are added to.' })),
    isCurrent: Type.Boolean({ description: 'Whether the history has the current state of the table.' }),
    updated: Nullable(Type.String()),
    problem: Nullable(Type.String({ description: 'Why the last state could not be added; this is retried.' })),
  },
  { title: 'TableHistory' },
)

export function tableHistoryRoutes(histories: TableHistories): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/tables/:tableId/history',
      {
        config: {
          operation: 'tableHistory.get',
          summary: 'Status of the history of a table',
          needs: 'bucketRead',
        },
        schema: { params: ByTable, response: { 200: HistoryView } },
      },
      async (req) => histories.get(scopeOf(req), req.params.tableId),
    )

    app.put(
      '/v2/storage/tables/:tableId/history',
      {
        config: {
          operation: 'tableHistory.set',
          summary: 'Enable or disable the history of a table (SCD2); disabling keeps its rows',
          needs: 'bucketWrite',
        },
        schema: {
          params: ByTable,
          body: Type.Object({ isEnabled: Type.Boolean({ description: 'Whether each new state is added to the history.' }) }),
          response: { 200: HistoryView },
        },
      },
      async (req) => histories.set(scopeOf(req), req.params.tableId, req.body.isEnabled, req.origin),
    )
  }
}
