import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextCell } from './grid-keys.ts'

const SIZE = { rows: 20, columns: 5 }
const after = (key: string, row: number, column: number, ctrlKey = false) => nextCell({ key, ctrlKey }, { row, column }, SIZE)

test('keys move between the header and the last cell, and no further', () => {
  assert.deepEqual(after('ArrowUp', 0, 2), { row: -1, column: 2 })
  assert.deepEqual(after('ArrowUp', -1, 2), { row: -1, column: 2 })
  assert.deepEqual(after('ArrowRight', 3, 4), { row: 3, column: 4 })
  assert.deepEqual(after('PageDown', 15, 1), { row: 19, column: 1 })
  assert.deepEqual(after('End', 3, 1), { row: 3, column: 4 })
  assert.deepEqual(after('Home', 3, 3, true), { row: -1, column: 0 })
  assert.equal(after('a', 3, 3), undefined)
})
