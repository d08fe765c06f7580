import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '../json/parse.ts'
import { exactJson } from '../json/text.ts'
import { mergeUnder } from './request.ts'

test('defaults lie below a job key by key, into depth; keys keep the place of the default, lists are merged by index', () => {
  const cases: [string, string, string][] = [
    ['{"a":1,"b":2}', '{"c":4,"b":3}', '{"a":1,"b":3,"c":4}'],
    ['{"o":{"a":1,"b":{"c":2}}}', '{"o":{"b":{"d":3}}}', '{"o":{"a":1,"b":{"c":2,"d":3}}}'],
    ['{"l":[1,2,3]}', '{"l":[9]}', '{"l":[9,2,3]}'],
    ['{"l":[1]}', '{"l":[7,8]}', '{"l":[7,8]}'],
    ['{"l":[{"a":1},{"b":2}]}', '{"l":[{"c":3}]}', '{"l":[{"a":1,"c":3},{"b":2}]}'],
    ['{"x":{"a":1}}', '{"x":5}', '{"x":5}'],
    ['{"x":5}', '{"x":null}', '{"x":null}'],
    ['{"10":"a","2":"b"}', '{"2":"c"}', '{"10":"a","2":"c"}'],
  ]
  for (const [defaults, job, expected] of cases)
    assert.equal(exactJson(mergeUnder(parseJson(defaults), parseJson(job))), expected, `${defaults} ${job}`)
})
