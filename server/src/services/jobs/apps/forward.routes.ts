// The address at which apps are used: the way in for people who are signed in, and what a link leads to (spec platform 6.4, ADR 0036).
//  (1) A page of an app runs in an origin of its own, which no cookie of the stack goes with: the link is part of its address.
//  (2) The app never sees a cookie, a token or a session of the stack, and cannot set a cookie for it.
//  (3) A link is checked again while a websocket is open: it closes with the link, or with the membership of its creator.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  endToEnd,
  type Forwarded,
  forward,
  forwardUpgrade,
  upgradeHeaders,
} from '../../../engines/reverse-proxy/program-proxy.ts'
import { passwordOf } from '../../../http/basic-password.ts'
import { callerGone } from '../../../http/connection/caller-gone.ts'
import { numberedId } from '../../../http/parameters.ts'
import { readCookie } from '../../../http/session-cookie.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Person } from '../../../model/person.ts'
import { appPath, linkPath } from './app-paths.ts'
import type { AppRow } from './apps.store.ts'
import type { Apps } from './apps.ts'
import type { Held } from './instances.ts'

export interface ForwardDeps {
  readonly apps: Pick<Apps, 'openLink' | 'findAnywhere' | 'createLink' | 'find' | 'actorOfPassword'>
  readonly use: (app: AppRow) => Promise<Held>
  readonly personOf: (session: string) => Person | undefined | Promise<Person | undefined>
  readonly actorOf: (person: Person, projectId: number) => Promise<Actor>
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const Any = Type.Unsafe<unknown>({})
const Params = Type.Object({ id: numberedId('app') })
const LinkParams = Type.Object({ id: numberedId('app'), link: Type.String({ description: '`~` and the secret of the link.' }) })
const PathParams = Type.Object({ ...LinkParams.properties, '*': Type.String({ description: 'Path in the app.' }) })

/** Headers that identify the caller, and headers that only the stack may set; the app gets neither. */
const KEPT_BACK: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-prefix',
  'x-forwarded-proto',
  'x-kbc-manageapitoken',
  'x-kbc-projectid',
  'x-storageapi-token',
])
const NOT_FROM_APP: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-origin',
  'alt-svc',
  'clear-site-data',
  'content-security-policy',
  'location',
  'referrer-policy',
  'set-cookie',
  'strict-transport-security',
])
/** Rule 1: scripts run, in an opaque origin. */
const SANDBOX = "sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads; frame-ancestors 'self'"
const LOOK_AGAIN_MS = 30_000

export function forwardRoutes(deps: ForwardDeps): FastifyPluginAsync {
  const { apps, use } = deps

  /** Members of the project, and callers with the password, get a link; for others it is hidden whether the app exists. */
  async function open(req: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply): Promise<FastifyReply> {
    const { id } = req.params
    const row = /^\d{1,15}$/.test(id) ? await apps.findAnywhere(Number(id)) : undefined
    const session = readCookie(req)
    const person = session === undefined ? undefined : await deps.personOf(session)
    if (!person) reply.header('www-authenticate', 'Basic realm="Data app", charset="UTF-8"')
    const actor = row && (await (person ? memberOf(person, row.project_id) : apps.actorOfPassword(row, passwordOf(req))))
    if (!row || !actor) throw new PlatformError(person ? 'apps.notFound' : 'apps.passwordWrong', { id: id.slice(0, 40) })
    await apps.find(actor, id)
    const { value } = await apps.createLink({ actor, origin: req.origin }, row)
    return reply
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .redirect(`${req.baseUrl}${linkPath(row.id, value)}`, 302)
  }

  async function memberOf(person: Person, projectId: number): Promise<Actor | undefined> {
    try {
      return await deps.actorOf(person, projectId)
    } catch (error) {
      if (error instanceof PlatformError) return undefined
      throw error
    }
  }

  async function serve(req: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const place = placeOf(req.originalUrl)
    const app = place && (await apps.openLink(place.id, place.link))
    if (!place || !app) throw new PlatformError('apps.linkInvalid')
    if (place.path === '') return reply.redirect(`${req.baseUrl}${linkPath(place.id, place.link)}`, 308)
    const held = await use(app)
    const gone = callerGone(reply)
    if (gone.aborted) held.release()
    else gone.addEventListener('abort', () => held.release(), { once: true })
    const headers = { ...endToEnd(req.headers, KEPT_BACK), ...surroundings(req, place) }
    const hasBody = req.method !== 'GET' && req.method !== 'HEAD'
    const asked = { method: req.method, path: place.path, headers }
    const answer = await forward(held.dial, asked, hasBody ? req.raw : undefined, gone).catch((error: unknown) => {
      throw new PlatformError('apps.noAnswer', { id: String(app.id) }, { cause: error })
    })
    answer.body.on('error', () => reply.raw.destroy())
    const { location, 'content-security-policy': own } = answer.headers
    reply.code(answer.status).headers(endToEnd(answer.headers, NOT_FROM_APP))
    if (location !== undefined) reply.header('location', withinApp(location, place))
    return reply
      .header('content-security-policy', own === undefined ? SANDBOX : `${[own].flat().join(', ')}, ${SANDBOX}`)
      .header('access-control-allow-origin', '*') // the address is the secret, and no cookie goes with it
      .header('referrer-policy', 'no-referrer')
      .send(answer.body)
  }

  return async (app) => {
    app.get(
      '/data-apps/:id',
      {
        config: {
          operation: 'dataApps.open',
          summary: 'Open a data app with a session, or with its password (Basic authentication, any user name)',
          needs: 'nothing',
          produces: ['text/html'],
        },
        schema: { params: Params, response: { 302: Any } },
      },
      async (req, reply) => open(req as FastifyRequest<{ Params: { id: string } }>, reply), // by the schema
    )
    for (const method of METHODS)
      for (const [path, params, what] of [
        ['/data-apps/:id/:link', LinkParams, 'page'],
        ['/data-apps/:id/:link/*', PathParams, 'path'],
      ] as const)
        app.route({
          method,
          url: path,
          config: {
            operation: `dataApps.${what}${method[0]}${method.slice(1).toLowerCase()}`,
            summary: `Forward ${method} to the data app of a link`,
            needs: 'nothing',
            quiet: true,
            produces: ['*/*'],
            ...(method === 'GET' ? {} : { body: 'stream' as const, form: Type.Object({}), consumes: ['*/*'] }),
          },
          schema: { params, response: { 200: Any } },
          handler: serve,
        })
  }
}

interface Place {
  readonly id: number
  readonly link: string
  /** Within the app, with its query; empty when the address ends with the link. */
  readonly path: string
}

const PLACE = /^(?:https?:\/\/[^/]*)?\/data-apps\/(\d{1,15})\/~([\w-]{43})(\/[^#]*)?(?:\?[^#]*)?$/

function placeOf(url: string): Place | undefined {
  const found = PLACE.exec(url)
  return found ? { id: Number(found[1]), link: found[2]!, path: found[3] ?? '' } : undefined
}

const surroundings = ({ baseUrl }: { readonly baseUrl: string }, { id, link }: Place): Record<string, string> => {
  const { host, protocol } = new URL(baseUrl)
  return {
    host,
    'x-forwarded-host': host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-prefix': `${appPath(id)}/~${link}`,
  }
}

/** A path of the app is one below its link; addresses elsewhere stay. */
const withinApp = (location: string, { id, link }: Place): string =>
  /^\/(?!\/)/.test(location) ? `${appPath(id)}/~${link}${location}` : location

/** Websockets: upgrades are handled before routing. */
export function createAppUpgrades({ apps, use }: Pick<ForwardDeps, 'apps' | 'use'>, baseUrl: () => string) {
  const open = new Set<{ close(): void }>()

  async function connect(message: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const place = placeOf(message.url ?? '')
    const app = place && (await apps.openLink(place.id, place.link))
    if (!place || !app) return refuse(client, '404 Not Found')
    const held = await use(app)
    if (client.destroyed) return held.release()
    const asked: Forwarded = {
      method: 'GET',
      path: place.path === '' ? '/' : place.path,
      headers: { ...upgradeHeaders(message, KEPT_BACK), ...surroundings({ baseUrl: baseUrl() }, place) },
    }
    const joined = forwardUpgrade(held.dial, asked, client, head, () => {
      clearInterval(timer)
      open.delete(joined)
      held.release()
    })
    const timer = setInterval(() => {
      apps.openLink(place.id, place.link).then(
        (still) => still ?? joined.close(),
        () => {}, // a database that does not respond is queried again
      )
    }, LOOK_AGAIN_MS).unref()
    open.add(joined)
  }

  return {
    accepts: ({ url, headers }: IncomingMessage): boolean =>
      headers.upgrade?.toLowerCase() === 'websocket' && placeOf(url ?? '') !== undefined,
    handle(message: IncomingMessage, client: Duplex, head: Buffer): void {
      client.on('error', () => client.destroy())
      connect(message, client, head).catch((error: unknown) =>
        refuse(client, error instanceof PlatformError ? '503 Service Unavailable' : '502 Bad Gateway'),
      )
    },
    close(): void {
      for (const one of open) one.close()
    },
  }
}

const refuse = (client: Duplex, status: string): void =>
  void client.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
