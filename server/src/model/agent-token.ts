// Tokens of agents that people signed in with OAuth are good for /mcp alone. The tools behind it call other routes of this process with the
// token of their caller; a value that only this process has distinguishes those calls from requests of clients.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export const AGENT_TOKEN = 'millrace-agent-'
export const AGENT_RESOURCE = '/mcp'

const HEADER = 'x-millrace-inner-call'
const SECRET = randomBytes(32)
const VALUE = SECRET.toString('base64url')

/** To be sent with calls inside this process. */
export const INNER_CALL: Readonly<Record<string, string>> = { [HEADER]: VALUE }

export function isInnerCall(headers: IncomingHttpHeaders): boolean {
  const given = headers[HEADER]
  if (typeof given !== 'string') return false
  const bytes = Buffer.from(given, 'base64url')
  return bytes.length === SECRET.length && timingSafeEqual(bytes, SECRET)
}
