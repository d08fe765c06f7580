// The right that every operation declares (http/rights.ts), compared with what it answers: to a token without rights, with one bucket, with
// one component, to each role of a person and to a token of another project. Refused requests answer 403 or 404, show no secret and
// change nothing; the others are not refused.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { RIGHTS_DOCUMENT, rightsDocument } from '../../tools/rights-doc.ts'
import { newMember, newStackAdmin } from '../support/clients/person-client.ts'
import { changedTables, contentOf } from '../support/metadata-content.ts'
import { startReceiver } from '../support/servers/webhook-receiver.ts'
import { shellStack } from '../support/shell-stack.ts'
import { type Answer, type RequestOptions, startTestStack } from '../support/test-stack.ts'
import { CHANGE, type Ids, MAKE, type Step } from './project-fixture.ts'
import { addressOf, makeProject, NOT_BUILT, type Paths, usesIds } from './project-walk.ts'

interface Operation {
  readonly step: Step
  readonly right: string
  readonly role: string | undefined
  /** The fixture has its objects and a body that it takes. */
  readonly isInFixture: boolean
}

interface Caller {
  readonly name: string
  readonly send: (method: string, path: string, options: RequestOptions) => Promise<Answer>
  readonly isRefused: (operation: Operation) => boolean
}

/** Whose objects of the fixture belong to other components than the one that the token may use, or to another token. */
const OF_ANOTHER_COMPONENT =
  /^\w+ \/((data-science|sandboxes)\/apps\b.*|templates\/v1\/(project\/.*\/instances\/|.*\/(use|preview)$).*|notification\/(project-subscriptions\/|deliveries\/).*)/
const isOfAnotherComponent = ({ step }: Operation): boolean =>
  OF_ANOTHER_COMPONENT.test(step.route) ||
  step.on?.({}).component !== undefined ||
  step.route === 'POST /notification/project-subscriptions'

/** A table that the fixture's job of the storage API loads, and a queue job of the component. */
const isJobOfQueue = ({ step }: Operation): boolean => /^\w+ \/(queue|syrup)\//.test(step.route)

/** Objects that belong to who wrote them, another token here. */
const OF_ITS_AUTHOR = /^(PUT|DELETE) .*\/comments\/\{commentId\}$/

/** Lists of the caller's own objects are empty, not refused. */
const OPEN: readonly string[] = ['token']

/** By the rights that a token has; what it created itself is not part of the fixture. */
const RIGHTS_OF: Readonly<Record<string, (operation: Operation) => boolean>> = {
  'no right': ({ right }) => OPEN.includes(right),
  'one bucket': ({ right, step }) =>
    [...OPEN, 'grant', 'bucketRead', 'catalogueRead'].includes(right) && !OF_ITS_AUTHOR.test(step.route),
  'one component': (operation) =>
    [...OPEN, 'grant'].includes(operation.right) ||
    // A new trigger also takes read permission of its tables.
    (operation.right === 'trigger' && operation.step.route !== 'POST /v2/storage/triggers') ||
    (operation.right === 'component' && !isOfAnotherComponent(operation)) ||
    (operation.right === 'ownJob' && isJobOfQueue(operation)),
}

/** People read what others created, too, but not these. */
const ONLY_CREATORS: readonly string[] = ['workspace', 'sandbox', 'ownToken', 'ownProposal']

const ROLES = ['viewer', 'editor', 'admin', 'stack admin']
const isBelow = (role: string, { role: lowest }: Operation): boolean =>
  lowest !== undefined && ROLES.indexOf(role) < ROLES.indexOf(lowest)

const isAboutPeople = ({ right }: Operation): boolean => right === 'person' || right === 'session'
const isRead = ({ step }: Operation): boolean => step.route.startsWith('GET ')

async function operationsOf(paths: Paths['paths']): Promise<Operation[]> {
  const steps = Map.groupBy([...MAKE, ...CHANGE], ({ route }) => route)
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const route = `${method.toUpperCase()} ${path}`
      const { 'x-required-right': right, 'x-minimum-role': role } = operation
      const known = steps.get(route) ?? (method === 'get' ? [{ route }] : undefined)
      const isInFixture = known !== undefined && !OUTSIDE.test(route)
      const send = method === 'get' ? {} : { send: () => ({ json: NOT_BUILT[route] ?? {} }) }
      return (isInFixture ? known : [{ route, ...send }]).map((step) => ({ step, right, role, isInFixture }))
    }),
  )
}

/** Addresses of servers and providers that this stack does not have. */
const OUTSIDE = /\/(mlflow|spark)\/|\/oauth\/providers\/|^\w+ \/(account|manage|operations|sign-in)\b/

function requestOf({ step, isInFixture }: Operation, ids: Ids): [string, string, RequestOptions] {
  const [method = '', path = ''] = step.route.split(' ')
  return [method, isInFixture ? addressOf(step, ids) : path.replace(/\{\w+\}/g, '1'), step.send?.(ids) ?? {}]
}

test('every operation takes the right that it declares, and nothing less', { timeout: 300_000 }, async (t) => {
  const stack = await shellStack(t, { worker: { egressAllow: ['127.0.0.1'] } })
  const { url: receiver } = await startReceiver(t)
  await stack.add('test.noop', 'true')
  const { paths } = (await stack.request('GET', '/openapi.json')).json<Paths>()
  const all = (await operationsOf(paths)).filter(({ right }) => right !== 'nothing')
  assert.ok(all.length > 400, `${all.length} operations`)
  const ofTokens = all.filter((operation) => !isAboutPeople(operation))
  const asMaster = (token: string, step: Step, ids: Ids) =>
    stack.request(step.route.split(' ')[0]!, addressOf(step, ids), { ...step.send?.(ids), token })
  const { ids, token: master } = await makeProject(stack, 'alpha7', receiver, asMaster)
  const stranger = (await stack.newProject('Stranger')).masterToken
  const secrets = await secretsOf((path) => stack.request('GET', path, { token: master }), ids)
  const admin = await newStackAdmin(stack)
  const projectId = Number(ids.project)

  const withToken =
    (token: string): Caller['send'] =>
    (method, path, options) =>
      stack.request(method, path, { ...options, token })
  const tokenFor = async (json: object) =>
    (await stack.request('POST', '/v2/storage/tokens', { json, token: master })).json<{ token: string }>().token
  const tokens: Readonly<Record<string, object>> = {
    'no right': {},
    'one bucket': { bucketPermissions: { [ids.bucket!]: 'read' } },
    'one component': { componentAccess: ['test.noop'] },
  }
  const callers: Caller[] = []
  for (const [name, json] of Object.entries(tokens))
    callers.push({ name, send: withToken(await tokenFor(json)), isRefused: (operation) => !RIGHTS_OF[name]!(operation) })
  for (const role of ['viewer', 'editor', 'admin'] as const) {
    const person = (await newMember(stack, admin, { projectId, role })).in(projectId)
    callers.push({ name: role, send: person.call, isRefused: (operation) => isBelow(role, operation) })
  }
  const other: Caller = { name: 'another project', send: withToken(stranger), isRefused: ({ step }) => usesIds(step) }
  const weak = callers.filter(({ name }) => name !== 'editor' && name !== 'admin')

  const ask = async (caller: Caller, operation: Operation): Promise<Answer> => {
    const answer = await caller.send(...requestOf(operation, ids))
    const where = `${operation.step.route} (${operation.right}) as ${caller.name}: ${answer.status} ${answer.text.slice(0, 300)}`
    assert.ok(answer.status < 500 || [501, 503].includes(answer.status), where)
    if (weak.includes(caller) || caller === other)
      for (const [name, secret] of secrets) assert.ok(!answer.text.includes(secret), `${name} is shown: ${where}`)
    return answer
  }

  const wrong: string[] = []
  const check = async (caller: Caller, operation: Operation, what: string, isRight: (status: number) => boolean) => {
    const { status, text } = await ask(caller, operation)
    if (!isRight(status)) wrong.push(`${operation.step.route} (${operation.right}) ${what} ${caller.name}: ${status} ${text}`)
  }
  const before = await contentOf(stack)
  for (const caller of callers)
    for (const operation of ofTokens.filter(caller.isRefused)) {
      const others = operation.right === 'trigger' ? [422] : operation.step.route in NOT_BUILT ? [501] : []
      await check(caller, operation, 'lets in', (status) => [403, 404, ...others].includes(status))
    }
  assert.deepEqual(changedTables(before, await contentOf(stack)), [], 'what was refused has changed something')
  // That nothing of a project is changed from another one is the promise of isolation.test.ts.
  for (const operation of ofTokens.filter((one) => one.isInFixture && other.isRefused(one)))
    await check(other, operation, 'lets in', (status) => [400, 403, 404, 422, 501].includes(status))
  for (const operation of all.filter(isAboutPeople))
    for (const caller of [...callers.slice(0, 3), other]) await check(caller, operation, 'lets in', (status) => status === 401)
  for (const caller of callers)
    for (const operation of ofTokens.filter((one) => isRead(one) && one.isInFixture && !caller.isRefused(one))) {
      const isLeftToCreators = ROLES.includes(caller.name) && ONLY_CREATORS.includes(operation.right)
      const expected = operation.step.route in NOT_BUILT ? [501] : isLeftToCreators ? [200, 403, 404] : [200]
      await check(caller, operation, 'refuses', (status) => expected.includes(status))
    }
  for (const caller of weak)
    for (const operation of ofTokens.filter((one) => !isRead(one) && one.isInFixture && !caller.isRefused(one)))
      await check(caller, operation, 'refuses', (status) => status !== 401 && status !== 403)
  assert.deepEqual(wrong, [])
})

/** What opens something for whoever has it. */
async function secretsOf(get: (path: string) => Promise<Answer>, ids: Ids): Promise<ReadonlyMap<string, string>> {
  const at = async <T>(path: string): Promise<T> => {
    const answer = await get(path)
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.json<T>()
  }
  const source = await at<{ http: { url: string } }>(`/stream/v1/branches/default/sources/${ids.source}`)
  const subscription = await at<{ recipient: { url: string } }>(`/notification/project-subscriptions/${ids.subscription}`)
  const sandbox = await at<{ password: string }>(`/sandboxes/sandboxes/${ids.sandbox}`)
  const session = await at<{ connection: { password: string } }>(`/editor/sql/sessions/${ids.editorSession}`)
  const app = await at<{ password: string }>(`/data-science/apps/${ids.scienceApp}/password`)
  const found = new Map([
    ['the address of a stream', source.http.url.split('/').at(-1)!],
    ['the address of a webhook', subscription.recipient.url],
    ['the password of a sandbox', sandbox.password],
    ['the password of an editor session', session.connection.password],
    ['the password of an app', app.password],
  ])
  for (const [name, secret] of found) assert.ok(secret.length > 8, `${name}: "${secret}"`)
  return found
}

test('docs/rights.md lists the rights as the routes declare them', async (t) => {
  const { request } = await startTestStack(t)
  const text = rightsDocument((await request('GET', '/openapi.json')).text)
  assert.equal(readFileSync(RIGHTS_DOCUMENT, 'utf8'), text, 'run `npm run docs:api`')
})
