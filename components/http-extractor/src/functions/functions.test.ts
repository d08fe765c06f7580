import assert from 'node:assert/strict'
import { test } from 'node:test'
import { strtotime } from '../../../../contract/strtotime.ts'
import type { JsonValue } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { formatDate } from './date.ts'
import { evaluate } from './evaluate.ts'
import { hash, hashHmac } from './hash.ts'
import { sprintf } from './sprintf.ts'

const at = (text: string) => Date.parse(text) / 1000

test('every letter of date gives what PHP gives', () => {
  const time = at('2021-03-07T09:05:03Z') // a Sunday
  const letters: Record<string, string> = {
    d: '07',
    D: 'Sun',
    j: '7',
    l: 'Sunday',
    N: '7',
    S: 'th',
    w: '0',
    z: '65',
    W: '09',
    o: '2021',
    F: 'March',
    m: '03',
    M: 'Mar',
    n: '3',
    t: '31',
    L: '0',
    Y: '2021',
    y: '21',
    a: 'am',
    A: 'AM',
    B: '420',
    g: '9',
    G: '9',
    h: '09',
    H: '09',
    i: '05',
    s: '03',
    u: '000000',
    v: '000',
    e: 'UTC',
    I: '0',
    O: '+0000',
    P: '+00:00',
    T: 'UTC',
    Z: '0',
    c: '2021-03-07T09:05:03+00:00',
    r: 'Sun, 07 Mar 2021 09:05:03 +0000',
    U: '1615107903',
  }
  for (const [letter, expected] of Object.entries(letters)) assert.equal(formatDate(letter, time), expected, letter)
  assert.equal(formatDate('\\Y-\\m \\\\d, q', time), 'Y-m \\07, q')
  assert.equal(formatDate('o-W', at('2021-01-03T00:00:00Z')), '2020-53')
  assert.equal(formatDate('jS jS jS', at('2021-01-22T00:00:00Z')), '22nd 22nd 22nd')
  assert.equal(formatDate('jS', at('2021-01-13T00:00:00Z')), '13th')
})

test('strtotime reads what people write', () => {
  const base = at('2021-03-17T10:30:15Z') // a Wednesday
  const cases: Record<string, string> = {
    now: '2021-03-17T10:30:15Z',
    today: '2021-03-17T00:00:00Z',
    yesterday: '2021-03-16T00:00:00Z',
    'yesterday 14:00': '2021-03-16T14:00:00Z',
    'tomorrow noon': '2021-03-18T12:00:00Z',
    '-7 days': '2021-03-10T10:30:15Z',
    '+1 month': '2021-04-17T10:30:15Z',
    '-0 second': '2021-03-17T10:30:15Z',
    '-1 week 2 days 4 hours': '2021-03-12T14:30:15Z',
    '2 weeks ago': '2021-03-03T10:30:15Z',
    'last monday of january 2020': '2020-01-27T00:00:00Z',
    'first monday of next month': '2021-04-05T00:00:00Z',
    'first day of next month': '2021-04-01T10:30:15Z',
    'first day of this month midnight': '2021-03-01T00:00:00Z',
    'last day of february 2020': '2020-02-29T00:00:00Z',
    '@86400': '1970-01-02T00:00:00Z',
    '2020-01-02': '2020-01-02T00:00:00Z',
    '2020-01-02 03:04:05': '2020-01-02T03:04:05Z',
    '2020-01-02T03:04:05Z': '2020-01-02T03:04:05Z',
    '2020-01-02T03:04:05.123+02:00': '2020-01-02T01:04:05Z',
    '2020-01-02 03:04:05 -0500': '2020-01-02T08:04:05Z',
    '2020-01-02 03:04:05 CET': '2020-01-02T02:04:05Z',
    '20200102': '2020-01-02T00:00:00Z',
    '20200102T030405': '2020-01-02T03:04:05Z',
    '21 oct 2017 9:16pm': '2017-10-21T21:16:00Z',
    'Oct 5, 2012': '2012-10-05T00:00:00Z',
    '10 September 2000': '2000-09-10T00:00:00Z',
    'September 2000': '2000-09-01T00:00:00Z',
    '10/13/2020': '2020-10-13T00:00:00Z',
    '13.10.2020': '2020-10-13T00:00:00Z',
    '13-10-2020': '2020-10-13T00:00:00Z',
    'Sun, 06 Nov 1994 08:49:37 GMT': '1994-11-06T08:49:37Z',
    'Sunday, 06-Nov-94 08:49:37 GMT': '1994-11-06T08:49:37Z',
    'Sun Nov  6 08:49:37 1994': '1994-11-06T08:49:37Z',
    '10/Oct/2000:13:55:36 -0700': '2000-10-10T20:55:36Z',
    monday: '2021-03-22T00:00:00Z',
    wednesday: '2021-03-17T00:00:00Z',
    'next wednesday': '2021-03-24T00:00:00Z',
    'last wednesday': '2021-03-10T00:00:00Z',
    'monday this week': '2021-03-15T00:00:00Z',
    'sunday this week': '2021-03-21T00:00:00Z',
    'monday next week': '2021-03-22T00:00:00Z',
    '3 weekdays': '2021-03-22T10:30:15Z',
    '2020-02-30': '2020-03-01T00:00:00Z',
    '2020-01-31 -1 month': '2019-12-31T00:00:00Z',
    '2020-W10-3': '2020-03-04T00:00:00Z',
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(strtotime(text, base), at(expected), text)
  for (const text of ['', 'nonsense', 'the day after', '2020-13-45', '99:99', 'x'.repeat(1000)])
    assert.equal(strtotime(text, base), undefined, text)
})

// The values are those of PHP 8.2 in UTC.
test('Z3: strtotime reads every form of a time that PHP reads, with its value', () => {
  const base = at('2026-07-18T11:30:00Z') // a Saturday
  const cases: [string, number | undefined][] = [
    ['2026-07-18 12:30:00 Europe/Prague', 1_784_370_600],
    ['22.12.30', 1_784_412_750],
    ['May-09-78', 263_520_000],
    ['78-Dec-22', 283_132_800],
    ['2030.197', 1_910_390_400],
    ['2030197', 1_910_390_400],
    ['2030:08:07 18:11:31', 1_912_356_691],
    ['04.08', 1_784_347_680],
    ['04.08.37', 1_784_347_717],
    ['19.19', 1_784_402_340],
    ['12.30', 1_784_377_800],
    ['040837', 1_784_347_717],
    ['back of 7pm', 1_784_402_100],
    ['front of 5am', 1_784_349_900],
    ['2030-00-00', 1_890_691_200],
    ['23:59:60', 1_784_419_200],
    ['00:00:60', 1_784_332_860],
    ['3 VII 2030', 1_909_267_200],
    ['04jul2030', 1_909_353_600],
    ['-1', 1_784_377_800],
    ['+5', 1_784_356_200],
    ['2030-001', 1_893_456_000],
    ['noon tomorrow', 1_784_419_200],
    ['6 pm yesterday', 1_784_246_400],
    ['+1 sat', 1_784_374_200],
    ['2560', 18_635_830_200],
    ['2030-01-01T10:00:00,5Z', undefined],
    ['2033.123', 1_998_691_200],
  ]
  for (const [text, expected] of cases) assert.equal(strtotime(text, base), expected, text)
})

test('a named zone has the offset of the day that the text names', () => {
  const cases: [string, string][] = [
    ['2026-01-18 12:30 Europe/Prague', '2026-01-18T11:30:00Z'],
    ['2026-07-18 12:30 Europe/Prague', '2026-07-18T10:30:00Z'],
    ['2026-03-28 12:00 Europe/Prague +1 day', '2026-03-29T10:00:00Z'],
    ['2026-03-29 02:30 Europe/Prague', '2026-03-29T01:30:00Z'], // the clocks skip it
    ['2026-10-25 02:30 Europe/Prague', '2026-10-25T00:30:00Z'], // the clocks show it twice
    ['2026-03-08 02:30 America/New_York', '2026-03-08T07:30:00Z'],
    ['2026-11-01 01:30 America/New_York', '2026-11-01T05:30:00Z'],
    ['2026-11-01 01:30 America/New_York +1 hour', '2026-11-01T07:30:00Z'],
    ['2026-10-04 02:15 Australia/Lord_Howe', '2026-10-03T15:45:00Z'],
  ]
  for (const now of ['2026-01-01T00:00:00Z', '2026-07-01T00:00:00Z']) {
    for (const [text, expected] of cases) assert.equal(strtotime(text, at(now)), at(expected), `${text} at ${now}`)
  }
})

test('sprintf follows PHP', () => {
  const cases: [string, (string | number | bigint | boolean | null)[], string][] = [
    ['%s and %s', ['a', 1n], 'a and 1'],
    ['%05d', [42n], '00042'],
    ['%5d|%-5d|%+d', [42n, 42n, 42n], '   42|42   |+42'],
    ["%'*10s|%-10s|", ['ab', 'cd'], '********ab|cd        |'],
    ['%.2f', [1.005], '1.00'],
    ['%08.3f', [2.3456], '0002.346'],
    ['%2$s %1$s', ['a', 'b'], 'b a'],
    ['%x %X %o %b %c', [255n, 255n, 8n, 5n, 65n], 'ff FF 10 101 A'],
    ['%e', [1234.5678], '1.234568e+3'],
    ['%5.1s|', ['xyz'], '    x|'],
    ['100%%', [], '100%'],
    ['%d %d', ['12abc', '3.9'], '12 3'],
    ['%d', ['9223372036854775807'], '9223372036854775807'],
    ['%s%s', [true, false], '1'],
    ['%u', [-1n], '18446744073709551615'],
    ['%-05d|', [-7n], '-7   |'],
    ['%05d', [-7n], '-0007'],
  ]
  for (const [format, args, expected] of cases) assert.equal(sprintf(format, args), expected, format)
  assert.throws(() => sprintf('%s %s', ['a']), /asks for argument 2/)
})

test('hashes have the names and values of PHP', () => {
  const cases: Record<string, string> = {
    md5: '900150983cd24fb0d6963f7d28e17f72',
    sha1: 'a9993e364706816aba3e25717850c26c9cd0d89d',
    sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    crc32b: '352441c2',
    crc32: '73bb8c64',
    crc32c: '364b3fb7',
    adler32: '024d0127',
    fnv132: '439c2f4b',
    fnv1a32: '1a47e90b',
    fnv164: 'd8dcca186bafadcb',
    fnv1a64: 'e71fa2190541574b',
    joaat: 'ed131f5b',
  }
  for (const [algorithm, expected] of Object.entries(cases)) assert.equal(hash(algorithm, 'abc'), expected, algorithm)
  assert.equal(hashHmac('sha256', 'text', 'key'), '6afa9046a9579cad143a384c1b564b9a250d27d6f6a63f9f20bf3a7594c9e2c6')
  assert.throws(() => hash('md42', 'abc'), /unknown hashing algorithm/)
})

const scope = {
  references: {
    attr: parseJson('{"a":"x","#s":"hidden","n":{"arr":[1,{"b":"deep"}]},"dot.ted":"yes","zero":0,"no":false,"nil":null}'),
  },
  nowSeconds: () => 1_600_000_000,
}
const value = (expression: JsonValue) => evaluate(expression, scope)

test('references see a flattened view of what they look into', () => {
  assert.equal(value({ attr: 'a' }), 'x')
  assert.equal(value({ attr: 'n.arr.0' }), 1)
  assert.equal(value({ attr: 'n.arr.1.b' }), 'deep')
  assert.equal(value({ attr: 'dot.ted' }), 'yes')
  assert.equal(value({ attr: 'zero' }), 0)
  assert.equal(value({ attr: 'no' }), false)
  for (const name of ['missing', 'nil', 'n', 'n.arr', '__proto__', 'constructor']) {
    assert.throws(() => value({ attr: name }), {
      message: `User script error: Error evaluating user function - attr '${name}' not found!`,
    })
  }
  assert.throws(() => value({ attr: { x: 1 } }), /attr '\{"x":1\}' is not a string!/)
})

test('calls are evaluated in depth, lists only as arguments', () => {
  assert.equal(
    value({ function: 'concat', args: ['a', { function: 'md5', args: [{ attr: 'a' }] }, true, false, null, 1.5] }),
    'a9dd4e461268c8034f5c8564e155c67a611.5',
  )
  assert.equal(value({ function: 'implode', args: ['-', ['a', { attr: 'a' }]] }), 'a-x')
  assert.equal(value({ function: 'ifempty', args: ['0', 'b'] }), 'b')
  assert.equal(value({ function: 'date', args: ['Y-m-d'] }), '2020-09-13')
  assert.equal(value({ function: 'strtotime', args: ['whenever'] }), false)
  assert.equal(value({ function: 'time' }), 1_600_000_000)
  assert.deepEqual(value([{ attr: 'a' }]), [{ attr: 'a' }])
  assert.deepEqual(value({ in: { attr: 'a' }, l: [{ attr: 'a' }] }), { in: 'x', l: [{ attr: 'a' }] })
  assert.deepEqual(value({ response: 'x' }), { response: 'x' }, 'a reference that does not exist here stays an object')
})

test('what cannot be evaluated is named', () => {
  assert.throws(() => value({ function: 'eval', args: [] }), /^UserError: User script error: Illegal function 'eval'!/)
  assert.throws(() => value({ function: '__proto__' }), /Illegal function/)
  assert.throws(() => value({ function: 'ifempty', args: [1] }), {
    message: "User script error: Bad argument count for function 'ifempty'!",
  })
  assert.throws(() => value({ function: 'concat', args: [['a']] }), /concat: argument 1 must be a text or a number, not array/)
  assert.throws(
    () => value({ function: 'concat', args: [{ response: 'x' }] }),
    /argument 1 of 'concat'.*available references here: attr/,
  )
  assert.throws(() => value({ function: 'hash', args: ['md42', 'x'] }), /unknown hashing algorithm/)
  assert.throws(() => value({ function: 'sprintf', args: ['%d'] }), /asks for argument 2|asks for argument 1/)
  assert.throws(() => value({ function: 'md5' }), /argument 1 is missing/)
})

test('a value made from a secret is reported, so that the log can hide it', () => {
  const hidden: JsonValue[] = []
  const watched = { ...scope, hide: (derived: JsonValue) => void hidden.push(derived) }
  evaluate({ function: 'concat', args: ['x', { attr: 'a' }] }, watched)
  assert.deepEqual(hidden, [])
  evaluate({ function: 'sha1', args: [{ attr: '#s' }] }, watched)
  assert.deepEqual(hidden, ['99d72c7fc3e2e145870beab37c0b70e343ea9c3b'])
})
