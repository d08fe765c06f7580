// HTTP for requests of clients to the ai service (spec platform 6.10c).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { ComponentDescription } from '../../../../../contract/component.ts'
import { ComponentId } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { suggestComponents } from './ai.ts'
import type { AskModel } from './ask-model.ts'
import type { FindPassages } from './model-tasks.ts'
import { passagesText, questionPrompt } from './prompts.ts'

export interface AiRoutesDeps {
  readonly findPassages: FindPassages
  readonly findComponent: (id: string) => ComponentDescription | undefined
  readonly listComponents: () => readonly ComponentDescription[]
  /** Configurations that templates of the catalogue create. */
  readonly examplesOf: (id: string) => Promise<{ readonly configurations: readonly object[]; readonly rows: readonly object[] }>
  /** Undefined: the operator named no model. */
  readonly asked: AskModel | undefined
}

const MAX_TEXT = 2_000
const NOTHING = 'The documentation has no passage about this. Try other words.'

export function aiRoutes({
  findPassages,
  findComponent,
  listComponents,
  examplesOf,
  asked,
}: AiRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/ai/docs/question',
      {
        config: {
          operation: 'ai.question',
          summary: 'Passages of the documentation that match a question, or an answer of the configured model',
          needs: 'token',
          onlyReads: true,
          validationCode: 'validation.failed',
        },
        schema: {
          body: Type.Object({ query: Type.String({ minLength: 1, maxLength: MAX_TEXT, description: 'The question.' }) }),
          response: {
            200: Type.Object({
              text: Type.String(),
              sourceUrls: Type.Array(Type.String()),
              sent: Type.Optional(
                Type.Array(Type.Object({ role: Type.String(), content: Type.String() }), {
                  description: 'The text that was sent to the model; omitted if no model was called.',
                }),
              ),
            }),
          },
        },
      },
      async (req) => {
        const passages = await findPassages(req.body.query)
        const sourceUrls = passages.map(({ address }) => `${req.baseUrl}${address}`)
        if (passages.length === 0) return { text: NOTHING, sourceUrls }
        if (!asked) return { text: passagesText(passages), sourceUrls }
        const sent = questionPrompt(req.body.query, passages)
        try {
          return { text: (await asked.ask(req, { task: 'question' }, sent)).text, sourceUrls, sent }
        } catch (error) {
          if (!(error instanceof PlatformError)) throw error
          return { text: `${error.message} These passages match:\n\n${passagesText(passages)}`, sourceUrls }
        }
      },
    )

    app.post(
      '/ai/suggest/component',
      {
        config: {
          operation: 'ai.suggestComponent',
          summary: 'Components that match a purpose, best match first',
          needs: 'token',
          onlyReads: true,
          validationCode: 'validation.failed',
        },
        schema: {
          body: Type.Object({
            prompt: Type.String({ minLength: 1, maxLength: MAX_TEXT, description: 'Purpose of the component.' }),
          }),
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
        const { configurations, rows } = await examplesOf(found.id)
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
          rootConfigurationExamples: configurations.length > 0 ? configurations : [found.emptyConfiguration],
          rowConfigurationExamples: rows.length > 0 ? rows : [found.emptyConfigurationRow],
        }
      },
    )
  }
}
