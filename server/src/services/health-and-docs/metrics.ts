// Prometheus numbers: requests by operation, event loop lag, memory, and the depth of each queue a module reports.

import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type QueueDepths = () => Promise<Readonly<Record<string, number>>>

export function createMetrics(queueDepths: QueueDepths) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'millrace_request_duration_seconds',
    help: 'Finished requests by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  })
  new Gauge({
    name: 'millrace_queue_depth',
    help: 'Jobs that wait or run, by queue.',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      this.reset() // a queue that is empty now is not in the list
      for (const [queue, depth] of Object.entries(await queueDepths())) this.set({ queue }, depth)
    },
  })
  // The label lookup of prom-client, once for each pair instead of for each request.
  const kept = new Map<string, { observe(seconds: number): void }>()
  return {
    requestFinished({ operation, status, durationMs }: { operation: string; status: number; durationMs: number }): void {
      const key = `${operation} ${status}`
      const histogram = kept.get(key) ?? requests.labels(operation, String(status))
      kept.set(key, histogram)
      histogram.observe(durationMs / 1000)
    },
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}
