// The response of a token endpoint in the form that RFC 6749 requires. Known deviations: an error with status 200 (GitHub), no
// token_type or one of their own (Shopify, Slack), a form instead of JSON (GitHub, Facebook).

import type { GuardedAnswer } from './guarded-send.ts'

export interface TokenAnswer {
  readonly status: number
  /** Undefined when the answer is neither JSON nor a form. */
  readonly members: Readonly<Record<string, unknown>> | undefined
}

export function readTokenAnswer({ status, contentType, text }: GuardedAnswer): TokenAnswer {
  const members = jsonObject(text) ?? (contentType.includes('application/x-www-form-urlencoded') ? formOf(text) : undefined)
  const isDisguisedError = status === 200 && typeof members?.error === 'string'
  return { status: isDisguisedError ? 400 : status, members }
}

/** The same with what a strict reader of the standard insists on; `id_token` can be checked only against a known issuer. */
export function strictAnswer({ status, members }: TokenAnswer, knowsIssuer: boolean): Response {
  if (!members) return new Response(null, { status })
  const { id_token, token_type, expires_in, scope, ...rest } = members
  const isBearer = typeof token_type === 'string' && /^bearer$/i.test(token_type)
  const body = {
    ...rest,
    ...(status === 200 && { token_type: isBearer ? token_type : 'bearer' }),
    ...(knowsIssuer && id_token !== undefined && { id_token }),
    ...(Number.isFinite(Number(expires_in ?? Number.NaN)) && { expires_in: Number(expires_in) }),
    ...(typeof scope === 'string' && { scope }),
  }
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

export const formOf = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text))
