import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ERRORS_DOCUMENT, errorsDocument } from '../tools/errors-doc.ts'

test('docs/errors.md lists exactly the errors of the catalogue (npm run docs writes it)', () => {
  assert.equal(readFileSync(ERRORS_DOCUMENT, 'utf8'), errorsDocument())
})
