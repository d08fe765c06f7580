// The Model Context Protocol over HTTP (spec platform 6.10b). Nothing is kept between requests, so any node answers any of them.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { McpHttpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { AGENT_RESOURCE } from '../../../model/agent-token.ts'
import { type AskedPerson, createApi } from './api.ts'
import type { GuardsOfAgents } from './guards.ts'
import { maskedArguments } from './masked.ts'
import { createMcpServer } from './mcp-server.ts'
import { DEFAULT_GROUPS, GROUPS, type Group, type Tool } from './tool.ts'

export interface McpRoutesDeps {
  readonly version: string
  readonly tools: readonly Tool[]
  /** Those that only tokens that propose have, in place of those that are refused to them. */
  readonly proposeTools: readonly Tool[]
  readonly spend: (actor: Actor) => Promise<number>
  readonly guards: GuardsOfAgents
  readonly onCalled: (request: FastifyRequest, tool: string, args: unknown, outcome: 'success' | 'refused') => void
  /** Names that pages of the stack, or those that may call it, have. */
  readonly publicHosts: ReadonlySet<string>
  /** The answer to a caller without a token, or with too small a scope. */
  readonly challengeOf: (request: FastifyRequest, scope: string, error?: string) => string
}

interface Call {
  readonly request: FastifyRequest
  readonly groups: readonly Group[]
  readonly branch: string | undefined
}

const Body = Type.Unsafe<Buffer>(Type.Unknown({ description: 'A JSON-RPC message.' })) // true by `body: 'bytes'`
const Query = Type.Object({
  groups: Type.Optional(
    Type.String({ description: `Comma-separated groups of tools: ${GROUPS.join(', ')}. Default: ${DEFAULT_GROUPS.join(', ')}.` }),
  ),
  branch: Type.Optional(
    Type.String({ maxLength: 64, description: 'Branch in which all tools work; the default branch if omitted.' }),
  ),
})

export function mcpRoutes({
  version,
  tools,
  proposeTools,
  spend,
  guards,
  onCalled,
  challengeOf,
  publicHosts,
}: McpRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    const toolsFor = ({ actor }: FastifyRequest): readonly Tool[] =>
      actor.onlyProposes ? [...tools.filter(({ needsDirect }) => !needsDirect), ...proposeTools] : tools

    let loading: Promise<McpHttpHandler> | undefined
    /** Loaded by the first request: most stacks serve no agent, and a start should not pay for it. */
    const load = (): Promise<McpHttpHandler> => {
      loading ??= import('@modelcontextprotocol/server').then((protocol) =>
        protocol.createMcpHandler(
          ({ authInfo }) => {
            const { request, groups, branch } = authInfo!.extra!.call as Call // put there below
            return createMcpServer(protocol, {
              version,
              tools: toolsFor(request).filter(({ group }) => groups.includes(group)),
              api: createApi(app as unknown as FastifyInstance, request, branch, (subject, detail) =>
                asked(request, guards.request(request.actor, 'secret', subject, detail, detail)),
              ), // the types of schemas are of no use to it
              remember: (values) => guards.remember(request.actor, values),
              useLeave: (tool, args) => guards.useLeave(request.actor, tool, args),
              ask: (kind, subject, args) => {
                const detail = { arguments: maskedArguments(args) }
                return asked(request, guards.request(request.actor, kind, subject, detail, kind === 'call' ? args : ''))
              },
              requestOf: (id) => guards.ownRequest(request.actor, id),
              linkOf: (id) => linkOf(request, id),
              spend: () => spend(request.actor),
              onBug: (err) => request.log.error({ err, requestId: request.id }, 'a tool failed by our fault'),
              onCalled: (tool, args, outcome) => onCalled(request, tool, args, outcome),
            })
          },
          { maxSubscriptions: 0 }, // tools do not change while a node runs
        ),
      )
      return loading
    }

    app.post(
      '/mcp',
      {
        config: {
          operation: 'mcp.request',
          summary: 'Model Context Protocol: tools for agents',
          needs: 'token',
          agentResource: AGENT_RESOURCE,
          challenge: (request) => challengeOf(request, 'read'),
          onlyReads: true, // the routes that tools call decide
          body: 'bytes',
          consumes: ['application/json'],
          headers: {
            'X-Millrace-Tools': 'Comma-separated groups of tools, as `groups`.',
            'MCP-Protocol-Version': 'Version of the protocol: 2026-07-28, 2025-11-25 or older.',
          },
        },
        schema: { querystring: Query, body: Body, response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const handler = await load()
        const header = req.headers['x-millrace-tools']
        const groups = groupsOf(req.query.groups ?? (typeof header === 'string' ? header : undefined))
        const origin = foreignOrigin(req, publicHosts)
        if (origin !== undefined) throw new PlatformError('mcp.foreignOrigin', { origin })
        const missing = missingScope(req, toolsFor(req))
        if (missing !== undefined) {
          reply.header('www-authenticate', challengeOf(req, missing, 'insufficient_scope'))
          throw new PlatformError('mcp.insufficientScope', { scope: missing })
        }
        const call: Call = { request: req, groups, branch: req.query.branch }
        const response = await handler.fetch(webRequest(req, req.body), {
          authInfo: { token: '', clientId: String(req.actor.tokenId), scopes: [], extra: { call } },
        })
        reply.code(response.status as 200) // whatever it is, the protocol chose it
        for (const [name, value] of response.headers) reply.header(name, value)
        return reply.send(Buffer.from(await response.arrayBuffer()))
      },
    )
  }
}

const LOOPBACK = /^(?:127(?:\.\d+){3}|::1|\[::1\]|::ffff:127(?:\.\d+){3}|localhost)$/

/**
 * The host of a page of another site that calls a stack on the machine of its reader: by a name that leads to 127.0.0.1 (DNS rebinding).
 * Behind a proxy that the operator named, the name is that of the proxy.
 */
function foreignOrigin({ headers, socket, ip }: FastifyRequest, publicHosts: ReadonlySet<string>): string | undefined {
  const { origin } = headers
  if (origin === undefined || !LOOPBACK.test(socket.localAddress ?? '') || ip !== socket.remoteAddress) return undefined
  const host = URL.canParse(origin) ? new URL(origin).hostname : origin.slice(0, 100)
  return LOOPBACK.test(host) || publicHosts.has(host) ? undefined : host
}

/** The scope that a call needs and the agent of a person lacks: it is requested when it is needed. */
function missingScope({ actor, body }: FastifyRequest, tools: readonly Tool[]): string | undefined {
  const { agentScope } = actor
  if (agentScope === undefined || agentScope === 'write') return undefined
  const name = calledTool(body)
  const tool = tools.find((one) => one.name === name)
  if (!tool || tool.isReadOnly) return undefined
  if (tool.needsDirect) return 'read propose write'
  return agentScope === 'propose' ? undefined : 'read propose'
}

/** Of a message that calls one; batches call none. */
function calledTool(body: unknown): unknown {
  if (!Buffer.isBuffer(body)) return undefined
  try {
    const message = JSON.parse(body.toString('utf8')) as { method?: unknown; params?: { name?: unknown } } | null
    return message?.method === 'tools/call' ? message.params?.name : undefined
  } catch {
    return undefined // the protocol answers it
  }
}

/** Where a person reads and decides it. */
const linkOf = ({ baseUrl, actor }: FastifyRequest, id: string): string =>
  `${baseUrl}/console/agents?project=${actor.projectId}&request=${id}`

const asked = async (request: FastifyRequest, asking: Promise<string>): Promise<AskedPerson> => {
  const id = await asking
  return { id, link: linkOf(request, id) }
}

function groupsOf(given: string | undefined): readonly Group[] {
  if (given === undefined || given.trim() === '') return DEFAULT_GROUPS
  const names = given.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !(GROUPS as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw new PlatformError('mcp.unknownGroup', { group: unknown.slice(0, 40), known: GROUPS.join(', ') })
  return names as Group[] // compared above
}

function webRequest(request: FastifyRequest, body: unknown): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    if (typeof value === 'string' && !name.startsWith(':')) headers.set(name, value)
  headers.delete('content-length')
  headers.delete('content-encoding')
  return new Request(new URL(request.url, 'http://stack'), {
    method: 'POST',
    headers,
    body: Buffer.isBuffer(body) ? new Uint8Array(body) : '',
  })
}
