// The Airbyte protocol on standard output: one JSON message per line, written in blocks.

import { jsonText } from './python/json.ts'
import type { Dict } from './python/values.ts'

export interface Messages {
  record(stream: string, data: unknown, emittedAt: number): void
  write(message: Dict): void
  /** Waits when the reader is slower than we are. */
  flush(): Promise<void>
}

export function createMessages(out: NodeJS.WritableStream, redact: (text: string) => string): Messages {
  let block = ''
  const write = (line: string) => {
    block += `${line}\n`
  }
  return {
    // Records are the user's data and not redacted; everything else is.
    record: (stream, data, emittedAt) =>
      write(`{"type":"RECORD","record":{"stream":${JSON.stringify(stream)},"data":${jsonText(data)},"emitted_at":${emittedAt}}}`),
    write: (message) =>
      write(message.type === 'STATE' || message.type === 'CONTROL' ? jsonText(message) : redact(jsonText(message))),
    async flush() {
      if (block === '') return
      const text = block
      block = ''
      if (!out.write(text)) await new Promise((resolve) => out.once('drain', resolve))
    },
  }
}
