// Server-sent events with the token in a header, which the browser's own EventSource cannot send. Connects again after a break, where it was.

import { ApiError, type Input, type OperationName } from '../../client/src/client.ts'
import { api } from './session.ts'

export interface StreamEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

const RETRY_MS = 1000

/** Calls `onEvent` until it answers false or the signal ends. `onConnection` is called when the stream is lost and when it is back. */
export async function follow<O extends OperationName>(
  operation: O,
  input: Input<O>,
  signal: AbortSignal,
  onEvent: (event: StreamEvent) => boolean,
  onConnection: (isConnected: boolean) => void = () => {},
): Promise<void> {
  let lastId: string | undefined
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream' }
      if (lastId !== undefined) headers['last-event-id'] = lastId
      const response = await api.open(operation, { ...input, headers, signal })
      onConnection(true)
      for await (const event of eventsOf(response.body!)) {
        lastId = event.id ?? lastId
        if (!onEvent(event)) return
      }
      onConnection(false) // the stack ended it, for example because it stops
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status < 500) throw error // an answer; the others are a connection that is lost
      onConnection(false)
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

async function* eventsOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event) yield event
    }
  }
}

function parseEvent(block: string): StreamEvent | undefined {
  const fields = block.split('\n').map((line) => line.match(/^(\w+): ?(.*)$/))
  const valuesOf = (name: string) => fields.filter((field) => field?.[1] === name).map((field) => field![2]!)
  const data = valuesOf('data')
  return data.length === 0
    ? undefined
    : { id: valuesOf('id')[0], event: valuesOf('event')[0] ?? 'message', data: data.join('\n') }
}
