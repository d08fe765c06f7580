// HTTP for data contracts of tables, and for the load that broke a table (spec storage 2.5.14).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { JobView, jobView } from '../../../http/job-view.ts'
import { Nullable, numberedId, TableId } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import type { CreateJob } from '../../../model/storage-job.ts'
import type { Bisect } from './bisect.ts'
import { MAX_CONTRACT } from './contract-rules.ts'
import type { Contracts } from './data-contracts.ts'

const ByTable = Type.Object({ tableId: TableId })
const ContractView = Type.Object(
  {
    tableId: Type.String(),
    contract: Type.String({ description: 'The contract as YAML, as it was imported.' }),
    isDraft: Type.Boolean({ description: 'Created from the table: it has no contract yet, and nothing is checked.' }),
    isOfDefaultBranch: Type.Boolean({ description: 'The branch has no contract of its own for the table.' }),
    checks: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), severity: Type.String() }), {
      description: 'Checks of each load that the contract requires.',
    }),
    notChecked: Type.Array(Type.String(), { description: 'Rules of the contract that are not checked.' }),
    updated: Nullable(Type.String()),
  },
  { title: 'DataContract' },
)
const Break = Type.Object(
  {
    tableId: Type.String(),
    problems: Type.Array(Type.Object({ name: Type.String(), severity: Type.String(), message: Type.String() })),
    usedBy: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      description: 'Configurations that read the table in the default branch, by lineage.',
    }),
  },
  { title: 'ContractBreak' },
)

export function contractsRoutes(contracts: Contracts, bisect: Bisect, createJob: CreateJob): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/tables/:tableId/contract',
      {
        config: {
          operation: 'dataContracts.get',
          summary: 'The data contract of a table as YAML (ODCS); a draft from the table if it has none',
          needs: 'bucketRead',
        },
        schema: { params: ByTable, response: { 200: ContractView } },
      },
      async (req) => contracts.get(scopeOf(req), req.params.tableId),
    )

    app.put(
      '/v2/storage/tables/:tableId/contract',
      {
        config: {
          operation: 'dataContracts.save',
          summary: 'Import a data contract (ODCS 3, YAML) for a table; all later loads are checked',
          needs: 'bucketWrite',
          proposable: 'branch',
        },
        schema: {
          params: ByTable,
          body: Type.Object({
            contract: Type.String({ maxLength: MAX_CONTRACT, minLength: 1, description: 'The contract as YAML.' }),
            force: Type.Optional(
              Type.Boolean({
                description: 'Import it even if the current table does not fulfil it; the next load must fulfil it.',
              }),
            ),
          }),
          response: { 200: ContractView },
        },
      },
      async (req) => {
        const { contract, force = false } = req.body
        return contracts.save(scopeOf(req), req.params.tableId, contract, force, req.origin)
      },
    )

    app.delete(
      '/v2/storage/tables/:tableId/contract',
      {
        config: {
          operation: 'dataContracts.remove',
          summary: 'Delete the data contract of a table; loads are no longer checked',
          needs: 'bucketWrite',
          proposable: 'branch',
        },
        schema: { params: ByTable, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await contracts.remove(scopeOf(req), req.params.tableId, req.origin)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/contract-breaks',
      {
        config: {
          operation: 'dataContracts.breaks',
          summary:
            'Tables of a development branch that break contracts of the default branch, with the configurations that read them',
          needs: 'bucketRead',
        },
        schema: { response: { 200: Type.Array(Break) } },
      },
      async (req) => contracts.breaks(scopeOf(req)),
    )

    app.post(
      '/v2/storage/tables/:tableId/bisect',
      {
        config: {
          operation: 'tables.bisect',
          summary: 'Find the first load after which a check fails, by bisection (storage job)',
          needs: 'bucketRead',
        },
        schema: {
          params: ByTable,
          body: Type.Object({
            goodAt: Type.String({
              minLength: 1,
              maxLength: 60,
              description: 'Time at which the check passed: an ISO time, or -2 days.',
            }),
            badAt: Type.Optional(
              Type.String({ minLength: 1, maxLength: 60, description: 'Time at which the check fails; now by default.' }),
            ),
            testId: Type.Optional(numberedId('test')),
            sql: Type.Optional(
              Type.String({ minLength: 1, maxLength: 65_536, description: 'The check as a query; returned rows are failures.' }),
            ),
          }),
          response: { 202: JobView },
        },
      },
      async (req, reply) => {
        const { testId, ...request } = req.body
        const job = await createJob(
          req,
          await bisect.start(scopeOf(req), req.params.tableId, {
            ...request,
            testId: testId === undefined ? undefined : Number(testId),
          }),
        )
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )
  }
}
