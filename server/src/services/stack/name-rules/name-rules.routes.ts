// HTTP for safe names (spec storage 2.12).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { checkColumnNames, webalizeColumnNames, webalizeDisplayName } from './name-rules.ts'

const ColumnNames = Type.Object({
  columnNames: Type.Array(Type.String({ maxLength: 10_000 }), { description: 'Names as in the file.' }),
})
const DisplayName = Type.Object({ displayName: Type.String({ maxLength: 10_000, description: 'A name with any characters.' }) })

/** As many names as a table has columns, of the length that a column may have, several times over. */
const BODY_LIMIT = 2 ** 20

export const nameRulesRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post(
    '/v2/storage/webalize/display-name',
    {
      config: { operation: 'naming.displayName', summary: 'Normalize a display name', needs: 'token', onlyReads: true },
      bodyLimit: BODY_LIMIT,
      schema: { body: DisplayName, response: { 200: DisplayName } },
    },
    async ({ body }) => ({ displayName: webalizeDisplayName(body.displayName) }),
  )

  app.post(
    '/v2/storage/webalize/column-names',
    {
      config: { operation: 'naming.columnNames', summary: 'Normalize column names', needs: 'token', onlyReads: true },
      bodyLimit: BODY_LIMIT,
      schema: { body: ColumnNames, response: { 200: ColumnNames } },
    },
    async ({ body }) => ({ columnNames: webalizeColumnNames(body.columnNames) }),
  )

  app.post(
    '/v2/storage/validate/column-names',
    {
      config: {
        operation: 'naming.checkColumnNames',
        summary: 'Validate column names',
        needs: 'token',
        onlyReads: true,
      },
      bodyLimit: BODY_LIMIT,
      schema: { body: ColumnNames, response: { 204: Type.Null() } },
    },
    async ({ body }, reply) => {
      checkColumnNames(body.columnNames)
      return reply.code(204).send(null)
    },
  )
}
