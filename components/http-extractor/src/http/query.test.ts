import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { mergeAsLists, mergeParams, type Pair, parseQuery, replacePairs, writeForm, writePairs } from './query.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 100_000 : 10_000
const params = (json: string) => parseJson(json) as JsonObject

test('params are written as PHP writes them', () => {
  const cases: [string, string][] = [
    ['{"a":"x y","b":"~*-_.","c":"ü&="}', 'a=x+y&b=%7E%2A-_.&c=%C3%BC%26%3D'],
    ['{"l":["a","b"],"o":{"k":1,"m":{"n":2}}}', 'l%5B0%5D=a&l%5B1%5D=b&o%5Bk%5D=1&o%5Bm%5D%5Bn%5D=2'],
    ['{"t":true,"f":false,"n":null,"e":[],"z":{},"s":""}', 't=1&f=0&s='],
    ['{"i":12345678901234567890,"d":1.50,"one":1.0}', 'i=12345678901234567890&d=1.5&one=1'],
    ['{"2":"b","1":"a"}', '2=b&1=a'],
    ['{"":"x","0":"y","a":1}', 'a=1'],
  ]
  for (const [json, expected] of cases) assert.equal(writeForm(params(json)), expected, json)
})

test('params replace the same names of the endpoint in place, and new ones follow', () => {
  assert.equal(mergeParams('a=1&flag&b=x+y', params('{"b":2,"c":3}')), 'a=1&flag=&b=2&c=3')
  assert.equal(mergeParams('a=1&a=2', params('{"b":1}')), 'a%5B0%5D=1&a%5B1%5D=2&b=1')
  assert.equal(mergeParams('a%5B0%5D=1', params('{"b":1}')), 'a%5B0%5D=1&b=1')
})

test('an authentication rewrites the whole query with %20, and keeps parameters without a value', () => {
  const pairs = parseQuery('a=x+y&k&t=%7E')
  assert.equal(writePairs(replacePairs(pairs, [['key', 'v w']])), 'a=x%20y&k&t=~&key=v%20w')
  assert.equal(writePairs(replacePairs(pairs, [['a', '2']])), 'a=2&k&t=~')
})

test('the login rule: a shared name becomes a list at the end, the existing value first', () => {
  const merged = mergeAsLists(parseQuery('lang=en&page=job&zone=a&extra=1'), [
    ['zone', 'b'],
    ['token', 't'],
    ['page', 'login'],
  ])
  assert.equal(writePairs(merged), 'lang=en&extra=1&token=t&zone%5B0%5D=a&zone%5B1%5D=b&page%5B0%5D=job&page%5B1%5D=login')
  assert.deepEqual(mergeAsLists([['a', 'x']], [['a', 'x']]), [['a[0]', 'x']], 'equal values are listed once')
  assert.deepEqual(
    mergeAsLists([['a[0]', 'x']], [['a', 'y']]),
    [
      ['a[0]', 'x'],
      ['a', 'y'],
    ],
    'a list is another name',
  )
})

test('whatever is merged, no value is lost and the order of spec extractor 5.5 holds', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const pair = fc.tuple(name, fc.string({ maxLength: 3 }))
  const unique = (pairs: [string, string][]) => [...new Map(pairs)]
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 5 }), fc.array(pair, { maxLength: 5 }), (job, login) => {
      const existing: Pair[] = unique(job)
      const values: Pair[] = unique(login)
      const merged = mergeAsLists(existing, values)
      const has = (pairs: readonly Pair[], wanted: string) => pairs.some(([n]) => n === wanted)
      // An oracle written from the sentences of spec extractor 5.5, not from the code.
      const expected = [
        ...existing.filter(([n]) => !has(values, n)),
        ...values.filter(([n]) => !has(existing, n)),
        ...values
          .filter(([n]) => has(existing, n))
          .flatMap(([n, v]): Pair[] => {
            const old = existing.find(([m]) => m === n)![1]
            return old === v
              ? [[`${n}[0]`, old]]
              : [
                  [`${n}[0]`, old],
                  [`${n}[1]`, v],
                ]
          }),
      ]
      assert.deepEqual(merged, expected)
      assert.deepEqual(parseQuery(writePairs(merged)), merged)
    }),
    { numRuns: ROUNDS },
  )
})
