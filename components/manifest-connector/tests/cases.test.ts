// Every case written by hand, against what the reference engine did. `npm run test:manifests -- --cases DIR` runs any other folder.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { COMPONENTS } from '../src/manifest/components.ts'
import { loadCase, runCase } from './case.ts'
import { engine } from './engine.ts'

const FILES = globSync('fixtures/*.json', { cwd: import.meta.dirname }).sort()

test('the cases are all there', () => assert.equal(FILES.length, 225))

test('docs/connectors.md lists these cases and every component type', () => {
  const guide = readFileSync(new URL('../../../docs/connectors.md', import.meta.url), 'utf8')
  const numbers = / one feature each .*\| (\d+) \| (\d+) \|/.exec(guide)
  assert.deepEqual(numbers?.slice(1).map(Number), [FILES.length, FILES.length], 'run node tools/connectors-doc.ts')
  const listed = [...guide.slice(guide.indexOf('| component type |')).matchAll(/^\| ([A-Z]\w+) \|/gm)].map(([, type]) => type)
  assert.deepEqual(listed, Object.keys(COMPONENTS).sort(), 'run node tools/connectors-doc.ts')
})

for (const file of FILES) {
  const given = loadCase(`${import.meta.dirname}/${file}`)
  test(`case ${given.name}: requests, records, state and waits equal the reference's`, async () =>
    assert.deepEqual(await runCase(given, engine), []))
}
