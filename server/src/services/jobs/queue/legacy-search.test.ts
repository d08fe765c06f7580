import assert from 'node:assert/strict'
import test from 'node:test'
import { legacySearch } from './legacy-search.ts'

test('the older search becomes ours: other names, and terms of its query', () => {
  assert.deepEqual(legacySearch({ since: '-1 day', until: 'now', limit: '5', include: 'metrics', q: '' }), {
    createdTimeFrom: '-1 day',
    createdTimeTo: 'now',
    limit: '5',
  })
  assert.deepEqual(
    legacySearch({ q: '+component:docker +params.component:a.b AND params.config:"1 \\"2" status:error status:success ' }),
    {
      componentId: ['a.b'],
      configId: ['1 "2'],
      status: ['error', 'success'],
    },
  )
})

test('a query that is not understood is refused, never passed over', () => {
  for (const q of ['error', 'colour:red', 'status:', 'status:error OR', '(status:error)', 'status:error NOT', 'constructor:x'])
    assert.throws(() => legacySearch({ q }), { code: 'validation.failed' }, q)
  assert.throws(() => legacySearch({ q: 'status:error', status: 'success' }), { code: 'validation.failed' })
})
