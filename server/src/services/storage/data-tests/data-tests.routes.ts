// HTTP for tests on data: keep them, run them, read what they found (spec storage 2.5.13).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { JobView, jobView } from '../../../http/job-view.ts'
import { Nullable, numberedId, Offset, optionalFlag, TableId } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { CreateJob } from '../../../model/storage-job.ts'
import type { DataTestRecord } from './data-tests.store.ts'
import { type DataTests, runView } from './data-tests.ts'
import type { DbtTests } from './dbt-tests.ts'
import { parametersOf, TEST_TYPES } from './test-rules.ts'

const TypeName = Type.Union(
  TEST_TYPES.map((type) => Type.Literal(type)),
  { description: 'Type of the test; docs/data-tests.md lists the parameters of each type.' },
)
const SeverityName = Type.Union([Type.Literal('warn'), Type.Literal('stop')], {
  description:
    '`stop` (default): a load that fails the test is not published. `warn`: it is published, and the failure is reported.',
})
const Name = Type.String({ minLength: 1, maxLength: 200, description: 'Name of the test, unique in its table and branch.' })
const Parameters = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Parameters of the type: columns, limits, values or SQL.',
  examples: [{ columns: ['id'] }],
})
const Description = Type.String({ maxLength: 10_000, description: 'Purpose.' })
const Enabled = optionalFlag('False: the test is kept but not run.')

const NewTest = Type.Object({
  tableId: TableId,
  name: Name,
  type: TypeName,
  parameters: Type.Optional(Parameters),
  severity: Type.Optional(SeverityName),
  description: Type.Optional(Description),
  isEnabled: Enabled,
})
const ChangedTest = Type.Object({
  name: Type.Optional(Name),
  type: Type.Optional(TypeName),
  parameters: Type.Optional(Parameters),
  severity: Type.Optional(SeverityName),
  description: Type.Optional(Description),
  isEnabled: Enabled,
})
const TestView = Type.Object(
  {
    id: Type.String(),
    branchId: Type.String(),
    tableId: Type.String(),
    name: Type.String(),
    type: Type.String(),
    parameters: Type.Record(Type.String(), Type.Unknown()),
    severity: Type.String(),
    description: Type.String(),
    isEnabled: Type.Boolean(),
    creatorToken: Type.Object({ id: Type.Integer(), description: Type.String() }),
    created: Type.String(),
    updated: Type.String(),
  },
  { title: 'DataTest' },
)
const RunView = Type.Object(
  {
    id: Type.String(),
    tableId: Type.String(),
    status: Type.String({
      description: '`passed`, `warning`: a test of severity warn failed, or `failed`: one of severity stop did.',
    }),
    trigger: Type.String({ description: '`load`, `manual`, or `dbt`. A failed load was not published.' }),
    rowsCount: Type.Integer(),
    storageJobId: Nullable(Type.Integer()),
    runId: Nullable(Type.String()),
    startedAt: Type.String(),
    endedAt: Type.String(),
    results: Type.Array(
      Type.Object({
        testId: Type.String(),
        name: Type.String(),
        type: Type.String(),
        severity: Type.String(),
        status: Type.String({ description: '`passed`, `failed`, or `error`: the test could not be run.' }),
        failures: Nullable(Type.Integer({ description: 'Number of failed rows; null if rows are not counted.' })),
        message: Nullable(Type.String()),
        fileId: Nullable(Type.Integer({ description: 'File with the failed rows.' })),
        measured: Type.Optional(
          Type.Object(
            { of: Type.String(), value: Nullable(Type.Number()) },
            { description: 'Value that a test of type `usual` measured; later loads are compared with it.' },
          ),
        ),
      }),
    ),
    examples: Type.Array(Type.Object({ tests: Type.String(), row: Type.Record(Type.String(), Nullable(Type.String())) }), {
      description: 'Up to 20 failed rows, with the names of the tests.',
    }),
  },
  { title: 'DataTestRun' },
)
const Document = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description, examples: [{ results: [] }] })
const ImportedResults = Type.Object({
  runResults: Document('The run_results.json of `dbt test` or `dbt build`.'),
  manifest: Type.Optional(
    Document('The manifest.json of the same run, which contains the tables of the tests. Only `nodes` and `sources` are used.'),
  ),
  schemas: Type.Optional(
    Type.Array(
      Type.Object({
        schema: Type.String({ minLength: 1, maxLength: 255, description: 'Schema of the dbt project.' }),
        bucket: Type.String({ minLength: 1, maxLength: 255, description: 'Bucket that has the tables of its models.' }),
      }),
      { maxItems: 100, description: 'Buckets of the schemas. A schema that is the id of a bucket needs no entry.' },
    ),
  ),
  tableId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Table for tests without a known table; without it they are omitted.',
    }),
  ),
})
/** It is parsed at once: a larger manifest is sent with what the tests need of it, as the command line does. */
const MAX_IMPORT_BYTES = 16 * 2 ** 20
const ImportView = Type.Object(
  {
    runs: Type.Array(RunView),
    leftOut: Type.Integer({
      description: 'Results without a known table, or whose table already has 1,000 dbt tests.',
    }),
  },
  { title: 'DataTestImport' },
)
const ById = Type.Object({ testId: numberedId('test') })
const ByTable = Type.Object({ tableId: TableId })
const Limit = (max: number, standard: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: max, description: `Maximum number of items; ${standard} by default.` }))

export function dataTestsRoutes(tests: DataTests, dbtTests: DbtTests, createJob: CreateJob): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/data-tests',
      {
        config: {
          operation: 'dataTests.list',
          summary: 'Data tests of the project or of a table; the header X-Millrace-Total has their number',
          needs: 'bucketRead',
        },
        schema: {
          querystring: Type.Object({ tableId: Type.Optional(TableId), limit: Limit(1000, 100), offset: Offset }),
          response: { 200: Type.Array(TestView) },
        },
      },
      async (req, reply) => {
        const { tableId, limit = 100, offset = 0 } = req.query
        const { tests: found, total } = await tests.list(scopeOf(req), tableId, { limit, offset })
        reply.header('X-Millrace-Total', String(total))
        return found.map(testView)
      },
    )

    app.post(
      '/v2/storage/data-tests',
      {
        config: {
          operation: 'dataTests.create',
          summary: 'Create a data test of a table',
          needs: 'bucketWrite',
          proposable: 'branch',
        },
        schema: { body: NewTest, response: { 201: TestView } },
      },
      async (req, reply) => {
        const { tableId, ...input } = req.body
        return reply.code(201).send(testView(await tests.create(scopeOf(req), tableId, input, req.origin)))
      },
    )

    app.post(
      '/v2/storage/data-tests/import',
      {
        config: {
          operation: 'dataTests.import',
          summary: 'Import test results of dbt as data tests of their tables',
          needs: 'bucketWrite',
        },
        bodyLimit: MAX_IMPORT_BYTES,
        schema: { body: ImportedResults, response: { 201: ImportView } },
      },
      async (req, reply) => {
        const { runResults, manifest, schemas = [], tableId } = req.body
        const { runs, leftOut } = await dbtTests.importResults(
          scopeOf(req),
          { runResults, manifest, schemas, tableId },
          req.origin,
        )
        return reply.code(201).send({ runs: runs.map(runView), leftOut })
      },
    )

    app.get(
      '/v2/storage/data-tests/:testId',
      {
        config: { operation: 'dataTests.get', summary: 'A data test', needs: 'bucketRead' },
        schema: { params: ById, response: { 200: TestView } },
      },
      async (req) => testView(await tests.get(scopeOf(req), idOf(req.params.testId))),
    )

    app.put(
      '/v2/storage/data-tests/:testId',
      {
        config: {
          operation: 'dataTests.update',
          summary: 'Change a data test; omitted fields are unchanged',
          needs: 'bucketWrite',
          proposable: 'branch',
        },
        schema: { params: ById, body: ChangedTest, response: { 200: TestView } },
      },
      async (req) => testView(await tests.update(scopeOf(req), idOf(req.params.testId), req.body, req.origin)),
    )

    app.delete(
      '/v2/storage/data-tests/:testId',
      {
        config: {
          operation: 'dataTests.remove',
          summary: 'Delete a data test',
          needs: 'bucketWrite',
          proposable: 'branch',
        },
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await tests.remove(scopeOf(req), idOf(req.params.testId), req.origin)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/data-tested-tables',
      {
        config: { operation: 'dataTests.tables', summary: 'Ids of tables with enabled data tests', needs: 'bucketRead' },
        schema: { response: { 200: Type.Array(Type.String()) } },
      },
      async (req) => [...(await tests.tablesTested(scopeOf(req)))],
    )

    app.post(
      '/v2/storage/tables/:tableId/data-tests/run',
      {
        config: {
          operation: 'dataTests.run',
          summary: 'Run the data tests of a table on its current state (storage job)',
          needs: 'bucketRead',
          proposable: 'branch',
        },
        schema: { params: ByTable, response: { 202: JobView } },
      },
      async (req, reply) => {
        const job = await createJob(req, await tests.startRun(scopeOf(req), req.params.tableId))
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/data-tests/runs',
      {
        config: {
          operation: 'dataTests.runs',
          summary: 'Results of the data tests of a table, newest first; the last 100 runs are kept',
          needs: 'bucketRead',
        },
        schema: {
          params: ByTable,
          querystring: Type.Object({ limit: Limit(100, 10), offset: Offset }),
          response: { 200: Type.Array(RunView) },
        },
      },
      async (req) => {
        const { limit = 10, offset = 0 } = req.query
        return (await tests.listRuns(scopeOf(req), req.params.tableId, { limit, offset })).map(runView)
      },
    )
  }
}

function idOf(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new PlatformError('storage.dataTests.notFound', { id: text.slice(0, 60) })
  return Number(text)
}

const testView = (test: DataTestRecord) => ({
  id: String(test.id),
  branchId: String(test.branchId),
  tableId: test.tableId,
  name: test.name,
  type: test.rule.type,
  parameters: parametersOf(test.rule),
  severity: test.severity,
  description: test.description,
  isEnabled: test.isEnabled,
  creatorToken: { ...test.creator },
  created: test.createdAt.toISOString(),
  updated: test.updatedAt.toISOString(),
})
