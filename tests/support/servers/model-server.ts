// A model behind the chat completions of OpenAI, on a port of its own, which answers as a test sets.

import type { ServerResponse } from 'node:http'
import type { TestScope } from '../test-stack.ts'
import { type Received, startReceiver } from './webhook-receiver.ts'

export interface ModelServer {
  /** Of the API, as an operator names it. */
  readonly url: string
  readonly received: readonly Received[]
  /** The text of its answers from now on. */
  say(text: string): void
  /** Everything else it may do. */
  answerWith(answer: (response: ServerResponse) => void): void
}

export async function startModelServer(t: TestScope, text = 'An answer.'): Promise<ModelServer> {
  const { url, received, answerWith } = await startReceiver(t)
  const say = (content: string) =>
    answerWith((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          id: 'a',
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content } }],
        }),
      ),
    )
  say(text)
  return { url: `${url}/v1`, received, say, answerWith }
}

/** What a request sent. */
export const messagesOf = ({ body }: Received): readonly { readonly role: string; readonly content: string }[] =>
  (JSON.parse(body) as { messages: { role: string; content: string }[] }).messages // of our own server
