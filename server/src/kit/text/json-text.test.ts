import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  compact,
  itemsOf,
  kindOf,
  MAX_DEPTH,
  MAX_VALUES,
  membersOf,
  rawJson,
  readJson,
  replaceSpans,
  sameJson,
  shapeProblem,
  stringifyWithRaw,
  visitScalars,
} from './json-text.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 5000 : 500

/** Any JSON document, written with white space at random places as people and other programs write it. */
const document = fc.tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, 2, '\t')).map(([value, indent]) => ({
  value,
  text: JSON.stringify(value, null, indent),
}))

const scalarsOf = (text: string) => {
  const found: { path: (string | number)[]; text: string; name: string | undefined }[] = []
  visitScalars(text, (scalar) =>
    found.push({ path: [...scalar.path()], text: text.slice(scalar.start, scalar.end), name: scalar.name }),
  )
  return found
}

test('a member is the exact slice of the text', () => {
  const text =
    '{ "name": "n",\n "configuration": { "b":1, "10":2, "1":12345678901234567890, "d":1.10, "e":{} , "l":[] }, "x":[1,{"y":2}]}'
  const members = membersOf(text)
  assert.equal(members.get('configuration'), '{ "b":1, "10":2, "1":12345678901234567890, "d":1.10, "e":{} , "l":[] }')
  assert.equal(members.get('name'), '"n"')
  assert.equal(members.get('x'), '[1,{"y":2}]')
})

test('of two members with one name the last wins, and names are compared decoded', () => {
  assert.equal(membersOf('{"a":1,"\\u0061":2}').get('a'), '2')
  assert.equal(membersOf('{"__proto__":1}').get('__proto__'), '1')
})

test('members and items hold the same values as JSON.parse', () => {
  fc.assert(
    fc.property(document, ({ text }) => {
      const value: unknown = JSON.parse(text) // and not what the text was made of: -0 is written as 0
      if (Array.isArray(value))
        assert.deepEqual(
          itemsOf(text).map((item) => JSON.parse(item)),
          value,
        )
      else if (value !== null && typeof value === 'object')
        assert.deepEqual(
          [...membersOf(text)].map(([name, slice]) => [name, JSON.parse(slice)]),
          Object.entries(value),
        )
      else assert.equal(membersOf(text).size + itemsOf(text).length, 0)
    }),
    { numRuns: ROUNDS },
  )
})

test('every scalar is visited once, with its path', () => {
  const expected = (value: unknown, path: (string | number)[] = []): { path: (string | number)[]; value: unknown }[] => {
    if (Array.isArray(value)) return value.flatMap((item, i) => expected(item, [...path, i]))
    if (value !== null && typeof value === 'object')
      return Object.entries(value).flatMap(([name, member]) => expected(member, [...path, name]))
    return [{ path, value }]
  }
  fc.assert(
    fc.property(document, ({ text }) => {
      const value = JSON.parse(text) as unknown // not the generated value: JSON.stringify drops the sign of -0
      assert.deepEqual(
        scalarsOf(text).map((s) => ({ path: s.path, value: JSON.parse(s.text) as unknown })),
        expected(value),
      )
    }),
    { numRuns: ROUNDS },
  )
})

test('a scalar knows the member that holds it, through lists', () => {
  assert.deepEqual(
    scalarsOf('{"#a":[1,[2]],"b":{"\\u0023c":3,"d":[{"e":4}]}}').map((s) => [s.text, s.name]),
    [
      ['1', '#a'],
      ['2', '#a'],
      ['3', '#c'],
      ['4', 'e'],
    ],
  )
  assert.equal(scalarsOf('"top"')[0]?.name, undefined)
})

test('edits replace their spans and leave every other character', () => {
  const text = '{"a": 1.10, "b": "x", "c": [true]}'
  const edits: { start: number; end: number; text: string }[] = []
  visitScalars(text, ({ start, end }) => edits.push({ start, end, text: 'null' }))
  assert.equal(replaceSpans(text, edits), '{"a": null, "b": null, "c": [null]}')
  assert.equal(replaceSpans(text, []), text)
})

test('compact drops white space between tokens only', () => {
  assert.equal(compact('{ "a b" : [ 1 , " c " ] }\n'), '{"a b":[1," c "]}')
  fc.assert(
    fc.property(document, ({ value, text }) => {
      assert.equal(compact(text), JSON.stringify(value))
    }),
    { numRuns: ROUNDS },
  )
})

test('key order, number spelling and empty containers make a difference, white space makes none', () => {
  assert.ok(sameJson('{"a":1}', '{ "a": 1 }'))
  for (const [a, b] of [
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['1.10', '1.1'],
    ['{}', '[]'],
    ['12345678901234567890', '12345678901234567000'],
  ] as const)
    assert.ok(!sameJson(a, b), `${a} ${b}`)
})

test('a document of 10,000 levels is refused with a sentence, in either bracket', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const text = open.repeat(10_000) + (open === '[' ? '' : '1') + close.repeat(10_000)
    assert.deepEqual(readJson(text), { ok: false, reason: `it is nested deeper than ${MAX_DEPTH} levels` })
  }
  assert.equal(readJson('['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH)).ok, true)
  assert.equal(shapeProblem('"[[[["', { depth: 3, values: 10 }), undefined)
})

test('a document of more values than anybody needs is refused before it is parsed', () => {
  const few = `[${'1,'.repeat(MAX_VALUES - 3)}1]`
  assert.equal(readJson(few).ok, true)
  for (const text of [`[${'1,'.repeat(MAX_VALUES)}1]`, `{${'"a":1,'.repeat(MAX_VALUES / 2)}"b":1}`, '[],'.repeat(MAX_VALUES)])
    assert.deepEqual(readJson(text), { ok: false, reason: `it has more than ${MAX_VALUES} names and values` })
  assert.equal(readJson(JSON.stringify(',:[]{}'.repeat(MAX_VALUES))).ok, true)
})

test('a syntax error is reported without quoting the text', () => {
  const read = readJson('{"#password": "canary-4711"')
  assert.ok(!read.ok)
  assert.ok(!read.reason.includes('canary'))
})

test('kinds are told apart by the first character', () => {
  const kinds = ['{}', ' []', '"x"', '-1', 'true', 'null', '\n0'].map(kindOf)
  assert.deepEqual(kinds, ['object', 'array', 'string', 'number', 'boolean', 'null', 'number'])
})

test('text that is no JSON ends every function', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '1', ' ', 'a') }), (text) => {
      membersOf(text)
      itemsOf(text)
      compact(text)
      shapeProblem(text)
    }),
    { numRuns: ROUNDS },
  )
})

test('raw pieces stand in the answer as they are', () => {
  const text = stringifyWithRaw({
    id: 'x',
    gone: undefined,
    configuration: rawJson('{"1":1.10,"a":{}}'),
    rows: [rawJson('[ ]'), null, 'é"'],
  })
  assert.equal(text, '{"id":"x","configuration":{"1":1.10,"a":{}},"rows":[[ ],null,"é\\""]}')
})
