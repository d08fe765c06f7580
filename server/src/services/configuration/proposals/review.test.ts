import assert from 'node:assert/strict'
import test from 'node:test'
import { differencesOf, type Side } from './review.ts'

const side = (parameters: unknown): Side => ({
  ...{ name: 'Sums', description: '', isDisabled: false, rows: [] },
  configuration: JSON.stringify({ parameters }),
})
const differ = (before: unknown, after: unknown) =>
  differencesOf(side(before), side(after)).map(({ pointer, before: old, after: young }) => [pointer, old, young])

test('a changed statement is shown alone, not with the whole list around it', () => {
  const blocks = (sql: string) => ({ blocks: [{ name: 'A', codes: [{ name: 'B', script: ['SELECT 1', sql] }] }] })
  assert.deepEqual(differ(blocks('SELECT 2'), blocks('SELECT 3')), [
    ['/configuration/parameters/blocks/0/codes/0/script/1', '"SELECT 2"', '"SELECT 3"'],
  ])
  assert.deepEqual(differ({ list: [1] }, { list: [1, 2] }), [['/configuration/parameters/list', '[1]', '[1,2]']])
})

test('of long values the part that differs is shown, wherever it stands', () => {
  const long = (end: string) => ({ sql: `${'x'.repeat(50_000)}${end}${'y'.repeat(50_000)}` })
  const [[, before, after]] = differ(long('SAFE'), long('EVIL')) as [[string, string, string]]
  assert.match(before, /^…x+SAFEy+…$/)
  assert.match(after, /^…x+EVILy+…$/)
  assert.ok(after.length < 2100)
})

test('nothing below a secret is shown', () => {
  const [found] = differ({ '#keys': { a: ['one'] } }, { '#keys': { a: ['two'] } })
  assert.deepEqual(found, ['/configuration/parameters/#keys/a/0', '(secret)', '(secret)'])
})

test('numbers are compared as they are written', () => {
  const text = (parameters: string) => ({ ...side({}), configuration: `{"parameters":${parameters}}` })
  const found = differencesOf(text('{"id":12345678901234567890,"a":1.5}'), text('{"id":12345678901234567891,"a":1.5}'))
  assert.deepEqual(
    found.map(({ pointer, before, after }) => [pointer, before, after]),
    [['/configuration/parameters/id', '12345678901234567890', '12345678901234567891']],
  )
})
