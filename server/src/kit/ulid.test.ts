import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUlids } from './ulid.ts'

test('ids rise, also within a millisecond and when the clock steps back', () => {
  let now = Date.UTC(2026, 0, 1)
  const next = createUlids({ now: () => new Date(now) })
  const ids: string[] = []
  for (let i = 0; i < 5000; i++) {
    if (i % 1000 === 500) now -= 60_000
    if (i % 7 === 0) now++
    ids.push(next())
  }
  assert.deepEqual(ids, [...ids].sort())
  assert.equal(new Set(ids).size, ids.length)
  assert.ok(ids.every((id) => /^[0-9a-hjkmnp-tv-z]{26}$/.test(id)))
})

test('the first ten characters are the time', () => {
  assert.equal(createUlids({ now: () => new Date(0) })().slice(0, 10), '0000000000')
  assert.equal(createUlids({ now: () => new Date(1469918176385) })().slice(0, 10), '01aryz6s41')
})
