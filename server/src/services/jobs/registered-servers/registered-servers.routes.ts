// HTTP for the registered Spark cluster and MLflow server (spec platform 6.13).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { ProxiedAnswer } from '../../../engines/reverse-proxy/reverse-proxy.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { MLFLOW, type RegisteredServers, SPARK_PAGES } from './registered-servers.ts'

const Nullable = Type.Union([Type.String(), Type.Null()])
const Amount = Type.Object({ all: Type.Number(), used: Type.Number() })
const Server = {
  url: Type.String({
    description: 'URL that the operator registered, or URL of the server that the stack runs.',
  }),
  version: Nullable,
  problem: Type.Union([Type.String(), Type.Null()], { description: 'Reason why the server is unavailable; otherwise null.' }),
}
const SparkView = Type.Object(
  {
    ...Server,
    pagesUrl: Nullable,
    cluster: Type.Union([
      Type.Object({
        status: Type.String(),
        workers: Type.Object({ alive: Type.Number(), all: Type.Number() }),
        cores: Amount,
        memoryMb: Amount,
        applications: Type.Array(
          Type.Object({
            id: Type.String(),
            name: Type.String(),
            jobId: Type.String(),
            state: Type.String(),
            cores: Type.Number(),
            memoryPerExecutorMb: Type.Number(),
            startedAt: Timestamp,
          }),
          { description: 'Running applications of this project.' },
        ),
      }),
      Type.Null(),
    ]),
  },
  { title: 'SparkCluster' },
)
const MlflowView = Type.Object(Server, { title: 'MlflowServer' })
const AnyPath = Type.Object({ '*': Type.String({ description: 'Path on the server.' }) })
const proxied = { params: AnyPath, response: { 200: Type.Unknown() } }

const pageConfig = (operation: string, summary: string) =>
  ({ operation, summary: `${summary} (stack admin)`, needs: 'person', role: 'stack admin', produces: ['*/*'] }) as const

export function registeredServersRoutes(servers: RegisteredServers): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/spark/cluster',
      {
        config: {
          operation: 'spark.cluster',
          summary: 'The registered Spark cluster, and the applications of the project',
          needs: 'project',
        },
        schema: { response: { 200: SparkView } },
      },
      async ({ actor }) => {
        const { cluster, ...state } = await servers.spark(actor.projectId)
        return { ...state, cluster: cluster && { ...cluster, applications: cluster.applications.map(applicationView) } }
      },
    )

    const sparkPage = async (request: FastifyRequest, reply: FastifyReply) => {
      const { method, headers } = request
      return answer(reply, await servers.sparkPage({ method, path: pathBelow(request, SPARK_PAGES), headers }))
    }
    app.get(
      SPARK_PAGES,
      {
        config: pageConfig('spark.frontPage', 'The first page of the Spark master'),
        schema: { response: { 200: Type.Unknown() } },
      },
      sparkPage,
    )
    app.get(
      `${SPARK_PAGES}/*`,
      { config: pageConfig('spark.page', 'A page of the Spark master, without its scripts'), schema: proxied },
      sparkPage,
    )

    app.get(
      `${MLFLOW}/server`,
      {
        config: { operation: 'mlflow.server', summary: 'The registered MLflow server', needs: 'project' },
        schema: { response: { 200: MlflowView } },
      },
      async ({ actor, baseUrl }) => servers.mlflow(actor.projectId, baseUrl),
    )

    app.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url: `${MLFLOW}/*`,
      config: {
        operation: 'mlflow.request',
        summary: 'Forward a request to the registered MLflow server',
        needs: 'canManageBuckets',
        body: 'stream',
        consumes: ['*/*'],
        produces: ['*/*'],
      },
      schema: proxied,
      handler: async (request, reply) => {
        const { method, headers, raw } = request
        const body = method === 'GET' || method === 'HEAD' ? undefined : raw
        const sent = { method, path: pathBelow(request, MLFLOW), headers, body }
        return answer(reply, await servers.mlflowRequest(request.actor.projectId, sent))
      },
    })
  }
}

/** With the slash at its end and the query: the stack itself takes the slash away. */
function pathBelow({ url, originalUrl }: FastifyRequest, prefix: string): string {
  const [path = '', ...query] = url.slice(prefix.length).split('?')
  const endsWithSlash = path === '' || originalUrl.split('?', 1)[0]!.endsWith('/')
  return [endsWithSlash && !path.endsWith('/') ? `${path}/` : path, ...query].join('?')
}

const answer = (reply: FastifyReply, { status, headers, body }: ProxiedAnswer): FastifyReply =>
  reply.code(status).headers(headers).send(body)

const applicationView = <T extends { readonly startedAt: Date }>({ startedAt, ...application }: T) => ({
  ...application,
  startedAt: formatTimestamp(startedAt),
})
