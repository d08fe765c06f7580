// Splits a command line as a POSIX shell does: quotes, backslashes, continued lines, and $'..' as browsers write it.

import { UserError } from '../errors.ts'

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"', '0': '\0' }

export function splitCommand(text: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let i = 0

  const quoted = (end: string, onBackslash: (next: string) => string) => {
    word ??= ''
    for (i++; i < text.length && text[i] !== end; i++) {
      if (text[i] === '\\' && end !== "'") word += onBackslash(text[++i] ?? '')
      else word += text[i]
    }
    if (i >= text.length) throw new UserError(`The command has a quote (${end}) that is not closed.`)
  }

  for (; i < text.length; i++) {
    const c = text[i]!
    if (c === "'") quoted("'", (next) => next)
    else if (c === '"') quoted('"', (next) => (/["\\$`]/.test(next) ? next : next === '\n' ? '' : `\\${next}`))
    else if (c === '$' && text[i + 1] === "'") {
      i++
      ansiQuoted()
    } else if (c === '\\') {
      i++
      if (text[i] === '\r') i++
      if (text[i] !== '\n' && i < text.length) word = (word ?? '') + text[i]
    } else if (/\s/.test(c)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + c
  }
  if (word !== undefined) words.push(word)
  return words

  function ansiQuoted(): void {
    word ??= ''
    for (i++; i < text.length && text[i] !== "'"; i++) {
      if (text[i] !== '\\') {
        word += text[i]
        continue
      }
      const next = text[++i] ?? ''
      const code = /^(?:x([0-9a-f]{2})|u([0-9a-f]{4}))/i.exec(text.slice(i))
      if (code) {
        word += String.fromCharCode(Number.parseInt(code[1] ?? code[2]!, 16))
        i += code[0].length - 1
      } else word += ESCAPES[next] ?? `\\${next}`
    }
    if (i >= text.length) throw new UserError("The command has a quote (') that is not closed.")
  }
}
