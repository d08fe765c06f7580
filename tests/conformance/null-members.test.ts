// Null means "not given" (spec storage 1.6): two projects get the same requests over every route of the API document, one with its
// optional members left out, the other with null in their place, and both get the same answers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { withoutReferences } from '../support/api-document.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

const BODIES_PER_ROUTE = process.env.MILLRACE_LONG ? 20 : 3

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly const?: unknown
}

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

/** Where null takes something away. A new entry is a decision: clients send null for every member they support. */
const NULL_HAS_A_MEANING = [
  'mergeRequests.changeSettings.requiredApprovals',
  'mergeRequests.create.autoMergeAt',
  'mergeRequests.create.externalId',
  'mergeRequests.update.autoMergeAt',
  'mergeRequests.update.externalId',
  'notification.subscribe.expiresAt',
  'syncActions.trySql.sampleRows', // all rows
  'tables.changeColumn.default',
  'tables.changeColumn.description',
  'tables.changeDefinition.description',
]

/** What both projects have; any other id is one that neither has. */
const THERE: Readonly<Record<string, string>> = {
  bucketId: 'in.c-a',
  tableId: 'in.c-a.t',
  column: 'v',
  componentId: 'platform.ex-http',
  configurationId: 'c',
  rowId: 'r',
}

test('null members change no answer, on any route, in any combination', { timeout: 300_000 }, async (t) => {
  const stack = await startTestStack(t)
  const operations = await operationsOf(stack)
  assert.ok(operations.length > 40, `${operations.length} routes take a body`)
  const named = operations.flatMap(({ id, schema }) =>
    Object.keys(schema.properties ?? {}).flatMap((name) => (namesNull(schema.properties![name]!) ? [`${id}.${name}`] : [])),
  )
  assert.deepEqual(named.sort(), NULL_HAS_A_MEANING)

  // Ids are given out over all projects, and some bodies name 1: it must belong to neither of the two that are compared.
  await stack.request('POST', '/v2/storage/buckets', { json: { name: 'a' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-a/tables', { form: { name: 't', dataString: 'id\n1\n' } })
  await stack.request('POST', '/v2/storage/tables/in.c-a.t/snapshots', { json: {} })
  await stack.request('POST', '/v2/storage/workspaces', { json: {} })
  const [plain, nulls] = [await stack.newProject(), await stack.newProject()]
  for (const { masterToken: token } of [plain, nulls]) {
    await stack.request('POST', '/v2/storage/buckets', { token, json: { name: 'a' } })
    await stack.request('POST', '/v2/storage/buckets/in.c-a/tables', { token, form: { name: 't', dataString: 'id,v\n1,2\n' } })
    const configs = '/v2/storage/components/platform.ex-http/configs'
    await stack.request('POST', configs, { token, json: { configurationId: 'c', name: 'c' } })
    const row = await stack.request('POST', `${configs}/c/rows`, { token, json: { rowId: 'r' } })
    assert.equal(row.status, 201, row.text)
  }
  const seed = Number(process.env.MILLRACE_SEED ?? Date.now() % 1_000_000_000)
  t.diagnostic(`seed ${seed}; repeat with MILLRACE_SEED=${seed}`)
  for (const [i, { method, path, schema }] of operations.entries()) {
    for (const body of fc.sample(bodyOf(schema), { seed: seed + i, numRuns: BODIES_PER_ROUTE })) {
      const absent = Object.keys(schema.properties ?? {}).filter((name) => !Object.hasOwn(body, name))
      const silent = absent.filter((name) => !namesNull(schema.properties![name]!))
      const withNulls = { ...body, ...Object.fromEntries([...silent, 'noSuchMember'].map((name) => [name, null])) }
      const expected = await answerOf(stack, method, path, plain.masterToken, body)
      const given = await answerOf(stack, method, path, nulls.masterToken, withNulls)
      assert.deepEqual(given, expected, `${method} ${path} ${JSON.stringify(withNulls)}`)
    }
  }
})

async function operationsOf({ request }: TestStack) {
  const { paths } = withoutReferences((await request('GET', '/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId: id, requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema
      return schema?.type === 'object' ? [{ id, method: method.toUpperCase(), path, schema }] : []
    }),
  )
}

const namesNull = (schema: Schema): boolean => schema.anyOf?.some((member) => member.type === 'null') ?? false

/** Each optional member is there or not; the required ones mostly are. */
function bodyOf(schema: Schema): fc.Arbitrary<Record<string, unknown>> {
  const required = new Set(schema.required)
  const members = Object.entries(schema.properties ?? {})
  return fc
    .tuple(...members.map(([name]) => fc.nat(9).map((n) => n < (required.has(name) ? 9 : 5))))
    .chain((given) =>
      fc.record(Object.fromEntries(members.filter((_, i) => given[i]).map(([name, member]) => [name, valueFor(member)]))),
    )
}

function valueFor(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.filter(({ type }) => type !== 'null').map(valueFor))
  if (schema.type === 'integer' || schema.type === 'number') return fc.constantFrom(1, 900_001) // ids of neither project
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'array') return fc.array(schema.items ? valueFor(schema.items) : fc.constant('x'), { maxLength: 2 })
  if (schema.type === 'object') return schema.properties ? bodyOf(schema) : fc.constant({})
  return fc.constantFrom('x', 'name', '1', 'in', '2026-01-01')
}

/** Status and body, without what differs from project to project and from call to call: numbers, times, keys, ciphers. */
async function answerOf({ request }: TestStack, method: string, path: string, token: string, body: unknown): Promise<unknown> {
  const { status, text } = await request(
    method,
    path.replace(/\{(\w+)\}/g, (_, name: string) => THERE[name] ?? '900001'),
    { token, json: body },
  )
  const answer = /^[{[]/.test(text) ? JSON.parse(text) : text
  if (status === 202 && answer.operationName !== undefined)
    // What it changes must be there, or not, for the next request to both projects.
    await until('the job has ended', async () => {
      const job = (await request('GET', answer.url, { token })).json<{ status: string }>()
      return job.status === 'success' || job.status === 'error'
    })
  return { status, answer: shapeOf(answer) }
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, isRandom(name) ? '' : shapeOf(member)]))
  if (typeof value === 'string') return value.replace(/(?<=^KBC::\w+::).*|\b[0-9a-z]{20,}\b|\d+/g, '#')
  return typeof value === 'number' ? 0 : value
}

const isRandom = (name: string): boolean =>
  /^(id|rowsSortOrder|token|exceptionId|credentials|uuid|versionIdentifier|hash|key|value|s3Path|url|password)$/.test(name)
