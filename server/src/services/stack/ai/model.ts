// The model that the operator named: any endpoint with the chat completions of OpenAI. This is the only way anything is sent to a model.

import { unbracketed } from '../../../../../contract/egress-rules.ts'
import type { OutgoingAnswer, OutgoingRequest } from '../../../engines/egress/egress.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { maskShapes } from '../../../kit/log.ts'

export interface ModelSettings {
  /** Of the API, such as `http://127.0.0.1:11434/v1`. */
  readonly url: string
  readonly model: string
  readonly key?: string | undefined
  readonly timeoutMs: number
  /** Requests that one token may cause on a day. */
  readonly callsPerDay: number
}

export interface Message {
  readonly role: 'system' | 'user'
  readonly content: string
}

export interface Model {
  readonly name: string
  /** With its port, for people. */
  readonly host: string
  /** Rejects with `ai.modelFailed` when no usable text came. */
  complete(messages: readonly Message[]): Promise<string>
}

const MAX_ANSWER_BYTES = 256 << 10
const MAX_TEXT = 20_000
const MAX_REASON = 200

/** What an administrator would have to allow: the operator named the address, which may be on a private network. */
export function addressOf({ url }: ModelSettings): string {
  const { hostname, port, protocol } = new URL(url)
  return `${unbracketed(hostname)}:${port || (protocol === 'https:' ? 443 : 80)}`
}

export function createModel(settings: ModelSettings, send: (request: OutgoingRequest) => Promise<OutgoingAnswer>): Model {
  const { model, key, timeoutMs } = settings
  const url = new URL(`${settings.url}/chat/completions`)
  const { host } = url
  const failed = (reason: string, cause?: unknown) =>
    new PlatformError('ai.modelFailed', { host, reason: withoutKey(reason, key) }, { cause })

  async function complete(messages: readonly Message[]): Promise<string> {
    const answer = await send({
      ...{ method: 'POST' as const, url, timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES },
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model, messages, stream: false }),
    }).catch((error: unknown) => {
      throw failed(reasonOf(error, timeoutMs), error)
    })
    if (answer.status !== 200) throw failed(`it returned ${answer.status}${messageIn(answer.text, key)}`)
    if (Buffer.byteLength(answer.text) >= MAX_ANSWER_BYTES) throw failed(`its answer has more than ${MAX_ANSWER_BYTES >> 10} kB`)
    const text = contentOf(answer.text)
    if (text === undefined) throw failed('its answer is not a chat completion')
    if (text.trim() === '') throw failed('its answer has no text')
    return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  }

  return { name: model, host, complete }
}

const reasonOf = (error: unknown, timeoutMs: number): string =>
  error instanceof PlatformError && error.code === 'egress.timedOut'
    ? `no complete answer within ${timeoutMs / 1000} s`
    : error instanceof Error
      ? error.message.replace(/\.$/, '')
      : 'the connection failed'

/** Of an answer in JSON; undefined where it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function contentOf(text: string): string | undefined {
  const answer = parsed(text) as { choices?: readonly ({ message?: { content?: unknown } } | null)[] } | null | undefined // of another system
  const choices = answer?.choices
  const content = Array.isArray(choices) ? choices[0]?.message?.content : undefined
  return typeof content === 'string' ? content : undefined
}

/** The error of the other side, as servers of this kind return it: `{"error": {"message": "..."}}`. */
function messageIn(text: string, key: string | undefined): string {
  const error = (parsed(text) as { error?: unknown } | null | undefined)?.error
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  if (typeof message !== 'string' || message === '') return ''
  return `: ${maskShapes(withoutKey(message, key)).slice(0, MAX_REASON)}` // a part of a key is not recognised any more
}

const withoutKey = (text: string, key: string | undefined): string => (key === undefined ? text : text.replaceAll(key, '***'))
