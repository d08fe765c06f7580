// The indexes of the documentation name what is there, and links lead somewhere.

import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ComponentDescription } from '../contract/component.ts'
import { ADR_INDEX, adrIndex, decisionRecords } from '../tools/adr-index.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

test('decision records are numbered from 0001 without gaps, and their index is up to date', () => {
  const records = decisionRecords()
  assert.ok(records.length > 0, 'no decision records found')
  assert.deepEqual(
    records.map(({ file, number }) => [file.slice(0, 5), number]),
    records.map((_, index) => String(index + 1).padStart(4, '0')).map((number) => [`${number}-`, number]),
  )
  assert.equal(readFileSync(ADR_INDEX, 'utf8'), adrIndex(), 'run `node tools/adr-index.ts`')
})

test('every decision record states its context and the choice', () => {
  const incomplete = decisionRecords().filter(({ file }) => {
    const text = textOf(`docs/adr/${file}`)
    return !text.includes('**Context.**') || !text.includes('**Choice.**')
  })
  assert.deepEqual(incomplete, [])
})

test('the index of the documentation names every document', () => {
  const index = textOf('docs/README.md')
  const documents = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
  assert.ok(documents.length > 5, 'the search for documents is broken')
  assert.deepEqual(
    documents.filter((name) => !index.includes(`](${name})`)),
    [],
  )
})

test('every relative link of a document leads to a file', () => {
  const documents = globSync('**/*.md', { cwd: ROOT, exclude: (path) => ['node_modules', 'data'].includes(basename(path)) })
  const links = documents.flatMap((path) =>
    [...textOf(path).matchAll(/\]\((?!https?:|#|mailto:)([^)\s#]+)[^)]*\)/g)].map(([, target]) => ({ path, target: target! })),
  )
  assert.ok(links.length > 20, 'the search for links is broken')
  assert.deepEqual(
    links.filter(({ path, target }) => !existsSync(join(ROOT, dirname(path), target))),
    [],
  )
})

test('program files that READMEs and decision records name exist', () => {
  const options = { cwd: ROOT, exclude: (path: string) => ['node_modules', 'data'].includes(basename(path)) }
  const known = new Set(globSync('**/*.{ts,tsx,mjs}', options).map((path) => basename(path)))
  const documents = globSync(['{server,components,cli}/**/README.md', 'docs/adr/0*.md', 'docs/performance.md'], options)
  const named = documents.flatMap((path) =>
    [...textOf(path).matchAll(/`(?:[\w./-]*\/)?([\w.-]+\.(?:ts|mjs))`/g)].map(([, name]) => ({ path, name: name! })),
  )
  assert.ok(named.length > 50, `only ${named.length} names found: the search is broken`)
  assert.deepEqual(
    named.filter(({ name }) => !known.has(name) && name !== 'NNNN-name.ts'),
    [],
  )
})

test('the glossary is sorted and defines every word once', () => {
  const words = [...textOf('docs/glossary.md').matchAll(/^\| (?!word \|)([\w ]+) \|/gm)].map(([, word]) => word!)
  assert.ok(words.length > 30, 'the glossary was not read')
  assert.deepEqual(words, [...new Set(words)].sort())
})

test('docs/components.md lists every field of a description, and no other', () => {
  const [, section = ''] = /^## The description\n(.*?)^## /ms.exec(textOf('docs/components.md')) ?? []
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const listed = rows.flatMap((row) => Array.from((row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g), ([, name]) => name!))
  assert.deepEqual(listed.toSorted(), fieldsOf(ComponentDescription).toSorted())
})

const fieldsOf = (schema: object, above = ''): string[] => {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, object>> } // JSON schema
  return Object.entries(properties).flatMap(([name, inner]) => [above + name, ...fieldsOf(inner, `${above}${name}.`)])
}
