import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  entriesOf,
  equalJson,
  isEmpty,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  memberOf,
  objectOf,
  valueAt,
} from './json.ts'
import { compareNumeric, isNumeric, toInteger } from './numbers.ts'
import { JsonSyntaxError, MAX_DEPTH, parseJson, scan } from './parse.ts'
import { exactJson, formatFloat, phpSerialize, phpSerializeAssociative, serialize, toText } from './text.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 20_000 : 1_000

/** Number tokens of every spelling, among them those that a double would change. */
const numberToken = fc.oneof(
  fc.maxSafeInteger().map(String),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? '-0' : String(n).replace('e+', 'e'))),
  fc.tuple(fc.nat(), fc.stringMatching(/^[0-9]{1,22}$/)).map(([whole, fraction]) => `${whole}.${fraction}`),
  fc.tuple(fc.nat({ max: 99 }), fc.integer({ min: -30, max: 30 })).map(([digits, exponent]) => `${digits}E${exponent}`),
)
const key = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.nat({ max: 12 }).map(String),
  fc.constantFrom('__proto__', 'a', 'b', ''),
)
const white = fc.constantFrom('', ' ', '\n\t ')
const string = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => JSON.stringify(text))
const jsonText: fc.Memo<string> = fc.memo((depth) =>
  depth <= 1
    ? fc.oneof(numberToken, string, fc.constantFrom('true', 'false', 'null', '{}', '[]'))
    : fc.oneof(
        jsonText(1),
        fc
          .array(fc.tuple(white, jsonText(depth - 1)), { maxLength: 4 })
          .map((all) => `[${all.map((pair) => pair.join('')).join(',')}]`),
        fc
          .array(fc.tuple(key, white, jsonText(depth - 1)), { maxLength: 4 })
          .map((all) => `{${all.map(([name, space, value]) => `${JSON.stringify(name)}${space}:${space}${value}`).join(',')}}`),
      ),
)
const document = jsonText(4)

test('the shortcut over JSON.parse and the exact scanner give the same value for every document', () => {
  fc.assert(
    fc.property(document, (text) => {
      assert.deepStrictEqual(parseJson(text), scan(text))
    }),
    { numRuns: ROUNDS },
  )
})

test('what was parsed is written back as it was sent: key order, big integers, spelling of numbers', () => {
  fc.assert(
    fc.property(document, (text) => {
      const value = parseJson(text)
      assert.deepStrictEqual(parseJson(exactJson(value)), value)
    }),
    { numRuns: ROUNDS },
  )
  const sent = '{"10":1,"2":[9007199254740993,1.0,-0,1e3,0.10],"b":"\\u00e9","__proto__":{"1":2}}'
  assert.equal(exactJson(parseJson(sent)), '{"10":1,"2":[9007199254740993,1.0,-0,1e3,0.1],"b":"é","__proto__":{"1":2}}')
})

test('integers of any size are exact in cells, in JSON and as cursors', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (n) => {
      const value = parseJson(`[${n}]`) as JsonValue[]
      assert.equal(toText(value[0] as number), String(n))
      assert.equal(serialize(value), `[${n}]`)
      assert.equal(toInteger(value[0]), n)
      assert.equal(toInteger(String(n)), n)
    }),
    { numRuns: ROUNDS },
  )
})

test('the scanner and JSON.parse agree on what is JSON', () => {
  const noise = fc.string({ unit: fc.constantFrom(...'{}[],:"\\u0 1.eE-tfn\n'), maxLength: 14 })
  const damaged = fc.tuple(document, fc.nat(), noise).map(([text, at, extra]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + extra.slice(0, 2) + text.slice(place + 1)
  })
  const accepts = (parse: (text: string) => unknown, text: string) => {
    try {
      parse(text)
      return true
    } catch (error) {
      assert.ok(error instanceof SyntaxError || error instanceof JsonSyntaxError, String(error))
      return false
    }
  }
  fc.assert(
    fc.property(fc.oneof(noise, damaged), (text) => {
      assert.equal(accepts(scan, text), accepts(JSON.parse, text))
      assert.equal(accepts(parseJson, text), accepts(JSON.parse, text))
    }),
    { numRuns: ROUNDS * 3 },
  )
})

test('a repeated key keeps its first place and its last value', () => {
  assert.deepEqual(entriesOf(parseJson('{"a":1,"b":2,"a":3}') as never), [
    ['a', 3],
    ['b', 2],
  ])
  assert.deepEqual(entriesOf(parseJson('{"7":1,"b":2,"7":3}') as never), [
    ['7', 3],
    ['b', 2],
  ])
})

test('the reason why a text is not JSON names the kind and the place', () => {
  const cases: [string | Uint8Array, RegExp][] = [
    ['', /^Syntax error: the text is empty$/],
    ['{"a":1', /^Syntax error: the text ends where ',' or '}' was expected, line 1, column 7$/],
    ['[1,\n ]', /^Syntax error: unexpected ']' where a value was expected, line 2, column 2$/],
    ['<html>', /^Syntax error: unexpected '<' where a value was expected, line 1, column 1$/],
    ['{"a":"x\ny"}', /^Control character error, possibly incorrectly encoded: line 1, column 8$/],
    ['["\\x"]', /^Syntax error: unexpected '\\' as an escape in a string/],
    ['[01]', /^Syntax error: unexpected '1'/],
    [Buffer.from('\ufeff{}'), /byte order mark/],
    ['['.repeat(MAX_DEPTH + 1) + ']'.repeat(MAX_DEPTH + 1), /^Maximum stack depth exceeded/],
    [`{"1":${'['.repeat(MAX_DEPTH)}${']'.repeat(MAX_DEPTH)}}`, /^Maximum stack depth exceeded/],
    ['['.repeat(2_000_000), /^Maximum stack depth exceeded/],
  ]
  for (const [text, message] of cases) assert.throws(() => parseJson(text), { constructor: JsonSyntaxError, message })
  parseJson('['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH))
})

test('bytes that are not UTF-8 and unpaired surrogates are dropped', () => {
  const bytes = Buffer.concat([
    Buffer.from('["a'),
    Buffer.from([0xff, 0xc3]),
    Buffer.from('é\ufffd'),
    Buffer.from([0xe2, 0x82]),
    Buffer.from('"]'),
  ])
  assert.deepEqual(parseJson(bytes), ['aé\ufffd'])
  const key = Buffer.concat([Buffer.from('{"b":1,"1'), Buffer.from([0xff]), Buffer.from('2":2}')])
  assert.equal(exactJson(parseJson(key)), '{"b":1,"12":2}')
  assert.deepEqual(parseJson('["a\\ud83db","\\ude00","\\ud83d\\ude00","\\\\ud83d"]'), ['ab', '', '😀', '\\ud83d'])
})

test('floats have 14 significant digits in cells and 17 in JSON', () => {
  const cells: [string, string][] = [
    ['1.0', '1'],
    ['0.1', '0.1'],
    ['1234567.1234567890', '1234567.1234568'],
    ['12345678901234.5', '12345678901234'],
    ['12345678901235.5', '12345678901236'],
    ['1e13', '10000000000000'],
    ['1e14', '1.0E+14'],
    ['99999999999999.9', '1.0E+14'],
    ['0.0001', '0.0001'],
    ['0.00001', '1.0E-5'],
    ['1e-7', '1.0E-7'],
    ['-0.0', '-0'],
    ['-0', '-0'],
    ['100000000000000', '100000000000000'],
    ['9223372036854775807', '9223372036854775807'],
    ['1e400', '1e400'],
  ]
  for (const [token, cell] of cells) assert.equal(toText(parseJson(token) as number), cell, token)
  const json = '[0.1,1.0,1e25,1e-7,12345678901234567890,"a/é😀\\n\\"",{},[],null,true]'
  assert.equal(
    serialize(parseJson(json)),
    '[0.10000000000000001,1,1.0000000000000001e+25,9.9999999999999995e-8,12345678901234567890,"a\\/\\u00e9\\ud83d\\ude00\\n\\"",{},[],null,true]',
  )
})

test('the PHP serialisation tells 1 from 1.0, counts bytes and keeps key order', () => {
  assert.equal(
    phpSerialize(parseJson('{"10":1,"é":"é","f":1.0,"g":1e25,"n":null,"t":true,"l":[1],"o":{}}')),
    'O:8:"stdClass":8:{s:2:"10";i:1;s:2:"é";s:2:"é";s:1:"f";d:1;s:1:"g";d:1.0000000000000001E+25;s:1:"n";N;s:1:"t";b:1;s:1:"l";a:1:{i:0;i:1;}s:1:"o";O:8:"stdClass":0:{}}',
  )
  assert.equal(phpSerialize(parseJson('18446744073709551615')), 'd:1.8446744073709552E+19;')
  assert.equal(phpSerializeAssociative([['a', 'b']]), 'a:1:{s:1:"a";s:1:"b";}')
})

test('a path steps through objects by key and arrays by index', () => {
  const value = parseJson('{"a":[{"b":{"7":"seven"}}],"x":{"y":null},"d/e":{"f":1}}')
  assert.equal(valueAt(value, 'a.0.b.7'), 'seven')
  assert.equal(valueAt(value, 'x.y'), null)
  assert.equal(valueAt(value, 'a.1'), undefined)
  assert.equal(valueAt(value, 'a.length'), undefined)
  assert.equal(valueAt(value, 'x.constructor'), undefined)
  assert.equal(valueAt(value, 'x.y.z'), undefined)
  assert.equal(valueAt(value, '.'), value)
  assert.equal(valueAt({ 'd.e': { f: 1 } }, 'd.e/f', '/'), 1)
})

test('emptiness follows PHP: an empty object is not empty', () => {
  for (const text of ['""', '"0"', '0', '0.0', '-0', 'null', 'false', '[]']) assert.equal(isEmpty(parseJson(text)), true, text)
  for (const text of ['{}', '"0.0"', '" "', '1e-9', '[0]', 'true']) assert.equal(isEmpty(parseJson(text)), false, text)
})

test('two responses are equal whatever the order of their keys and the spelling of their numbers', () => {
  assert.ok(equalJson(parseJson('{"a":1,"b":[1.0,{"2":3}]}'), parseJson('{"b":[1,{"2":3}],"a":1}')))
  assert.ok(!equalJson(parseJson('[9007199254740993]'), parseJson('[9007199254740995]')))
  assert.ok(!equalJson(parseJson('{"a":1}'), parseJson('{"b":1}')))
  assert.ok(!equalJson(parseJson('["1"]'), parseJson('[1]')))
})

test('numeric texts are recognised and compared as PHP does, integers without loss', () => {
  for (const text of ['1', '-1', '+1', '1.5', '.5', '5.', '1e3', ' 7']) assert.ok(isNumeric(text), text)
  for (const text of ['', 'a', '1a', '0x1A', '1 ', 'e3', '.', null, true, []]) assert.ok(!isNumeric(text as never), String(text))
  assert.equal(toInteger(new JsonNumber('-9007199254740993.9')), -9007199254740993n)
  assert.equal(toInteger('1e3'), 1000n)
  assert.equal(toInteger('.5'), 0n)
  assert.equal(compareNumeric('9007199254740993', '9007199254740992'), 1)
  assert.ok(compareNumeric('1.5', '10')! < 0)
  assert.equal(compareNumeric('1.5', 'x'), undefined)
})

test('an object is built in the order of its entries', () => {
  assert.deepEqual(entriesOf(objectOf([['2', 1], ['1', 2], ['2', 3]])), [['2', 3], ['1', 2]]) // biome-ignore format: pairs
})

test('the short way to write a float gives what exact arithmetic gives', () => {
  // The digits of a double, from its exact value as a fraction of integers; half to even.
  const exactDigits = (value: number, digits: number): string => {
    const [mantissa, exponent] = value.toExponential(100).split('e') as [string, string]
    const kept = BigInt(mantissa.replace('.', '').slice(0, digits))
    const rest = mantissa.replace('.', '').slice(digits)
    const half = `5${'0'.repeat(rest.length - 1)}`
    const rounded = rest > half || (rest === half && kept % 2n === 1n) ? kept + 1n : kept
    const grown = String(rounded).length > digits
    return `${String(rounded).replace(/0+$/, '')} ${Number(exponent) + (grown ? 1 : 0)}`
  }
  const figures = (text: string): string => {
    const [mantissa, exponent = '0'] = text.split('E') as [string, string?]
    const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
    const all = (whole + fraction).replace(/^0+/, '')
    const leading = whole === '0' ? -1 - (fraction.length - all.length) : whole.length - 1
    return `${all.replace(/0+$/, '')} ${Number(exponent) + leading}`
  }
  const decimal = fc.tuple(fc.nat({ max: 99_999 }), fc.nat({ max: 1000 })).map(([a, b]) => a / (b + 1) + 0.001)
  const dyadic = fc.tuple(fc.maxSafeInteger(), fc.nat({ max: 40 })).map(([a, b]) => Math.abs(a) / 2 ** b + 2 ** -b)
  const any = fc.double({ min: 1e-300, noNaN: true, noDefaultInfinity: true, max: 1e300 })
  fc.assert(
    fc.property(fc.oneof(decimal, dyadic, any), (value) => {
      assert.equal(figures(formatFloat(value, 14, 'E')), exactDigits(value, 14), String(value))
      assert.equal(figures(formatFloat(value, 17, 'E')), exactDigits(value, 17), String(value))
      assert.equal(formatFloat(-value, 17, 'E'), `-${formatFloat(value, 17, 'E')}`)
    }),
    { numRuns: ROUNDS * 5 },
  )
})

test('a member is one that was sent, not one that every object has', () => {
  const names = [...Object.getOwnPropertyNames(Object.prototype), '__proto__']
  for (const name of names) {
    assert.equal(memberOf(parseJson('{"a":1}') as JsonObject, name), undefined, name)
    assert.equal(memberOf(parseJson(`{"a":1,"${name}":"sent"}`) as JsonObject, name), 'sent', name)
    assert.equal(memberOf(parseJson(`{"7":1,"${name}":"sent"}`) as JsonObject, name), 'sent', name)
  }
  assert.deepEqual(memberOf(parseJson('{"__proto__":{"b":2}}') as JsonObject, '__proto__'), { b: 2 })
})
