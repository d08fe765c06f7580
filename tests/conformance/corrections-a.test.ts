// What real clients expect of the storage API, by number: part A. One stack; a project per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, type RequestOptions, send, startTestStack } from '../support/test-stack.ts'

interface EventAnswer {
  readonly id: number
  readonly event: string
  readonly message: string
  readonly type: string
  readonly [member: string]: unknown
}

test('corrections A', async (t) => {
  const stack = await startTestStack(t)
  /** A project of its own, and requests to /v2/storage with its master token. */
  async function project(name: string) {
    const { projectId, masterToken } = await stack.newProject(name)
    const call = (method: string, path: string, options: RequestOptions = {}): Promise<Answer> =>
      send(stack.url, method, `/v2/storage/${path}`, { token: masterToken, ...options })
    const ok = async (method: string, path: string, options: RequestOptions = {}): Promise<Answer> => {
      const answer = await call(method, path, options)
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
      return answer
    }
    const refused = async (method: string, path: string, options: RequestOptions, status: number, error: string | RegExp) => {
      const answer = await call(method, path, options)
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
      const text = answer.json<{ error: string }>().error
      if (typeof error === 'string') assert.equal(text, error)
      else assert.match(text, error)
      return answer
    }
    const token = async (json: object) => (await ok('POST', 'tokens', { json })).json<{ id: string; token: string }>()
    const events = async (query = '', path = 'events') => (await ok('GET', `${path}?${query}`)).json<EventAnswer[]>()
    return { projectId, masterToken, call, ok, refused, token, events }
  }

  await t.test('A1: an event with all nine members, most of them null, is an event of type info', async () => {
    const { ok, events } = await project('A1')
    const members = { configurationId: null, runId: null, description: null, type: null, duration: null }
    const json = { component: 'dummy', message: 'dummy', ...members, params: [], results: [] }
    const made = await ok('POST', 'events', { json })
    assert.equal(made.status, 201)
    assert.deepEqual(Object.keys(made.json()).sort(), ['id', 'uuid'])
    const [event] = await events()
    assert.deepEqual([event?.type, event?.event, event?.params, event?.results], ['info', 'ext.dummy.', {}, {}])
    assert.deepEqual((await ok('POST', 'files/prepare', { json: { name: 'a', tags: null } })).json().tags, [])
  })
})
