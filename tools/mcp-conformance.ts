// npm run test:mcp: the official conformance runner of the Model Context Protocol against a stack of its own, for both versions that are
// served. The runner is fetched by npx, so it needs a network; it sends no token, so a proxy on this machine adds one.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { startTestStack } from '../tests/support/test-stack.ts'

const RUNNER = '@modelcontextprotocol/conformance@0.2.0-alpha.12'

/** Scenarios for what this server has. Others call tools, resources and prompts of the example server of the protocol. */
const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'http-header-validation',
    'input-required-result-unsupported-methods',
    'input-required-result-ignore-extra-params',
    'sep-2164-resource-not-found',
  ],
}

const ends: (() => unknown)[] = []
const stack = await startTestStack({ after: (end) => ends.push(end) })
const { hostname, port } = new URL(stack.url)
const proxy = createServer((incoming, answer) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${stack.masterToken}` }
  const passed = request({ hostname, port, path: incoming.url, method: incoming.method, headers }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers)
    response.pipe(answer)
  })
  passed.on('error', () => answer.destroy())
  incoming.pipe(passed)
})
proxy.listen(0, '127.0.0.1')
await once(proxy, 'listening')
const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`

let failed = 0
for (const [version, scenarios] of Object.entries(SCENARIOS))
  for (const scenario of scenarios) {
    const args = ['--yes', RUNNER, 'server', '--url', url, '--spec-version', version, '--scenario', scenario]
    const run = spawn('npx', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [out, [code]] = await Promise.all([text(run.stdout), once(run, 'exit')])
    const [result = 'no result'] = /Passed: .*/.exec(out) ?? []
    if (code !== 0) failed++
    process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${version} ${scenario}: ${result}\n${code === 0 ? '' : out}`)
  }
proxy.close()
for (const end of ends) await end()
process.stdout.write(`${failed === 0 ? 'All scenarios passed' : `${failed} scenarios failed`} (${RUNNER}).\n`)
process.exitCode = failed === 0 ? 0 : 1
