// The repositories that the stack hosts for data apps, as clients of git use them (spec platform 6.4, gitprotocol-http): they sign in with a credential of
// the repository as the password of HTTP Basic.

import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TObject, Type } from 'typebox'
import { passwordOf } from '../../../http/basic-password.ts'
import { viewerRefused } from '../../../http/roles.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { OpenRepository, Repositories } from './repositories.ts'

const SERVICES = ['git-upload-pack', 'git-receive-pack'] as const
type Service = (typeof SERVICES)[number]

const Params = Type.Object({ repository: Type.String({ description: 'Id of the app, and `.git`.', examples: ['1017.git'] }) })
const RefsQuery = Type.Object({
  service: Type.Union(
    SERVICES.map((one) => Type.Literal(one)),
    { description: 'Operation of the client: fetch or push.' },
  ),
})
/** The body is packets and a pack. */
const NO_FORM: TObject = Type.Object({})
const Any = Type.Unsafe<unknown>({})
/** Names of branches, commits and what the client has. */
const MAX_REQUEST_BYTES = 4 * 2 ** 20

export function gitRoutes({ repositories }: { repositories: Repositories }): FastifyPluginAsyncTypebox {
  /** Without a credential it is hidden whether the repository exists. */
  async function open(req: FastifyRequest, reply: FastifyReply, repository: string, service: Service): Promise<OpenRepository> {
    const id = repository.replace(/\.git$/, '')
    const opened = await repositories.open(id, passwordOf(req), req.origin)
    if (!opened) {
      reply.header('www-authenticate', 'Basic realm="Git repository", charset="UTF-8"')
      throw new PlatformError('apps.gitUnauthenticated', { id: id.slice(0, 40) })
    }
    if (service === 'git-receive-pack') checkPush(opened)
    return opened
  }

  return async (app) => {
    app.get(
      '/git/data-apps/:repository/info/refs',
      {
        config: {
          operation: 'git.listRefs',
          summary: 'Branches and tags of the git repository of a data app, for git clients',
          needs: 'nothing',
          produces: SERVICES.map((one) => `application/x-${one}-advertisement`),
        },
        schema: { params: Params, querystring: RefsQuery, response: { 200: Any } },
      },
      async (req, reply) => {
        const { service } = req.query
        const opened = await open(req, reply, req.params.repository, service)
        return notKept(reply, `application/x-${service}-advertisement`).send(await repositories.advertise(opened, service))
      },
    )
    app.post(
      '/git/data-apps/:repository/git-upload-pack',
      {
        bodyLimit: MAX_REQUEST_BYTES,
        config: {
          operation: 'git.fetch',
          summary: 'Serve a git fetch from the repository of a data app',
          needs: 'nothing',
          body: 'bytes',
          form: NO_FORM,
          consumes: ['application/x-git-upload-pack-request'],
          produces: ['application/x-git-upload-pack-result'],
        },
        schema: { params: Params, response: { 200: Any } },
      },
      async (req, reply) => {
        const opened = await open(req, reply, req.params.repository, 'git-upload-pack')
        const answer = Readable.from(repositories.send(opened, req.body as Buffer), { objectMode: false }) // by config.body
        return notKept(reply, 'application/x-git-upload-pack-result').send(answer)
      },
    )
    app.post(
      '/git/data-apps/:repository/git-receive-pack',
      {
        config: {
          operation: 'git.push',
          summary: 'Receive a git push to the repository of a data app',
          needs: 'nothing',
          body: 'stream',
          form: NO_FORM,
          consumes: ['application/x-git-receive-pack-request'],
          produces: ['application/x-git-receive-pack-result'],
        },
        schema: { params: Params, response: { 200: Any } },
      },
      async (req, reply) => {
        const opened = await open(req, reply, req.params.repository, 'git-receive-pack')
        const report = await repositories.receive(opened, unpacked(req))
        if (!report) throw new PlatformError('apps.gitMalformed')
        return notKept(reply, 'application/x-git-receive-pack-result').send(report)
      },
    )
  }
}

function checkPush({ actor, permissions }: OpenRepository): void {
  if (permissions === 'readOnly') throw new PlatformError('apps.gitReadOnly')
  if (actor.role === 'viewer') throw viewerRefused()
  if (actor.pausedReason !== undefined) throw new PlatformError('projectPaused', { reason: actor.pausedReason })
}

const notKept = (reply: FastifyReply, type: string): FastifyReply => reply.header('cache-control', 'no-cache').type(type)

function unpacked({ body, headers }: FastifyRequest): Readable {
  const sent = (body ?? Readable.from([])) as Readable // by config.body; nothing is sent without a body
  if (headers['content-encoding'] !== 'gzip') return sent
  return sent.compose(createGunzip())
}
