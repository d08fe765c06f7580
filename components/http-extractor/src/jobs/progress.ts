// Progress lines: pages, items and speed, at most every few seconds.

import { counted } from '../../../../contract/counted.ts'
import type { Log } from '../log.ts'

const EVERY_MS = 5000

export interface Progress {
  page(items: number): void
  readonly pages: number
  readonly items: number
}

export function createProgress(log: Log, now: () => number): Progress {
  let pages = 0
  let items = 0
  let saidAt = now()
  let saidItems = 0
  return {
    get pages() {
      return pages
    },
    get items() {
      return items
    },
    page(count) {
      pages += 1
      items += count
      const elapsed = now() - saidAt
      if (elapsed < EVERY_MS) return
      const perSecond = Math.round(((items - saidItems) * 1000) / elapsed)
      log.info(`Progress: ${counted(pages, 'page')}, ${counted(items, 'item')}, ${counted(perSecond, 'item')} per second.`)
      saidAt = now()
      saidItems = items
    },
  }
}
