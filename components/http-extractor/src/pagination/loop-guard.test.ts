import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoopGuard } from './loop-guard.ts'

const request = (page: number) => ({ endpoint: 'x', method: 'GET', params: { page }, headers: [] }) as const

/** How many requests pass before the guard objects; -1 when it never does. */
function objectsAfter(
  repeats: 'request' | 'items' | undefined,
  pageAt: (i: number) => number,
  itemsAt: (i: number) => number[] = () => [],
): number {
  const guard = createLoopGuard(repeats)
  for (let i = 1; i <= 5000; i++) {
    try {
      guard.check(request(pageAt(i)), itemsAt(i))
    } catch {
      return i
    }
  }
  return -1
}

test('a circle of any length is found, also after a long way without one', () => {
  for (const [before, length] of [
    [0, 1],
    [0, 7],
    [1, 1],
    [100, 5],
    [1000, 1],
    [777, 100],
  ] as const) {
    const found = objectsAfter('request', (i) => (i <= before ? -i : (i - before) % length))
    assert.ok(found > before && found <= 4 * (before + length) + 8, `${before} + ${length}: ${found}`)
  }
})

test('requests that differ are never objected to', () => {
  assert.equal(
    objectsAfter('request', (i) => i),
    -1,
  )
})

test('where a repeated request may be answered with more, the items have to repeat too', () => {
  assert.equal(
    objectsAfter(
      'items',
      () => 1,
      (i) => [i],
    ),
    -1,
  )
  assert.ok(
    objectsAfter(
      'items',
      () => 1,
      () => [1, 2],
    ) > 0,
  )
  assert.equal(
    objectsAfter(undefined, () => 1),
    -1,
  )
})
