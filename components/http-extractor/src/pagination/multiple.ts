// method multiple: several named scrollers, one of which a job picks with its key `scroller`.

import { at, objectAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { entriesOf, isEmpty, type JsonObject } from '../json/json.ts'
import { createNone } from './none.ts'
import type { ScrollerFactory } from './scroller.ts'

export const multipleSchema = {
  title: 'Multiple',
  description: "Named methods; a job picks one with its key 'scroller'.",
  properties: {
    method: { const: 'multiple' },
    scrollers: { type: 'object', additionalProperties: { $ref: '#/$defs/pagination' } },
    default: { type: 'string', description: 'Name of the scroller of jobs that pick none.' },
  },
  required: ['method', 'scrollers'],
} as const

/** `create` makes the factory of one named scroller; it is passed in because a scroller may be of any method. */
export function createMultiple(settings: JsonObject, create: (settings: JsonObject) => ScrollerFactory): ScrollerFactory {
  const defined = entriesOf(objectAt(at(settings, 'scrollers'), 'api.pagination.scrollers'))
  if (defined.length === 0)
    throw new UserError("At least one scroller must be configured for 'multiple' pagination (api.pagination.scrollers).")
  const scrollers = new Map(defined.map(([name, value]) => [name, create(objectAt(value, `api.pagination.scrollers.${name}`))]))
  const fallback = isEmpty(at(settings, 'default')) ? undefined : textAt(at(settings, 'default'), 'api.pagination.default')
  if (fallback !== undefined && !scrollers.has(fallback)) throw new UserError(`Default scroller '${fallback}' does not exist`)

  return (picked) => {
    const name = picked ?? fallback
    if (name === undefined) return createNone()
    const scroller = scrollers.get(name)
    if (!scroller) {
      throw new UserError(`Scroller '${name}' not set in API definitions. Scrollers defined: ${[...scrollers.keys()].join(', ')}`)
    }
    return scroller()
  }
}
