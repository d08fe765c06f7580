import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isArray } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { createRepetitionCheck } from './repetition.ts'

/** Which of the bodies repeat the one before. */
function repetitions(...bodies: readonly string[]): boolean[] {
  const isRepeated = createRepetitionCheck()
  return bodies.map((text) => {
    const response = parseJson(text)
    return isRepeated({ body: Buffer.from(text), response, isBodyDecoded: true }, isArray(response) ? response : [])
  })
}

test('a response repeats the one before when it says the same, however it is written', () => {
  assert.deepEqual(repetitions('[{"a":1,"b":2}]', '[{"a":1,"b":2}]', '[ {"b":2, "a":1.0} ]', '[{"a":1,"b":3}]'), [
    false,
    true,
    true,
    false,
  ])
  assert.deepEqual(repetitions('{"total":0}', '{ "total": 0 }', '{"total":1}', '[]', '[ ]'), [false, true, false, false, true])
})

test('a difference anywhere is one: behind the first item, in their number, outside of the items', () => {
  assert.deepEqual(repetitions('[{"a":1},{"a":2}]', '[{"a":1},{"a":3}]', '[{"a":1}]', '[{"a":1},{"a":3}]', '{"a":1}'), [
    false,
    false,
    false,
    false,
    false,
  ])
})

test('only the one before counts', () => {
  assert.deepEqual(repetitions('[1]', '[2]', '[1]', '[1]'), [false, false, false, true])
})

test('an answer that is not JSON is compared by its bytes', () => {
  const isRepeated = createRepetitionCheck()
  const answer = (text: string) => ({ body: Buffer.from(text), response: { errorData: text }, isBodyDecoded: false })
  assert.deepEqual(
    [answer('<a>'), answer('<a>'), answer('<b>')].map((one) => isRepeated(one, [])),
    [false, true, false],
  )
})
