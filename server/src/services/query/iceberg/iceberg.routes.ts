// HTTP for the catalogue (spec platform 6.12): the REST protocol of Iceberg. Errors have Iceberg's shape, not ours.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { platformErrorOf, statusOf } from '../../../http/errors-to-http.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RoutesServer } from '../../../model/module.ts'
import type { CatalogueOfRoutes } from './run-namespace.ts'
import type { Asker } from './writes.ts'

const PrefixParams = Type.Object({ prefix: Type.String({ description: 'Prefix from `GET /iceberg/v1/config`.' }) })
const NamespaceParams = Type.Object({
  ...PrefixParams.properties,
  namespace: Type.String({ description: 'The bucket: `in%1Fc-main` or `in.c-main`.' }),
})
const TableParams = Type.Object({
  ...NamespaceParams.properties,
  table: Type.String({ description: 'Name of the table in its bucket.' }),
})
const Page = {
  pageToken: Type.Optional(Type.String({ description: 'Accepted and ignored: responses are not paged.' })),
  pageSize: Type.Optional(Type.String({ description: 'Accepted and ignored: responses are not paged.' })),
}
const Names = Type.Array(Type.String())
const IcebergError = Type.Object({ error: Type.Object({ message: Type.String(), type: Type.String(), code: Type.Integer() }) })
const ERRORS = { 401: IcebergError, 403: IcebergError, '4XX': IcebergError, 503: IcebergError }
const LoadedTable = Type.Object({
  'metadata-location': Type.String(),
  metadata: Type.Unknown(),
  config: Type.Record(Type.String(), Type.String()),
  'storage-credentials': Type.Optional(Type.Array(Type.Unknown())),
})
const CommitBody = Type.Object({
  identifier: Type.Optional(Type.Unknown({ description: 'Accepted and ignored: the URL names the table.' })),
  requirements: Type.Array(Type.Unknown(), {
    description: 'Requirements, for example `assert-ref-snapshot-id`.',
  }),
  updates: Type.Array(Type.Unknown(), {
    description: '`add-snapshot` with `set-snapshot-ref` of main, `add-schema` with `set-current-schema`.',
  }),
})
const NewTable = Type.Object({
  name: Type.String({ description: 'Name of the table in its bucket.' }),
  schema: Type.Unknown({ description: 'Columns in the format of Iceberg; new field ids are assigned.' }),
  location: Type.Optional(Type.Unknown({ description: 'Refused: the catalogue sets the location.' })),
  'partition-spec': Type.Optional(Type.Unknown({ description: 'Without fields: tables have no partitions.' })),
  'write-order': Type.Optional(Type.Unknown({ description: 'Without fields: tables have no sort order.' })),
  'stage-create': Type.Optional(
    Type.Boolean({
      description: 'True: stage the table; a commit with `assert-create` creates it.',
    }),
  ),
  properties: Type.Optional(Type.Unknown({ description: 'Accepted and ignored; the response has the actual properties.' })),
})
const DELEGATION = 'x-iceberg-access-delegation'
const SPACE = '/iceberg/v1/:prefix/namespaces'
const TABLE = `${SPACE}/:namespace/tables/:table`

/** The supported endpoints; clients call no others. */
const ENDPOINTS = [
  'GET /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}',
  'HEAD /v1/{prefix}/namespaces/{namespace}',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics',
  'POST /v1/{prefix}/namespaces/{namespace}/tables',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}',
]

export function icebergRoutes(iceberg: CatalogueOfRoutes): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.setErrorHandler(sendError)

    addServiceRoutes(app, iceberg)
    addNamespaceRoutes(app, iceberg)
    addTableRoutes(app, iceberg)

    app.all(
      '/iceberg/v1/*',
      {
        config: { operation: 'iceberg.notBuilt', summary: 'Not built: other requests of the protocol', needs: 'nothing' },
        schema: {
          params: Type.Object({ '*': Type.String({ description: 'Any other address of the protocol.' }) }),
          response: { '4XX': IcebergError, 501: IcebergError },
        },
      },
      async (req) => {
        throw new PlatformError('iceberg.notBuilt', { what: `${req.method} ${req.url.split('?')[0]}` })
      },
    )
  }
}

function addServiceRoutes(app: RoutesServer, iceberg: CatalogueOfRoutes): void {
  app.get(
    '/iceberg/v1/config',
    {
      config: {
        operation: 'iceberg.config',
        summary: 'The prefix and the supported endpoints of the catalogue',
        needs: 'token',
      },
      schema: {
        querystring: Type.Object({
          warehouse: Type.Optional(Type.String({ description: 'The id of a branch, `flat`, or both as `123/flat`.' })),
        }),
        response: {
          ...ERRORS,
          200: Type.Object({
            defaults: Type.Record(Type.String(), Type.String()),
            overrides: Type.Record(Type.String(), Type.String()),
            endpoints: Names,
          }),
        },
      },
    },
    async (req) => ({
      defaults: {},
      overrides: { prefix: await iceberg.prefixOf(req.actor, req.query.warehouse ?? '') },
      endpoints: ENDPOINTS,
    }),
  )

  app.post(
    '/iceberg/v1/oauth/tokens',
    {
      config: {
        operation: 'iceberg.token',
        summary: 'Token endpoint for clients with a client secret: the storage token serves as both',
        needs: 'nothing',
      },
      schema: {
        body: Type.Object({
          grant_type: Type.Optional(Type.String({ description: '`client_credentials`.' })),
          client_id: Type.Optional(Type.String({ description: 'Any value.' })),
          client_secret: Type.Optional(Type.String({ description: 'A storage token.' })),
          scope: Type.Optional(Type.String({ description: 'Accepted and ignored.' })),
        }),
        response: {
          ...ERRORS,
          200: Type.Object({
            access_token: Type.String(),
            token_type: Type.String(),
            issued_token_type: Type.String(),
            expires_in: Type.Integer(),
          }),
          401: Type.Object({ error: Type.String(), error_description: Type.String() }),
        },
      },
    },
    async (req, reply) => {
      const secret = req.body.client_secret ?? ''
      if (secret === '' || !(await iceberg.isToken(secret)))
        return reply
          .code(401)
          .send({ error: 'invalid_client', error_description: 'The client secret should be a valid storage token.' })
      return {
        access_token: secret,
        token_type: 'bearer',
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        expires_in: TOKEN_SECONDS,
      }
    },
  )
}

function addNamespaceRoutes(app: RoutesServer, iceberg: CatalogueOfRoutes): void {
  app.get(
    SPACE,
    {
      config: { operation: 'iceberg.namespaces', summary: 'List stages, or the buckets of a stage', needs: 'token' },
      schema: {
        params: PrefixParams,
        querystring: Type.Object({
          parent: Type.Optional(Type.String({ description: 'Stage whose buckets are listed.' })),
          ...Page,
        }),
        response: { ...ERRORS, 200: Type.Object({ namespaces: Type.Array(Names) }) },
      },
    },
    async (req) => ({ namespaces: [...(await iceberg.listNamespaces(req.actor, req.params.prefix, req.query.parent))] }),
  )

  app.head(
    `${SPACE}/:namespace`,
    {
      config: {
        operation: 'iceberg.namespaceExists',
        summary: 'Whether the bucket exists and may be read',
        needs: 'catalogueRead',
      },
      schema: { params: NamespaceParams, response: { ...ERRORS, 204: Type.Null() } },
    },
    async (req, reply) => {
      await iceberg.at(req.params.namespace).getNamespace(req.actor, req.params.prefix, req.params.namespace)
      return reply.code(204).send(null)
    },
  )

  app.get(
    `${SPACE}/:namespace`,
    {
      config: { operation: 'iceberg.namespace', summary: 'One stage or bucket', needs: 'catalogueRead' },
      schema: {
        params: NamespaceParams,
        response: { ...ERRORS, 200: Type.Object({ namespace: Names, properties: Type.Record(Type.String(), Type.String()) }) },
      },
    },
    async (req) => ({
      namespace: [...(await iceberg.at(req.params.namespace).getNamespace(req.actor, req.params.prefix, req.params.namespace))],
      properties: {},
    }),
  )

  app.get(
    `${SPACE}/:namespace/tables`,
    {
      config: {
        operation: 'iceberg.tables',
        summary: 'List the tables of a bucket, and aliases of whole tables',
        needs: 'catalogueRead',
      },
      schema: {
        params: NamespaceParams,
        querystring: Type.Object(Page),
        response: {
          ...ERRORS,
          200: Type.Object({ identifiers: Type.Array(Type.Object({ namespace: Names, name: Type.String() })) }),
        },
      },
    },
    async (req) => ({
      identifiers: await iceberg.at(req.params.namespace).listTables(req.actor, req.params.prefix, req.params.namespace),
    }),
  )

  app.post(
    `${SPACE}/:namespace/tables`,
    {
      config: {
        operation: 'iceberg.createTable',
        summary: 'Create a table, or stage one that is created by its first commit',
        needs: 'catalogueWrite',
      },
      schema: {
        params: NamespaceParams,
        body: NewTable,
        response: {
          ...ERRORS,
          200: Type.Object({ ...LoadedTable.properties, 'metadata-location': Type.Optional(Type.String()) }),
        },
      },
    },
    async (req) =>
      iceberg
        .at(req.params.namespace)
        .create(askerOf(req), req.params.prefix, req.params.namespace, req.rawBody, asksForKeys(req)),
  )
}

function addTableRoutes(app: RoutesServer, iceberg: CatalogueOfRoutes): void {
  app.post(
    TABLE,
    {
      config: {
        operation: 'iceberg.commit',
        summary: 'Commit files that the client wrote, new columns, or both',
        needs: 'catalogueWrite',
      },
      schema: {
        params: TableParams,
        body: CommitBody,
        response: { ...ERRORS, 200: Type.Object({ 'metadata-location': Type.String(), metadata: Type.Unknown() }) },
      },
    },
    async (req) =>
      iceberg
        .at(req.params.namespace)
        .commit(askerOf(req), req.params.prefix, req.params.namespace, req.params.table, req.rawBody),
  )

  app.delete(
    TABLE,
    {
      config: {
        operation: 'iceberg.dropTable',
        summary: 'Drop a table; its files are deleted when no reader needs them',
        needs: 'catalogueWrite',
      },
      schema: {
        params: TableParams,
        querystring: Type.Object({
          purgeRequested: Type.Optional(Type.String({ description: 'Accepted and ignored: files are always removed.' })),
        }),
        response: { ...ERRORS, 204: Type.Null() },
      },
    },
    async (req, reply) => {
      await iceberg.at(req.params.namespace).drop(askerOf(req), req.params.prefix, req.params.namespace, req.params.table)
      return reply.code(204).send(null)
    },
  )

  app.head(
    TABLE,
    {
      config: { operation: 'iceberg.tableExists', summary: 'Whether the table exists and may be read', needs: 'catalogueRead' },
      schema: { params: TableParams, response: { ...ERRORS, 204: Type.Null() } },
    },
    async (req, reply) => {
      const { prefix, namespace, table } = req.params
      await iceberg.at(namespace).findTable(req.actor, prefix, namespace, table)
      return reply.code(204).send(null)
    },
  )

  app.get(
    TABLE,
    {
      config: {
        operation: 'iceberg.loadTable',
        summary: 'Metadata of a table, with credentials for its files on request',
        needs: 'catalogueRead',
        headers: {
          'X-Iceberg-Access-Delegation': '`vended-credentials`: the response has credentials for the files of the table.',
        },
      },
      schema: {
        params: TableParams,
        querystring: Type.Object({
          snapshots: Type.Optional(
            Type.Union([Type.Literal('all'), Type.Literal('refs')], {
              description: '`all` (default): all kept states; `refs`: the current state.',
            }),
          ),
        }),
        response: { ...ERRORS, 200: LoadedTable },
      },
    },
    async (req) => {
      const { prefix, namespace, table } = req.params
      return iceberg.at(namespace).load(req.actor, prefix, namespace, table, {
        snapshots: req.query.snapshots ?? 'all',
        vended: asksForKeys(req),
        baseUrl: req.baseUrl,
      })
    },
  )

  app.get(
    `${TABLE}/credentials`,
    {
      config: { operation: 'iceberg.credentials', summary: 'New credentials for the files of a table', needs: 'catalogueRead' },
      schema: {
        params: TableParams,
        querystring: Type.Object({
          planId: Type.Optional(Type.String({ description: 'Accepted and ignored.' })),
        }),
        response: { ...ERRORS, 200: Type.Object({ 'storage-credentials': Type.Array(Type.Unknown()) }) },
      },
    },
    async (req) => {
      const { prefix, namespace, table } = req.params
      return iceberg.at(namespace).credentials(req.actor, prefix, namespace, table, req.baseUrl)
    },
  )

  app.post(
    `${TABLE}/metrics`,
    {
      config: {
        operation: 'iceberg.metrics',
        summary: 'Metrics reports of readers; accepted and ignored',
        needs: 'catalogueRead',
        quiet: true,
      },
      schema: { params: TableParams, body: Type.Unknown(), response: { ...ERRORS, 204: Type.Null() } },
    },
    async (req, reply) => {
      const { prefix, namespace, table } = req.params
      await iceberg.at(namespace).findTable(req.actor, prefix, namespace, table)
      return reply.code(204).send(null)
    },
  )
}

/** A spread of the request would lose what its prototype has. */
const askerOf = ({ actor, origin, baseUrl }: FastifyRequest): Asker => ({ actor, origin, baseUrl })

const asksForKeys = (req: FastifyRequest): boolean => String(req.headers[DELEGATION] ?? '').includes('vended-credentials')

/** Clients request a new one before it expires; the token itself may be valid longer or shorter. */
const TOKEN_SECONDS = 3600

/** The names of Iceberg's exceptions, by which clients distinguish errors. */
function typeOf(error: PlatformError): string {
  switch (error.kind) {
    case 'unauthenticated':
      return 'NotAuthorizedException'
    case 'forbidden':
      return 'ForbiddenException'
    case 'not-found':
      if (error.code === 'iceberg.namespaceNotFound') return 'NoSuchNamespaceException'
      return error.code.startsWith('iceberg.') ? 'NotFoundException' : 'NoSuchTableException'
    case 'conflict':
      return error.code === 'iceberg.tableExists' ? 'AlreadyExistsException' : 'CommitFailedException'
    case 'not-built':
      return 'UnsupportedOperationException'
    case 'transient':
    case 'too-many':
      return 'ServiceUnavailableException'
    case 'bug':
      return 'InternalServerError'
    default:
      return 'BadRequestException'
  }
}

function sendError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const named = platformErrorOf(error, 'storage.validation')
  if (named.kind === 'bug') request.log.error({ err: error, requestId: request.id }, 'a request failed by our fault')
  if (named.kind === 'transient' && !reply.hasHeader('retry-after')) reply.header('retry-after', '5')
  const code = statusOf(named)
  return reply
    .code(code)
    .type('application/json')
    .send(JSON.stringify({ error: { message: named.message, type: typeOf(named), code } }))
}
