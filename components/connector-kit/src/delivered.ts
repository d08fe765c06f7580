// What a delivery did, for the job it was part of.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DeliveryCounts, deliveryMetrics, dryRunMetrics } from '../../../contract/delivery.ts'

export const leaveCounts = (dataDir: string, counts: DeliveryCounts): void => leave(dataDir, deliveryMetrics(counts))

export const leaveDryRun = (dataDir: string): void => leave(dataDir, dryRunMetrics())

function leave(dataDir: string, metrics: readonly object[]): void {
  mkdirSync(join(dataDir, 'out'), { recursive: true })
  writeFileSync(join(dataDir, 'out', 'usage.json'), JSON.stringify(metrics))
}
