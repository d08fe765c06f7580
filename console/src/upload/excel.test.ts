import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvOf, kindOf } from './excel.ts'

test('a sheet becomes CSV: quotes where needed, times as text, empty ends left out', () => {
  const rows = [
    ['id', 'name', 'day', null],
    ['1', 'Tea, "black"', new Date('2026-01-31T00:00:00Z'), null],
    ['2.50', null, new Date('2026-01-31T08:30:00Z'), ''],
    [null, null, null, null],
  ]
  assert.equal(csvOf(rows), 'id,name,day\n1,"Tea, ""black""",2026-01-31\n2.50,,2026-01-31 08:30:00\n')
  assert.equal(csvOf([]), '')
})

test('files that are no text are told by their first bytes', async () => {
  const file = (...bytes: number[]) => new File([new Uint8Array(bytes)], 'x')
  assert.equal(await kindOf(file(0x50, 0x4b, 3, 4, 9)), 'zip')
  assert.equal(await kindOf(file(0x4f, 0x62, 0x6a, 1)), undefined, 'the server reads Avro')
  assert.equal(await kindOf(file(0x69, 0x64)), undefined)
})
