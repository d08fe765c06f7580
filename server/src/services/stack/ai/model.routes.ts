// HTTP for what the model of the operator does for people (spec platform 6.10c): first what would be sent, then sending exactly that.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createInnerApi, Refused } from '../../../http/inner/inner-api.ts'
import { Nullable } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type AskModel, modelOf } from './ask-model.ts'
import { type FindPassages, type Prompt, promptFor, type TaskRequest } from './model-tasks.ts'
import { sqlIn } from './prompts.ts'

export interface ModelRoutesDeps {
  readonly findPassages: FindPassages
  readonly asked: AskModel | undefined
}

const TASK = {
  task: Type.Union([Type.Literal('explain-job'), Type.Literal('write-query')], { description: 'Task of the model.' }),
  jobId: Type.Optional(Type.String({ maxLength: 64, description: 'The failed job, for `explain-job`.' })),
  question: Type.Optional(
    Type.String({ maxLength: 2_000, description: 'Question that the query should answer, for `write-query`.' }),
  ),
  branchId: Type.Optional(
    Type.String({ maxLength: 64, description: 'Branch whose tables `write-query` is about; the default branch otherwise.' }),
  ),
}
const MODEL = { model: Type.String(), host: Type.String({ description: 'Host that it is sent to.' }) }
const Messages = Type.Array(Type.Object({ role: Type.String(), content: Type.String() }))

export function modelRoutes({ findPassages, asked }: ModelRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    const promptOf = (req: FastifyRequest, request: TaskRequest & { readonly branchId?: string }): Promise<Prompt> =>
      promptFor(
        modelOf(asked).model,
        createInnerApi(app as unknown as FastifyInstance, req, request.branchId), // the types of schemas are of no use to it
        findPassages,
        request,
      ).catch((error: unknown) => {
        throw error instanceof Refused ? refusal(error) : error
      })

    app.get(
      '/ai/model',
      {
        config: { operation: 'ai.model', summary: 'Whether a model is configured, and which', needs: 'token' },
        schema: {
          response: {
            200: Type.Object({ isAvailable: Type.Boolean(), model: Nullable(Type.String()), host: Nullable(Type.String()) }),
          },
        },
      },
      async () => ({ isAvailable: asked !== undefined, model: asked?.model.name ?? null, host: asked?.model.host ?? null }),
    )

    app.post(
      '/ai/prompts',
      {
        config: {
          operation: 'ai.prompt',
          summary: 'The exact text that would be sent to the model; sends nothing',
          needs: 'grant',
          validationCode: 'validation.failed',
        },
        schema: {
          body: Type.Object(TASK),
          response: { 200: Type.Object({ promptId: Type.String(), ...MODEL, messages: Messages }) },
        },
      },
      async (req) => {
        const { model } = modelOf(asked)
        const { promptId, messages } = await promptOf(req, req.body)
        return { promptId, model: model.name, host: model.host, messages: [...messages] }
      },
    )

    app.post(
      '/ai/answers',
      {
        config: {
          operation: 'ai.answer',
          summary: 'Send a prompt to the model exactly as it was shown',
          needs: 'grant',
          validationCode: 'validation.failed',
        },
        schema: {
          body: Type.Object({
            ...TASK,
            promptId: Type.String({ maxLength: 64, description: 'Id from POST /ai/prompts: exactly that prompt is sent.' }),
          }),
          response: {
            200: Type.Object({
              ...{ text: Type.String(), sql: Nullable(Type.String({ description: 'The SQL statement, for `write-query`.' })) },
              ...{
                ...MODEL,
                sent: Messages,
                callsLeft: Type.Integer({ description: 'Calls of the caller that are left today.' }),
              },
            }),
          },
        },
      },
      async (req) => {
        const { model, ask } = modelOf(asked)
        const { task, jobId } = req.body
        const { promptId, messages } = await promptOf(req, req.body)
        if (promptId !== req.body.promptId) throw new PlatformError('ai.promptChanged')
        const { text, callsLeft } = await ask(req, { task, ...(jobId !== undefined && { subject: jobId }) }, messages)
        const sql = task === 'write-query' ? sqlIn(text) : null
        return { text, sql, model: model.name, host: model.host, sent: [...messages], callsLeft }
      },
    )
  }
}

/** What the caller may not read, or what does not exist. */
const refusal = ({ status, message }: Refused): PlatformError =>
  status === 404
    ? new PlatformError('notFound', { what: 'The job or branch' })
    : status === 403
      ? new PlatformError('accessDenied')
      : new PlatformError('malformedRequest', { reason: message })
