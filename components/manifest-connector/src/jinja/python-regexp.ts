// Python's regular expressions as JavaScript's. Both have the same core; names of groups and flags at the start are written differently.

import { ConnectorError } from '../errors.ts'

const known = new Map<string, RegExp>()

export function pythonRegExp(source: string, { anchored = false, all = false } = {}): RegExp {
  const key = `${anchored} ${all} ${source}`
  const found = known.get(key)
  if (found) return found
  const flags = /^\(\?([aiLmsux]+)\)/.exec(source)
  const body = source
    .slice(flags?.[0].length ?? 0)
    .replaceAll('(?P<', '(?<')
    .replace(/\(\?P=(\w+)\)/g, '\\k<$1>')
    .replaceAll('\\Z', '$')
    .replaceAll('\\A', '^')
  try {
    const regexp = new RegExp(anchored ? `^(?:${body})` : body, `${(flags?.[1] ?? '').replace(/[^ims]/g, '')}${all ? 'g' : ''}`)
    if (known.size > 1000) known.clear()
    known.set(key, regexp)
    return regexp
  } catch (cause) {
    throw new ConnectorError(`The regular expression '${source}' is not valid.`, cause)
  }
}
