// One request to the model: counted for the token of its caller, and recorded whatever came of it.

import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Message, Model } from './model.ts'

export interface ModelCall {
  readonly task: string
  /** What it was about: a job; empty otherwise. */
  readonly subject: string
  readonly model: string
  readonly host: string
  readonly sentCharacters: number
  readonly outcome: 'answered' | 'failed'
  readonly milliseconds: number
}

export interface AskModelDeps {
  readonly model: Model
  readonly clock: Clock
  readonly spend: (actor: Actor) => Promise<number>
  readonly onAsked: (request: FastifyRequest, call: ModelCall) => void
}

export type AskModel = ReturnType<typeof createAskModel>

export function createAskModel({ model, clock, spend, onAsked }: AskModelDeps) {
  async function ask(
    request: FastifyRequest,
    { task, subject = '' }: { readonly task: string; readonly subject?: string },
    messages: readonly Message[],
  ): Promise<{ readonly text: string; readonly callsLeft: number }> {
    const callsLeft = await spend(request.actor)
    const started = clock.now().getTime()
    const record = (outcome: ModelCall['outcome']) =>
      onAsked(request, {
        ...{ task, subject, model: model.name, host: model.host, outcome },
        sentCharacters: messages.reduce((sum, { content }) => sum + content.length, 0),
        milliseconds: clock.now().getTime() - started,
      })
    try {
      const text = await model.complete(messages)
      record('answered')
      return { text, callsLeft }
    } catch (error) {
      record('failed')
      throw error
    }
  }

  return { model, ask }
}

export function modelOf(asked: AskModel | undefined): AskModel {
  if (!asked) throw new PlatformError('ai.noModel')
  return asked
}
