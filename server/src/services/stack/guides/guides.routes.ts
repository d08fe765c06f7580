// HTTP for the guides (spec platform 6.10).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { htmlPage, PAGE_POLICY } from '../../../http/html-page.ts'
import type { Guides } from './guides.ts'

const ByName = Type.Object({
  '*': Type.String({ description: 'Name of the guide, as in the list.', examples: ['walkthrough'] }),
})
const Html = Type.String()

export function guidesRoutes(guides: Guides): FastifyPluginAsyncTypebox {
  return async (app) => {
    const send = async (reply: FastifyReply, address: string) => {
      const { title, html } = await guides.get(address)
      const navigation =
        '<p class="quiet"><a href="/help">All guides</a> · <a href="/docs">API</a> · <a href="/console">Start page</a></p>'
      return reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', PAGE_POLICY)
        .send(htmlPage(`${title}: Millrace`, `${navigation}\n<main>\n${html}</main>`))
    }
    const config = (operation: string, summary: string) =>
      ({ operation, summary, needs: 'nothing', produces: ['text/html'] }) as const

    app.get(
      '/help',
      { config: config('operations.guides', 'The guides'), schema: { response: { 200: Html } } },
      async (_req, reply) => send(reply, '/help'),
    )

    app.get(
      '/help/*',
      { config: config('operations.guide', 'One guide as a page'), schema: { params: ByName, response: { 200: Html } } },
      async (req, reply) => send(reply, `/help/${req.params['*']}`),
    )
  }
}
