import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownInput } from './shown-action.ts'

const bodyOf = (operation: Parameters<typeof shownInput>[0], body: unknown) => shownInput(operation, { body })?.body

test('an action is shown with its path, query and body, a read is not', () => {
  const input = { path: { tableId: 'in.c-a.t' }, query: { format: 'csv' } }
  assert.deepEqual(shownInput('tables.download', input), input, 'a download is an action')
  assert.equal(shownInput('tables.get', input), undefined)
  assert.equal(bodyOf('configurations.names', { configurations: [] }), undefined)
  assert.equal(shownInput('signIn.password', { body: { password: 'x' } }), undefined)
  assert.deepEqual(bodyOf('tokens.create', { description: 'nightly' }), { description: 'nightly' })
})

test('no secret of an action is shown again', () => {
  assert.deepEqual(bodyOf('vault.save', { key: 'k', value: 'hunter2', flags: ['encrypted'] }), {
    key: '...',
    value: '...',
    flags: ['...'],
  })
  const encrypted = 'KBC::ProjectSecure::abc'
  assert.deepEqual(
    bodyOf('configurations.create', { configuration: { '#new': 'hunter2', '#old': encrypted, '#all': ['x'], n: 1 } }),
    {
      configuration: { '#new': '...', '#old': encrypted, '#all': '...', n: 1 },
    },
  )
  const text = `{"#new": "hun\\"ter2", "#old":"${encrypted}", "n": 12345678901234567890}`
  assert.deepEqual(bodyOf('configurations.update', { configuration: text }), {
    configuration: `{"#new": "...", "#old":"${encrypted}", "n": 12345678901234567890}`,
  })
  for (const hidden of ['{"#list": ["hunter2"]}', JSON.stringify({ inner: '{"#new": "hunter2"}' })])
    assert.deepEqual(bodyOf('configurations.update', { configuration: hidden, isDisabled: false }), {
      configuration: '...',
      isDisabled: false,
    })
})
