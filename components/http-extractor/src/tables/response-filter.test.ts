import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { exactJson } from '../json/text.ts'
import { createResponseFilter, filterSteps } from './response-filter.ts'

function filter(paths: string | string[], item: string, { delimiter = '.', compatLevel = 3 } = {}): string {
  const given = parseJson(`[${item}]`) as JsonValue[]
  const filtered = createResponseFilter({ filters: filterSteps([paths].flat(), delimiter), compatLevel })(given)
  assert.equal(exactJson(given), `[${item}]`, 'the items that came are left alone')
  return exactJson(filtered[0]!)
}

test('the value at a path becomes its JSON text', () => {
  assert.equal(filter('a', '{"a":{"b":1.0,"c":"é"},"d":2}'), '{"a":"{\\"b\\":1,\\"c\\":\\"\\\\u00e9\\"}","d":2}')
  assert.equal(filter('a.b', '{"a":{"b":[1],"c":[2]}}'), '{"a":{"b":"[1]","c":[2]}}')
  assert.equal(filter(['a', 'b.c'], '{"a":[],"b":{"c":{}}}'), '{"a":"[]","b":{"c":"{}"}}')
  assert.equal(filter('a/b.c', '{"a":{"b.c":{}}}', { delimiter: '/' }), '{"a":{"b.c":"{}"}}')
})

test('scalars become JSON too, a missing key leaves the item alone', () => {
  assert.equal(filter(['s', 'n', 'f', 'gone', 's.x'], '{"s":"x","n":null,"f":false}'), '{"s":"\\"x\\"","n":"null","f":"false"}')
  assert.equal(filter('a', '"scalar"'), '"scalar"')
})

test('brackets step into each element of an array', () => {
  assert.equal(filter('l[].o', '{"l":[{"o":[1]},{"p":1},5]}'), '{"l":[{"o":"[1]"},{"p":1},5]}')
  assert.equal(filter('l[]', '{"l":[{"o":1},[2]]}'), '{"l":["{\\"o\\":1}","[2]"]}')
  assert.equal(filter('l[].m[].x', '{"l":[{"m":[{"x":{}}]}]}'), '{"l":[{"m":[{"x":"{}"}]}]}')
  assert.equal(filter('l[]', '{"l":null}'), '{"l":null}')
  assert.throws(() => filter('l[]', '{"l":{"o":1}}'), { message: "Error filtering response. 'l' is not an array." })
})

test('integer-like keys keep their place in a filtered item', () => {
  assert.equal(filter('2', '{"b":1,"2":{},"1":3}'), '{"b":1,"2":"{}","1":3}')
})

test('with compatLevel 2 scalars stay text and empty values stay', () => {
  const item = '{"s":"x","i":5,"t":true,"e":[],"z":0,"o":{"k":1}}'
  assert.equal(
    filter(['s', 'i', 't', 'e', 'z', 'o'], item, { compatLevel: 2 }),
    '{"s":"x","i":"5","t":"1","e":[],"z":0,"o":"{\\"k\\":1}"}',
  )
})
