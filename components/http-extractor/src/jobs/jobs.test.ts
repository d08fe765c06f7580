import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { createItemPicker, readDataField } from './items.ts'
import { bindPlaceholders, fillEndpoint, parentColumns, readPlaceholders } from './placeholders.ts'
import { createRecursionFilter } from './recursion-filter.ts'

test('a data field is a path, and what lies there is one item or many', () => {
  const pick = (field: JsonValue, response: string) =>
    createItemPicker(readDataField(field, 'dataField'), 'x')(parseJson(response))
  assert.deepEqual(pick('a.b', '{"a":{"b":[1,2]}}').items, [1, 2])
  assert.deepEqual(pick('a.1', '{"a":[[1],[2,3]]}').items, [2, 3])
  assert.deepEqual(pick('a', '{"a":{"id":1}}').items, [{ id: 1 }])
  assert.deepEqual(pick('a', '{"a":"text"}').items, ['text'])
  assert.deepEqual(pick('a', '{"a":{}}').items, [{}])
  assert.deepEqual(pick('.', '{"id":1}').items, [{ id: 1 }])
  assert.deepEqual(pick({ path: 'a-b', delimiter: '-' }, '{"a":{"b":[1]}}').items, [1])
  for (const empty of ['null', 'false', '0', '""', '"0"', '[]']) {
    assert.deepEqual(pick('a', `{"a":${empty}}`), { items: [], warning: "datafield 'a' contains no data!" })
  }
  assert.deepEqual(pick('a.b.c', '{"a":1}'), { items: [], warning: "datafield 'a.b.c' contains no data!" })
})

test('without a data field the only list of the response is taken', () => {
  const pick = (response: string) => createItemPicker(undefined, 'users')(parseJson(response))
  assert.deepEqual(pick('[1,2]').items, [1, 2])
  assert.deepEqual(pick('{"meta":{"l":[9]},"items":[1]}').items, [1])
  assert.deepEqual(pick('{"id":1}'), { items: [], warning: 'No data array found in response! (endpoint: users)' })
  assert.throws(() => pick('{"a":[],"b":[]}'), /\(endpoint: users, arrays in response root: a, b\)/)
  for (const scalar of ['1', '"x"', 'null', 'true']) assert.throws(() => pick(scalar), { message: 'Unknown response from API.' })
})

test('a recursion filter compares texts exactly and numbers as numbers', () => {
  const item = parseJson(
    '{"type":"order","n":10,"big":9007199254740993,"t":true,"f":false,"nil":null,"o":{"k":"v"},"s":"a%b\\nc"}',
  )
  const cases: [string, boolean][] = [
    ['type==order', true],
    ['type!=order', false],
    ['type==Order', false],
    ['type == order', false],
    ['n>9', true],
    ['n>=10', true],
    ['n<10', false],
    ['n<=10', true],
    ['n>9.5', true],
    ['n==10', true],
    ['n==10.0', false],
    ['big==9007199254740993', true],
    ['big>9007199254740992', true],
    ['type>apple', true],
    ['t==1', true],
    ['f==', true],
    ['nil==', true],
    ['missing==', true],
    ['missing!=x', true],
    ['o.k==v', true],
    ['type~~ord%', true],
    ['type~~%der', true],
    ['type~~rde', false],
    ['type!~ord%', false],
    ['type~~o.der', false],
    ['s~~a%', false],
    ['type==x|n==10', true],
    ['type==order&n==11', false],
    ['type==x&n==10|o.k==v', true],
  ]
  for (const [text, expected] of cases) assert.equal(createRecursionFilter(text)(item), expected, text)
})

const bind = (settings: string, ...ancestors: string[]) =>
  bindPlaceholders(readPlaceholders(parseJson(settings), 'p'), ancestors.map(parseJson), () => 0)

test('placeholders take values of the item and of its ancestors', () => {
  const [bound] = bind(
    '{"id":"a.id","2:up":"id","fn":{"path":"name","function":"urlencode","args":[{"placeholder":"value"}]}}',
    '{"a":{"id":5},"name":"x y/z"}',
    '{"id":"P"}',
  )
  assert.equal(fillEndpoint('{2:up}/{id}/{fn}/{other}', bound!), 'P/5/x+y%2Fz/{other}')
  assert.deepEqual(parentColumns(bound!), [
    ['parent_a.id', 5],
    ['parent_id', 'P'],
    ['parent_name', 'x+y%2Fz'],
  ])
  assert.equal(fillEndpoint('{n}/{t}', bind('{"n":"nil","t":"t"}', '{"nil":null,"t":true}')[0]!), '/1')
  assert.deepEqual(parentColumns(bind('{"a":"parent_id"}', '{"parent_id":1}')[0]!), [['parent_id', 1]])
})

test('lists give all combinations, the last placeholder varying fastest', () => {
  const combinations = bind('{"a":"x","b":"y"}', '{"x":[1,2],"y":["p","q"]}').map((bound) => fillEndpoint('{a}{b}', bound))
  assert.deepEqual(combinations, ['1p', '1q', '2p', '2q'])
  assert.deepEqual(bind('{"a":"x","b":"y"}', '{"x":[],"y":1}'), [])
})

test('a value or level that is not there is named', () => {
  assert.throws(() => bind('{"1:id":"x.y"}', '{"x":1}'), { message: 'No value found for id in parent result. (level: 1)' })
  assert.throws(() => bind('{"3:id":"id"}', '{"id":1}', '{"id":2}'), {
    message: 'Level 3 not found in parent results! Maximum level: 2',
  })
})
