import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SqlSession } from '../../../engines/sql/sql-engine.ts'
import { type BoundedSession, createWorkspaceRunner } from './port-runners.ts'

test('a transaction holds the workspace from its first statement on, and an idle one is reported while a running one is not', async () => {
  const said: string[] = []
  const session = { execute: async (sql: string) => said.push(sql) } as unknown as SqlSession
  const open: BoundedSession = { session, stop: new AbortController().signal, explain: (error) => error }
  const idle = Promise.withResolvers<void>()
  const runner = createWorkspaceRunner({
    use: async (work) => {
      said.push('open')
      await work(open)
      said.push('closed')
    },
    endOfConnection: new AbortController().signal,
    onIdle: () => {
      said.push('idle')
      idle.resolve()
    },
    idleMs: 20,
  })
  await runner.begin()
  assert.deepEqual(said, [], 'nothing is held before the first statement')
  await runner.commit()
  assert.deepEqual(said, [], 'nor for a transaction without one')
  await runner.begin()
  const { release } = await runner.take(new AbortController().signal)
  await new Promise((resolve) => setTimeout(resolve, 60))
  assert.deepEqual(said, ['open', 'BEGIN'])
  await release()
  await idle.promise
  await runner.rollback()
  assert.deepEqual(said, ['open', 'BEGIN', 'idle', 'ROLLBACK', 'closed'])
  const alone = await runner.take(new AbortController().signal)
  await alone.release()
  assert.deepEqual(said.slice(-2), ['open', 'closed'])
})
