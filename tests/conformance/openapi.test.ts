import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'
import Fastify from 'fastify'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { collectRoutes } from '../../server/src/http/openapi.ts'
import { ErrorSchema } from '../../server/src/http/record-schemas.ts'
import { OPENAPI_DOCUMENT, openApiText } from '../../tools/openapi-doc.ts'
import { send, shareTestStack } from '../support/test-stack.ts'

const startProject = shareTestStack()

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly responses?: Readonly<Record<string, { readonly content?: unknown; readonly description?: string }>>
  readonly 'x-required-right'?: string
}

test('a route that is not fully described keeps the stack from starting', async () => {
  const config = { operation: 'things.get', summary: 'A thing', needs: 'token' }
  const params = Type.Object({ id: Type.String({ description: 'Which thing.' }) })
  const schema = { params, response: { 200: Type.String() } }
  const cases: [object, RegExp | undefined][] = [
    [{ config, schema }, undefined],
    [{ schema }, /no operation name, no summary, no right/],
    [{ config: { operation: 'things.get' }, schema }, /no summary/],
    [{ config: { ...config, needs: undefined }, schema }, /no right \(`config.needs`\)/],
    [{ config: { ...config, needs: 'everything' }, schema }, /no right \(`config.needs`\)/],
    [{ config }, /no response schema/],
    [{ config, schema: { params } }, /no response schema/],
    [{ config, schema: { ...schema, response: { 400: Type.String() } } }, /no response schema/],
    [{ config, schema: { response: { 200: Type.String() } } }, /no schema of the parameter id/],
    [{ config: { ...config, operation: 'things.list' }, schema }, /no operation name of its own/],
    [{ config, schema: { ...schema, params: Type.Object({ id: Type.String() }) } }, /no description of id \(path\)/],
    [{ config, schema: { ...schema, querystring: Type.Object({ limit: Type.Integer() }) } }, /no description of limit \(query\)/],
    [{ config: { ...config, headers: { 'If-Match': '' } }, schema }, /no description of If-Match \(header\)/],
    [{ config: { ...config, form: Type.Object({ data: Type.String() }) }, schema }, /no description of data \(body\)/],
    [{ config: { ...config, body: 'stream' }, schema }, /no form/],
  ]
  for (const [options, complaint] of cases) {
    const app = Fastify()
    collectRoutes(app)
    const config = { operation: 'things.list', summary: 'Things', needs: 'token' } as const
    const described = { config, schema: { response: { 200: Type.String() } } }
    app.get('/things', described, async () => '')
    const register = () => app.get('/things/:id', options, async () => '')
    if (complaint) assert.throws(register, complaint)
    else register()
    await app.close()
  }
})

/** The protocol of Iceberg has errors of its own. */
const IcebergErrorSchema = Type.Object({
  error: Type.Object({ message: Type.String(), type: Type.String(), code: Type.Integer() }),
})

test('every route is documented: a name of its own, a sentence, a schema, and how it fails; and it fails like that', async () => {
  const { request, url } = await startProject()
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
        statuses.some((status) => /^[23]/.test(status)),
        `${name} has no response schema`,
      )
      // Without a token, and with a body that is none: refused as documented, in the one envelope.
      const right = operation['x-required-right']
      const refused = await send(url, method.toUpperCase(), path.replace(/\{\w+\}/g, '1'), {
        token: null,
        ...(method !== 'get' && { body: '{', headers: { 'content-type': 'application/json' } }),
      })
      // Sessions of the sample shop; a token in the address, for browsers; the manage token; the password of an app.
      const hasOwnTokens = /^\/(sample|oauth\/authorize|oauth\/manage|data-apps|git)\b/.test(path)
      if (!hasOwnTokens)
        assert.equal(refused.status === 401, right !== 'nothing', `${name} needs ${right} and answers ${refused.status}`)
      const documented = statuses.includes(String(refused.status)) || (refused.status < 500 && statuses.includes('4XX'))
      assert.ok(documented, `${name} answers ${refused.status}, which is not documented`)
      const shape = path.startsWith('/iceberg/v1/') ? IcebergErrorSchema : ErrorSchema
      if (refused.status >= 400) assert.ok(Value.Check(shape, refused.json()), `${name}: ${refused.text}`)
    }
  }
  assert.ok(seen.size > 20)
})

test('docs/openapi.json is the document of the routes; `npm run docs:api` writes it', async () => {
  const { request } = await startProject()
  const { text } = await request('GET', '/openapi.json', { token: null })
  assert.equal(openApiText(text), await readFile(OPENAPI_DOCUMENT, 'utf8'))
})

test('every reference of the document leads somewhere, and each tag stands once', async () => {
  const { request } = await startProject()
  const { text, json } = await request('GET', '/openapi.json', { token: null })
  const { tags, components } = json<{ tags: { name: string }[]; components: Record<string, Record<string, unknown>> }>()
  const references = new Set(
    Array.from(text.matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g), (match) => match.slice(1).join('/')),
  )
  assert.ok(references.size > 20)
  for (const reference of references) {
    const [kind = '', name = ''] = reference.split('/')
    assert.ok(components[kind]?.[name], `${reference} is not there`)
  }
  assert.doesNotMatch(text, /"\*\/\*":/, 'generators of clients leave out operations with the media type */*')
  const names = tags.map(({ name }) => name.replace(/\W/g, '').toLowerCase())
  assert.deepEqual(names, [...new Set(names)])
})

interface Content {
  readonly schema: object
  readonly example?: unknown
}

test('tags are described, bodies have examples that their schemas allow, and licence and security stand at the root', async () => {
  const { request } = await startProject()
  const document = (await request('GET', '/openapi.json', { token: null })).json<{
    info: { license?: object }
    security?: object[]
    tags: { name: string; description: string }[]
    components: { schemas: Record<string, object> }
    paths: Record<string, Record<string, Operation & { requestBody?: { content: Record<string, Content> } }>>
  }>()
  assert.deepEqual(document.info.license, { name: 'Apache 2.0', identifier: 'Apache-2.0' })
  assert.deepEqual(document.security, [{ token: [] }])
  assert.deepEqual(
    document.tags.filter(({ description }) => !description.endsWith('.')),
    [],
    'describe these in server/src/http/openapi-tags.ts',
  )
  const inlined = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inlined)
    if (typeof value !== 'object' || value === null) return value
    const { $ref } = value as { $ref?: string }
    if ($ref) return inlined(document.components.schemas[$ref.split('/').at(-1)!])
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inlined(member)]))
  }
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const bodies = operations.flatMap(({ operationId, requestBody }) => {
    const content = requestBody?.content ?? {}
    const shown = content['application/json'] ?? content['multipart/form-data']
    return shown ? [{ operationId: operationId!, schema: inlined(shown.schema) as object, example: shown.example }] : []
  })
  assert.ok(bodies.length > 130, `only ${bodies.length} bodies found`)
  // Any body at all: what a client sends to an app, to MLflow or to the receiver of metrics is passed on.
  const isAnything = (schema: { properties?: object }): boolean =>
    Object.keys(schema.properties ?? {}).length === 0 && !('allOf' in schema || 'anyOf' in schema)
  const missing = bodies.filter(({ schema, example }) => example === undefined && !isAnything(schema))
  assert.deepEqual(
    missing.map(({ operationId }) => operationId),
    [],
    'add these to server/src/http/request-examples.ts',
  )
  const wrong = bodies.filter(({ schema, example }) => example !== undefined && !Value.Check(schema as never, example))
  assert.deepEqual(
    wrong.map(({ operationId, example }) => `${operationId}: ${JSON.stringify(example)}`),
    [],
  )
  const page = (await request('GET', '/docs', { token: null })).text
  assert.ok(page.includes(`${operations.length} operations`), 'the page counts other operations than the document')
})

test('the documentation page names every operation, and counts them as the document does', async () => {
  const { request } = await startProject()
  const page = await request('GET', '/docs', { token: null })
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  for (const operation of ['tokens.create', 'events.list', 'index.get']) assert.ok(page.text.includes(operation))
  const { paths } = (await request('GET', '/openapi.json', { token: null })).json<{ paths: Record<string, object> }>()
  const operations = Object.values(paths).reduce((sum, path) => sum + Object.keys(path).length, 0)
  assert.ok(page.text.includes(`${operations} operations at`), `the document has ${operations} operations`)
})

test('a request copied from the documentation page works as it stands', async () => {
  const { request, masterToken } = await startProject()
  const { text } = await request('GET', '/docs', { token: null })
  const commands = Array.from(text.matchAll(/<pre>(.*?)<\/pre>/gs), ([, html = '']) =>
    html
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&gt;', '>')
      .replaceAll('&lt;', '<')
      .replaceAll('&amp;', '&'),
  )
  for (const [path, expected] of [
    ["/v2/storage/buckets' --json", '"id":"in.c-main"'],
    ["/v2/storage/buckets/in.c-main'", '"id":"in.c-main"'],
    ["/v2/storage/buckets/in.c-main/tables-definition'", '"operationName":"tableDefinitionCreate"'],
    ["/v2/storage/tokens/verify'", '"isMasterToken":true'],
  ] as const) {
    const command = commands.find((one) => one.includes(path))
    assert.ok(command, path)
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, MILLRACE_TOKEN: masterToken } })
    assert.ok(stdout.includes(expected), `${command}\n${stdout}`)
  }
  for (const command of commands) assert.doesNotMatch(command.split(' --json')[0]!, /[{}]/)
})

test('the address of the stack leads to the console', async () => {
  const { request } = await startProject()
  const answer = await request('GET', '/', { token: null })
  assert.equal(answer.status, 302)
  assert.equal(answer.headers.get('location'), '/console/')
})

test('health, readiness and metrics answer without a token', async () => {
  const { request } = await startProject()
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
