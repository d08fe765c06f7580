// Bytes as lines; a line without an end is bounded.

import { StringDecoder } from 'node:string_decoder'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'

const MAX_LINE = 64 * 1024 * 1024

export function lineReader(deliver: (line: string) => void, fail: (error: unknown) => void) {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  function push(chunk: Buffer): void {
    const text = decoder.write(chunk)
    let from = 0
    try {
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        const line = rest === '' ? text.slice(from, at) : rest + text.slice(from, at)
        rest = ''
        from = at + 1
        if (line !== '') deliver(line)
      }
      rest += text.slice(from)
      if (rest.length > MAX_LINE) throw new ConnectorError(`The program wrote a line of more than ${MAX_LINE} characters.`)
    } catch (error) {
      fail(error)
      rest = ''
    }
  }
  return {
    push,
    end: () => {
      const line = rest + decoder.end()
      rest = ''
      try {
        if (line !== '') deliver(line)
      } catch (error) {
        fail(error)
      }
    },
  }
}
