import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileNames, idOf } from './file-names.ts'

const HARD = [
  'a b',
  'ž漢',
  'a\\b',
  '..',
  '.',
  '.git',
  'con',
  'NUL.json',
  'a.',
  '%41',
  'a%',
  'a/b',
  '~x',
  'x:y',
  '😀',
  ' ',
  '%7E',
  'a\nb',
]

test('ordinary ids are their own names', () => {
  const ids = ['shop', 'keboola.ex-generic-v2', '01kx_3', 'A.B', '-x', 'a..b']
  const { nameOf, longNames } = fileNames(ids)
  assert.deepEqual(ids.map(nameOf), ids)
  assert.deepEqual(longNames, {})
})

test('every id comes back from its name, and no name leaves its folder', () => {
  const ids = [...HARD, '漢'.repeat(200), 'x'.repeat(200), `${'é'.repeat(100)}1`, `${'é'.repeat(100)}2`]
  const { nameOf, longNames } = fileNames(ids)
  const names = ids.map(nameOf)
  assert.deepEqual(
    names.map((name) => idOf(name, longNames)),
    ids,
  )
  assert.equal(new Set(names.map((name) => name.toLowerCase())).size, ids.length)
  for (const name of names) {
    assert.match(name, /^[A-Za-z0-9_%-][A-Za-z0-9._%~-]*$/)
    assert.ok(name.length <= 200 && !name.endsWith('.'), name)
  }
})

test('ids that differ in case only have different names on a file system that ignores case', () => {
  const ids = ['shop', 'Shop', 'SHOP', 'ž', 'Ž', '%53hop', 'other']
  const { nameOf, longNames } = fileNames(ids)
  assert.equal(nameOf('shop'), 'shop')
  assert.equal(nameOf('Shop'), '%53hop')
  assert.equal(new Set(ids.map((id) => nameOf(id).toLowerCase())).size, ids.length)
  assert.deepEqual(
    ids.map((id) => idOf(nameOf(id), longNames)),
    ids,
  )
})

test('a file name that stands for no id is not decoded', () => {
  for (const name of ['.git', 'a b', '%ff', '%ZZ', 'x~0123456789abcdef', '..', '__proto__~0123456789abcdef'])
    assert.equal(idOf(name, {}), undefined, name)
})
