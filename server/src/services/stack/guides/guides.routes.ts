// HTTP for the guides (spec platform 6.10).

import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { htmlPage, PAGE_POLICY } from '../../../http/html-page.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { errorPage, LINKED } from './error-page.ts'
import type { Guides } from './guides.ts'
import { COPY_SCRIPT, contentsOf, navigationOf, resultsOf } from './help-page.ts'
import { renderGuide } from './markdown-page.ts'
import type { Passage } from './passages.ts'

export interface GuidesRoutesDeps {
  readonly guides: Guides
  readonly find: (question: string, limit: number) => Promise<Passage[]>
  readonly readImage: (name: string) => Promise<Uint8Array | undefined>
  readonly version: string
}

const ByName = Type.Object({
  '*': Type.String({
    description: 'Name of the guide, as in the list; with `.md` the document as Markdown.',
    examples: ['walkthrough'],
  }),
})
const ByImage = Type.Object({ name: Type.String({ description: 'Name of the image.' }) })
const Question = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 500, description: 'Search terms.', examples: ['incremental load'] })),
})
const Html = Type.String()
/** Only the script of the copy buttons runs; the search form leads to the stack itself. */
const HELP_POLICY = `${PAGE_POLICY.replace("form-action 'none'", "form-action 'self'")}; img-src 'self'; script-src 'sha256-${createHash('sha256').update(COPY_SCRIPT).digest('base64')}'`
const FOUND_PASSAGES = 60
const IMAGE_TYPES = { webp: 'image/webp', svg: 'image/svg+xml' } as const

export function guidesRoutes({ guides, find, readImage, version }: GuidesRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    const sendPage = (reply: FastifyReply, title: string, body: string, question = '') =>
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', HELP_POLICY)
        .send(
          htmlPage(
            `${title}: Millrace`,
            `${navigationOf(version, question)}\n<main>\n${body}</main>\n<script>${COPY_SCRIPT}</script>`,
          ),
        )
    const send = async (reply: FastifyReply, address: string) => {
      const { title, html, contents } = await guides.get(address)
      return sendPage(reply, title, html.replace('</h1>\n', `</h1>\n${contentsOf(contents)}`))
    }
    const config = (operation: string, summary: string, type = 'text/html') =>
      ({ operation, summary, needs: 'nothing', produces: [type] }) as const

    app.get(
      '/help',
      { config: config('operations.guides', 'The guides'), schema: { response: { 200: Html } } },
      async (_req, reply) => send(reply, '/help'),
    )

    app.get(
      '/help/search',
      {
        config: config('operations.searchGuides', 'Search the guides, best match first'),
        schema: { querystring: Question, response: { 200: Html } },
      },
      async (req, reply) => {
        const { q = '' } = req.query
        const found = q.trim() === '' ? [] : await find(q, FOUND_PASSAGES)
        return sendPage(reply, `Search: ${q}`, resultsOf(q, found), q)
      },
    )

    app.get(
      '/help/images/:name',
      {
        config: { ...config('operations.guideImage', 'An image of the guides'), produces: Object.values(IMAGE_TYPES) },
        schema: { params: ByImage, response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { name } = req.params
        const bytes = await readImage(name)
        if (bytes === undefined) throw new PlatformError('notFound', { what: `The picture ${name.slice(0, 100)}` })
        return reply.type(name.endsWith('.svg') ? IMAGE_TYPES.svg : IMAGE_TYPES.webp).send(bytes)
      },
    )

    app.get(
      '/llms.txt',
      {
        config: {
          operation: 'operations.llms',
          summary: 'The guides as a list for language models',
          needs: 'nothing',
          produces: ['text/plain'],
        },
        schema: { response: { 200: Type.String() } },
      },
      async (_req, reply) => reply.type('text/plain; charset=utf-8').send(await guides.index()),
    )

    app.get(
      '/help/*',
      {
        config: {
          ...config('operations.guide', 'One guide as a page, or as Markdown'),
          produces: ['text/html', 'text/markdown'],
        },
        schema: { params: ByName, response: { 200: Html } },
      },
      async (req, reply) => {
        const name = req.params['*']
        const code = /^errors\/(.+?)(\.md)?$/.exec(name)
        const page = code && errorPage(code[1]!)
        if (page && code[2]) return reply.type('text/markdown; charset=utf-8').send(page)
        if (page) return sendPage(reply, code[1]!, renderGuide(`docs/errors/${code[1]}.md`, page, LINKED).html)
        if (!name.endsWith('.md')) return send(reply, `/help/${name}`)
        const bare = name.slice(0, -'.md'.length)
        const address = bare === 'index' ? '/help' : `/help/${bare}`
        return reply.type('text/markdown; charset=utf-8').send(await guides.source(address))
      },
    )
  }
}
