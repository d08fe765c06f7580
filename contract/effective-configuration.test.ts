import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { effectiveConfiguration, processorsText } from './effective-configuration.ts'

const merge = (root: unknown, row: unknown) => JSON.parse(effectiveConfiguration(JSON.stringify(root), JSON.stringify(row)).text)

test('keys of parameters are merged and the row wins on conflict', () => {
  assert.deepEqual(merge({ parameters: { a: 1, b: { c: 1, d: 2 } } }, { parameters: { b: { d: 3, e: 4 }, f: 5 } }), {
    parameters: { a: 1, b: { c: 1, d: 3, e: 4 }, f: 5 },
  })
})

test('lists are replaced whole', () => {
  assert.deepEqual(merge({ parameters: { list: [1, 2, 3] } }, { parameters: { list: [9] } }), { parameters: { list: [9] } })
  assert.deepEqual(merge({ parameters: { list: [{ a: 1 }] } }, { parameters: { list: [] } }), { parameters: { list: [] } })
})

test('a value of another type replaces the root value, null included', () => {
  assert.deepEqual(merge({ parameters: { a: { b: 1 }, c: 2 } }, { parameters: { a: null, c: { d: 3 } } }), {
    parameters: { a: null, c: { d: 3 } },
  })
})

test('processors are never passed on, whichever side wrote them', () => {
  assert.deepEqual(merge({ processors: { after: [] }, parameters: { processors: 1 } }, { processors: { before: [] } }), {
    parameters: { processors: 1 },
  })
  assert.equal(effectiveConfiguration('{"processors":{}}').text, '{}')
})

test('the definitions of processors are found in either side', () => {
  assert.equal(processorsText('{"a":1,"processors":{"after":[ 1 ]}}'), '{"after":[ 1 ]}')
  assert.equal(processorsText('{}'), undefined)
})

test('numbers, key order and empty nodes come out as they were sent', () => {
  const { text } = effectiveConfiguration(
    '{"parameters":{"id":12345678901234567890,"rate":1.10,"2":0,"1":0,"empty":{},"list":[]}}',
    '{"parameters":{"other":9007199254740993}}',
  )
  assert.equal(
    text,
    '{"parameters":{"id":12345678901234567890,"rate":1.10,"2":0,"1":0,"empty":{},"list":[],"other":9007199254740993}}',
  )
})

test('an empty configuration or node written as a list has no keys', () => {
  assert.deepEqual(merge({ parameters: { a: 1 } }, []), { parameters: { a: 1 } })
  assert.deepEqual(merge([], { parameters: { a: 1 } }), { parameters: { a: 1 } })
  assert.deepEqual(merge({ parameters: { a: 1 } }, { parameters: [] }), { parameters: { a: 1 } })
})

test('every value says where it came from', () => {
  const { origins } = effectiveConfiguration(
    '{"parameters":{"a":{"x":1,"y":2},"b/c":[1]}}',
    '{"parameters":{"a":{"y":3},"d":{}}}',
  )
  assert.deepEqual(origins, {
    '/parameters/a/x': 'root',
    '/parameters/a/y': 'row',
    '/parameters/b~1c': 'root',
    '/parameters/d': 'row',
  })
})

test('a key called __proto__ is a key like any other', () => {
  const { text, origins } = effectiveConfiguration('{"parameters":{"__proto__":{"a":1}}}', '{"parameters":{"__proto__":{"b":2}}}')
  assert.equal(text, '{"parameters":{"__proto__":{"a":1,"b":2}}}')
  assert.deepEqual(Object.keys(origins), ['/parameters/__proto__/a', '/parameters/__proto__/b'])
})

/** The rule written a second time, over parsed values: what the text must parse to. */
function oracle(root: unknown, row: unknown, depth = 0): unknown {
  if (!isRecord(root) || !isRecord(row)) return row
  const merged = new Map(Object.entries(root))
  for (const [key, value] of Object.entries(row))
    merged.set(key, merged.has(key) ? oracle(merged.get(key), value, depth + 1) : value)
  if (depth === 0) merged.delete('processors')
  return Object.fromEntries(merged)
}
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

test('any two configurations merge as the rule says, and the origins name every leaf', () => {
  const key = fc.constantFrom('parameters', 'storage', 'processors', 'a', 'b', 'c/d', '~', '__proto__')
  const { configuration } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.integer(),
      fc.string(),
      fc.constant(null),
      fc.array(tie('value'), { minLength: 1 }),
      tie('configuration'),
    ),
    configuration: fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  }))
  fc.assert(
    fc.property(configuration, configuration, (root, row) => {
      const { text, origins } = effectiveConfiguration(JSON.stringify(root), JSON.stringify(row))
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(oracle(root, row))))
      for (const pointer of Object.keys(origins)) assert.notEqual(at(JSON.parse(text), pointer), undefined, pointer)
    }),
    { numRuns: process.env.MILLRACE_LONG ? 100_000 : 1_000 },
  )
})

function at(value: unknown, pointer: string): unknown {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return keys.reduce<unknown>((inner, key) => Object.getOwnPropertyDescriptor(inner, key)?.value, value)
}
