// `RequestOption`: where a value goes in a request, and under which name.

import { contextOf, type Deps } from '../component.ts'
import { ValueError } from '../errors.ts'
import { type Dict, getKey, isDict, pyStr, setKey } from '../python/values.ts'
import type { Place } from './options.ts'

export interface RequestOption {
  readonly place: Place
  inject(target: Dict, value: unknown): void
}

export function createRequestOption(definition: unknown, deps: Pick<Deps, 'config' | 'expressions'>): RequestOption | undefined {
  if (!isDict(definition) || definition.type === 'RequestPath') return undefined
  const context = contextOf(definition, deps)
  const name = (template: unknown) => pyStr(deps.expressions.value(template, context))
  const place = definition.inject_into as Place // checked with the manifest
  const path = Array.isArray(definition.field_path) ? definition.field_path.map(name) : undefined
  if (path && path.length > 0 && place !== 'body_json')
    throw new ValueError(
      'Nested field injection is only supported for body JSON injection. Please use a top-level field_name for other injection types.',
    )
  const field = path ? undefined : name(definition.field_name ?? '')
  return {
    place,
    inject(target, value) {
      if (!path) {
        setKey(target, field!, value)
        return
      }
      let at = target
      for (const part of path.slice(0, -1)) {
        if (!isDict(getKey(at, part))) setKey(at, part, {})
        at = getKey(at, part) as Dict
      }
      setKey(at, path.at(-1)!, value)
    },
  }
}

/** The values that options put into one place. */
export function injected(place: Place, entries: readonly (readonly [RequestOption | undefined, unknown])[]): Dict {
  const out: Dict = {}
  for (const [option, value] of entries) if (option?.place === place) option.inject(out, value)
  return out
}
