import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cause } from './failure.ts'
import { insideSentence, whyOf } from './failure.ts'

const why = (kind: string, text: string, message: string): string => whyOf({ message, error: { cause: { kind, text } as Cause } }) // the rest is for the card

test('a failure is told in its own words where they are one short sentence', () => {
  const general = 'The component ended with an error of its own words.'
  assert.equal(why('run.componentFailed', general, 'the price is missing\nat line 3'), 'the price is missing.')
  assert.equal(
    why(
      'configuration.invalid',
      'The configuration has a value that cannot be used, or lacks one.',
      "Error parsing response JSON: Data array in 'orders.[].items.[]' contains incompatible types 'object' and 'scalar'. Set it.",
    ),
    "Data array in 'orders.[].items.[]' contains incompatible types 'object' and 'scalar'.",
  )
  assert.equal(
    why(
      'sql.unknownColumn',
      general,
      'Block "Clean", code "a", statement 1: Binder Error: Referenced column "x" not found!\nHint',
    ),
    'Referenced column "x" not found.',
  )
  assert.equal(
    why('parts.failed', general, 'The flow failed.\nTask "a" of phase "B" failed: Block "C", code "d", statement 1: Wrong. More'),
    'Task "a" of phase "B" failed: Block "C", code "d", statement 1: Wrong.',
  )
  assert.equal(why('run.componentFailed', general, `${'very '.repeat(40)}long`), general)
  assert.equal(why('run.componentFailed', general, ''), general)
  assert.equal(whyOf({ message: 'Stopped. Try again.' }), 'Stopped.', 'a job without a cause')
})

test('a failure of a plain kind is told by its kind: its message is full of addresses', () => {
  const message = 'GET https://shop.example/orders?page=1 answered 401.'
  assert.equal(
    why('http.unauthorized', 'The API did not accept the credentials (401).', message),
    'The API did not accept the credentials.',
  )
  assert.equal(why('run.workerLost', 'The node was lost.', 'Internal error.'), 'The node was lost.')
  assert.equal(why('response.unreadable', 'The answer is not JSON.', message), 'The answer is not JSON.')
})

test('a sentence inside another begins small, unless it begins with a name', () => {
  assert.equal(insideSentence('The API refused it.'), 'the API refused it.')
  assert.equal(insideSentence('JSON is not valid.'), 'JSON is not valid.')
  assert.equal(insideSentence('A value is missing.'), 'a value is missing.')
})
