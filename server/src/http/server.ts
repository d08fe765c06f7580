// The HTTP kernel: what every route of every service shares. A request passes the hooks below in this order:
//  1. rewriteUrl: host, branch prefix and trailing slash become one plain path;
//  2. onRequest: CORS, maintenance, the caller, what the route needs, which branch;
//  3. the body parsers (body.ts), then validation (validation.ts);
//  4. the handler, which calls one use case;
//  5. onSend: content type without charset, gzip on request; onResponse: the access log line and the histogram.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Http2SecureServer } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { gzip } from 'node:zlib'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttp2SecureOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import type { TObject } from 'typebox'
import type { ErrorCode } from '../../../contract/error-codes.ts'
import { isForeignKeyViolation } from '../engines/metadata-db/dialects.ts'
import { PlatformError } from '../kit/errors.ts'
import { inTurns } from '../kit/in-turns.ts'
import type { FinishedRequest } from '../kit/log.ts'
import type { Actor } from '../model/actor.ts'
import { AGENT_RESOURCE, AGENT_TOKEN, isInnerCall } from '../model/agent-token.ts'
import type { NewEvent, Origin } from '../model/event.ts'
import type { Person, PersonFinder } from '../model/person.ts'
import type { Scope } from '../model/scope.ts'
import { type AddressOptions, baseUrlOf, isServicePath, namedBranch, rewriteUrl } from './addresses.ts'
import { leadsOut } from './agents/outgoing-operations.ts'
import { registerBodyParsers, textOfBody } from './body.ts'
import { refuseUnknownDryRun } from './dry-run.ts'
import { errorBody, platformErrorOf, statusOf } from './errors-to-http.ts'
import { parseForm } from './forms/form.ts'
import type { RequestLimits, TooMany } from './request-limits.ts'
import { createResponseCache, type Place } from './response-cache.ts'
import { mayUse, type Needs } from './rights.ts'
import { isBelow, type MinimumRole, mayChange, minimumRole, viewerRefused } from './roles.ts'
import { assertFromOwnPage, readCookie } from './session-cookie.ts'
import type { TlsPair } from './tls.ts'
import { validatorCompiler } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Name in logs, metrics and the OpenAPI document, for example `tokens.create`. Every route has one. */
    readonly operation?: string
    /** One sentence for the OpenAPI document. */
    readonly summary?: string
    /** The right that it takes; see rights.ts. No default: a route without one does not compile and does not start. */
    readonly needs: Needs
    /** Code of the refusal of tokens without that right, where clients compare it. Default `accessDenied`. */
    readonly refusal?: ErrorCode
    /** The lowest role of people that may use it, where it does not follow from the method and `needs`. */
    readonly role?: MinimumRole
    /**
     * What tokens that only propose may change by it. `branch`: everything that it changes is in the branch of the request, which is
     * then their own. `own`: it checks itself that it changes a proposal of the token. Left out: it is refused to them.
     */
    readonly proposable?: 'branch' | 'own' | undefined
    /** Its answer opens what changes things by other ways, such as a password: tokens that only propose do not get it. */
    readonly answersCredentials?: true
    /** Its path, if tokens of agents that people signed in are for it, and the text of its refusals of other callers (RFC 9728). */
    readonly agentResource?: typeof AGENT_RESOURCE
    readonly challenge?: (request: FastifyRequest) => string
    /** The branch prefix: allowed (default), required, or 501. */
    readonly branch?: 'allowed' | 'required' | 'refused'
    /** What an address without the id at its end is, with the slash before it: by default `idMissing`. */
    readonly withoutId?: ErrorCode
    /** `stream`: the handler reads the request itself; `text`, `bytes`: the body is passed as text, or as bytes, unpacked. */
    readonly body?: 'stream' | 'text' | 'bytes'
    /** Members of a form that the handler reads as a stream, for the OpenAPI document. */
    readonly form?: TObject
    /** Media types of the body, for the OpenAPI document; by default JSON and both kinds of forms. */
    readonly consumes?: readonly string[]
    /** Media types of a successful answer, for the OpenAPI document; by default JSON. */
    readonly produces?: readonly string[]
    /** Headers that change what the route does, each with a sentence for the OpenAPI document. */
    readonly headers?: Readonly<Record<string, string>>
    /** The answer to GET depends on the database, the address and the token alone, so it is kept while the database stays as it is. */
    readonly answerOf?: 'database'
    /** Changes nothing although its method could: viewers may use it, and it works while the project is paused. */
    readonly onlyReads?: true
    /** Requests that come by the thousand: those that succeed are counted and leave no line in the log. */
    readonly quiet?: boolean
    /** True for bodies that only become something else: hosts in them are not reached. */
    readonly reachesNothing?: (request: FastifyRequest) => boolean
    /** Code of validation failures; clients compare some. Default `storage.validation`. */
    readonly validationCode?: ErrorCode
    /** What a successful GET leaves: one event, or several. */
    readonly readEvent?: (request: FastifyRequest) => NewEvent | readonly NewEvent[]
  }
  interface FastifyRequest {
    /** The caller. Set on every route that needs a token. */
    actor: Actor
    /** Who is signed in. Set on routes that need a person or a session. */
    person: Person
    /** The token as presented, empty for a session; only `tokens/verify` and token-forwarding routes may use it. */
    tokenValue: string
    /** Whether the token or the session that was admitted is still good, for answers that take long. */
    isStillAdmitted(): Promise<boolean>
    /** The branch the address names, or the project's default branch. */
    branch: Branch
    /** The text of a JSON or urlencoded body, for modules that keep JSON exactly as it was sent. */
    rawBody: string
    /** Where the request came from, for events. */
    origin: Origin
    /** The stack's address as this client sees it, for links. */
    baseUrl: string
    /** Where the answer is to be kept. */
    place: Place | undefined
  }
}

export type Branch = Scope['branch']

/** Cached values are returned synchronously: a promise for each request would cost more than the lookup. */
export type MaybePromise<T> = T | Promise<T>

export interface HttpDeps extends AddressOptions {
  readonly log: FastifyBaseLogger
  /** HTTP/2 and HTTP/1.1 over TLS; plain HTTP/1.1 without it. */
  readonly tls?: TlsPair | undefined
  readonly bodyLimitBytes: number
  /** How long a body that is on its way may stall; two minutes. */
  readonly bodyIdleMs?: number
  /** How long a connection may take to send the headers of a request; a minute. */
  readonly headersTimeoutMs?: number
  readonly maintenance: { readonly reason: string } | undefined
  readonly corsOrigins: readonly string[]
  /** How many requests an address and a token may send. */
  readonly limits?: RequestLimits | undefined
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly string[]
  /** Finds whose token this is; undefined for wrong, expired, disabled or foreign ones. */
  readonly authenticate: (token: string) => MaybePromise<Actor | undefined>
  /** The same for agents that people signed in, whose tokens are for one resource of the stack. */
  readonly authenticateAgent?: (token: string, resource: string) => Promise<Actor | undefined>
  /** Who is signed in; without it only tokens are accepted. */
  readonly people?: PersonFinder
  /** Resolves a branch by id or `default` (undefined: no prefix); undefined when the project has no such branch. */
  readonly findBranch: (projectId: number, name: string | undefined) => MaybePromise<Branch | undefined>
  /** Whether development branches of the project show their own storage only; left out: never. */
  readonly showsOwnStorage?: (projectId: number) => Promise<boolean>
  /** Whether nothing may be written into a branch, because it is being merged; left out: never. */
  readonly isBranchLocked?: (projectId: number, branchId: number) => Promise<boolean>
  /** The branches of tokens that only propose: the one that exists, and the one for a change, created when there is none. */
  readonly proposals?: {
    branchOf(actor: Actor): Promise<Branch | undefined>
    open(actor: Actor, origin: Origin): Promise<Branch>
  }
  /**
   * Refuses changes that a token of an agent must leave to a person: new hosts and recipients, values of data to be sent, access for
   * others. `textsOf` is called for tokens that have read data only, because it may write the body again.
   */
  readonly guardChange?: (
    actor: Actor,
    change: { readonly branchId: number; readonly textsOf: () => readonly string[]; readonly gives: string | undefined },
  ) => Promise<void>
  /** Another number after every commit; undefined (or left out) where the database does not support it. */
  readonly databaseVersion?: () => number | undefined
  /** Keeps the event of a read; must not wait. */
  readonly onRead?: (source: Actor, event: NewEvent, origin: Origin) => void
  /** Websockets: those that are accepted never reach a route. */
  readonly upgrades?: Upgrades | undefined
  /** Which operations run: each is begun and ended, however its answer ends. */
  readonly running?: { begun(requestId: string, operation: string): void; ended(requestId: string): void }
  /** For the access log and the histogram. */
  readonly onFinished?: (request: FinishedRequest) => void
}

export interface Upgrades {
  accepts(message: IncomingMessage): boolean
  handle(message: IncomingMessage, client: Duplex, head: Buffer): void
  /** Ends all that are open: a server waits for its connections. */
  close(): void
}

const MAINTENANCE_RETRY_SECONDS = 60
const GZIP_FROM_BYTES = 1024
const BODY_IDLE_MS = 120_000
const HEADERS_TIMEOUT_MS = 60_000
/** The limit of bodies of unauthenticated callers, unless the route declares another or reads a stream. */
const ANONYMOUS_BODY_BYTES = 1 << 20

/** As members of JSON, also those that the route does not have. */
const textOfQuery = ({ url }: FastifyRequest): string =>
  JSON.stringify(
    [...new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length))].map((pair) => Object.fromEntries([pair])),
  )

function fastifyWith(
  { tls, upgrades, headersTimeoutMs = HEADERS_TIMEOUT_MS }: Pick<HttpDeps, 'tls' | 'upgrades' | 'headersTimeoutMs'>,
  options: FastifyServerOptions,
): FastifyInstance {
  // A request to upgrade to another protocol, such as h2c, is served without the upgrade.
  const shouldUpgradeCallback = (message: IncomingMessage): boolean => upgrades?.accepts(message) ?? false
  const timeouts = { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: Math.min(30_000, headersTimeoutMs) }
  if (!tls) {
    const http = { shouldUpgradeCallback, ...timeouts } as object // newer than the types of Node
    const app: FastifyInstance = Fastify({ ...options, http, forceCloseConnections: 'idle' })
    // A connection whose last answer is just being sent is not idle yet when closing begins; it would keep the server open until its
    // keep-alive time has passed.
    app.addHook('preClose', async () => {
      const timer = setInterval(() => app.server.closeIdleConnections(), 50)
      app.server.once('close', () => clearInterval(timer))
      timer.unref()
    })
    return app
  }
  const app = Fastify({
    ...options,
    http2: true,
    https: { ...tls.current(), allowHTTP1: true, shouldUpgradeCallback, ...timeouts },
  } as unknown as FastifyHttp2SecureOptions<Http2SecureServer>)
  tls.onChange((pair) => app.server.setSecureContext(pair))
  return app as unknown as FastifyInstance // requests and answers of HTTP/2 have the interface of HTTP/1.1
}

export function createHttpServer(deps: HttpDeps): FastifyInstance {
  const app = fastifyWith(deps, {
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger, // one line per request carries its id; a logger of its own for each would cost more than the line
    bodyLimit: deps.bodyLimitBytes,
    genReqId: newExceptionId,
    trustProxy: deps.trustedProxies?.length ? [...deps.trustedProxies] : false,
    requestTimeout: 0, // uploads take as long as they take; slow headers are bounded by node's headersTimeout
    rewriteUrl: (request) => rewriteUrl(request, deps.domain),
    routerOptions: { maxParamLength: 2048, querystringParser: parseQuery },
    frameworkErrors: (error, request, reply) => sendError(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: answerBrokenRequest,
    exposeHeadRoutes: true,
    pluginTimeout: 0, // a start on a busy machine takes longer, and ends
    return503OnClosing: false,
    schemaController: {
      compilersFactory: {
        buildValidator: () => validatorCompiler as never, // its types support no compiler but Ajv's
        // Views decide what leaves; a second schema pass would cost time and reorder what must stay as it was sent.
        buildSerializer: () => () => JSON.stringify,
      },
    },
  })
  app.decorateRequest('tokenValue', '')
  app.decorateRequest('isStillAdmitted', async function (this: FastifyRequest) {
    try {
      const actor = await (this.tokenValue === '' ? actorOfSession(this, deps) : actorOfToken(this, deps))
      return actor?.tokenId === this.actor.tokenId
    } catch (error) {
      if (error instanceof PlatformError) return false // the session has ended, or the person has left the project
      throw error
    }
  })
  app.decorateRequest('rawBody', '')
  app.decorateRequest('place', undefined)
  const kept = createResponseCache(deps.databaseVersion ?? (() => undefined))
  registerBodyParsers(app, deps.bodyIdleMs ?? BODY_IDLE_MS)
  app.addHook('onRoute', (route) => {
    if (route.config?.needs === 'nothing' && route.config.body !== 'stream')
      route.bodyLimit ??= Math.min(deps.bodyLimitBytes, ANONYMOUS_BODY_BYTES)
  })
  // Links and origins are computed by the routes that need them.
  app.decorateRequest('baseUrl', {
    getter(this: FastifyRequest) {
      return baseUrlOf(this.raw, deps)
    },
  })
  app.decorateRequest('origin', {
    getter(this: FastifyRequest) {
      return originOf(this)
    },
  })
  const { running } = deps
  // The hooks take callbacks, not promises: they run for every request, and most have nothing to wait for.
  app.addHook('onRequest', (request, reply, done) => {
    if (running) {
      running.begun(request.id, request.routeOptions.config.operation ?? 'unknown')
      reply.raw.once('close', () => running.ended(request.id))
    }
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    if (answersPreflight(request, reply, deps.corsOrigins)) return
    const { config } = request.routeOptions
    if (deps.maintenance && !config.operation?.startsWith('operations.')) {
      sendMaintenance(request, reply, deps.maintenance.reason)
      return
    }
    const isProbe = config.operation?.startsWith('operations.')
    const tooMany = isProbe ? undefined : deps.limits?.address(request.ip)
    if (tooMany) return done(turnedAway(reply, tooMany))
    const query = request.query
    if (query instanceof UnreadableQuery) return done(query.reason as Error) // thrown by parseForm
    if (request.is404 || config.needs === 'nothing') return done()
    if (config.needs === 'person' || config.needs === 'session') {
      admitPerson(request, deps).then(() => done(), done)
      return
    }
    const actor = authenticate(request, deps)
    const admitToken = (found: Actor | undefined): void => {
      const isGuess = found !== undefined || request.tokenValue !== ''
      const tooOften = isGuess ? deps.limits?.token(request.ip, found?.tokenId) : undefined
      if (tooOften) done(turnedAway(reply, tooOften))
      else admit(request, found, deps, enter)
    }
    const enter = (error?: Error) => {
      if (!error && config.answerOf === 'database' && request.method === 'GET') {
        const found = kept.find(request)
        if (typeof found === 'string') return void reply.header('content-type', 'application/json').send(found)
        request.place = found
      }
      done(error)
    }
    if (!(actor instanceof Promise)) return admitToken(actor)
    actor.then(admitToken).catch(done)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    // No body at all is an empty object: several clients send PUT and POST without one.
    request.body ??= {}
    refuseUnknownDryRun(request)
    done()
  })
  app.addHook('preHandler', (request, _reply, done) => {
    const { operation = '' } = request.routeOptions.config
    const isChange = request.method !== 'GET' && request.method !== 'HEAD' && request.method !== 'DELETE'
    const guarded = isChange && request.tokenValue !== '' && request.actor && deps.guardChange && leadsOut(operation)
    if (!guarded || request.routeOptions.config.reachesNothing?.(request)) return done()
    const textsOf = () => [textOfBody(request), textOfQuery(request)]
    deps.guardChange!(request.actor, { branchId: request.branch.id, textsOf, gives: guarded.gives }).then(() => done(), done)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.place && reply.statusCode === 200 && typeof payload === 'string') kept.keep(request.place, payload)
    const { readEvent } = request.routeOptions.config
    if (readEvent && reply.statusCode === 200)
      for (const event of [readEvent(request)].flat())
        deps.onRead?.(request.actor, { branchId: request.branch.id, ...event }, request.origin)
    finishPayload(request, reply, payload, done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { operation = 'unknown', quiet } = request.routeOptions.config
    deps.onFinished?.({
      requestId: request.id,
      operation,
      ...(request.is404 ? { path: pathOf(request) } : {}),
      isQuiet: quiet === true && reply.statusCode < 400,
      method: request.method,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      projectId: request.actor?.projectId,
      tokenId: request.actor?.tokenId,
    })
    done()
  })
  // Clients use no expectation other than 100-continue, and ignoring one is allowed (RFC 9110, 10.1.1); node would answer 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  const { upgrades } = deps
  if (upgrades) {
    app.server.on('upgrade', upgrades.handle)
    app.addHook('preClose', async () => upgrades.close())
  }
  app.setErrorHandler((error, request, reply) =>
    isForeignKeyViolation(error)
      ? withoutBranch(error, request, deps).then((named) => sendError(named, request, reply))
      : sendError(error, request, reply),
  )
  const routesAt = collectRoutes(app)
  app.setNotFoundHandler((request, reply) => {
    const { method } = request
    const path = pathOf(request)
    const found = routesAt(path)
    // `DELETE tokens/`: the slash is there and the id is not.
    const [withId] = endsWithSlash(request.originalUrl)
      ? routesAt(`${path}/id`).filter(({ methods }) => methods.includes(method))
      : []
    if (withId) return sendError(new PlatformError(withId.withoutId ?? 'idMissing', { address: path }), request, reply)
    if (found.length === 0) return sendError(new PlatformError('notFound', { what: `${method} ${path}` }), request, reply)
    const allowed = [...new Set(found.flatMap(({ methods }) => methods))].sort().join(', ')
    reply.header('allow', allowed)
    return sendError(new PlatformError('methodNotAllowed', { method, allowed }), request, reply)
  })
  return app
}

const endsWithSlash = (url: string): boolean => url.split('?', 1)[0]?.endsWith('/') ?? false

interface DeclaredRoute {
  readonly url: string
  readonly methods: readonly string[]
  readonly withoutId: ErrorCode | undefined
}

/** The routes that an address is declared for, for any method. Used only when the router has found no route. */
function collectRoutes(app: FastifyInstance): (path: string) => DeclaredRoute[] {
  const routes: DeclaredRoute[] = []
  app.addHook('onRoute', ({ url, method, config }) => {
    routes.push({ url, methods: [method].flat(), withoutId: config?.withoutId })
  })
  let patterns: RegExp[] | undefined // of no use to most starts
  return (path) => {
    patterns ??= routes.map(({ url }) => patternOf(url))
    return routes.filter((_, n) => patterns![n]!.test(path))
  }
}

function patternOf(url: string): RegExp {
  const parts = url
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
  return new RegExp(`^${parts.join('/')}$`)
}

/** The router has no way to report a bad query, so the failure travels as the query until a hook can answer it. */
class UnreadableQuery {
  readonly reason: unknown
  constructor(reason: unknown) {
    this.reason = reason
  }
}

function parseQuery(text: string): Record<string, unknown> {
  if (text === '') return {}
  try {
    return parseForm(text)
  } catch (reason) {
    return new UnreadableQuery(reason) as unknown as Record<string, unknown> // unwrapped in onRequest
  }
}

function turnedAway(reply: FastifyReply, { code, seconds }: TooMany): PlatformError {
  reply.header('retry-after', String(seconds))
  return new PlatformError(code, { seconds })
}

/** Whose token is it? Undefined when the request carries none. */
function authenticate(request: FastifyRequest, deps: HttpDeps): MaybePromise<Actor | undefined> {
  request.tokenValue = tokenOf(request.raw)
  return request.tokenValue === '' ? actorOfSession(request, deps) : actorOfToken(request, deps)
}

/** The token of an agent is for its resource, and for what the resource calls inside this process (RFC 8707). */
function actorOfToken(
  request: FastifyRequest,
  { authenticate: find, authenticateAgent }: HttpDeps,
): MaybePromise<Actor | undefined> {
  const { tokenValue, baseUrl } = request
  if (!authenticateAgent || !tokenValue.startsWith(AGENT_TOKEN)) return find(tokenValue)
  const resource = request.routeOptions.config.agentResource
  if (resource === undefined && !isInnerCall(request.headers)) return undefined
  return authenticateAgent(tokenValue, `${baseUrl}${resource ?? AGENT_RESOURCE}`)
}

/** What the person of the session cookie may do in the project that the header names. */
async function actorOfSession(request: FastifyRequest, { people }: HttpDeps): Promise<Actor | undefined> {
  const person = people && (await personOfSession(request, people))
  return person && (await people.actorOf(person, projectOf(request)))
}

async function personOfSession(request: FastifyRequest, people: PersonFinder): Promise<Person | undefined> {
  const session = readCookie(request)
  if (session === undefined) return undefined
  const person = await people.ofSession(session)
  if (!person) throw new PlatformError('people.notSignedIn')
  if (!isRead(request)) assertFromOwnPage(request)
  return person
}

/** Undefined: the header is left out. */
function projectOf(request: FastifyRequest): number | undefined {
  const text = headerOf(request, 'x-kbc-projectid')
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new PlatformError('people.projectInvalid', { given: text.slice(0, 40) })
  return Number(text)
}

/** For routes about people. A manage token acts for its creator, but not about their own sessions and passwords. */
async function admitPerson(request: FastifyRequest, { people, limits }: HttpDeps): Promise<void> {
  const value = request.routeOptions.config.needs === 'person' ? headerOf(request, 'x-kbc-manageapitoken') : undefined
  const person = people && (await (value === undefined ? personOfSession(request, people) : people.ofManageToken(value)))
  const tooOften = value === undefined ? undefined : limits?.token(request.ip, person && -person.id) // its own numbers
  if (tooOften) throw new PlatformError(tooOften.code, { seconds: tooOften.seconds })
  if (!person) throw new PlatformError(value === undefined ? 'people.notSignedIn' : 'people.manageTokenInvalid')
  if (request.routeOptions.config.role === 'stack admin' && !person.isStackAdmin)
    throw new PlatformError('people.adminNeeded', { who: 'a stack admin' })
  request.person = person
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

/** May this token use this route, in this branch? */
function admit(request: FastifyRequest, actor: Actor | undefined, deps: HttpDeps, done: (error?: Error) => void): void {
  const name = namedBranch(request.raw)
  const refusal = refusalOf(request, actor, name)
  if (refusal || !actor) {
    done(refusal)
    return
  }
  request.actor = actor
  const enter = (found: Branch | undefined) => {
    if (found) request.branch = found
    if (!found) done(branchNotFound(name))
    else checkLock(request, actor, deps, done)
  }
  const found = actor.onlyProposes ? proposalBranch(request, actor, name, deps) : branchOf(actor, name, deps)
  if (found instanceof Promise) found.then(enter, done)
  else enter(found)
}

/** Without a prefix, and for every change, the branch is that of the token's proposal; reads may name others. */
async function proposalBranch(
  request: FastifyRequest,
  actor: Actor,
  name: string | undefined,
  { proposals, findBranch }: HttpDeps,
): Promise<Branch | undefined> {
  const route = request.routeOptions.config
  if (!proposals || route.proposable === 'own') return findBranch(actor.projectId, name)
  if (!mayChange(request.method, route))
    return (name === undefined ? await proposals.branchOf(actor) : undefined) ?? findBranch(actor.projectId, name)
  const named = name === undefined ? undefined : await findBranch(actor.projectId, name)
  if (name !== undefined && named?.id !== (await proposals.branchOf(actor))?.id)
    throw new PlatformError('proposals.otherBranch', { branch: name.slice(0, 60) })
  return proposals.open(actor, request.origin)
}

function branchOf({ projectId }: Actor, name: string | undefined, deps: HttpDeps): MaybePromise<Branch | undefined> {
  const withStorage = async (branch: Branch | undefined): Promise<Branch | undefined> =>
    branch && !branch.isDefault && (await deps.showsOwnStorage?.(projectId)) ? { ...branch, isOwnOnly: true } : branch
  const found = deps.findBranch(projectId, name)
  return found instanceof Promise ? found.then(withStorage) : found
}

/** Nothing is written into a branch that is being merged, whether the prefix names it or the route itself. */
function checkLock(request: FastifyRequest, actor: Actor, deps: HttpDeps, done: (error?: Error) => void): void {
  const { branchId, branch } = request.params as { readonly branchId?: string; readonly branch?: string } // of some routes
  const ofRoute = Number(branchId ?? branch)
  const ids = [...(request.branch.isDefault ? [] : [request.branch.id]), ...(Number.isSafeInteger(ofRoute) ? [ofRoute] : [])]
  const { isBranchLocked } = deps
  if (ids.length === 0 || !isBranchLocked || !mayChange(request.method, request.routeOptions.config)) done()
  else
    Promise.all(ids.map((id) => isBranchLocked(actor.projectId, id))).then(
      (locked) => done(locked.includes(true) ? new PlatformError('accessDenied') : undefined),
      done,
    )
}

const branchNotFound = (name: string | undefined) =>
  new PlatformError('notFound', { what: `Branch "${(name ?? 'default').slice(0, 60)}"` })

/** A branch that was merged or deleted while the request was under way is as absent as to the next request. */
async function withoutBranch(error: unknown, { actor, branch }: FastifyRequest, deps: HttpDeps): Promise<unknown> {
  if (!isForeignKeyViolation(error) || !actor || !branch || branch.isDefault) return error
  return (await deps.findBranch(actor.projectId, String(branch.id))) ? error : branchNotFound(String(branch.id))
}

function refusalOf(request: FastifyRequest, actor: Actor | undefined, branchName: string | undefined): PlatformError | undefined {
  const route = request.routeOptions.config
  const { needs, branch = 'allowed' } = route
  if (!actor) return new PlatformError(request.tokenValue === '' ? 'storage.tokenMissing' : 'storage.tokenInvalid')
  const changes = mayChange(request.method, route)
  if (changes && actor.role === 'viewer') return viewerRefused()
  if ((actor.role && isBelow(actor.role, minimumRole(request.method, route))) || !mayUse(actor, needs))
    return new PlatformError(route.refusal ?? 'accessDenied')
  if (actor.onlyProposes && ((changes && !route.proposable) || route.answersCredentials || needs === 'catalogueRead'))
    return new PlatformError('proposals.notPossible', { operation: route.operation ?? request.method })
  if (changes && actor.pausedReason !== undefined) return new PlatformError('projectPaused', { reason: actor.pausedReason })
  if (branchName !== undefined && branch === 'refused')
    return notInThisBranch('This resource does not exist in a branch. Remove the branch prefix.')
  if (branchName === undefined && branch === 'required')
    return notInThisBranch('This resource exists in a branch only. Use /v2/storage/branch/default/.')
  return undefined
}

/** Clients compare the whole text, so the reason is in `params` (corrections-2, A13). */
const notInThisBranch = (reason: string) =>
  new PlatformError('notImplemented', {}, { text: 'Not implemented', params: { reason } })

/** `X-StorageApi-Token` in any spelling, or `Authorization: Bearer`; a value may itself carry the word Bearer. */
function tokenOf(request: IncomingMessage): string {
  const header = request.headers['x-storageapi-token'] ?? request.headers.authorization
  const value = (Array.isArray(header) ? header[0] : header) ?? ''
  return value.replace(/^Bearer\s+/i, '').trim()
}

const originOf = (request: FastifyRequest): Origin => ({
  runId: headerOf(request, 'x-kbc-runid')?.slice(0, 255) ?? null,
  remoteAddress: request.ip,
  userAgent: headerOf(request, 'user-agent')?.slice(0, 512) ?? null,
})

const headerOf = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Lets named origins call from a browser; true when the request was a preflight and is answered. */
function answersPreflight(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): boolean {
  const origin = request.headers.origin
  if (origin === undefined || !(origins.includes(origin) || origins.includes('*'))) return false
  reply.header('access-control-allow-origin', origin)
  reply.header('vary', 'Origin')
  reply.header('access-control-expose-headers', 'X-Request-Id, Retry-After, X-Millrace-Truncated')
  if (request.method !== 'OPTIONS') return false
  reply.header('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE')
  reply.header('access-control-allow-headers', 'X-StorageApi-Token, Authorization, Content-Type, If-Match, X-KBC-RunId')
  reply.header('access-control-max-age', '600')
  reply.code(204).send()
  return true
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const clientLeft = request.raw.destroyed && !request.raw.complete
  const named = platformErrorOf(error, request.routeOptions?.config?.validationCode ?? 'storage.validation', clientLeft)
  if (named.kind === 'bug') request.log.error({ err: error, requestId: request.id }, 'a request failed by our fault')
  if ((named.kind === 'transient' || named.kind === 'too-many') && !reply.hasHeader('retry-after'))
    reply.header('retry-after', String(named.details.seconds ?? 5))
  reply.header('link', `</help/errors#${named.code}>; rel="help"`)
  const challenge = statusOf(named) === 401 && request.routeOptions?.config?.challenge
  if (challenge) reply.header('www-authenticate', challenge(request))
  // As bytes: Fastify adds a charset to texts, and for a broken address no onSend hook runs to take it away.
  return reply
    .code(statusOf(named))
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(errorBody(named, request.id, isServicePath(request.url) ? 'service' : 'storage'))))
}

function sendMaintenance(request: FastifyRequest, reply: FastifyReply, reason: string): FastifyReply {
  const body = errorBody(new PlatformError('MAINTENANCE', { reason }), request.id)
  return reply
    .code(503)
    .header('retry-after', String(MAINTENANCE_RETRY_SECONDS))
    .type('application/json')
    .send(JSON.stringify({ ...body, status: 'maintenance', reason, estimatedEndTime: null }))
}

/** PHP clients decode JSON only when the content type is exactly `application/json` (spec storage 1.4). */
function finishPayload(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
): void {
  const type = reply.getHeader('content-type')
  if (typeof type === 'string' && type.startsWith('application/json;')) reply.header('content-type', 'application/json')
  const isText = typeof payload === 'string' || (Buffer.isBuffer(payload) && type === 'application/json')
  if (!isText || payload.length < GZIP_FROM_BYTES || !wantsGzip(request) || reply.hasHeader('content-encoding'))
    done(null, payload)
  else {
    reply.header('content-encoding', 'gzip')
    reply.header('vary', reply.hasHeader('vary') ? `${String(reply.getHeader('vary'))}, Accept-Encoding` : 'Accept-Encoding')
    reply.removeHeader('content-length')
    gzip(payload, { level: 1 }, done)
  }
}

const wantsGzip = (request: FastifyRequest): boolean => {
  const accepted = request.headers['accept-encoding']
  return accepted !== undefined && /\bgzip\b/.test(String(accepted))
}

/** Bytes that are not HTTP at all never reach a route; they still get the envelope. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // A connection on which nothing came in time is closed without a word: a client that uses it at this moment would take an answer
  // for that to its first request.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    closeLater(socket)
    return
  }
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const tooLong = error.code === 'HPE_HEADER_OVERFLOW'
  const named = new PlatformError('malformedRequest', { reason: tooLong ? 'its headers are too long.' : 'it is not valid HTTP.' })
  const body = JSON.stringify(errorBody(named, newExceptionId()))
  socket.end(
    `HTTP/1.1 ${tooLong ? '431 Request Header Fields Too Large' : '400 Bad Request'}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

const expired: Socket[] = []

/** Thousands of silent connections may expire in one moment. */
function closeLater(socket: Socket): void {
  if (expired.push(socket) > 1) return
  void inTurns(() => {
    expired.pop()?.destroy()
    return expired.length === 0
  })
}

const pathOf = (request: FastifyRequest): string => (request.url.split('?')[0] ?? '/').slice(0, 200)

const PROCESS_ID = randomBytes(10).toString('hex')
let requests = 0

/** `millrace-` and 32 hexadecimal digits: which process, and which request of it. */
const newExceptionId = (): string => `millrace-${PROCESS_ID}${(++requests).toString(16).padStart(12, '0')}`
