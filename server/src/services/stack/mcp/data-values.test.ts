import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseExact } from '../../../kit/text/exact-numbers.ts'
import { dataIn, notGivenIn } from './data-values.ts'
import { NOTICE } from './tool.ts'

test('texts and long numbers of data are found, whatever their digits are', () => {
  const rows = parseExact('[[420777123456, 7, "Ann", 12345678901234567890, {"deep": -12345678.25}, null, true]]')
  assert.deepEqual(dataIn({ notice: NOTICE, items: rows, total: 123456789 }), [
    '420777123456',
    'Ann',
    '12345678901234567890',
    '-12345678.25',
    '123456789',
  ])
  assert.deepEqual(dataIn({ job: { id: 420777123456 }, log: { notice: NOTICE, lines: ['a'] } }), ['a'])
  assert.equal(dataIn({ items: rows }), undefined)
})

test('what a call has in its arguments is not read by it', () => {
  const isRead = notGivenIn({ curl: 'curl https://known.example/v2/customers?a=1', deep: [{ b: 'Ann' }] })
  assert.deepEqual(['https://known.example/v2/', 'Ann', 'Anna', 'customers of others'].filter(isRead), [
    'Anna',
    'customers of others',
  ])
  assert.equal(notGivenIn({ csv: 'a'.repeat(30_000) })('a'), true, 'long arguments are not searched for each value')
})
