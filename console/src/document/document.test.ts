import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { effectiveConfiguration } from '../../../contract/effective-configuration.ts'
import { cpuMs } from '../../../tests/support/cpu-time.ts'
import { changesBetween, differencesBetween, isSameDocument, merged, mergeSteps } from './changes.ts'
import {
  editAll,
  isRecord,
  leavesOf,
  type Path,
  pathText,
  pretty,
  prettyStart,
  putAt,
  renameAt,
  setAt,
  sliceAt,
  spliceAt,
  swapAt,
  valueIn,
  withoutClearSecrets,
} from './json-text.ts'
import { lineDifference } from './line-difference.ts'
import { choiceFor, choicesOf, defaultsOf, labelOf, problemsOf, type Schema, typedText, unknownNames } from './schema.ts'

const key = fc.string({ minLength: 1, maxLength: 6 }).filter((name) => name !== '__proto__' && name !== 'known')
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(fc.string(), fc.double({ noDefaultInfinity: true, noNaN: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))
const document = fc.dictionary(key, tree, { maxKeys: 5, noNullPrototype: true })
const same = (one: unknown, other: unknown) => assert.equal(JSON.stringify(one), JSON.stringify(other))

test('an item of a list is taken away, however the list is written', () => {
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 5 }), fc.nat(4), fc.nat(4), (list, nth, indent) => {
      const at = nth % list.length
      const text = JSON.stringify({ list, other: [1] }, null, indent)
      same(
        JSON.parse(setAt(text, ['list', at], undefined)),
        JSON.parse(JSON.stringify({ list: list.toSpliced(at, 1), other: [1] })),
      )
    }),
  )
})

test('a value that a form sets leaves every other value as it was written, byte for byte', () => {
  fc.assert(
    fc.property(document, fc.integer({ min: 0, max: 8 }), tree, (before, indent, value) => {
      const text = JSON.stringify(before, null, indent)
      const untouched = leavesOf(text).map(({ path }) => [path, sliceAt(text, path)] as const)
      const set = setAt(text, ['known', 'deep'], value)
      same(valueIn(JSON.parse(set), ['known', 'deep']), value)
      for (const [path, slice] of untouched) assert.equal(sliceAt(set, path), slice, pathText(path))
      const taken = setAt(set, ['known'], undefined)
      same(JSON.parse(taken), before)
      for (const [path, slice] of untouched) assert.equal(sliceAt(pretty(taken), path), slice, pathText(path))
    }),
  )
})

/** What fields of a form do to the text: a value typed, a member renamed, two elements swapped, another kind chosen. */
const formEdit: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc
    .constantFrom('1.10', '12345678901234567890', '"x"', '[1.0]', undefined)
    .map((json) => (text: string) => putAt(text, ['known', 'a'], json)),
  fc.constantFrom('a', 'b').map((name) => (text: string) => renameAt(text, ['known', 'a'], name)),
  fc.constant((text: string) => swapAt(text, ['known', 'list', 0], ['known', 'list', 1])),
  fc.constantFrom('cursor', 'offset').map((kind) => (text: string) => editAll(text, [[['known', 'kind', 'method'], kind]])),
)

test('whatever the fields of a form do, what they do not show stays, byte for byte, also in what will run', () => {
  fc.assert(
    fc.property(document, fc.array(formEdit, { maxLength: 8 }), (unknown, edits) => {
      const known = '{"a": 1, "list": [{"n": 1.50}, 2.0], "kind": {"method": "cursor", "mystery": 12345678901234567890}}'
      const text = spliceAt(JSON.stringify(unknown), ['known'], known)
      const edited = edits.reduce((current, edit) => edit(current), text)
      const effective = effectiveConfiguration(edited).text // takes the processors out
      const untouched = leavesOf(text).filter(({ path }) => path[0] !== 'known' || path.includes('mystery'))
      for (const { path, offset, length } of untouched) {
        const slice = text.slice(offset, offset + length)
        assert.equal(sliceAt(edited, path), slice, pathText(path))
        if (path[0] !== 'processors') assert.equal(sliceAt(effective, path), slice, pathText(path))
      }
    }),
  )
})

test('numbers beyond what JavaScript holds and their spelling survive a change beside them', () => {
  const text = '{"id":12345678901234567890,"rate":1.10,"a":{"b":1}}'
  assert.equal(setAt(text, ['a', 'b'], 2), '{"id":12345678901234567890,"rate":1.10,"a":{"b":2}}')
  assert.equal(sliceAt(pretty(setAt(text, ['new'], true)), ['id']), '12345678901234567890')
  assert.equal(sliceAt(spliceAt(text, ['a', 'c'], '1.10'), ['a', 'c']), '1.10')
})

test('a text of any depth is laid out and changed without a word of its own in it', () => {
  for (const depth of [98, 99, 100, 101, 150, 300]) {
    const text = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    assert.deepEqual(JSON.parse(pretty(text)), JSON.parse(text), `depth ${depth}`)
    const path = Array.from({ length: depth }, () => 'a')
    assert.equal(valueIn(JSON.parse(setAt(pretty(text), path, 2)), path), 2, `depth ${depth}`)
    assert.equal(valueIn(JSON.parse(setAt('{}', path, 2)), path), 2, `depth ${depth}`)
  }
})

test('what stands in the way of a value gives way, and a name is changed in its place', () => {
  same(JSON.parse(setAt('{"parameters":[]}', ['parameters', 'api', 'baseUrl'], 'x')), { parameters: { api: { baseUrl: 'x' } } })
  same(JSON.parse(setAt('{"jobs":null}', ['jobs', 0, 'endpoint'], 'x')), { jobs: [{ endpoint: 'x' }] })
  assert.equal(renameAt('{"a":1.0,"b":2}', ['a'], 'c'), '{"c":1.0,"b":2}')
})

test('a draft keeps ciphers and leaves typed secrets out', () => {
  const text = '{"#a":"clear","b":{"#c":"KBC::ProjectSecure::x"},"d":"clear"}'
  assert.equal(withoutClearSecrets(text), '{"#a":"","b":{"#c":"KBC::ProjectSecure::x"},"d":"clear"}')
  assert.equal(withoutClearSecrets('{"#o":{"password":"x","n":[1]}}'), '{"#o":{"password":"","n":[""]}}', 'Z1')
})

test('the changes between two documents lead from one to the other', () => {
  fc.assert(
    fc.property(document, document, (before, after) => {
      const changes = changesBetween(before, after)
      const text = changes.reduce((current, { path, after: value }) => setAt(current, path, value), JSON.stringify(before))
      assert.ok(isSameDocument(text, JSON.stringify(after)), text)
    }),
  )
})

test('changes of two people that do not touch are both kept, in either order of saving', () => {
  fc.assert(
    fc.property(document, tree, tree, (shared, one, other) => {
      const base = { shared, one: 0, other: 0 }
      const theirs = { shared, one, other: 0 }
      const mine = { shared, one: 0, other }
      const steps = mergeSteps(base, theirs, mine)
      assert.ok(steps.every(({ isConflict }) => !isConflict))
      same(JSON.parse(merged(JSON.stringify(theirs), JSON.stringify(mine), steps, () => false)), { shared, one, other })
    }),
  )
})

test('the same place changed twice is a decision, and either side can be taken', () => {
  const [base, theirs, mine] = [{ a: { limit: 500 }, b: 1 }, { a: { limit: 200 }, b: 1 }, { a: { limit: 1000 } }]
  const steps = mergeSteps(base, theirs, mine)
  assert.deepEqual(
    steps.map(({ path, isConflict }) => [pathText(path), isConflict]),
    [
      ['a.limit', true],
      ['b', false],
    ],
  )
  const result = (isMine: boolean) =>
    JSON.parse(merged(JSON.stringify(theirs), JSON.stringify(mine), steps, () => isMine)) as unknown
  same(result(true), { a: { limit: 1000 } })
  same(result(false), { a: { limit: 200 } })
})

test('two removals from a list take away the right elements', () => {
  const base = { list: [1, 2, 3] }
  const steps = mergeSteps(base, { list: [1, 2, 3], a: 1 }, { list: [1] })
  same(JSON.parse(merged('{"list":[1,2,3],"a":1}', '{"list":[1]}', steps, () => true)), { list: [1], a: 1 })
})

const schema: Schema = {
  $defs: {
    pages: {
      oneOf: [
        {
          title: 'Cursor',
          properties: { method: { const: 'cursor' }, idKey: { type: 'string' } },
          required: ['method', 'idKey'],
        },
        {
          title: 'Offset',
          properties: { method: { const: 'offset' }, limit: { type: 'integer' } },
          required: ['method', 'limit'],
        },
      ],
    },
  },
  type: 'object',
  properties: { pages: { $ref: '#/$defs/pages' }, jobs: { type: 'array', items: { type: 'object', required: ['endpoint'] } } },
  required: ['jobs'],
}

test('a schema finds the choice, the mistakes and the names it does not know', () => {
  const set = { root: schema }
  const choices = choicesOf(choicesRoot(), set)
  assert.equal(choiceFor({ method: 'offset' }, choices)?.title, 'Offset')
  const wrong = { pages: { method: 'cursor', idKey: 1 }, jobs: [{}], more: 1 }
  assert.deepEqual(
    problemsOf(wrong, schema, set).map(({ path, message }) => `${pathText(path)}: ${message}`),
    ['pages.idKey: Must be string, not integer.', 'jobs[0]: "endpoint" is missing.'],
  )
  assert.deepEqual(
    problemsOf({ pages: { method: 'other' } }, schema, set, true).map(({ message }) => message),
    ['"method" must be one of cursor, offset.'],
  )
  assert.deepEqual(unknownNames(wrong, schema, set), ['more'])
  const named: Schema = {
    oneOf: [
      { title: 'Basic', properties: { type: { const: 'basic' } } },
      { title: 'Query', properties: { type: { enum: ['query', 'url.query'] }, query: { type: 'object' } } },
    ],
  }
  for (const type of ['query', 'url.query']) {
    assert.equal(choiceFor({ type }, choicesOf(named, set))?.title, 'Query')
    assert.deepEqual(problemsOf({ type, query: {} }, named, set), [])
  }
  assert.equal(labelOf('maxRetries', {}), 'Max retries')
})

test('shapes without a constant are told apart by the members they need', () => {
  const expression: Schema = {
    anyOf: [
      { type: ['string', 'number'] },
      { type: 'object', properties: { function: { type: 'string' } }, required: ['function'] },
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
  }
  assert.deepEqual(problemsOf({ response: 'token' }, expression, { root: expression }), [])
  assert.deepEqual(problemsOf({ function: 'time' }, expression, { root: expression }), [])
  assert.equal(problemsOf({ function: 5 }, expression, { root: expression }).length, 1)
})

test('a constant that a shape does not need may be left out', () => {
  const mapping: Schema = {
    anyOf: [
      { type: 'string' },
      {
        type: 'object',
        title: 'Column',
        properties: { type: { const: 'column' }, mapping: { type: 'object' } },
        required: ['mapping'],
      },
      { type: 'object', title: 'Table', properties: { type: { const: 'table' } }, required: ['type'] },
    ],
  }
  const set = { root: mapping }
  for (const fits of ['id', { mapping: {} }, { type: 'column', mapping: {} }, { type: 'table' }])
    assert.deepEqual(problemsOf(fits, mapping, set), [], JSON.stringify(fits))
  assert.equal(choiceFor({ mapping: {} }, choicesOf(mapping, set))?.title, 'Column')
  assert.deepEqual(
    problemsOf({ type: 'other', mapping: {} }, mapping, set).map(({ message }) => message),
    ['"type" must be one of column, table.'],
  )
})

const choicesRoot = (): Schema => schema.$defs!.pages!

test('what a component takes where nothing is said is found in objects that are there', () => {
  const described: Schema = {
    type: 'object',
    properties: {
      size: { type: 'integer', default: 5 },
      old: { type: 'string', default: 'x', deprecated: true },
      pages: { oneOf: [{ properties: { method: { const: 'cursor' }, reverse: { type: 'boolean', default: false } } }] },
      jobs: { type: 'array', items: { properties: { method: { type: 'string', default: 'GET' } } } },
    },
  }
  assert.deepEqual(defaultsOf({ pages: { method: 'cursor' }, jobs: [{ method: 'POST' }, {}] }, described, { root: described }), [
    [['size'], 5],
    [['pages', 'reverse'], false],
    [['jobs', 1, 'method'], 'GET'],
  ])
})

test('typed text is a number or JSON where the schema takes one, as it was typed', () => {
  const cases: readonly (readonly [string, Schema, string | undefined])[] = [
    ['', {}, undefined],
    ['12345678901234567890', { type: 'integer' }, '12345678901234567890'],
    ['1.10', { type: ['string', 'number'] }, '1.10'],
    ['007', {}, '"007"'],
    ['5', { type: 'string' }, '"5"'],
    ['{"attr":"x"}', {}, '{"attr":"x"}'],
    ['{"attr"', {}, '"{\\"attr\\""'],
  ]
  for (const [text, schemaOf, json] of cases) assert.equal(typedText(text, schemaOf), json, text)
  assert.equal(putAt('{"a":1}', ['a'], '12345678901234567890'), '{"a":12345678901234567890}')
  assert.equal(isSameDocument('{"a":12345678901234567890}', '{"a":12345678901234567891}'), false)
})

test('values are found by path and nothing is found where there is nothing', () => {
  const paths: readonly Path[] = [['a', 0, 'b'], ['a', 1], ['toString'], ['a', 0, 'b', 'c']]
  assert.deepEqual(
    paths.map((path) => valueIn({ a: [{ b: 1 }] }, path)),
    [1, undefined, undefined, undefined],
  )
  assert.equal(isRecord([]), false)
})

test('two elements of a list change places as they were written', () => {
  const text = '{"list":[{"a":1.50},{"b":  [1, 2]}],"x":1}'
  assert.equal(swapAt(text, ['list', 0], ['list', 1]), '{"list":[{"b":  [1, 2]},{"a":1.50}],"x":1}')
})

test('an element that a list gained or lost is shown alone', () => {
  const [a, b] = [{ jobs: [{ n: 1 }, { n: 2 }, { n: 3 }] }, { jobs: [{ n: 1 }, { n: 9 }, { n: 2 }, { n: 3 }], on: true }]
  assert.deepEqual(differencesBetween(a, b), [
    { path: ['jobs', 1], before: undefined, after: { n: 9 } },
    { path: ['on'], before: undefined, after: true },
  ])
  assert.deepEqual(differencesBetween(b.jobs, a.jobs), [{ path: [1], before: { n: 9 }, after: undefined }])
  assert.deepEqual(differencesBetween([{ n: 1 }], [{ n: 2 }]), [{ path: [0, 'n'], before: 1, after: 2 }])
})

test('lines that two texts share are found, whatever stands between them', () => {
  const show = (before: string, after: string) =>
    lineDifference(before, after).map(({ kind, lines, from }) => `${from} ${kind} ${lines.join('')}`)
  assert.deepEqual(show('a\nb\nc\nd', 'a\nx\nc\nd\ne'), ['1 same a', '2 removed b', '2 added x', '3 same cd', '5 added e'])
  assert.deepEqual(show('a\na', 'a\na'), ['1 same aa'])
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c', '')), fc.array(fc.constantFrom('a', 'b', 'c', '')), (one, other) => {
      const runs = lineDifference(one.join('\n'), other.join('\n'))
      const without = (kind: string) => runs.filter((run) => run.kind !== kind).flatMap(({ lines }) => lines)
      assert.equal(without('added').join('\n'), one.join('\n'))
      assert.equal(without('removed').join('\n'), other.join('\n'))
    }),
  )
  const many = (mark: string) => Array.from({ length: 60_000 }, (_, n) => `${mark}${n}`).join('\n')
  assert.deepEqual(
    lineDifference(`head\n${many('a')}`, `head\n${many('b')}`).map(({ kind, lines }) => [kind, lines.length]),
    [
      ['same', 1],
      ['removed', 60_000],
      ['added', 60_000],
    ],
  )
})

test('the start of a JSON text is indented as far as it goes', () => {
  assert.equal(prettyStart('{"a":[1,"b, {'), '{\n  "a": [\n    1,\n    "b, {')
  assert.equal(prettyStart('<p>'), '<p>')
})

test('a megabyte is compared in the time of a few readings of it', () => {
  const jobs = Array.from({ length: 5800 }, (_, n) => ({
    endpoint: `e/${n}`,
    params: { n, list: [1, 2, n] },
    note: 'x'.repeat(90),
  }))
  const text = JSON.stringify({ jobs })
  assert.ok(text.length > 800_000)
  const [one, other] = [JSON.parse(text), JSON.parse(text.replaceAll('"n":1', '"n":9'))] as const
  const reading = cpuMs(() => JSON.stringify(JSON.parse(text)))
  const writing = cpuMs(() => pretty(text))
  assert.ok(writing < 100 * reading, `${writing} ms against ${reading} ms`) // a copy for every edit was 10,000 readings
  const comparing = cpuMs(() => differencesBetween(one, other))
  assert.ok(comparing < 20 * reading, `${comparing} ms against ${reading} ms`)
})
