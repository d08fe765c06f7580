// The specification and the program name the same things: addresses of the API, codes of errors.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ERRORS } from '../contract/error-codes.ts'

const read = (path: string): string => readFileSync(new URL(`../docs/${path}`, import.meta.url), 'utf8')
const specification = ['storage', 'platform'].map((document) => read(`specification/${document}.md`)).join('\n')

test('every word of every address of the API is in the specification', () => {
  const { paths } = JSON.parse(read('openapi.json')) as { paths: Readonly<Record<string, unknown>> } // written by tools/openapi-doc.ts
  const addresses = Object.keys(paths)
  assert.ok(addresses.length > 100, `the API document has only ${addresses.length} addresses`)
  const words = new Set(specification.match(/[\w-]+/g))
  const unknown = addresses.filter((address) =>
    address.split('/').some((part) => part !== '' && !part.startsWith('{') && !partsOf(part).every((word) => words.has(word))),
  )
  assert.deepEqual(unknown, [], 'describe these in docs/specification')
})

/** `openapi.json` is two words, `tables-async` is one. */
const partsOf = (part: string): string[] => part.match(/[\w-]+/g) ?? []

test('every error code that the specification names exists', () => {
  const groups = new Set(Object.keys(ERRORS).map((code) => code.split('.')[0]))
  const named = [...specification.matchAll(/`(\w+(?:\.\w+)+)`/g)]
    .map(([, name]) => name!)
    .filter((name) => groups.has(name.split('.')[0]!) && !/^storage\.((input|output)\b|max)|\.json$/.test(name)) // nodes of a configuration, limits, files
  assert.ok(named.length > 50, `only ${named.length} codes found: the search is broken`)
  assert.deepEqual(
    named.filter((name) => !Object.hasOwn(ERRORS, name)),
    [],
  )
})
