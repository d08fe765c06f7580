// HTTP of the PostgreSQL port: where BI tools connect to (spec storage 2.9.3, docs/bi.md).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Nullable } from '../../../http/parameters.ts'

const ConnectionView = Type.Object(
  {
    host: Type.String(),
    port: Nullable(Type.Integer({ description: 'Null: the stack has no PostgreSQL port (MILLRACE_SQL_PORT).' })),
    database: Type.String(),
    isEncrypted: Type.Boolean({ description: 'True: the port supports TLS, which is required from other machines.' }),
  },
  { title: 'SqlConnection' },
)

export interface ConnectionRoutesDeps {
  readonly number: () => number | undefined
  readonly isEncrypted: boolean
}

export function connectionRoutes({ number, isEncrypted }: ConnectionRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/query/connection',
      {
        config: {
          operation: 'sql.connection',
          summary: 'Host and port for PostgreSQL clients; the password is a token, whose permissions apply',
          needs: 'token',
        },
        schema: { response: { 200: ConnectionView } },
      },
      async (req) => ({ host: new URL(req.baseUrl).hostname, port: number() ?? null, database: 'default', isEncrypted }),
    )
  }
}
