// Text as typed values: the fast way gives the same values as the definition.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type Database, openInstance } from './database.ts'
import type { Column } from './snapshot.ts'
import { tryConvert } from './sql.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 200_000 : 20_000
/** DuckDB reads decimals of more than 18 digits slowly. */
const DECIMAL_ROUNDS = ROUNDS / 10

let db: Database
let close = () => {}
before(async () => {
  const instance = await openInstance({ memoryMb: 512, threads: 1, spillDir: '' })
  db = await connect(instance, { threads: 1 })
  await db.run(`SET TimeZone = 'UTC'`) // as workers are started
  close = () => {
    db.close()
    instance.closeSync()
  }
})
after(() => close())

let salt = 0
/** One of the texts, chosen by the number of the row. */
const oneOf = (...texts: readonly string[]): string =>
  `[${texts.map((text) => `'${text}'`).join(', ')}][1 + (hash(i, ${++salt}) % ${texts.length})::INT]`
const digits = (from: number, upTo: number): string =>
  `left(lpad((hash(i, ${++salt}) % 1000000000000)::VARCHAR, 12, '0'), ${from} + (hash(i, ${++salt}) % ${upTo - from + 1})::INT)`

const year = oneOf(...'2024|2020|1582|1500|0001|9999|0044|1|12|123|12345|123456|1234567|-044|-0044|20 4'.split('|'))
const part = () => oneOf('01', '02', '03', '10', '12', '15', '28', '29', '31', '1', '9', '00', '+1', '-1', ' 1', '1 ')
const separator = oneOf('-', '-', '-', '-', '-', '/', ' ', '.')
const date = `${oneOf('', '', '', '', ' ', '+', '1')} || ${year} || ${separator} || ${part()} || ${oneOf('-', '-', '-', '-', '/')} || ${part()}`
const clock = () => oneOf('00', '10', '23', '24', '59', '60', '1', '9', '1+', '-1', '3+', '+3')
const time = `${oneOf(' ', ' ', 'T', 't', '  ', '-', '+')} || ${clock()} || ${oneOf(':', ':', ':', ':', '+')} || ${clock()} || ${oneOf(':', ':', ':', ':', '', '+', '-')} || ${clock()}`
const fraction = oneOf('', '', '', '.5', '.123456', '.1234567', '.999999999', '.', ',5', '-02', '+02')
const zone = oneOf(
  ...'|||Z|z| Z|+00|+02|-02|+02:30|-0230| +0000| -0330|+02:30:15| UTC| utc|UTC| (BC)| AD| PM|0200| 02|x| '.split('|'),
)
const MOMENTS = `CASE hash(i) % 4 WHEN 0 THEN ${date} WHEN 1 THEN '2024-02-29' || ${time} || ${fraction} || ${zone} ELSE ${date} || ${time} || ${fraction} || ${zone} END`
const WORDS = oneOf(...'true|false|TRUE| true |t|F|1|0|yes|No|n|y|2|on||infinity|-infinity|epoch|today'.split('|'))
const NUMBERS = `${oneOf('', '', '-', '+', ' ', '--')} || ${digits(0, 12)} || ${oneOf('', '', '', '000', '0000000000', '_1', 'x')} || ${oneOf('', '.', '.', '.', ',')} || ${digits(0, 12)} || ${oneOf('', '', '9999999999', '5', '4999')} || ${oneOf('', '', '', '', 'e3', 'E-3', 'e20', 'e-20', ' ', 'e')}`

/** The conversions as they are defined. Without names of zones: those move other rows, see the last test. */
const offset = `regexp_replace(text, '(:[0-9.]+)\\s*([+-][0-9]{2})([0-9]{2})\\s*$', '\\1\\2:\\3')`
const startsWithYear = `regexp_matches(text, '^\\s*[0-9]{1,6}-')`
const DEFINED: readonly (readonly [Pick<Column, 'type' | 'length'>, string, string])[] = [
  [
    { type: 'BOOLEAN' },
    `CASE WHEN lower(trim(text)) IN ('true', 't', '1', 'yes', 'y') THEN true WHEN lower(trim(text)) IN ('false', 'f', '0', 'no', 'n') THEN false END`,
    WORDS,
  ],
  [{ type: 'DATE' }, `CASE WHEN ${startsWithYear} THEN TRY_CAST(text AS DATE) END`, MOMENTS],
  [
    { type: 'TIMESTAMP' },
    `CASE WHEN ${startsWithYear} THEN CAST(coalesce(TRY_CAST(text AS TIMESTAMPTZ), TRY_CAST(${offset} AS TIMESTAMPTZ)) AS TIMESTAMP) END`,
    MOMENTS,
  ],
  ...['38,9', '38,0', '19,2', '38,17', '38,18', '38,30', '20,20', '18,4', '5'].map(
    (length) => [{ type: 'NUMERIC', length } as const, `TRY_CAST(text AS DECIMAL(${length}))`, NUMBERS] as const,
  ),
]

for (const [column, defined, texts] of DEFINED)
  test(`text becomes the same ${column.type} ${column.length ?? ''} by the short way as by the long one`, async () => {
    await db.run(
      `CREATE OR REPLACE TEMP TABLE texts AS SELECT text FROM (SELECT ${texts} AS text FROM range(${column.type === 'NUMERIC' ? DECIMAL_ROUNDS : ROUNDS}) AS r(i) UNION ALL SELECT ${WORDS} FROM range(100) AS r(i))`,
    )
    const values = `SELECT text, ${defined} AS expected, ${tryConvert(column, 'text')} AS found FROM texts`
    const [counts] = await db.rows(`SELECT count(expected), count(*) FILTER (WHERE expected IS NULL) FROM (${values})`)
    assert.ok(Number(counts?.[0]) > 30 && Number(counts?.[1]) > 30, `texts that are values and texts that are none: ${counts}`)
    const wrong = await db.rows(
      `SELECT DISTINCT text, expected::VARCHAR, found::VARCHAR FROM (${values}) WHERE expected IS DISTINCT FROM found LIMIT 10`,
    )
    assert.deepEqual(wrong, [])
  })

test('the zone that a row names does not move other rows', async () => {
  const texts = [
    '2024-01-15 10:00:00 America/New_York',
    '2024-01-15 10:00:00',
    '2024-01-15 9:00:00.5',
    '2024-01-15',
    ' 2024-01-15 10:00:00',
    '12345-01-15 10:00:00',
    '2024-01-15T10:00:00Z',
    '2024-01-15 10:00:00 +0100',
    '2024-01-15 10:00:00 UTC',
  ]
  const rows = await db.rows(
    `SELECT (${tryConvert({ type: 'TIMESTAMP' }, 'text')})::VARCHAR FROM (VALUES ${texts.map((text) => `('${text}')`).join(', ')}) AS t(text)`,
  )
  assert.deepEqual(rows.flat(), [
    '2024-01-15 15:00:00',
    '2024-01-15 10:00:00',
    '2024-01-15 09:00:00.5',
    '2024-01-15 00:00:00',
    '2024-01-15 10:00:00',
    '12345-01-15 10:00:00',
    '2024-01-15 10:00:00',
    '2024-01-15 09:00:00',
    '2024-01-15 10:00:00',
  ])
})

test('a time with the name of a zone is no value in the first and the last year; without one it is', async () => {
  const texts = [
    '294247-01-10 04:00:54 America/New_York',
    ' 294247-01-10 04:00:54.7 america/los_angeles',
    '290309-12-22 (BC) 00:00:00 Asia/Tokyo',
    '294248-01-01 00:00:00 America/New_York',
    '294246-12-31 23:00:00 America/New_York',
    '294247-01-10 04:00:54',
    '294247-01-10T04:00:54Z',
    '294247-01-10 04:00:54+00',
    '2024-01-15 10:00:00 America/New_York',
  ]
  const rows = await db.rows(
    `SELECT (${tryConvert({ type: 'TIMESTAMP' }, 'text')})::VARCHAR FROM (VALUES ${texts.map((text) => `('${text}')`).join(', ')}) AS t(text)`,
  )
  assert.deepEqual(rows.flat(), [
    ...[null, null, null, null],
    ...[
      '294247-01-01 04:00:00',
      '294247-01-10 04:00:54',
      '294247-01-10 04:00:54',
      '294247-01-10 04:00:54',
      '2024-01-15 15:00:00',
    ],
  ])
})
