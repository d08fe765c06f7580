// Invariant 7, over every route of the API document: without a token there is nothing, and a token sees its own project only. A route
// that neither the fixture nor the list of exceptions names fails the test, so a new one has to be added to one of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newStackAdmin } from '../support/clients/person-client.ts'
import { filesWith, objectKeys, rowsOfProject, tablesWith } from '../support/project-traces.ts'
import { startReceiver } from '../support/servers/webhook-receiver.ts'
import { shellStack } from '../support/shell-stack.ts'
import { type Answer, send, startTestStack, type TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'
import { ALIKE, CHANGE, CREDENTIALS, type Ids, INSTANCE, MAKE, type Step, TEMPLATE } from './project-fixture.ts'
import {
  addressOf,
  type Call,
  codeOf,
  isAboutPeople,
  makeProject,
  NOT_BUILT,
  type Paths,
  perform,
  routesWithToken,
  usesIds,
} from './project-walk.ts'

const TAKES_NO_ID = 'takes no id and shows nothing that is stored'
const NEVER_FOUND = 'nothing that it could be asked for can be made on this stack'

/** Routes that the fixture leaves out, each with its reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'POST /v2/storage/tickets': TAKES_NO_ID,
  'POST /v2/storage/validate/column-names': TAKES_NO_ID,
  'POST /v2/storage/webalize/column-names': TAKES_NO_ID,
  'POST /v2/storage/webalize/display-name': TAKES_NO_ID,
  'POST /scheduler/preview': TAKES_NO_ID,
  'POST /import/fetch-file': 'takes no id and makes a file of its own; see importer.test.ts',
  'POST /v2/storage/files/sniff': TAKES_NO_ID,
  'POST /ai/docs/question': TAKES_NO_ID,
  'POST /ai/suggest/component': TAKES_NO_ID,
  'POST /ai/prompts': 'needs a model; see ai/model.test.ts',
  'POST /ai/answers': 'needs a model; see ai/model.test.ts',
  'POST /v2/storage/data-tests/import': 'takes results of dbt; see data-tests.test.ts',
  'POST /v2/storage/agent-requests/{id}/decide': 'requests come from tools; see mcp.test.ts',
  'DELETE /v2/storage/agent-connections/{connectionId}': 'people sign agents in; see agent-sign-in.test.ts',
  'POST /v2/storage/proposals': 'takes its branch in its body; see proposals.test.ts',
  'POST /v2/storage/proposals/{id}/undo': 'the fixture refuses its proposal; see proposals.test.ts',
  'POST /v2/storage/proposals/{id}/accept': 'the fixture refuses its proposal; see proposals.test.ts',
  ...Object.fromEntries(
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [
      `${method} /mlflow/{path}`,
      'needs an MLflow server; see registered-servers.test.ts',
    ]),
  ),
  'GET /spark/pages/{path}': 'needs a Spark cluster; see registered-servers.test.ts',
  'GET /oauth/providers': 'providers belong to the stack',
  'GET /oauth/providers/{id}': 'providers belong to the stack',
  'POST /oauth/credentials/{componentId}/{id}/refresh': 'needs an authorisation server; see oauth.test.ts',
  'POST /oauth/credentials/{componentId}/{id}/revoke': 'needs an authorisation server; see oauth.test.ts',
  'POST /billing/credits': TAKES_NO_ID,
  'POST /queue/flows/validate': 'takes its flow in its body',
  'POST /v2/storage/browse/configurations/names': 'takes its ids in its body; see browse.test.ts',
  'POST /v2/storage/components/{componentId}/configs/validate': 'takes its configuration in its body',
  'POST /syrup/docker/sandbox': 'takes its configuration in its body',
  'POST /sync-actions/actions': 'takes its configuration in its body',
  'POST /sync-actions/sql/try': 'takes its configuration in its body',
  'POST /docker-runner/docker/{component}/action/{action}': 'takes its configuration in its body',
  'PUT /v2/storage/buckets/{bucketId}/refresh': NEVER_FOUND,
  'POST /v2/storage/buckets/{bucketId}/scheduled-tasks/refresh': NEVER_FOUND,
  'DELETE /v2/storage/scheduled-tasks/{taskId}': NEVER_FOUND,
  'DELETE /v2/storage/buckets/{bucketId}/links/{projectId}': 'needs two projects that share a bucket; see buckets.test.ts',
  'POST /v2/storage/dev-branches/{branchId}/merge': 'merges as the merge request of the fixture does; see branches.test.ts',
  'DELETE /v2/storage/dev-branches/{branchId}': 'the merge of the fixture removes the branch; see branches.test.ts',
}

test('no route that needs a token answers without one or with a wrong one', async (t) => {
  const { request, url, masterToken } = await startTestStack(t)
  const { paths } = (await request('GET', '/openapi.json')).json<Paths>()
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (operation['x-required-right'] === 'nothing') continue
      const address = path.replace(/\{\w+\}/g, '1')
      if (isAboutPeople(operation)) {
        for (const token of [null, masterToken]) {
          const answer = await send(url, method.toUpperCase(), address, { token })
          assert.deepEqual([answer.status, codeOf(answer)], [401, 'people.notSignedIn'], `${method} ${path}`)
        }
        continue
      }
      const missing = await send(url, method.toUpperCase(), address, { token: null })
      assert.equal(missing.status, 401, `${method} ${path}: ${missing.text}`)
      assert.equal(messageOf(missing), 'Access token must be set')
      const wrong = await send(url, method.toUpperCase(), address, { token: '1-1-wrong' })
      assert.equal(wrong.status, 401, `${method} ${path}: ${wrong.text}`)
      assert.equal(messageOf(wrong), 'Invalid access token')
    }
  }
})

/** Iceberg has a shape of its own for errors. */
function messageOf({ json }: Answer): string | undefined {
  const { error } = json<{ error: string | { message: string } }>()
  return typeof error === 'string' ? error : error.message
}

test('a token sees, changes and uses nothing of another project, by any route', async (t) => {
  const servers = { sparkUrl: 'local[*]', mlflowUrl: 'http://127.0.0.1:9' } // nobody listens there
  const stack = await shellStack(t, { worker: { egressAllow: ['127.0.0.1'] }, servers })
  const { url: receiver } = await startReceiver(t)
  await stack.add('test.noop', 'true')
  const routes = await routesWithToken(stack)
  const call = (token: string, step: Step, ids: Ids): Promise<Answer> =>
    stack.request(step.route.split(' ')[0]!, addressOf(step, ids), { ...step.send?.(ids), token })
  const lists = routes.filter((route) => route.startsWith('GET ') && !usesIds({ route }))
  const details = routes.filter((route) => route.startsWith('GET ') && usesIds({ route }) && !(route in LEFT_OUT))
  /** What a token is shown by every route that only reads. */
  const readAll = async (token: string, ids: Ids, from: readonly string[]): Promise<Map<string, string>> => {
    const { id: reader } = (await stack.request('GET', '/v2/storage/tokens/verify', { token })).json<{ id: string }>()
    const answers = new Map<string, string>()
    for (const route of from) {
      const { status, text } = await call(token, { route }, ids)
      const isEvents = status === 200 && route.endsWith('/events')
      answers.set(route, `${status} ${withoutChance(isEvents ? withoutEventsOf(reader, text) : text)}`)
    }
    return answers
  }

  const stranger = (await stack.newProject('Stranger')).masterToken
  const asStranger = { ...ALIKE, mark: 'alpha7' }
  const emptyLists = await readAll(stranger, asStranger, lists)
  const alpha = await makeProject(stack, 'alpha7', receiver, call)
  const others = await objectKeys(stack)
  const beta = await makeProject(stack, 'beta7', receiver, call)
  const objectsOfBeta = [...(await objectKeys(stack)).difference(others)]
  const ofAlpha = await readAll(alpha.token, alpha.ids, [...lists, ...details])
  for (const [route, answer] of ofAlpha)
    assert.match(answer, route in NOT_BUILT ? /^501/ : /^200/, `${route} for its own project`)

  assert.deepEqual(await readAll(stranger, asStranger, lists), emptyLists, 'lists of an empty project stay as they are')
  for (const token of [stranger, beta.token]) {
    for (const [route, answer] of await readAll(token, alpha.ids, details))
      assert.match(answer, route in NOT_BUILT ? /^501/ : /^40[34]/, `${route} for another project`)
    for (const [route, answer] of await readAll(token, alpha.ids, lists))
      assert.doesNotMatch(answer, /alpha7/, `${route} shows another project`)
    for (const step of [...MAKE, ...CHANGE].filter((one) => one.refers || usesIds(one))) {
      const { status, text } = await call(token, step, alpha.ids)
      assert.ok([400, 403, 404, 422].includes(status), `${step.route} for another project: ${status} ${text}`)
    }
  }
  // A project whose objects have the same names and chosen ids changes and removes all of them: the same requests, which are good ones
  // there, and none of them reaches the first project.
  const silent = new Set<string>()
  const watched = watchEvents(stack, call, silent)
  const twin = await makeProject(stack, 'alpha7', receiver, watched)
  for (const step of CHANGE) await perform(stack, twin, step, watched)
  assert.deepEqual([...silent].sort(), Object.keys(WITHOUT_EVENT).sort(), 'writes that leave no event')
  const afterAll = await readAll(alpha.token, alpha.ids, [...lists, ...details])
  for (const [route, answer] of ofAlpha) assert.equal(afterAll.get(route), answer, `${route} was changed by another project`)

  const named = new Set([...MAKE, ...CHANGE].map(({ route }) => route))
  const missing = routes.filter(
    (route) => !route.startsWith('GET ') && !named.has(route) && !(route in NOT_BUILT) && !(route in LEFT_OUT),
  )
  assert.deepEqual(missing, [], 'routes that the fixture has no step for: add one, or say in LEFT_OUT why not')
  for (const route of Object.keys(NOT_BUILT).filter((one) => !one.startsWith('GET ')))
    assert.equal((await call(beta.token, { route, send: () => ({ json: NOT_BUILT[route] }) }, beta.ids)).status, 501, route)
  await assertPurged(stack, Number(beta.ids.project), 'beta7', objectsOfBeta)
  assert.equal((await stack.request('GET', '/v2/storage/tables', { token: alpha.token })).status, 200)
})

const DAY_MS = 86_400_000

/** After its grace time nothing of a project is left, in whichever table, object or file. */
async function assertPurged(stack: TestStack, projectId: number, mark: string, objects: readonly string[]): Promise<void> {
  const { metadata, tokensApi, files, workspaces, tables } = stack.platform
  const { db, inTransaction } = metadata
  assert.ok(Object.keys(await rowsOfProject(db, projectId)).length > 40, 'the fixture fills the tables')
  assert.ok(objects.some((key) => key.startsWith('tables/')) && objects.some((key) => !key.startsWith('tables/')))
  const admin = await newStackAdmin(stack)
  await admin.ok('DELETE', `/manage/projects/${projectId}?days=2`)
  await inTransaction(async (trx) => sql`update project set delete_after = 1 where id = ${projectId}`.execute(trx))
  await tokensApi.projectsLoop.tick()
  assert.deepEqual(await rowsOfProject(db, projectId), {})
  assert.deepEqual(await tablesWith(db, mark), [])
  const now = Date.now()
  await files.loop.tick(new Date(now))
  await workspaces.loop.tick(new Date(now))
  for (const days of [2, 4]) await tables.loop.sweep(new Date(now + days * DAY_MS)) // what it finds twice goes
  const left = await objectKeys(stack)
  assert.deepEqual(
    objects.filter((key) => left.has(key)),
    [],
  )
  await until('no file tells of it', async () => (await filesWith(stack, mark)).length === 0)
}

/** Writes of these services leave an event, each of them. */
const LEAVES_EVENTS = /^(POST|PUT|PATCH|DELETE) \/(oauth|templates|billing|sandboxes|data-science|editor)\//
const ONLY_LOOKS = 'changes nothing'
const WITHOUT_EVENT: Readonly<Record<string, string>> = {
  [`POST ${TEMPLATE}/validate`]: ONLY_LOOKS,
  [`POST ${TEMPLATE}/preview`]: ONLY_LOOKS,
  [`POST ${INSTANCE}/upgrade/{version}/preview`]: ONLY_LOOKS,
  [`POST ${CREDENTIALS}/test`]: ONLY_LOOKS,
  'PATCH /sandboxes/apps/{id}': 'the app of the fixture is stopped already; see apps.test.ts',
  'PATCH /data-science/apps/{id}': 'the app of the fixture is stopped already; see apps.test.ts',
}

/** Collects the routes that a project has written by without a new event. */
function watchEvents(stack: TestStack, call: Call, silent: Set<string>): Call {
  const newest = async (token: string) =>
    (await stack.request('GET', '/v2/storage/events?limit=1', { token })).json<{ id: string }[]>()[0]?.id
  return async (token, step, ids) => {
    if (!LEAVES_EVENTS.test(step.route)) return call(token, step, ids)
    const before = await newest(token)
    const answer = await call(token, step, ids)
    if (answer.status < 300 && (await newest(token)) === before) silent.add(step.route)
    return answer
  }
}

/** Reading leaves events too, so the lists of them grow by those of the reader. */
function withoutEventsOf(tokenId: string, text: string): string {
  const events = JSON.parse(text) as { readonly token?: { readonly id: number } }[]
  return JSON.stringify(events.filter((event) => String(event.token?.id) !== tokenId))
}

/** Signatures, ids of errors, positions in the log of changes, running times and lateness differ from one answer to the next. */
function withoutChance(text: string): string {
  return text.replace(
    /X-Amz-[^"]*|"(exceptionId|lastEventId|AccessKeyId|SecretAccessKey|SessionToken|Expiration|s3\.[-\w]+)":"[^"]*"|"\w*[sS]econds":[\d.]+|"(consumed|remaining|bytesRead|lateByMs)":[\d.]+|"state":"(fresh|late)"|"lastUsed":("[^"]*"|null)/g,
    '',
  )
}
