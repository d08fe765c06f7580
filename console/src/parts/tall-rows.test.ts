import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scrollScale } from './tall-rows.ts'

test('a list that a browser can lay out scrolls as it is, a taller one reaches both ends', () => {
  assert.equal(scrollScale(4_400_000, 500), 1)
  const listHeight = 22_000_000
  const scale = scrollScale(listHeight, 500, 15_000_000)
  assert.equal(Math.round((15_000_000 - 500) * scale), listHeight - 500, 'the last line is seen when the bar is at its end')
  assert.ok(scale < 2, 'a turn of the wheel still moves by few lines')
})
