// What a delivery did, as writers leave it in out/usage.json and jobs show it in usageData: one metric for each count.

const PREFIX = 'delivery.'

/** Set by a run that wrote nothing elsewhere: it is no delivery, and what it read is still to be delivered. */
const DRY_RUN = 'dryRun'

/** By what was done with rows, files or messages: inserted, updated, deleted, delivered, rejected, failed; `files written`, `messages sent`. */
export type DeliveryCounts = Readonly<Record<string, number>>

export const deliveryMetrics = (counts: DeliveryCounts) =>
  Object.entries(counts).map(([name, value]) => ({ metric: `${PREFIX}${name}`, value }))

export const dryRunMetrics = () => deliveryMetrics({ [DRY_RUN]: 1 })

/** Of usageData; rows of a configuration are added up. */
export function deliveryCounts(usage: readonly unknown[]): DeliveryCounts {
  const counts: Record<string, number> = {}
  for (const { metric, value } of usage as readonly { readonly metric?: unknown; readonly value?: unknown }[])
    if (typeof metric === 'string' && metric.startsWith(PREFIX) && typeof value === 'number') {
      const name = metric.slice(PREFIX.length)
      counts[name] = (counts[name] ?? 0) + value
    }
  return counts
}

export const isDryRun = (usage: readonly unknown[]): boolean => Object.hasOwn(deliveryCounts(usage), DRY_RUN)
