// server/src/main.ts starts the bundle as long as it is as new as the sources.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

test('a start loads the bundle, and the sources when one of them has changed or there is no bundle', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'millrace-main-'))
  t.after(() => rmSync(root, { recursive: true }))
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  write('package.json', '{"type":"module"}')
  write('server/src/start/serve.ts', "console.log('sources')")
  write('dist/serve.js', "console.log('bundle')")
  for (const file of ['main.ts', 'engines/runner/bundle.ts'])
    cpSync(new URL(`../${file}`, import.meta.url), join(root, 'server/src', file))
  const start = () => execFileSync(process.execPath, [join(root, 'server/src/main.ts')], { encoding: 'utf8' }).trim()

  assert.equal(start(), 'sources', 'nobody knows what the bundle was made of')
  const source = 'server/src/start/serve.ts'
  const { size, mtimeMs } = statSync(join(root, source))
  write('dist/sources.json', JSON.stringify({ [source]: `${size} ${mtimeMs}` }))
  assert.equal(start(), 'bundle')
  write('dist/sources.json', JSON.stringify({ [source]: `${size} ${mtimeMs}`, 'server/src/gone.ts': '1 1' }))
  assert.equal(start(), 'sources', 'a source is gone')
  write('dist/sources.json', JSON.stringify({ [source]: `${size} ${mtimeMs}` }))
  appendFileSync(join(root, source), '\n')
  assert.equal(start(), 'sources', 'a source has changed')
})
