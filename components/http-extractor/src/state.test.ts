import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from './json/json.ts'
import { parseJson } from './json/parse.ts'
import { exactJson } from './json/text.ts'
import { nextState } from './state.ts'

const next = (content: string, parser?: string) =>
  exactJson(nextState({ content: parseJson(content) as JsonObject }, 7, parser === undefined ? undefined : parseJson(parser)))

test('the next state is the old one with the start of this run and what the parser learned', () => {
  assert.equal(next('{}'), '{"time":{"previousStart":7}}')
  assert.equal(
    next('{"time":{"previousStart":5,"currentStart":6},"own":{"2":1,"1":2}}'),
    '{"time":{"previousStart":7},"own":{"2":1,"1":2}}',
  )
  const learned = '{"struct":{"data":{}},"structVersion":3}'
  assert.equal(
    next('{"json_parser.struct":{"old":1},"a":1,"json_parser.structVersion":3}', learned),
    '{"json_parser.struct":{"data":{}},"a":1,"json_parser.structVersion":3,"time":{"previousStart":7}}',
  )
  assert.equal(
    next('{"json_parser":{"struct":{"old":1}},"a":1}', learned),
    '{"a":1,"time":{"previousStart":7},"json_parser.struct":{"data":{}},"json_parser.structVersion":3}',
    'the object of earlier versions gives way to the two names',
  )
  assert.equal(
    next('{"json_parser":{"old":1}}'),
    '{"json_parser":{"old":1},"time":{"previousStart":7}}',
    'carried over when only mappings ran',
  )
  assert.equal(next('{"time":[]}'), '{"time":{"previousStart":7}}')
})
