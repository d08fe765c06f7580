import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestStack } from '../support/test-stack.ts'

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly responses?: Readonly<Record<string, { readonly content?: unknown; readonly description?: string }>>
  readonly 'x-scopes'?: readonly string[]
}

test('every route is documented: a name of its own, a sentence, a schema, and how it fails', async (t) => {
  const { request } = await startTestStack(t)
  const document = (await request('GET', '/openapi.json', { token: null })).json<{
    openapi: string
    paths: Record<string, Record<string, Operation>>
  }>()
  assert.equal(document.openapi, '3.1.0')
  const seen = new Set<string>()
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method.toUpperCase()} ${path}`
      assert.ok(operation.operationId, `${name} has no operation name`)
      assert.ok(!seen.has(operation.operationId), `${name}: ${operation.operationId} names two operations`)
      seen.add(operation.operationId)
      assert.ok(operation.summary, `${name} has no summary`)
      const statuses = Object.keys(operation.responses ?? {})
      assert.ok(
        statuses.some((status) => /^[23]|501/.test(status)),
        `${name} has no response schema`,
      )
      assert.ok(statuses.includes('4XX'), `${name} has no error responses`)
      assert.ok((operation['x-scopes'] ?? []).length === 1, `${name} says nothing about the token it needs`)
    }
  }
  assert.ok(seen.size > 20)
})

test('the documentation page names every operation', async (t) => {
  const { request } = await startTestStack(t)
  const page = await request('GET', '/docs', { token: null })
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  for (const operation of ['tokens.create', 'events.list', 'index.get']) assert.ok(page.text.includes(operation))
})

test('the first page leads on: addresses, documentation, first steps', async (t) => {
  const { request, url } = await startTestStack(t)
  const page = await request('GET', '/', { token: null })
  for (const part of [`${url}/v2/storage`, '/docs', '/openapi.json', 'curl']) assert.ok(page.text.includes(part), part)
})

test('health, readiness and metrics answer without a token', async (t) => {
  const { request } = await startTestStack(t)
  assert.equal((await request('GET', '/health', { token: null })).json().status, 'ok')
  assert.equal((await request('GET', '/ready', { token: null })).json().status, 'ready')
  const metrics = await request('GET', '/metrics', { token: null })
  for (const name of [
    'millrace_request_duration_seconds_count{operation="operations.ready"',
    'nodejs_eventloop_lag',
    'millrace_queue_depth',
  ])
    assert.ok(metrics.text.includes(name), name)
})
