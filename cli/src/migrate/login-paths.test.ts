import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MovedConfiguration } from '../configuration/project-folder.ts'
import { type RewrittenPath, rewriteLoginPaths } from './login-paths.ts'

const configuration = (headers: object, query: object = {}, type = 'login') => ({
  parameters: { api: { baseUrl: 'https://a', authentication: { type, apiRequest: { headers, query } } }, config: { jobs: [] } },
})

const moved = (componentId: string, content: object): MovedConfiguration =>
  ({ id: 'c', componentId, configuration: content, rows: [], versions: [{ configuration: content, rows: [] }] }) as never

test('X1: texts of old configurations that name a value of the login response are rewritten, others are kept', () => {
  const noted: RewrittenPath[] = []
  const rewrite = (component: string, content: object) => rewriteLoginPaths(moved(component, content), (one) => noted.push(one))
  const headers = {
    'X-Token': 'token',
    'X-Session': 'data.user.sessionId',
    Accept: 'application/json',
    'X-Key': 'a1b2c3',
    'X-Client': 'com.example.app',
    'X-Version': '2.0',
    'X-New': { response: 'token' },
  }
  const after = rewrite('keboola.ex-generic-v2', configuration(headers, { sid: 'result.sid' }))
  const expected = configuration(
    { ...headers, 'X-Token': { response: 'token' }, 'X-Session': { response: 'data.user.sessionId' } },
    { sid: { response: 'result.sid' } },
  )
  assert.deepEqual([after.configuration, after.versions[0]?.configuration], [expected, expected])
  assert.deepEqual(
    noted.map(({ path, was }) => [path.split('.').slice(-2).join('.'), was]),
    [
      ['headers.X-Token', 'token'],
      ['headers.X-Session', 'data.user.sessionId'],
      ['query.sid', 'result.sid'],
    ],
  )
  const same = configuration(headers)
  assert.deepEqual(rewrite('keboola.ex-db-mysql', same).configuration, same)
  const basic = configuration(headers, {}, 'basic')
  assert.deepEqual(rewrite('keboola.ex-generic-v2', basic).configuration, basic)
  for (const odd of [{}, { parameters: [] }, { parameters: { api: 'x' } }, { parameters: { api: { authentication: [] } } }])
    assert.deepEqual(rewrite('keboola.ex-generic-v2', odd).configuration, odd)
})
