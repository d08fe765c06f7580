// Cells as bytes, against the plain way: texts, JSON.stringify and quotes where CSV needs them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonText, parseJson } from '../python/json.ts'
import { PyFloat, Tuple } from '../python/values.ts'
import { CsvCells } from './csv-cells.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 20_000 : 1_000

/** A reader as simple as the format: a cell without quotes and without text is null. */
function cellsOf(line: string): (string | null)[] {
  const found: (string | null)[] = []
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\n)/y
  for (let match = cell.exec(line); match; match = cell.exec(line))
    found.push(match[1] === '' ? null : match[1]!.startsWith('"') ? match[1]!.slice(1, -1).replaceAll('""', '"') : match[1]!)
  return found
}

function written(values: readonly unknown[]): string {
  const cells = new CsvCells()
  for (const value of values) cells.cell(value)
  cells.endRow()
  return cells.bytes.toString('utf8', 0, cells.length)
}

function plain(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof PyFloat) return String(value.value)
  return typeof value === 'object' ? jsonText(value) : String(value)
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 120 }),
  fc.constantFrom(
    '',
    '"',
    ',',
    '\r',
    '\n',
    '\\',
    '\t',
    '\u0000\u001f',
    'São Paulo',
    '東京',
    '😀',
    'a'.repeat(97),
    `${'a'.repeat(96)}"`,
  ),
)
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.double(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined, 0, -0, 2 ** 31 - 1, 2 ** 31, 2 ** 53, 1e21, 1e-7, Number.NaN, Number.POSITIVE_INFINITY),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => new PyFloat(value)),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 4 }, scalar, tie('list'), tie('object')),
  list: fc.array(tie('any'), { maxLength: 4 }),
  object: fc.dictionary(text, tie('any'), { maxKeys: 4, noNullPrototype: true }),
})).any

test(`a row of any values is what the plain way gives (${ROUNDS} rows)`, () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 6 }), (values) => {
      assert.deepEqual(cellsOf(written(values)), values.map(plain))
    }),
    {
      numRuns: ROUNDS,
      examples: [
        [[{ __proto__: null, a: undefined, b: [undefined, new Set([1]), Tuple.of<unknown>(1, 'x')] }]],
        [[JSON.parse('{"__proto__":{"a":1},"toJSON":2}')]],
        [
          [
            'x'.repeat(65_000),
            JSON.parse('['.repeat(900) + ']'.repeat(900)),
            JSON.parse('{"a":'.repeat(900) + '1' + '}'.repeat(900)),
          ],
        ],
        [[new PyFloat(2), [new PyFloat(2), 10n ** 20n, Number.NaN]]],
      ],
    },
  )
})

test('a text that is not Unicode is written as before: half a pair is replaced in a cell, escaped in JSON', () => {
  assert.equal(written(['\ud800', ['\ud800']]), `"\ufffd","[""\\ud800""]"\n`)
})

test('integers are exact at any length and at any place of a text', () => {
  const number = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
  const blanks = fc.nat({ max: 40 }).map((count) => ' '.repeat(count))
  fc.assert(
    fc.property(
      blanks,
      number,
      fc.string({ unit: fc.constantFrom('0', '9', '"', '.', 'e', ' '), maxLength: 40 }),
      (space, big, more) => {
        const found = parseJson(`${space}{"n":${space}${big},"s":${JSON.stringify(more)},"list":[${big}]}`) as Record<
          string,
          unknown
        >
        const expected = Number.isSafeInteger(Number(big)) ? Number(big) : big
        assert.deepEqual(found, { n: expected, s: more, list: [expected] })
      },
    ),
    { numRuns: ROUNDS },
  )
  assert.equal(parseJson('12345678901234567890'), 12345678901234567890n)
  assert.equal(parseJson('-12345678901234567890'), -12345678901234567890n)
  assert.deepEqual(parseJson('{"id":"12345678901234567890"}'), { id: '12345678901234567890' })
})
