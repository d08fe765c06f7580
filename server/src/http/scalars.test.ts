import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { coerce } from './scalars.ts'

test('every spelling of a boolean that clients send is understood, anything else is left alone', () => {
  for (const value of [true, 1, '1', 'true', 'True']) assert.equal(coerce(Type.Boolean(), value), true)
  for (const value of [false, 0, '0', 'false', 'False', '']) assert.equal(coerce(Type.Boolean(), value), false)
  for (const value of ['yes', 2, null, {}]) assert.equal(coerce(Type.Boolean(), value), value)
})

test('digits become numbers only where a number is asked for and nothing is lost', () => {
  assert.equal(coerce(Type.Integer(), '42'), 42)
  assert.equal(coerce(Type.Integer(), '-1'), -1)
  assert.equal(coerce(Type.Number(), '1.5'), 1.5)
  for (const value of ['1.5', '', '1e3', '12345678901234567890', ' 1']) assert.equal(coerce(Type.Integer(), value), value)
})

test('integers that JavaScript cannot tell from their neighbours are no integers', () => {
  for (const value of [2 ** 53, -(2 ** 53), 1e23]) {
    assert.equal(coerce(Type.Integer(), value), String(value))
    assert.equal(coerce(Type.Union([Type.Integer(), Type.Null()]), value), String(value))
    assert.equal(coerce(Type.Number(), value), value)
  }
  assert.equal(coerce(Type.Integer(), Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
})

test('members of objects and lists are coerced, unknown members are kept', () => {
  const schema = Type.Object({ a: Type.Integer(), list: Type.Array(Type.Boolean()), s: Type.String() })
  assert.deepEqual(coerce(schema, { a: '1', list: ['1', '0'], s: 5, other: '7' }), {
    a: 1,
    list: [true, false],
    s: '5',
    other: '7',
  })
})

test('null means not given, unless the schema names null itself', () => {
  const schema = Type.Object({
    a: Type.Optional(Type.String()),
    anything: Type.Optional(Type.Unknown()),
    cleared: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    inner: Type.Optional(Type.Object({ b: Type.Optional(Type.Integer()) })),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  })
  const sent = { a: null, anything: null, cleared: null, unknown: null, inner: { b: null }, data: { kept: null } }
  assert.deepEqual(coerce(schema as Parameters<typeof coerce>[0], sent), { cleared: null, inner: {}, data: { kept: null } })
})

test('a union keeps a value that already fits', () => {
  const schema = Type.Union([Type.Integer(), Type.Null(), Type.String()])
  assert.equal(coerce(schema, 'text'), 'text')
  assert.equal(coerce(Type.Union([Type.Integer(), Type.Null()]), '5'), 5)
  assert.equal(coerce(Type.Union([Type.Integer(), Type.Null()]), null), null)
})
