// A stack with components written in shell: what the tests of queue and runner run jobs on.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shareTestStack, startTestStack, type TestScope, type TestStack } from './test-stack.ts'
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

type Options = Parameters<typeof startTestStack>[1]
export type ShellStack = ReturnType<typeof withShell>

export const shellStack = async (t: TestScope, options: Options = {}): Promise<ShellStack> =>
  withShell(await startTestStack(t, options))

/** One stack for all tests of a file, as shareTestStack. Its projects share the components: a test that adds one again replaces it. */
export function shareShellStack(options: Options = {}): () => Promise<ShellStack> {
  const startProject = shareTestStack(options)
  return async () => withShell(await startProject())
}

/** Components are registered as files in the stack's components folder. */
function withShell(stack: TestStack) {
  const known = (id: string, isIt: (description: unknown) => boolean = () => true) =>
    until(`the component ${id} is known`, async () => {
      await stack.platform.components.loop.tick()
      const answer = await stack.request('GET', `/v2/storage/components/${id}`)
      return answer.status === 200 && isIt(answer.json().longDescription)
    })
  const add = async (id: string, script: string, data: object = {}, more: object = {}): Promise<void> => {
    const folder = join(stack.dataDir, 'components')
    mkdirSync(folder, { recursive: true })
    const definition = { type: 'command', uri: '', tag: '1', command: ['/bin/sh', '-c', script] }
    const longDescription = `Added ${randomUUID()}`
    const description = { id, type: 'application', name: id, longDescription, hasRun: true, ...more }
    writeFileSync(join(folder, `${id}.json`), JSON.stringify({ ...description, data: { definition, ...data } }))
    await known(id, (shown) => shown === longDescription)
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

/** The job as it ended; storage jobs show it by their status alone. */
function wait(stack: TestStack, job: Job): Promise<Job> {
  return until(`job ${job.id} ends`, async () => {
    const current = (await stack.request('GET', job.url)).json<Job>()
    return (current.isFinished || ['success', 'error'].includes(current.status)) && current
  })
}
