import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'

test('names lose accents and keep letters, digits, dashes and underscores', async (t) => {
  const { request } = await startTestStack(t)
  const post = (path: string, json: unknown) => request('POST', `/v2/storage/${path}`, { json })
  for (const [displayName, expected] of [
    ['Žluťoučký kůň', 'Zlutoucky-kun'],
    ['a_b-c', 'a_b-c'],
    ['__x', 'x'],
    ['  Sales (2026)! ', 'Sales-2026'],
  ])
    assert.deepEqual((await post('webalize/display-name', { displayName })).json(), { displayName: expected })
  const columns = await post('webalize/column-names', { columnNames: ['Číslo účtu', 'a-b', '_x', 'y'.repeat(80)] })
  assert.deepEqual(columns.json(), { columnNames: ['Cislo_uctu', 'a_b', 'x', 'y'.repeat(64)] })
})

test('A15: letters without marks and the euro sign become letters', async (t) => {
  const { request } = await startTestStack(t)
  const post = (path: string, json: unknown) => request('POST', `/v2/storage/webalize/${path}`, { json })
  const given = ['€', '10 €', 'đak', 'Łódź', 'Straße', 'abc-def----ghi', 'žluťoučký    kůň']
  const columns = ['EUR', '10_EUR', 'dak', 'Lodz', 'Strasse', 'abc_def_ghi', 'zlutoucky_kun']
  assert.deepEqual((await post('column-names', { columnNames: given })).json(), { columnNames: columns })
  assert.deepEqual((await post('display-name', { displayName: 'đak 10 € Straße Łódź' })).json(), {
    displayName: 'dak-10-EUR-Strasse-Lodz',
  })
})

test('what cannot be a name is refused with 422, each column by its place', async (t) => {
  const { request } = await startTestStack(t)
  const post = (path: string, json: unknown) => request('POST', `/v2/storage/${path}`, { json })
  const empty = await post('webalize/display-name', { displayName: '***' })
  assert.equal(empty.status, 422)
  assert.equal(empty.json().code, 'storage.webalize.displayName.invalid')
  const checked = await post('validate/column-names', { columnNames: ['ok', '', 'a b', '_u', 'OK', 'x'.repeat(65)] })
  assert.equal(checked.status, 422)
  assert.deepEqual(
    checked.json<{ errors: { key: string }[] }>().errors.map((error) => error.key),
    ['columnNames[1]', 'columnNames[2]', 'columnNames[3]', 'columnNames[4]', 'columnNames[5]'],
  )
  assert.equal((await post('validate/column-names', { columnNames: ['ok', 'fine_2'] })).status, 204)
})
