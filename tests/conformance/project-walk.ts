// A project that holds everything, made through the API, and the requests that its routes take: shared by the tests that walk through
// every route of the API document.

import assert from 'node:assert/strict'
import type { Job } from '../support/shell-stack.ts'
import type { Answer, TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'
import { ALIKE, COMMON, type Ids, MAKE, PARAMETERS, QUERIES, type Step } from './project-fixture.ts'

export interface Paths {
  readonly paths: Record<
    string,
    Record<string, { readonly 'x-required-right': string; readonly 'x-minimum-role'?: string; readonly operationId: string }>
  >
}

/** Routes that answer 501 to everybody, with a body that they would take. */
export const NOT_BUILT: Readonly<Record<string, object>> = {
  'GET /v2/storage/buckets/register-guide': {},
  'GET /v2/storage/buckets/{bucketId}/listing': {},
  'POST /v2/storage/buckets/register': {},
  'POST /v2/storage/buckets/{bucketId}/listing': {},
  'PATCH /v2/storage/buckets/{bucketId}/listing': {},
  'DELETE /v2/storage/buckets/{bucketId}/listing': {},
  'POST /v2/storage/tokens/{id}/share': { recipientEmail: 'ann@example.com', message: 'hello' },
}

/** Takes a session or a manage token; tests of the people module see to the projects of people. */
export const isAboutPeople = (operation: { readonly 'x-required-right': string }): boolean =>
  ['person', 'session'].includes(operation['x-required-right'])

/** Services around storage have the name of an error beside its status. */
export function codeOf({ json }: Answer): unknown {
  const { code, context } = json<{ code: unknown; context?: { stringCode?: string } }>()
  return context?.stringCode ?? code
}

export interface Project {
  readonly token: string
  readonly ids: Ids
}

export type Call = (token: string, step: Step, ids: Ids) => Promise<Answer>

export async function routesWithToken({ request }: TestStack): Promise<readonly string[]> {
  const { paths } = (await request('GET', '/openapi.json')).json<Paths>()
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation['x-required-right'] !== 'nothing' && !isAboutPeople(operation))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
}

async function defaultBranchOf({ request }: TestStack, token: string): Promise<string> {
  const [branch] = (await request('GET', '/v2/storage/dev-branches', { token })).json<{ id: number }[]>()
  return String(branch!.id)
}

export async function makeProject(stack: TestStack, mark: string, receiver: string, call: Call): Promise<Project> {
  const { projectId, masterToken: token } = await stack.newProject(mark)
  const defaultBranch = await defaultBranchOf(stack, token)
  let ids: Ids = {
    mark,
    project: `${projectId}`,
    defaultBranch,
    ...ALIKE,
    tag: '1',
    action: 'x',
    ownEvent: 'own-event',
    receiver,
  }
  for (const step of MAKE) {
    const made = await perform(stack, { token, ids }, step, call)
    for (const [name, value] of Object.entries(step.gives?.(made) ?? {})) {
      assert.ok(value !== undefined, `${step.route} gives no ${name}: ${JSON.stringify(made)}`)
      ids = { ...ids, [name]: String(value) }
    }
  }
  await until('the jobs have ended', async () => {
    const jobs = (await stack.request('GET', '/queue/jobs', { token })).json<Job[]>()
    return jobs.every(({ isFinished, status }) => isFinished || status === 'created') // those wait for tomorrow
  })
  const [storageJob] = (await stack.request('GET', '/v2/storage/jobs', { token })).json<{ id: number }[]>()
  return { token, ids: { ...ids, storageJob: `${storageJob!.id}` } }
}

/** The answer of a step that its project takes, or the results of the job that it started. */
export async function perform(stack: TestStack, { token, ids }: Project, step: Step, call: Call): Promise<unknown> {
  const answer = await call(step.as?.(ids) ?? token, step, ids)
  assert.ok(answer.status < 300, `${step.route}: ${answer.status} ${answer.text}`)
  const made = answer.text === '' ? {} : answer.json<Record<string, unknown>>()
  if (answer.status !== 202 || made.operationName === undefined) return made
  const job = await until(`the job of ${step.route} ends`, async () => {
    const current = (await stack.request('GET', String(made.url), { token })).json<Record<string, unknown>>()
    return current.status !== 'waiting' && current.status !== 'processing' && current
  })
  assert.equal(job.status, 'success', `${step.route}: ${JSON.stringify(job.error)}`)
  return job.results
}

/** The names of the ids in a path, in order. */
function parametersOf(path: string): readonly string[] {
  return [...path.matchAll(/\{\w+\}/g)].map(({ 0: parameter, index }) => {
    const upToHere = path.slice(0, index + parameter.length)
    const name = PARAMETERS[upToHere] ?? PARAMETERS[upToHere.replace('/branch/{branch}', '')]
    return name ?? assert.fail(`PARAMETERS does not say which id stands in ${path} at ${parameter}`)
  })
}

/** Whether its address names an object of a project. */
export function usesIds({ route }: Step): boolean {
  const path = route.split(' ')[1]!
  return parametersOf(path).some((name) => !COMMON.includes(name))
}

/** The address of a step with the ids of a project in it. */
export function addressOf({ route, on }: Step, ids: Ids): string {
  const path = route.split(' ')[1]!
  const names = parametersOf(path)
  const all = { ...ids, ...on?.(ids) }
  let at = 0
  const filled = path.replace(/\{\w+\}/g, () => encodeURIComponent(all[names[at++]!] ?? 'none'))
  const query = QUERIES[route]?.(ids)
  return query ? `${filled}?${query}` : filled
}
