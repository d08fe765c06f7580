import assert from 'node:assert/strict'
import test from 'node:test'
import { matchesPattern, patternProblem } from './bounded-pattern.ts'

test('a pattern holds for the whole value', () => {
  assert.equal(matchesPattern('(in|out)\\.c-[a-z]+', 'in.c-shop'), true)
  assert.equal(matchesPattern('^(in|out)\\.c-[a-z]+$', 'xin.c-shop'), false)
  assert.equal(matchesPattern('\\d{4}-\\d\\d', '2026-11'), true)
  assert.equal(matchesPattern('\\p{L}+', 'Žižkov'), true)
})

test('a pattern that takes for ever is given up', () => {
  assert.equal(matchesPattern('(a+)+b', 'a'.repeat(60)), undefined)
  assert.equal(matchesPattern('[a-z]+', 'fine'), true, 'and the next one works')
})

test('what is not a pattern is said', () => {
  assert.equal(patternProblem('[a-z]+'), undefined)
  assert.match(patternProblem('[a-') ?? '', /Invalid regular expression/)
})
