// The cookie of a session, and who may send it. Scripts of the page cannot read it, other sites cannot send it (ADR 0034).

import type { FastifyReply, FastifyRequest } from 'fastify'
import { PlatformError } from '../kit/errors.ts'

/** Cookies ignore ports, so the name contains the port: two stacks on one machine keep their own sessions. */
function cookieName(baseUrl: string, what = 'session'): string {
  const { protocol, port } = new URL(baseUrl)
  return `${protocol === 'https:' ? '__Host-' : ''}millrace_${what}${port === '' ? '' : `_${port}`}`
}

export function readCookie({ headers, baseUrl }: FastifyRequest, what?: string): string | undefined {
  const { cookie } = headers
  if (cookie === undefined) return undefined
  const start = `${cookieName(baseUrl, what)}=`
  const found = cookie.split(';').find((part) => part.trim().startsWith(start))
  return found?.trim().slice(start.length) || undefined
}

export interface CookieOptions {
  readonly what?: string
  readonly maxAgeSeconds: number
  /** `Lax`: a link on another site sends it too. */
  readonly sameSite?: 'Strict' | 'Lax'
}

export function setCookie(
  reply: FastifyReply,
  { baseUrl }: FastifyRequest,
  value: string,
  { what, maxAgeSeconds, sameSite = 'Strict' }: CookieOptions,
): void {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
  reply.header(
    'set-cookie',
    `${cookieName(baseUrl, what)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`,
  )
}

export const clearCookie = (reply: FastifyReply, request: FastifyRequest, what?: string): void =>
  setCookie(reply, request, '', { ...(what !== undefined && { what }), maxAgeSeconds: 0 })

/** Browsers send the origin of a request in a header that pages cannot change. */
export function assertFromOwnPage(request: FastifyRequest): void {
  if (!isFromOwnPage(request)) throw new PlatformError('people.crossSite')
}

function isFromOwnPage({ headers, baseUrl }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers // over plain HTTP browsers leave the first header out
  return origin !== undefined && URL.canParse(origin) && (new URL(origin).host === host || origin === new URL(baseUrl).origin)
}
