import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { bundleOf } from '../../../server/src/engines/runner/bundle.ts'
import { childEnvironment } from '../../../tests/support/child-environment.ts'
import { callerOf } from '../../../tests/support/clients/agent-client.ts'
import { shareTestStack } from '../../../tests/support/test-stack.ts'

const startProject = shareTestStack()
const PROGRAM = fileURLToPath(bundleOf('cli') ?? new URL('../main.ts', import.meta.url))

for (const [era, mode] of [
  ['modern', { pin: '2026-07-28' }],
  ['legacy', 'legacy'],
] as const)
  test(`millrace mcp serves the tools over standard input and output to a ${era} client`, async (t) => {
    const { url, masterToken, projectId } = await startProject()
    const connect = async (token: string, ...args: string[]) => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      const env = {
        ...childEnvironment(),
        XDG_CONFIG_HOME: join(tmpdir(), 'millrace-without-profiles'),
        MILLRACE_URL: url,
        MILLRACE_TOKEN: token,
      }
      const defined = Object.fromEntries(
        Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      )
      t.after(() => client.close())
      await client.connect(new StdioClientTransport({ command: process.execPath, args: [PROGRAM, 'mcp', ...args], env: defined }))
      return client
    }
    const client = await connect(masterToken)
    const { use, call } = callerOf(client)
    const me = await use<{ project: { id: number } }>('who_am_i')
    assert.equal(Number(me.project.id), projectId)
    assert.equal((await call('query', { sql: 'DROP TABLE x' })).isError, true)
    const few = await connect(masterToken, '--groups', 'query')
    assert.deepEqual(
      (await few.listTools()).tools.map(({ name }) => name),
      ['query', 'read_rows'],
    )
    await assert.rejects(connect('wrong-token'))
  })
