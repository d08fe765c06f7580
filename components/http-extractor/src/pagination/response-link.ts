// method response.link (ours): the address of the next page stands in the header Link of each response (RFC 8288), as GitHub, Shopify
// and many others have it: `Link: <https://api.example.com/users?page=2>; rel="next"`.

import { at, flagAt, textAt } from '../configuration/read.ts'
import type { JsonObject } from '../json/json.ts'
import { type Next, type Scroller, type ScrollerFactory, withoutParams } from './scroller.ts'

export const responseLinkSchema = {
  title: 'Link header',
  description: 'Follows the address of the next page found in the header Link of the response. Ends when there is none.',
  properties: {
    method: { const: 'response.link' },
    header: { type: 'string', default: 'Link', description: 'Name of the header.' },
    rel: { type: 'string', default: 'next', description: 'The relation that names the next page.' },
    includeParams: { type: 'boolean', default: false, description: "true: the job's params are added to the address." },
  },
  required: ['method'],
} as const

export function createResponseLink(settings: JsonObject): ScrollerFactory {
  const header = textAt(at(settings, 'header'), 'api.pagination.header', 'Link')
  const rel = textAt(at(settings, 'rel'), 'api.pagination.rel', 'next')
  const includeParams = flagAt(at(settings, 'includeParams'), 'api.pagination.includeParams')

  return (): Scroller => ({
    repeats: 'request',
    first: (job) => job,
    next: (job, { headers }): Next => {
      const endpoint = linkOf(headers[header.toLowerCase()] ?? '', rel)
      if (endpoint === undefined) return { stop: `the response has no more pages (no rel="${rel}" in the header ${header})` }
      return { request: { ...(includeParams ? job : withoutParams(job)), endpoint } }
    },
  })
}

/** Links are separated by commas, which an address may hold as well: each starts with `<`. */
const LINK = /<([^>]*)>([^<]*)/g

/** The address with that relation; a link may have several, separated by blanks. */
export function linkOf(header: string, rel: string): string | undefined {
  for (const [, address = '', attributes = ''] of header.matchAll(LINK)) {
    const found = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(attributes)
    const relations = (found?.[1] ?? found?.[2] ?? '').toLowerCase().split(/\s+/)
    if (relations.includes(rel.toLowerCase())) return address
  }
  return undefined
}
