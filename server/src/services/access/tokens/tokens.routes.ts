// HTTP for tokens (spec storage 2.2).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { numberedId, OptionalPage, optionalFlag, optionalText, paged } from '../../../http/parameters.ts'
import { EventListQuery } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { BACKEND } from '../../../model/backend.ts'
import { featuresOf } from '../../../model/features.ts'
import { DEFAULT_PROVIDER } from '../../../model/file-provider.ts'
import { OnlyGivenBuckets, requestFrom, TokenBody, TokenView, tokenViews, withLastUse } from './token-views.ts'
import type { Project, Token } from './tokens.store.ts'
import type { Tokens } from './tokens.ts'

const ListQuery = Type.Object({
  text: optionalText('Only tokens whose description contains the text.'),
  ofPeople: optionalFlag('True: only tokens of users and the master token, without those of scripts.'),
  onlyGivenBuckets: OnlyGivenBuckets,
  ...OptionalPage,
})
const ById = Type.Object({ id: numberedId('token') })

export interface TokenRoutesDeps {
  readonly tokens: Tokens
  /** The events of one token, as the events service answers them. */
  readonly eventsOfToken: (req: FastifyRequest, tokenId: number, query: Type.Static<typeof EventListQuery>) => Promise<unknown[]>
  readonly usageOf: (projectId: number) => Promise<{ readonly dataSizeBytes: number; readonly rowsCount: number }>
  readonly region: string
  /** What the project may use at most, by name. */
  readonly limitsOf: (projectId: number) => Promise<Readonly<Record<string, number>>>
  /** What this stack allows every project that has no limit of its own. */
  readonly limits: Readonly<Record<string, number>>
}

export function tokensRoutes({
  tokens,
  eventsOfToken,
  usageOf,
  limitsOf,
  region,
  limits,
}: TokenRoutesDeps): FastifyPluginAsyncTypebox {
  const view = tokenViews(tokens)

  return async (app) => {
    app.get(
      '/v2/storage/tokens/verify',
      {
        config: { operation: 'tokens.verify', summary: 'Verify a token', needs: 'token', answerOf: 'database' },
        schema: { querystring: Type.Object({ onlyGivenBuckets: OnlyGivenBuckets }), response: { 200: TokenView } },
      },
      async (req) => {
        const { token, project } = await tokens.verify(req.actor)
        return withOwner(token, project, req.baseUrl, req.query.onlyGivenBuckets)
      },
    )

    app.get(
      '/v2/storage/tokens',
      {
        config: { operation: 'tokens.list', summary: 'List tokens', needs: 'token' },
        schema: { querystring: ListQuery, response: { 200: Type.Array(TokenView) } },
      },
      async (req) => {
        const { onlyGivenBuckets, ...filter } = req.query
        const owners = await tokens.adminOwners(req.actor.projectId)
        const listed = await tokens.list(req.actor, paged(filter))
        const viewOf = (token: Token) => view(token, req.baseUrl, { owners, onlyGivenBuckets })
        return Promise.all(listed.map(async (token) => withLastUse(await viewOf(token), token)))
      },
    )

    app.post(
      '/v2/storage/tokens',
      {
        config: { operation: 'tokens.create', summary: 'Create a token', needs: 'newToken', branch: 'refused' },
        schema: { body: TokenBody, response: { 201: TokenView } },
      },
      async (req, reply) => {
        const { token, value } = await tokens.create(req.actor, requestFrom(req.body), req.origin)
        return reply.code(201).send({ ...(await view(token, req.baseUrl)), token: value })
      },
    )

    app.get(
      '/v2/storage/tokens/:id',
      {
        config: { operation: 'tokens.get', summary: 'Token detail', needs: 'ownToken' },
        schema: { params: ById, response: { 200: TokenView } },
      },
      async (req) => {
        const token = await tokens.getVisible(req.actor, tokenId(req.params.id))
        const shown = await withOwner(token, await tokens.getProject(token.projectId), req.baseUrl)
        return withLastUse(shown, token)
      },
    )

    app.put(
      '/v2/storage/tokens/:id',
      {
        config: { operation: 'tokens.update', summary: 'Change a token', needs: 'ownToken', role: 'admin', branch: 'refused' },
        schema: { params: ById, body: TokenBody, response: { 200: TokenView } },
      },
      async (req) => view(await tokens.update(req.actor, tokenId(req.params.id), requestFrom(req.body), req.origin), req.baseUrl),
    )

    app.delete(
      '/v2/storage/tokens/:id',
      {
        config: {
          operation: 'tokens.delete',
          summary: 'Delete a token',
          needs: 'ownToken',
          role: 'admin',
          branch: 'refused',
          withoutId: 'resourceNotFound',
        },
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await tokens.remove(req.actor, tokenId(req.params.id), req.origin)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/v2/storage/tokens/:id/refresh',
      {
        config: {
          operation: 'tokens.refresh',
          summary: 'Refresh a token: create a new value',
          needs: 'ownToken',
          role: 'admin',
          branch: 'refused',
        },
        schema: { params: ById, response: { 200: TokenView } },
      },
      async (req) => {
        const { token, value } = await tokens.refresh(req.actor, tokenId(req.params.id), req.origin)
        return { ...(await view(token, req.baseUrl)), token: value }
      },
    )

    app.post(
      '/v2/storage/tokens/:id/share',
      {
        config: {
          operation: 'tokens.share',
          summary: 'Not built: there is no mail service',
          needs: 'ownToken',
          role: 'admin',
          branch: 'refused',
        },
        schema: {
          params: ById,
          body: Type.Object({
            recipientEmail: Type.String({ minLength: 3, description: 'Who shall get the token.' }),
            message: Type.String({ description: 'Text of the mail.' }),
          }),
          response: { 501: Type.Unknown() },
        },
      },
      async (req) => {
        const token = await tokens.getVisible(req.actor, tokenId(req.params.id))
        if (token.isMasterToken) throw new PlatformError('storage.token.cannotShareMasterToken')
        if (!req.actor.isMasterToken && token.creatorToken?.id !== req.actor.tokenId) throw new PlatformError('accessDenied')
        throw new PlatformError('notImplemented', {
          what: 'This stack has no mail service to share a token with. Create a token and pass its value on yourself.',
        })
      },
    )

    app.get(
      '/v2/storage/tokens/:id/events',
      {
        config: { operation: 'tokens.events', summary: 'List events caused by a token', needs: 'ownToken', branch: 'refused' },
        schema: { params: ById, querystring: EventListQuery, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => {
        const token = await tokens.getVisible(req.actor, tokenId(req.params.id))
        return eventsOfToken(req, token.id, req.query)
      },
    )
  }

  async function withOwner(token: Token, project: Project, baseUrl: string, onlyGivenBuckets = false) {
    return {
      ...(await view(token, baseUrl, { onlyGivenBuckets })),
      isBYODB: false,
      organization: { id: '1' }, // a string: the Go client decodes it as one
      owner: {
        ...ownerOf(project, await usageOf(project.id), region),
        limits: limitViews({ ...limits, ...(await limitsOf(project.id)) }),
      },
    }
  }
}

const limitViews = (limits: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, { name, value }]))

const ownerOf = (
  project: Project,
  usage: { dataSizeBytes: number; rowsCount: number },
  region: string,
  backend: string = project.settings.backend ?? BACKEND,
) => ({
  id: project.id,
  name: project.name,
  type: 'production',
  region,
  created: formatTimestamp(project.createdAt),
  expires: null,
  features: featuresOf(project),
  dataSizeBytes: usage.dataSizeBytes,
  rowsCount: usage.rowsCount,
  hasMysql: false,
  hasSynapse: false,
  hasRedshift: false,
  hasSnowflake: backend === 'snowflake',
  hasExasol: false,
  hasTeradata: false,
  hasBigquery: backend === 'bigquery',
  hasTryModeOn: '0',
  defaultBackend: backend,
  assignedBackends: [backend],
  metrics: {},
  isDisabled: project.isDisabled,
  billedMonthlyPrice: null,
  dataRetentionTimeInDays: 7,
  fileStorageProvider: project.settings.provider ?? DEFAULT_PROVIDER,
})

const tokenId = (text: string): number => idFrom(text, () => new PlatformError('resourceNotFound'))
