// Every citation of the specification names a section that exists, and no file cites a document that is not in the repository.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SKIPPED_FOLDERS = ['node_modules', 'dist', 'data']

interface Line {
  /** `path:number`, for the message. */
  readonly place: string
  readonly text: string
}

const paths = globSync('**/*.{ts,tsx,mjs,js,md}', { cwd: ROOT, exclude: (path) => SKIPPED_FOLDERS.includes(basename(path)) })
  .map((path) => path.replaceAll('\\', '/'))
  .sort()
const linesOf = (path: string): Line[] =>
  readFileSync(join(ROOT, path), 'utf8')
    .split('\n')
    .map((text, index) => ({ place: `${path}:${index + 1}`, text }))
const lines = paths.filter((path) => path !== 'tests/citations.test.ts').flatMap(linesOf)

const DOCUMENTS = ['storage', 'platform', 'extractor']
const NUMBER = String.raw`\d+(?:\.\d+)*`
/** `spec storage 2.5.3`, `spec platform 1.16, 1.17`, `spec extractor 13 to 16`. */
const CITATION = new RegExp(String.raw`\bspec (${DOCUMENTS.join('|')}) (${NUMBER}(?:(?:, | and | to )${NUMBER})*)`, 'g')

interface Citation {
  readonly place: string
  readonly document: string
  readonly section: string
}

const citationsIn = ({ place, text }: Line): Citation[] =>
  [...text.matchAll(CITATION)].flatMap(([, document, sections]) =>
    sections!.split(/, | and | to /).map((section) => ({ place, document: document!, section })),
  )

const headingsOf = (document: string): string[] =>
  linesOf(`docs/specification/${document}.md`).flatMap(({ text }) => text.match(/^#{2,4} (\d+(?:\.\d+)*)\.? \S/)?.[1] ?? [])

test('every citation of the specification names a section that exists', () => {
  const sections = new Set(DOCUMENTS.flatMap((document) => headingsOf(document).map((section) => `${document} ${section}`)))
  const citations = lines.flatMap(citationsIn)
  for (const document of DOCUMENTS)
    assert.ok(
      citations.some((one) => one.document === document),
      `nothing cites ${document}: the search for citations is broken`,
    )
  const broken = citations.filter(({ document, section }) => !sections.has(`${document} ${section}`))
  assert.deepEqual(
    broken.map(({ place, document, section }) => `${place}: spec ${document} ${section}`),
    [],
  )
})

test('the word spec is followed by a document and a number wherever a comment cites', () => {
  const malformed = lines.filter(({ text }) => /\bspec (storage|platform|extractor)\b(?! \d)/.test(text))
  assert.deepEqual(
    malformed.map(({ place }) => place),
    [],
  )
})

test('section numbers are used once and ascend', () => {
  for (const document of DOCUMENTS) {
    const sections = headingsOf(document)
    assert.ok(sections.length > 20, `${document} has ${sections.length} sections`)
    const ascending = sections.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    assert.deepEqual(sections, ascending, document)
    assert.equal(new Set(sections).size, sections.length, document)
  }
})

test('every section of the specification has a text or sections below it', () => {
  const empty = DOCUMENTS.flatMap((document) => {
    const text = readFileSync(join(ROOT, `docs/specification/${document}.md`), 'utf8')
    return [...text.matchAll(/^(#{2,4}) (.+)\n+(?=(#{2,4}) |$(?![\s\S]))/gm)]
      .filter(([, level, , next]) => next === undefined || next.length <= level!.length)
      .map(([, , title]) => `${document}: ${title}`)
  })
  assert.deepEqual(empty, [])
})

test('every service module names the sections it implements, in its README and its routes', () => {
  const files = paths.filter((path) => /^server\/src\/services\/[^/]+\/[^/]+\/(README\.md|[^/]+\.routes\.ts)$/.test(path))
  assert.ok(files.length > 40, `found only ${files.length} files: the search is broken`)
  assert.deepEqual(
    files.filter((path) => linesOf(path).flatMap(citationsIn).length === 0),
    [],
  )
})

test('every citation of a decision record names one that exists', () => {
  const records = new Set(paths.flatMap((path) => path.match(/^docs\/adr\/(\d{4})-/)?.[1] ?? []))
  const citations = lines.flatMap(({ place, text }) =>
    [...text.matchAll(/(?:\bADR |docs\/adr\/)(\d{4})/g)].map(([, number]) => ({ place, number: number! })),
  )
  assert.ok(citations.length > 0, 'the search for citations is broken')
  assert.deepEqual(
    citations.filter(({ number }) => !records.has(number)),
    [],
  )
})

test('no file cites a document outside the repository', () => {
  const known = new Set(paths.map((path) => basename(path)))
  assert.ok(known.has('CONTRIBUTING.md'), 'the search for files is broken')
  const outside = lines.flatMap(({ place, text }) =>
    [...text.matchAll(/[\w.-]+\.md\b/g)].filter(([name]) => !known.has(name)).map(([name]) => `${place}: ${name}`),
  )
  assert.deepEqual(outside, [])
  const old =
    /\bcontracts?\/(storage|platform|extractor)\b|\bcontract (storage|platform|extractor|sections? \d|\d)|\b(storage|platform|extractor) contract\b|\b(the|of the) seeds\b|\bseeds,/i
  const bare = /^(?!.*\bRFC \d+).*\(sections? \d/
  const isCode = (place: string) => /\.tsx?:\d+$/.test(place)
  assert.deepEqual(
    lines
      .filter(({ place, text }) => old.test(text) || (isCode(place) && bare.test(text)))
      .map(({ place, text }) => `${place}: ${text.trim()}`),
    [],
  )
})
