// A stack with a PostgreSQL port, as a process of its own: what it uses is counted apart from its clients.

import { startStackProcess } from '../../tests/support/stack-process.ts'
import { send, type TestStack } from '../../tests/support/test-stack.ts'

export async function startPortStack(ends: (() => unknown)[]) {
  const running = await startStackProcess({ after: (end: () => unknown) => ends.push(end) } as never, {
    env: { MILLRACE_SQL_PORT: '0' },
  })
  const [, port] = /postgres:\/\/me@127\.0\.0\.1:(\d+)/.exec(running.output()) ?? []
  const stack = {
    masterToken: running.masterToken,
    request: (method, path, options = {}) => send(running.url, method, path, { token: running.masterToken, ...options }),
  } as Pick<TestStack, 'masterToken' | 'request'> as TestStack // what a client of tables needs of it
  return { running, stack, port: Number(port) }
}
