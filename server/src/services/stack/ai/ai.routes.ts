// HTTP for what clients ask the ai service (spec platform 6.10c).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { ComponentDescription } from '../../../../../contract/component.ts'
import { ComponentId } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { suggestComponents } from './ai.ts'

export interface AiRoutesDeps {
  readonly findPassages: (
    question: string,
  ) => Promise<readonly { readonly page: string; readonly heading: string; readonly address: string; readonly passage: string }[]>
  readonly findComponent: (id: string) => ComponentDescription | undefined
  readonly listComponents: () => readonly ComponentDescription[]
}

const MAX_TEXT = 2_000
const NOTHING = 'The documentation has no passage about this. Try other words.'

export function aiRoutes({ findPassages, findComponent, listComponents }: AiRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/ai/docs/question',
      {
        config: {
          operation: 'ai.question',
          summary: 'Passages of the documentation that answer a question',
          needs: 'token',
          onlyReads: true,
          validationCode: 'validation.failed',
        },
        schema: {
          body: Type.Object({ query: Type.String({ minLength: 1, maxLength: MAX_TEXT, description: 'The question.' }) }),
          response: { 200: Type.Object({ text: Type.String(), sourceUrls: Type.Array(Type.String()) }) },
        },
      },
      async (req) => {
        const passages = await findPassages(req.body.query)
        const text = passages.map(({ page, heading, passage }) => `## ${page}: ${heading}\n\n${passage}`).join('\n\n')
        return { text: text === '' ? NOTHING : text, sourceUrls: passages.map(({ address }) => `${req.baseUrl}${address}`) }
      },
    )

    app.post(
      '/ai/suggest/component',
      {
        config: {
          operation: 'ai.suggestComponent',
          summary: 'Components that fit a purpose, the best first',
          needs: 'token',
          onlyReads: true,
          validationCode: 'validation.failed',
        },
        schema: {
          body: Type.Object({ prompt: Type.String({ minLength: 1, maxLength: MAX_TEXT, description: 'What it should do.' }) }),
          response: {
            200: Type.Object({
              components: Type.Array(
                Type.Object({
                  componentId: Type.String(),
                  score: Type.Number({ description: '0 to 1.' }),
                  source: Type.String(),
                }),
              ),
            }),
          },
        },
      },
      async (req) => ({ components: suggestComponents(listComponents(), req.body.prompt) }),
    )

    app.get(
      '/ai/docs/components/:componentId',
      {
        config: { operation: 'ai.component', summary: 'Documentation and schemas of a component', needs: 'token' },
        schema: { params: Type.Object({ componentId: ComponentId }), response: { 200: Type.Unknown() } },
      },
      async (req) => {
        const id = req.params.componentId
        const found = findComponent(id)
        if (!found) throw new PlatformError('notFound', { what: `Component ${id.slice(0, 100)}` })
        return {
          componentId: id,
          componentName: found.name,
          componentType: found.type,
          componentFlags: found.flags,
          categories: found.categories,
          documentationUrl:
            found.documentationUrl === '' ? `${req.baseUrl}/docs/components/${encodeURIComponent(id)}` : found.documentationUrl,
          documentation: found.longDescription,
          configurationSchema: found.configurationSchema,
          configurationRowSchema: found.configurationRowSchema,
          rootConfigurationExamples: [found.emptyConfiguration],
          rowConfigurationExamples: [found.emptyConfigurationRow],
        }
      },
    )
  }
}
