// A stack with components written in shell: what the tests of queue and runner run jobs on.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTestStack, type TestScope, type TestStack } from './test-stack.ts'
import { until } from './until.ts'

export interface Job {
  readonly id: string
  readonly status: string
  readonly url: string
  readonly isFinished: boolean
  readonly waitingReason: string | null
  readonly result: { readonly message: string; readonly error?: { readonly type: string } }
  readonly error?: { readonly message: string }
  readonly [name: string]: unknown
}

/** Components are registered as files in the stack's components folder. */
export async function shellStack(t: TestScope, options: Parameters<typeof startTestStack>[1] = {}) {
  const stack = await startTestStack(t, options)
  const known = (id: string) =>
    until(`the component ${id} is known`, async () => (await stack.request('GET', `/v2/storage/components/${id}`)).status === 200)
  const add = async (id: string, script: string, data: object = {}, more: object = {}): Promise<void> => {
    const folder = join(stack.dataDir, 'components')
    mkdirSync(folder, { recursive: true })
    const definition = { type: 'command', uri: '', tag: '1', command: ['/bin/sh', '-c', script] }
    writeFileSync(
      join(folder, `${id}.json`),
      JSON.stringify({ id, type: 'application', name: id, hasRun: true, ...more, data: { definition, ...data } }),
    )
    await known(id)
  }
  const configure = async (component: string, configuration: object, rows: readonly object[] = []): Promise<string> => {
    const { id } = (
      await stack.request('POST', `/v2/storage/components/${component}/configs`, { json: { name: 'c', configuration } })
    ).json<{ id: string }>()
    for (const row of rows) {
      const answer = await stack.request('POST', `/v2/storage/components/${component}/configs/${id}/rows`, { json: row })
      assert.equal(answer.status, 201, answer.text)
    }
    return id
  }
  return { ...stack, add, known, configure, wait: (job: Job) => wait(stack, job) }
}

/** The job as it ended; storage jobs say so by their status alone. */
function wait(stack: TestStack, job: Job): Promise<Job> {
  return until(`job ${job.id} ends`, async () => {
    const current = (await stack.request('GET', job.url)).json<Job>()
    return (current.isFinished || ['success', 'error'].includes(current.status)) && current
  })
}
