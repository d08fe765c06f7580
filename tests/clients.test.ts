// docs/clients.md names a test for every correction that clients led to; here it is compared with the titles of those tests.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const ROOT = new URL('../', import.meta.url)
const numbered = (letter: string, last: number, missing = 0) =>
  Array.from({ length: last }, (_, i) => i + 1).flatMap((n) => (n === missing ? [] : [`${letter}${n}`]))
const NUMBERS = [
  ...numbered('A', 37, 34),
  ...numbered('W', 16),
  ...numbered('S', 13),
  ...numbered('M', 8),
  ...numbered('G', 22, 20),
  ...numbered('X', 2),
  ...numbered('Z', 3),
  '(b)',
  ...numbered('', 16),
]

/** Titles of tests, and headings of examples. */
const TITLE = /(?:test\(\s*(?:t, )?['`]|^#+ )([^'`\n]+)/gm

test('every number of the corrections is in docs/clients.md once, with a test whose title has it', () => {
  const guide = readFileSync(new URL('docs/clients.md', ROOT), 'utf8')
  const section = guide.slice(guide.indexOf('## Corrections by number'))
  const rows = [...section.matchAll(/^\| ([^|]+) \| [^|]+ \| (?:`([^`]+)`|\[[^|]+) \|$/gm)]
  const found = rows.flatMap(([, numbers = '']) => numbers.split(', '))
  assert.deepEqual(found.toSorted(), NUMBERS.toSorted())
  for (const [, numbers = '', file] of rows) {
    if (file === undefined) continue
    const titles = [...readFileSync(new URL(file, ROOT), 'utf8').matchAll(TITLE)].map(([, title = '']) => title)
    for (const number of numbers.split(', ')) {
      const isNamed = (title: string) => title.split(/[\s,:]+/).includes(number) || title.includes(`(${number})`)
      assert.ok(titles.some(isNamed), `${file} has no test with ${number} in its title`)
    }
  }
})
