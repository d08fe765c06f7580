// Pagination that goes round in circles. A job whose requests repeat would run for ever, and fill the disk with the same rows.
//
// Brent's algorithm: one earlier request is remembered, and moved forward at every power of two, so a circle of any length
// is found with constant memory. How a repetition is judged depends on the method: the same cursor or next address can only mean
// a loop; the same scroll id may be answered with further items, so there the items have to repeat too.

import { UserError } from '../errors.ts'
import type { RequestSettings } from '../http/request.ts'
import { equalJson, type JsonValue } from '../json/json.ts'
import { exactJson } from '../json/text.ts'
import type { Scroller } from './scroller.ts'

/** A repetition may be harmless once: the answer then equals the previous one, and the job ends. */
const PATIENCE = 2

export interface LoopGuard {
  /** Throws when this request has been sent before and nothing new came of it. `items` are those of the last page. */
  check(next: RequestSettings, items: readonly JsonValue[]): void
}

export function createLoopGuard(repeats: Scroller['repeats']): LoopGuard {
  if (repeats === undefined) return { check: () => {} }
  let remembered: string | undefined
  let rememberedItems: readonly JsonValue[] = []
  let rememberedPage = 0
  let page = 1
  let power = 1
  let found = 0

  function check(next: RequestSettings, items: readonly JsonValue[]): void {
    page += 1
    const key = `${next.method} ${next.endpoint} ${exactJson(next.params)}`
    const same = key === remembered && (repeats === 'request' || equalJson([...items], [...rememberedItems]))
    if (same && ++found >= PATIENCE) {
      throw new UserError(
        `Pagination does not advance: page ${page} would ask for the same as page ${rememberedPage} (endpoint '${next.endpoint}'). ` +
          'Check api.pagination, or end the job with api.pagination.forceStop.',
      ).withFacts({ kind: 'pagination.endless' })
    }
    if (page >= power * 2 || remembered === undefined) {
      power = page
      if (key !== remembered) found = 0
      remembered = key
      rememberedPage = page
      rememberedItems = repeats === 'items' ? items : []
    }
  }

  return { check }
}
