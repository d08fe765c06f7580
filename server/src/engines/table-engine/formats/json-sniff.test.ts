import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sniffJson } from './json-sniff.ts'

test('columns may be named as members that every object has', () => {
  const { columns, preview } = sniffJson('[{"constructor": 1, "__proto__": "x"}, {"toString": true}]')
  assert.deepEqual(
    columns.map(({ name }) => name),
    ['constructor', '__proto__', 'toString'],
  )
  assert.deepEqual(preview, [
    ['1', 'x', ''],
    ['', '', 'true'],
  ])
})

test('a value that is nested too deeply is a problem of its line', () => {
  const deep = `{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const { rows, problems, isLoadable } = sniffJson(`{"a": 1}\n${deep}\n`)
  assert.deepEqual([rows, isLoadable, problems.length], [1, false, 1])
  assert.match(problems[0]!.message, /^Line 2 is not valid JSON: a value is nested too deeply$/)
})
