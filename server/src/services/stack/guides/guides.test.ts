import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ERRORS } from '../../../../../contract/error-codes.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { addressOf, renderGuide } from './markdown-page.ts'

const DOCS = fileURLToPath(new URL('../../../../../docs', import.meta.url))

test('every document is a page, its links lead somewhere, and it loads nothing', async (t) => {
  const { request } = await startTestStack(t)
  const open = (path: string) => request('GET', path, { token: null })
  const names = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  assert.ok(names.length > 15)
  const paths = ['README.md', ...names.map((name) => `docs/${name}`)].map(addressOf)
  const pages = new Map<string, string>()
  for (const path of paths) {
    const answer = await open(path)
    assert.equal(answer.status, 200, path)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.doesNotMatch(answer.text, /<(?:script|img|link|iframe)\b/, path)
    pages.set(path, answer.text)
  }
  const links = [...pages].flatMap(([page, html]) =>
    Array.from(html.matchAll(/href="(#[^"]*|\/[^"]*)"/g), ([, href]) => ({ page, href: href! })),
  )
  assert.ok(links.length > 200, `only ${links.length} links found`)
  const seen = new Set<string>()
  for (const { page, href } of links) {
    const [path = '', anchor] = href.split('#')
    if (path !== '' && !path.startsWith('/help')) {
      if (!seen.has(path)) assert.ok((await open(path)).status < 400, `${page}: ${href}`)
      seen.add(path)
    } else {
      const target = pages.get(path || page)
      assert.ok(target !== undefined, `${page}: ${href}`)
      assert.ok(anchor === undefined || target.includes(`id="${anchor}"`), `${page}: ${href}`)
    }
  }
  assert.equal((await open('/help/no-such-guide')).status, 404)
  assert.equal((await open('/help/../package.json')).status, 404)
  assert.equal((await open('/help/..%2f..%2fpackage')).status, 404)

  const refused = await open('/v2/storage/tokens/verify')
  assert.equal(refused.headers.get('link'), '</help/errors#storage.tokenMissing>; rel="help"')
  for (const code of Object.keys(ERRORS)) assert.ok(pages.get('/help/errors')!.includes(`<tr id="${code}">`), code)
})

test('what a document holds cannot become more than text and links', () => {
  const text = [
    '# A & B',
    '<script>alert(1)</script> [bad](javascript:alert(1)) [gone](../server/x.ts) [other](files.md#two) [there](https://example.com)',
    '',
    '## Two: `x`, "y"!',
    '## Two: `x`, "y"!',
    '',
    '| code |',
    '|---|',
    '| `a.b` |',
  ].join('\n')
  const { title, html } = renderGuide('docs/flows.md', text, new Set(['docs/flows.md', 'docs/files.md']))
  assert.equal(title, 'A & B')
  assert.doesNotMatch(html, /<script|href="javascript|server\/x\.ts/)
  assert.match(html, /<span>gone<\/span> <a href="\/help\/files#two">other<\/a> <a href="https:\/\/example\.com">there<\/a>/)
  assert.match(html, /<h2 id="two-x-y">.*<h2 id="two-x-y-1">/s)
  assert.match(html, /<tr id="a.b">/)
})

test('the addresses of documents', () => {
  assert.deepEqual(['README.md', 'docs/README.md', 'docs/adr/README.md', 'docs/files.md'].map(addressOf), [
    '/help/readme',
    '/help',
    '/help/adr',
    '/help/files',
  ])
  assert.ok(readFileSync(`${DOCS}/README.md`, 'utf8').includes('/help'))
})
