// Every example of docs/extractor.md is run: its configuration against its exchanges, compared with its tables.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testExamples } from './examples.ts'

const count = testExamples(new URL('../../../docs/extractor.md', import.meta.url))

test('the documentation has an example for every feature', () => {
  assert.ok(count >= 30, `only ${count} examples were found`)
})
