import assert from 'node:assert/strict'
import test from 'node:test'
import { hasTooMany, MAX_READ, nodesIn } from './results.ts'

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`model.shop.m${i}`, {}]))

test('artefacts with more nodes, sources or results than are read are found', () => {
  assert.equal(hasTooMany({ nodes: many(MAX_READ) }), false)
  assert.equal(hasTooMany({ nodes: many(MAX_READ), unit_tests: { 'unit_test.shop.a': {} } }), true)
  assert.equal(hasTooMany({ sources: many(MAX_READ + 1) }), true)
  assert.equal(hasTooMany({ results: Array.from({ length: MAX_READ + 1 }, () => null) }), true)
  assert.equal(hasTooMany(undefined), false)
})

test('a result with very many times begins at the earliest of them', () => {
  const timing = Array.from({ length: 300_000 }, (_, i) => ({ started_at: new Date(1e12 + ((i + 7) % 300_000)).toISOString() }))
  const runResults = { results: [{ unique_id: 'model.shop.a', status: 'success', timing }] }
  assert.equal(nodesIn({ manifest: undefined, runResults }, () => undefined)[0]?.startMs, 1e12)
})
