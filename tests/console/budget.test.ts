// What a browser loads before the first screen appears.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const DIST = fileURLToPath(new URL('../../console/dist/', import.meta.url))
const MAX_BYTES = 300_000

test('the scripts and styles of the first screen are under 300 kB packed, and editors are not among them', () => {
  const page = readFileSync(`${DIST}index.html`, 'utf8')
  const names = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1]!)
  assert.ok(names.length > 0, 'the page names its files')
  const files = names.map((name) => readFileSync(`${DIST}${name}`))
  const packed = files.reduce((sum, file) => sum + gzipSync(file).length, 0)
  assert.ok(packed < MAX_BYTES, `${packed} bytes in ${names.join(', ')}`)
  assert.ok(!files.some((file) => file.includes('cm-content')), 'CodeMirror is loaded when an editor is opened')
})
