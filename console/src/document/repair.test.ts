import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathOfPointer, repairPlaces } from './repair.ts'

const document = {
  parameters: {
    api: { authentication: { type: 'login', loginRequest: { params: { user: 'ada', password: { attr: '#password' } } } } },
    config: { '#password': 'KBC::x', jobs: [{ endpoint: 'a~b' }] },
  },
}

test('a pointer is a path with numbers where lists are', () => {
  assert.deepEqual(pathOfPointer(document, '/parameters/config/jobs/0/endpoint'), ['parameters', 'config', 'jobs', 0, 'endpoint'])
  assert.deepEqual(pathOfPointer({ 'a/b': { 0: 1 } }, '/a~1b/0'), ['a/b', '0'])
})

test('a login is repaired by its values and by the secrets it takes from attributes', () => {
  assert.deepEqual(repairPlaces(document, ['parameters', 'api', 'authentication']), [
    ['parameters', 'api', 'authentication', 'type'],
    ['parameters', 'api', 'authentication', 'loginRequest', 'params', 'user'],
    ['parameters', 'config', '#password'],
  ])
  const missing = ['parameters', 'config', 'jobs', 0, 'dataField']
  assert.deepEqual(repairPlaces(document, missing), [missing])
})
