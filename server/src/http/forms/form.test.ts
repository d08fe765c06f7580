import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '../../../../tests/support/cpu-time.ts'
import { parseForm } from './form.ts'

test('bracket names nest, empty brackets append, consecutive numbers make a list', () => {
  const cases: [string, unknown][] = [
    ['a=1&b=two', { a: '1', b: 'two' }],
    ['a[b][c]=x', { a: { b: { c: 'x' } } }],
    ['tags[]=x&tags[]=y', { tags: ['x', 'y'] }],
    ['a[0]=x&a[1]=y', { a: ['x', 'y'] }],
    ['a[1]=x&a[5]=y', { a: { '1': 'x', '5': 'y' } }],
    ['whereFilters[0][values][0]=a&whereFilters[0][column]=c', { whereFilters: [{ values: ['a'], column: 'c' }] }],
    ['a=1&a=2', { a: '2' }],
    ['a', { a: '' }],
    ['a=1+2%203', { a: '1 2 3' }],
    ['%C5%99=%F0%9F%90%A6', { ř: '🐦' }],
    ['[x]=1', { '[x]': '1' }],
    ['a[=1', { 'a[': '1' }],
    ['', {}],
    ['&&', {}],
  ]
  for (const [text, expected] of cases) assert.deepEqual(parseForm(text), expected, text)
})

test('thousands of appended values cost no more than as many named ones', () => {
  const COUNT = 20_000
  const appended = 'a[]=1&'.repeat(COUNT)
  assert.equal((parseForm(appended).a as string[]).length, COUNT)
  const named = Array.from({ length: COUNT }, (_, n) => `a[n${n}]=1`).join('&')
  assert.ok(cpuMs(() => parseForm(appended)) < 10 * cpuMs(() => parseForm(named)))
  assert.deepEqual(parseForm('a[7]=x&a[]=y&a[b]=z&a[]=w'), { a: { '7': 'x', '8': 'y', b: 'z', '9': 'w' } })
})

test('a field named __proto__ is an ordinary member', () => {
  const form = parseForm('__proto__[polluted]=yes')
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
  assert.deepEqual(Object.keys(form), ['__proto__'])
})

test('broken percent-encoding and endless nesting are refused', () => {
  assert.throws(() => parseForm('a=%zz'), { code: 'malformedRequest' })
  assert.throws(() => parseForm('a=%ff'), { code: 'malformedRequest' })
  assert.throws(() => parseForm(`a${'[b]'.repeat(100)}=x`), { code: 'malformedRequest' })
  assert.throws(() => parseForm('x=1&'.repeat(20_001)), { code: 'malformedRequest' })
})
