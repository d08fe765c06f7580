// Python's regular expressions as JavaScript's. Both have the same core; names of groups and flags at the start are written differently.
// Manifests may be hostile: one that backtracks too often continues in V8's engine that is linear in the text, and those that this engine does
// not support (lookaround, references to groups) run with a time limit.

import { setFlagsFromString } from 'node:v8'
import { createContext, Script } from 'node:vm'
import { ConnectorError } from '../errors.ts'

setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks')
setFlagsFromString('--regexp-backtracks-before-fallback=50000')

const LIMIT_MS = 1000
const MAX_KNOWN = 1000
const NOT_LINEAR = /\(\?<?[=!]|\\[1-9]|\\k</

export interface PythonRegExp {
  exec(text: string): RegExpExecArray | null
  test(text: string): boolean
  /** Every match, replaced. */
  replace(text: string, by: (match: RegExpExecArray) => string): string
}

const known = new Map<string, PythonRegExp>()
const inside = createContext({ regexp: /x/, text: '' })
const MATCH = new Script('regexp.exec(text)')
const MATCHES = new Script('Array.from(text.matchAll(regexp))')

export function pythonRegExp(source: string, { anchored = false } = {}): PythonRegExp {
  const key = `${anchored} ${source}`
  const found = known.get(key)
  if (found) return found
  const created = create(source, anchored)
  if (known.size > MAX_KNOWN) known.clear()
  known.set(key, created)
  return created
}

function create(source: string, anchored: boolean): PythonRegExp {
  const flags = /^\(\?([aiLmsux]+)\)/.exec(source)
  const body = source
    .slice(flags?.[0].length ?? 0)
    .replaceAll('(?P<', '(?<')
    .replace(/\(\?P=(\w+)\)/g, '\\k<$1>')
    .replaceAll('\\Z', '$')
    .replaceAll('\\A', '^')
  const letters = (flags?.[1] ?? '').replace(/[^ims]/g, '')
  const text = anchored ? `^(?:${body})` : body
  let one: RegExp
  let all: RegExp
  try {
    one = new RegExp(text, letters)
    all = new RegExp(text, `${letters}g`)
  } catch (cause) {
    throw new ConnectorError(`The regular expression '${source}' is not valid.`, cause)
  }
  const isLimited = NOT_LINEAR.test(body)
  const limited = (script: Script, regexp: RegExp, value: string): unknown => {
    Object.assign(inside, { regexp, text: value })
    try {
      return script.runInContext(inside, { timeout: LIMIT_MS })
    } catch (cause) {
      throw new ConnectorError(`The regular expression '${source}' did not end within ${LIMIT_MS} ms.`, cause)
    }
  }
  const exec = (value: string) => (isLimited ? (limited(MATCH, one, value) as RegExpExecArray | null) : one.exec(value))
  return {
    exec,
    test: (value) => exec(value) !== null,
    replace(value, by) {
      const matches = (isLimited ? limited(MATCHES, all, value) : [...value.matchAll(all)]) as RegExpExecArray[]
      let out = ''
      let from = 0
      for (const match of matches) {
        out += value.slice(from, match.index) + by(match)
        from = match.index + match[0].length
      }
      return out + value.slice(from)
    },
  }
}
