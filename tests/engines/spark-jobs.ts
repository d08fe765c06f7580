// Jobs of `platform.spark-sql` on a real Spark: threads of the machine, a standalone cluster of two workers, Spark Connect. Called by run.ts.

import assert from 'node:assert/strict'
import type { SparkSettings } from '../../server/src/services/spark/spark-scripts.ts'
import { type TableClient, tableClient } from '../support/table-client.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

interface Job {
  readonly id: number
  readonly status: string
  readonly isFinished: boolean
  readonly result: { readonly message?: string }
  readonly progress?: unknown
}

export interface Code {
  readonly script: readonly string[]
  readonly language?: 'python'
}

export interface SparkStack {
  readonly stack: TestStack
  readonly client: TableClient
  start(codes: readonly Code[], storage: object, component?: string): Promise<number>
  end(id: number): Promise<Job>
  /** To its end, which must be a success. */
  run(codes: readonly Code[], storage: object, component?: string): Promise<number>
  /** What the job said. */
  said(id: number): Promise<string>
  close(): Promise<void>
}

export async function startSparkStack(
  spark: SparkSettings,
  options: Parameters<typeof startTestStack>[1] = {},
): Promise<SparkStack> {
  const ends: (() => unknown)[] = []
  const stack = await startTestStack({ after: (end) => ends.push(end) }, { ...options, spark })
  const client = tableClient(stack)

  async function start(codes: readonly Code[], storage: object, component = 'platform.spark-sql'): Promise<number> {
    const configuration = {
      parameters: { blocks: [{ name: 'Sums', codes: codes.map((code, i) => ({ name: `code ${i + 1}`, ...code })) }] },
      storage,
    }
    const made = await stack.request('POST', `/v2/storage/components/${component}/configs`, {
      json: { name: 'c', configuration },
    })
    assert.equal(made.status, 201, made.text)
    const json = { component, config: made.json<{ id: string }>().id, mode: 'run' }
    const started = await stack.request('POST', '/queue/jobs', { json })
    assert.equal(started.status, 201, started.text)
    return started.json<Job>().id
  }

  const end = (id: number): Promise<Job> =>
    until(
      `job ${id} ends`,
      async () => {
        const job = (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>()
        return job.isFinished && job
      },
      280_000,
    )

  async function said(id: number): Promise<string> {
    const events = (await stack.request('GET', `/v2/storage/events?runId=${id}&limit=1000`)).json<{ message: string }[]>()
    return events
      .map(({ message }) => message)
      .reverse()
      .join('\n')
  }

  return {
    stack,
    client,
    start,
    end,
    said,
    async run(codes, storage, component) {
      const id = await start(codes, storage, component)
      const job = await end(id)
      assert.equal(job.status, 'success', `${job.result.message}\n${await said(id)}`)
      return id
    },
    async close() {
      for (const one of ends) await one()
    },
  }
}
