// Every case written by hand, against what the reference engine did. `npm run test:manifests -- --cases DIR` runs any other folder.

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { loadCase, runCase } from './case.ts'
import { engine } from './engine.ts'

const FILES = globSync('fixtures/*.json', { cwd: import.meta.dirname }).sort()

test('the cases are all there', () => assert.equal(FILES.length, 177))

for (const file of FILES) {
  const given = loadCase(`${import.meta.dirname}/${file}`)
  test(`case ${given.name}: requests, records, state and waits equal the reference's`, async () =>
    assert.deepEqual(await runCase(given, engine), []))
}
