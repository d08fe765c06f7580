// The parts of a request that several sources fill: requester, authenticator, paginator, slicer.

import { ValueError } from '../errors.ts'
import { copied } from '../python/json.ts'
import { type Dict, equals, getKey, isDict, setKey, truthy } from '../python/values.ts'

export type Place = 'request_parameter' | 'header' | 'body_data' | 'body_json'

/** Values by place, each from one source. */
export interface RequestParts {
  readonly params?: Dict | string
  readonly headers?: Dict | string
  readonly data?: Dict | string
  readonly json?: Dict | string | unknown
}

/** The same key twice is an error; JSON bodies are merged deeply, and equal values may meet. */
export function combine(sources: readonly unknown[], deep: boolean): Dict | string {
  const texts = sources.filter((source) => typeof source === 'string')
  const mappings = sources.filter((source) => isDict(source) && truthy(source)) as Dict[]
  if (texts.length > 1) throw new ValueError('Cannot combine multiple string options.')
  if (texts.length === 1) {
    if (mappings.length > 0) throw new ValueError('Cannot combine multiple options if one is a string.')
    return texts[0] as string
  }
  const merged: Dict = {}
  for (const mapping of mappings) merge(merged, deep ? copied(mapping) : mapping, '', deep)
  return merged
}

function merge(target: Dict, source: Dict, path: string, deep: boolean): void {
  for (const [key, value] of Object.entries(source)) {
    if (!Object.hasOwn(target, key)) {
      setKey(target, key, value)
      continue
    }
    const known = getKey(target, key)
    const at = path === '' ? key : `${path}.${key}`
    if (deep && isDict(known) && isDict(value)) merge(known, value, at, deep)
    else if (!deep || !equals(known, value))
      throw new ValueError(
        `Request body collision, duplicate keys detected at key path: ${at}. Please ensure that all keys in the request are unique.`,
      )
  }
}
