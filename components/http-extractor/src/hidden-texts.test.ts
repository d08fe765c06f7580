import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createHiddenTexts, START_LENGTH } from './hidden-texts.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 20_000 : 1_000
const letters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'ž', '*', '\ud83d\ude00'), minLength, maxLength })

test('what is replaced is what a regular expression over all texts, the longest first, would replace', () => {
  fc.assert(
    fc.property(
      fc.array(letters(START_LENGTH, 6), { maxLength: 6 }),
      fc.array(letters(START_LENGTH, 6), { maxLength: 3 }),
      letters(0, 60),
      (kept, forgotten, text) => {
        const hidden = createHiddenTexts()
        for (const one of [...kept, ...forgotten]) hidden.add(one)
        for (const one of forgotten) hidden.remove(one)
        const escaped = [...kept].sort((a, b) => b.length - a.length).map((one) => one.replaceAll('*', '\\*'))
        const expected = kept.length === 0 ? text : text.replace(new RegExp(escaped.join('|'), 'g'), '#')
        assert.equal(hidden.replaceIn(text, '#'), expected)
      },
    ),
    { numRuns: ROUNDS },
  )
})
