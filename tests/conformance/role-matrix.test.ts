// What each role may do, over every route of the API document: a viewer changes nothing, an editor no tokens and no people, whoever does
// not belong to a project is refused by all of it, and the document names the lowest role that is let in.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newMember, newStackAdmin, type PersonClient } from '../support/clients/person-client.ts'
import { changedTables, contentOf } from '../support/metadata-content.ts'
import { type Answer, startTestStack, type TestStack } from '../support/test-stack.ts'

interface Operation {
  readonly 'x-required-right': string
  readonly 'x-minimum-role'?: string
  readonly operationId: string
  readonly description?: string
}

interface Route {
  readonly method: string
  readonly path: string
  readonly id: string
  readonly needs: string
  /** The lowest role that the document admits. */
  readonly role: string | undefined
}

/** Routes that only read, although their method could change something. A new one is a decision: add it here and set `onlyReads` there. */
const ONLY_READ: readonly string[] = [
  'ai.question',
  'ai.suggestComponent',
  'configurations.names',
  'configurations.validate',
  'configurations.validateSaved',
  'dataScience.createAppLink',
  'dataScience.createAppPreviewLink',
  'files.sniffBody',
  'flows.validate',
  'mcp.request',
  'naming.checkColumnNames',
  'naming.columnNames',
  'naming.displayName',
  'sandboxes.createAppLink',
  'sandboxes.createAppPreviewLink',
  'scheduler.preview',
  'sql.query',
  'templates.validate',
]

/** Open to every role, for what is the caller's own. */
const ONLY_OWN: readonly string[] = ['tokens.get', 'tokens.events', 'projectUsers.remove']

const address = ({ path }: Route): string => path.replace(/\{\w+\}/g, '1')
const isChange = ({ method, id }: Route): boolean => method !== 'GET' && !ONLY_READ.includes(id)

async function routesOf({ request }: TestStack): Promise<readonly Route[]> {
  const { paths } = (await request('GET', '/openapi.json')).json<{ paths: Record<string, Record<string, Operation>> }>()
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        id: operation.operationId,
        needs: operation['x-required-right'],
        role: operation['x-minimum-role'],
      }))
      .filter(({ needs }) => needs !== 'nothing'),
  )
}

/** Services word their errors in different shapes; the sentence is the same. */
const REFUSED = 'Your role in this project is viewer'

const ask = (person: PersonClient, route: Route): Promise<Answer> =>
  person.call(route.method, address(route), route.method === 'GET' ? {} : { json: {} })

test('a viewer reads and changes nothing, by any route', { timeout: 300_000 }, async (t) => {
  const stack = await startTestStack(t)
  const { projectId } = stack
  const admin = await newStackAdmin(stack)
  const viewer = (await newMember(stack, admin, { projectId, role: 'viewer' })).in(projectId)
  await stack.request('POST', '/v2/storage/buckets', { json: { name: 'main' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', { form: { name: 't', dataString: 'id\n1\n' } })
  const routes = (await routesOf(stack)).filter(({ needs }) => needs !== 'person' && needs !== 'session')
  assert.ok(routes.length > 150, `${routes.length} routes`)
  const before = await contentOf(stack)
  for (const route of routes) {
    const { status, text } = await ask(viewer, route)
    const isRefused = status === 403 && text.includes(REFUSED)
    assert.equal(isRefused, isChange(route), `${route.method} ${route.path}: ${status} ${text}`)
    assert.ok(isChange(route) ? route.role !== 'viewer' : route.role !== undefined, `${route.id}: ${route.role}`)
    if (route.role !== 'viewer') assert.equal(status, 403, `${route.method} ${route.path}: ${text}`)
    // 503: a server that nobody registered with this stack.
    assert.ok(status < 500 || status === 501 || status === 503, `${route.method} ${route.path}: ${status}`)
  }
  assert.deepEqual(changedTables(before, await contentOf(stack)), [])
  for (const path of [
    '/v2/storage/buckets',
    '/v2/storage/tables/in.c-main.t',
    '/v2/storage/components',
    '/v2/storage/jobs',
    '/queue/jobs',
  ])
    assert.equal((await viewer.call('GET', path)).status, 200, path)
  const source = { sourceId: 's', type: 'http', name: 'S' }
  assert.equal((await stack.request('POST', '/stream/v1/branches/default/sources', { json: source })).status, 202)
  const shown = await viewer.ok<{ http: { url: string } }>('GET', '/stream/v1/branches/default/sources/s')
  assert.match(shown.http.url, /\/s\/\*\*\*$/, 'whoever has the whole address can send records')
  assert.match((await viewer.call('GET', '/v2/storage/tables/in.c-main.t/data-preview')).text, /"1"/)
})

test('an editor changes everything but people and tokens, and creates tokens without rights only', async (t) => {
  const stack = await startTestStack(t)
  const { projectId } = stack
  const admin = await newStackAdmin(stack)
  const editor = (await newMember(stack, admin, { projectId, role: 'editor' })).in(projectId)
  const projectAdmin = (await newMember(stack, admin, { projectId, role: 'admin' })).in(projectId)
  const { id: otherToken } = await stack
    .request('POST', '/v2/storage/tokens', { json: { description: 'x' } })
    .then((a) => a.json<{ id: string }>())
  const routes = await routesOf(stack)
  const refused = routes.filter(({ role }) => role === 'admin' || role === 'stack admin')
  const isOfPeople = ({ id, method }: Route) => method !== 'GET' && /^(tokens|projectUsers|projectInvitations)\./.test(id)
  assert.deepEqual(
    routes.filter((route) => isOfPeople(route) && !refused.includes(route)).map(({ id }) => id),
    // Members may leave without an admin; a token that an editor creates has no right (corrections-2, A8).
    ['projectUsers.remove', 'tokens.create'],
  )
  const bodies: Readonly<Record<string, object>> = {
    'projectUsers.add': { email: 'root@example.com', role: 'admin' },
    'projectUsers.update': { role: 'admin' },
    'projectInvitations.create': { email: 'new@example.com', role: 'admin' },
    'tokens.share': { recipientEmail: 'ann@example.com', message: 'x' },
    'mergeRequests.changeSettings': { requiredApprovals: 1 },
    'operations.changeSetting': { value: 'debug' },
    'projects.addFeature': { feature: 'x' },
    'projects.create': { name: 'x' },
    'projects.setLimits': { limits: [] },
    'projects.update': { name: 'x' },
    'users.update': { isStackAdmin: true },
  }
  const before = await contentOf(stack)
  for (const { method, path, id } of refused) {
    const at = path
      .replace('{projectId}', String(projectId))
      .replace(/\/tokens\/\{id\}/, `/tokens/${otherToken}`)
      .replace(/\{\w+\}/g, '1')
    const sent = method === 'GET' ? {} : { json: bodies[id] ?? {} }
    const answer = await editor.call(method, at, sent)
    assert.equal(answer.status, 403, `${method} ${at}: ${answer.text}`)
    if (routes.find((route) => route.id === id)?.role === 'stack admin')
      assert.equal((await projectAdmin.call(method, at, sent)).status, 403, `${method} ${at} as an admin of the project`)
  }
  assert.deepEqual(changedTables(before, await contentOf(stack)), [])
  for (const route of routes.filter(({ role }) => role === 'viewer' || role === 'editor')) {
    const at = address(route).replace('/projects/1', `/projects/${projectId}`)
    const { status, text } = await editor.call(route.method, at, route.method === 'GET' ? {} : { json: {} })
    assert.ok(status !== 403 || ONLY_OWN.includes(route.id), `${route.method} ${at}: ${text}`)
  }
  await editor.ok('POST', '/v2/storage/buckets', { name: 'own' })
  await editor.ok('POST', '/v2/storage/components/platform.ex-http/configs', { name: 'mine', configurationId: 'mine' })
  const { creatorToken } = await editor.ok<{ creatorToken: { id: number; description: string } }>(
    'GET',
    '/v2/storage/components/platform.ex-http/configs/mine',
  )
  const [version] = await editor.ok<{ creatorToken: object }[]>(
    'GET',
    '/v2/storage/components/platform.ex-http/configs/mine/versions',
  )
  const events = await editor.ok<{ event: string; token: { id: number; name: string } }[]>('GET', '/v2/storage/events')
  assert.equal(creatorToken.description, `editor-${projectId}`)
  assert.deepEqual(version!.creatorToken, creatorToken)
  const made = events.find(({ event }) => event === 'storage.componentConfigurationCreated')!
  assert.deepEqual([made.token.id, made.token.name], [creatorToken.id, creatorToken.description])
})

test('nobody reaches a project that they do not belong to', async (t) => {
  const stack = await startTestStack(t)
  const other = await stack.newProject('Other')
  const admin = await newStackAdmin(stack)
  const stranger = await newMember(stack, admin, { projectId: other.projectId, role: 'admin' })
  for (const route of await routesOf(stack)) {
    if (route.needs === 'session') continue
    const at = route.path.replace('{projectId}', String(stack.projectId)).replace(/\{\w+\}/g, '1')
    const json =
      route.method === 'GET' ? {} : { json: { email: 'x@example.com', role: 'admin', name: 'x', feature: 'x', limits: [] } }
    if (!route.path.includes('{projectId}') && route.needs === 'person') continue
    const { status, text } = await stranger.in(stack.projectId).call(route.method, at, json)
    assert.equal(status, 403, `${route.method} ${at}: ${text}`)
  }
  assert.equal((await stranger.in(999).call('GET', '/v2/storage/buckets')).status, 403)
  assert.equal((await stranger.in(other.projectId).call('GET', '/v2/storage/buckets')).status, 200)
  const bad = await stranger.call('GET', '/v2/storage/buckets', { headers: { 'x-kbc-projectid': 'first' } })
  assert.deepEqual([bad.status, bad.json().code], [400, 'people.projectInvalid'])
  const missing = await admin.call('GET', '/v2/storage/buckets')
  assert.deepEqual([missing.status, missing.json().code], [400, 'people.projectMissing'])
})
