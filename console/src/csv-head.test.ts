import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headOf, parse } from './csv-head.ts'

test('the delimiter is the one that all rows agree on', () => {
  assert.equal(headOf('a;b;c\n1,5;2;3\n4;5,5;6\n').delimiter, ';')
  assert.equal(headOf('a\tb\n1\t2\n').delimiter, '\t')
  assert.equal(headOf('a,b\n"x;y",2\n').delimiter, ',')
})

test('quotes hold delimiters, line ends and quotes', () => {
  assert.deepEqual(parse('a,"b ""c"", d\ne"\r\n1,2\r\n', ',', 9), [
    ['a', 'b "c", d\ne'],
    ['1', '2'],
  ])
})

test('a last line without its end counts, and no more rows than asked for are read', () => {
  assert.deepEqual(parse('a\nb', ',', 9), [['a'], ['b']])
  assert.deepEqual(parse('a\nb\nc\n', ',', 2), [['a'], ['b']])
})
