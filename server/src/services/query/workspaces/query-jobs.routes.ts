// HTTP for the query service: submit statements, poll their status, read rows page by page, cancel (spec platform 6.9).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { BranchId, numberedId, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Scope } from '../../../model/scope.ts'
import type { QueryJobs } from './query-jobs.ts'
import type { Workspaces } from './workspaces.ts'

export interface QueryJobsRoutesDeps {
  readonly queryJobs: Pick<QueryJobs, 'submit' | 'get' | 'page' | 'cancel'>
  readonly workspaces: Pick<Workspaces, 'get'>
  readonly findBranch: (projectId: number, name: string) => Promise<Scope['branch'] | undefined>
}

const InWorkspace = Type.Object({ branchId: BranchId, workspaceId: numberedId('workspace') })
const ById = Type.Object({ queryJobId: numberedId('query job') })
const OfStatement = Type.Object({
  queryJobId: numberedId('query job'),
  statementId: Type.String({ description: 'Id of the statement, as the query job shows it.', examples: ['1017-1'] }),
})
const Columns = Type.Array(Type.Object({ name: Type.String(), type: Type.String() }))
const Nullable = (schema: Type.TInteger | Type.TString) => Type.Union([schema, Type.Null()])
const QueryJobView = Type.Object({
  queryJobId: Type.String(),
  status: Type.String({ description: 'created, processing, completed, failed or canceled' }),
  statements: Type.Array(
    Type.Object({
      id: Type.String(),
      status: Type.String(),
      query: Type.String(),
      error: Nullable(Type.String()),
      numberOfRows: Nullable(Type.Integer()),
      rowsAffected: Nullable(Type.Integer()),
    }),
  ),
})

const MAX_STATEMENTS = 1000

export function queryJobsRoutes({ queryJobs, workspaces, findBranch }: QueryJobsRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/query/api/v1/branches/:branchId/workspaces/:workspaceId/queries',
      {
        config: { operation: 'query.submit', summary: 'Run statements in a workspace, one after the other', needs: 'workspace' },
        schema: {
          params: InWorkspace,
          body: Type.Object({
            statements: Type.Array(Type.String(), {
              minItems: 1,
              maxItems: MAX_STATEMENTS,
              description: 'Statements in the dialect of DuckDB.',
              examples: [['SELECT 1']],
            }),
            transactional: optionalFlag('True: all of them, or none. Default false.'),
            actorType: optionalText('Source of the request, for example `user`; ignored.'),
          }),
          response: { 201: Type.Object({ queryJobId: Type.String() }) },
        },
      },
      async (req, reply) => {
        const branch = await findBranch(req.actor.projectId, req.params.branchId)
        if (!branch) throw new PlatformError('notFound', { what: `Branch id:"${req.params.branchId.slice(0, 40)}"` })
        const scope = { actor: req.actor, branch }
        const workspace = await workspaces.get(scope, req.params.workspaceId)
        const { statements, transactional = false } = req.body
        const asker = { ...scope, origin: req.origin, baseUrl: req.baseUrl }
        return reply.code(201).send({ queryJobId: await queryJobs.submit(asker, workspace, statements, transactional) })
      },
    )

    app.get(
      '/query/api/v1/queries/:queryJobId',
      {
        config: { operation: 'query.get', summary: 'Status of a query job and its statements', needs: 'workspace' },
        schema: { params: ById, response: { 200: QueryJobView } },
      },
      async (req) => {
        const { outcome } = await queryJobs.get(req.actor, req.params.queryJobId)
        const statements = outcome.statements.map(({ columns: _, ...statement }) => statement)
        return { queryJobId: req.params.queryJobId, status: outcome.status, statements }
      },
    )

    app.get(
      '/query/api/v1/queries/:queryJobId/:statementId/results',
      {
        config: { operation: 'query.results', summary: 'Rows of a statement, page by page', needs: 'workspace' },
        schema: {
          params: OfStatement,
          querystring: Type.Object({
            offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Rows to skip; 0 by default.' })),
            pageSize: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 100_000, description: 'Rows of the page; 1,000 by default.' }),
            ),
          }),
          response: {
            200: Type.Object({
              status: Type.String(),
              columns: Columns,
              data: Type.Array(Type.Array(Type.Unknown())),
              numberOfRows: Nullable(Type.Integer()),
              rowsAffected: Nullable(Type.Integer()),
              message: Nullable(Type.String()),
            }),
          },
        },
      },
      async (req) => {
        const { offset = 0, pageSize = 1000 } = req.query
        const { queryJobId, statementId } = req.params
        const { lines, columns, ...rest } = await queryJobs.page(req.actor, queryJobId, statementId, offset, pageSize)
        return { ...rest, columns: [...columns], data: lines.map((line) => JSON.parse(line) as unknown[]) } // lines of query-jobs.ts
      },
    )

    app.post(
      '/query/api/v1/queries/:queryJobId/cancel',
      {
        config: { operation: 'query.cancel', summary: 'Cancel a query job', needs: 'workspace' },
        schema: { params: ById, response: { 200: Type.Object({ queryJobId: Type.String() }) } },
      },
      async (req) => {
        await queryJobs.cancel(req.actor, req.params.queryJobId)
        return { queryJobId: req.params.queryJobId }
      },
    )
  }
}
