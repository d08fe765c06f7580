// The examples of examples/: what the original extractor does in places that its text leaves open, and mistakes that are answered by name.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { testExamples } from './examples.ts'

const folder = new URL('examples/', import.meta.url)
const counts = readdirSync(folder).map((file) => testExamples(new URL(file, folder)))

test('every file of examples holds some', () => {
  for (const count of counts) assert.ok(count > 0)
})
