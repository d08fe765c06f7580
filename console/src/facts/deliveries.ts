// Deliveries of writers: how far targets are behind, what jobs have done, and rows that are sent again.

import type { Answer } from '../../../client/src/client.ts'
import { deliveryCounts } from '../../../contract/delivery.ts'
import { count, took } from '../format.ts'

export type Delivery = Answer<'lineage.deliveries'>[number]

/** Components whose jobs are deliveries. */
export const WRITERS: ReadonlySet<string> = new Set([
  'platform.wr-database',
  'platform.wr-http',
  'platform.wr-files',
  'platform.wr-messages',
])

/** "12 min behind". */
export function behindText({ state, behindSeconds }: Pick<Delivery, 'state' | 'behindSeconds'>): string {
  if (state === 'never') return 'not delivered yet'
  return state === 'current' ? 'up to date' : `${took(behindSeconds ?? 0)} behind`
}

/** "3 inserted, 1 rejected"; empty when a job counted nothing. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  const known = Object.entries(counts).filter(([name]) => name !== 'dryRun')
  if ('dryRun' in counts) return 'dry run'
  const done = known.filter(([, value]) => value > 0)
  if (known.length > 0 && done.length === 0) return 'nothing to do'
  // "1 message sent", "2 messages sent"
  return done.map(([name, value]) => `${count(value)} ${value === 1 ? name.replace(/^(\w+)s /, '$1 ') : name}`).join(', ')
}

export const countsOfJob = ({ usageData }: { readonly usageData: readonly unknown[] }): string =>
  countsText(deliveryCounts(usageData))

/** The delivery of each configuration that is behind the longest, by component and configuration. */
export function worstOf(deliveries: readonly Delivery[]): ReadonlyMap<string, Delivery> {
  const worst = new Map<string, Delivery>()
  for (const one of deliveries) {
    const key = `${one.componentId} ${one.configurationId}`
    const before = worst.get(key)
    if (!before || rank(one) > rank(before)) worst.set(key, one)
  }
  return worst
}

const rank = ({ behindSeconds }: Delivery): number => behindSeconds ?? Number.MAX_SAFE_INTEGER
