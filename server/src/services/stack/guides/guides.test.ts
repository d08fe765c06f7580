import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ERRORS } from '../../../../../contract/error-codes.ts'
import { CAUSES } from '../../../../../contract/failure-causes.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { errorPage } from './error-page.ts'
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
    assert.doesNotMatch(answer.text, /<(?:link|iframe)\b|(?:<img src|srcset)="(?!\/help\/images\/)|<script\b.*<script\b/s, path)
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
  // Every error code and cause has a page of its own, with what to do.
  for (const code of [...Object.keys(ERRORS), ...Object.keys(CAUSES)])
    assert.match(errorPage(code) ?? '', /^# \S+\n[\s\S]*## What to do\n\n\S[\s\S]*## More/, code)
  for (const code of ['storage.tokenMissing', 'http.unauthorized']) {
    const markdown = await open(`/help/errors/${code}.md`)
    assert.match(markdown.headers.get('content-type')!, /^text\/markdown/)
    assert.equal(markdown.text, errorPage(code))
    assert.match((await open(`/help/errors/${code}`)).text, /<h2 id="what-to-do">[\s\S]*href="\/help\/errors"/)
  }
  for (const name of ['no.such', `no.such${'.md'}`, 'constructor', '.md'])
    assert.equal((await open(`/help/errors/${name}`)).status, 404)
  assert.equal((await open('/help/no-such-guide')).status, 404)
  assert.equal((await open('/help/../package.json')).status, 404)
  assert.equal((await open('/help/..%2f..%2fpackage')).status, 404)

  const refused = await open('/v2/storage/tokens/verify')
  assert.equal(refused.headers.get('link'), '</help/errors#storage.tokenMissing>; rel="help"')
  for (const code of Object.keys(ERRORS)) assert.ok(pages.get('/help/errors')!.includes(`<tr id="${code}">`), code)
})

/** Words that people search for, and the page that must be found first. */
const SEARCHES: Readonly<Record<string, string>> = {
  'incremental load': 'incremental-load',
  dedupe: 'incremental-load',
  upsert: 'incremental-load',
  CDC: 'change-capture',
  backfill: 'incremental-load',
  'environment variables': 'environment-variables',
  RBAC: 'people',
  SSO: 'people',
  OIDC: 'people',
  secrets: 'secrets',
  'data types': 'tables',
  partition: 'tables',
  dbt: 'dbt',
  Airflow: 'flows',
  Terraform: 'configurations-as-code',
  retry: 'limits',
  timeout: 'limits',
  'rate limit': 'limits',
  backup: 'backup',
  webhook: 'streams',
  'primary key': 'tables',
  uninstall: 'upgrade',
  'lost token': 'tokens',
}

/** The rows of the glossary such as `| **upsert**, merge | [incremental load](incremental-load.md) |`. */
function wordsOfOtherTools(): readonly { readonly word: string; readonly pages: readonly string[] }[] {
  const rows = readFileSync(`${DOCS}/glossary.md`, 'utf8').matchAll(/^\| \*\*(?!you know)(.+?) \|(.*)$/gm)
  return Array.from(rows, ([, words = '', target = '']) => {
    const pages = Array.from(target.matchAll(/\]\(([\w-]+)\.md/g), ([, page]) => page!)
    return words
      .replaceAll('*', '')
      .split(', ')
      .map((word) => ({ word, pages }))
  }).flat()
}

test('the words people search for lead to the right page first', async (t) => {
  const { request } = await startTestStack(t)
  const pagesFor = async (words: string) => {
    const { status, text } = await request('GET', `/help/search?q=${encodeURIComponent(words)}`, { token: null })
    assert.equal(status, 200)
    return Array.from(text.matchAll(/<h2><a href="\/help\/([\w-]+)/g), ([, page]) => page!)
  }
  const found = await Promise.all(Object.keys(SEARCHES).map(async (words) => [words, (await pagesFor(words))[0]] as const))
  assert.deepEqual(Object.fromEntries(found), SEARCHES)
  // Words of other tools: a page that the glossary names for them is the first or the second.
  const lost: string[] = []
  const mapped = wordsOfOtherTools()
  for (const { word, pages } of mapped) {
    const best = (await pagesFor(word)).slice(0, 2)
    if (!best.some((page) => pages.includes(page))) lost.push(`${word}: ${best} instead of ${pages}`)
  }
  assert.ok(mapped.length > 60, `only ${mapped.length} words`)
  assert.deepEqual(lost, [])
  t.diagnostic(`${found.length} searches and ${mapped.length} words of the glossary lead to the right page`)
  const nothing = await request('GET', '/help/search?q=%3Cscript%3Exyzzyq', { token: null })
  assert.match(nothing.text, /No matching pages for <b>&lt;script&gt;xyzzyq<\/b>/)
})

test('a page has its contents, highlighted code, pictures and the version; scripts run by hash only', async (t) => {
  const { request } = await startTestStack(t)
  const page = await request('GET', '/help/tables', { token: null })
  assert.match(page.text, /<nav class="toc".*href="#data-types">Data types<\/a>/s)
  assert.match(page.text, /<span class="s">/)
  assert.match(page.text, /Millrace 0\.0\.0-test/)
  assert.match(page.headers.get('content-security-policy') ?? '', /form-action 'self'.*img-src 'self'; script-src 'sha256-/)
  const readme = await request('GET', '/help/readme', { token: null })
  const [, dark = '', light = ''] =
    /<picture><source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)"><img src="([^"]+)" alt="[^"]+" loading="lazy" width="1280" height="800"><\/picture>/.exec(
      readme.text,
    ) ?? []
  for (const [image, type] of [
    [dark, 'image/webp'],
    [light, 'image/webp'],
    ['/help/images/load.svg', 'image/svg+xml'],
  ] as const) {
    const picture = await request('GET', image, { token: null })
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, type])
  }
  assert.equal((await request('GET', '/help/images/nothing.png', { token: null })).status, 404)
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
    '',
    '<picture><source media="(prefers-color-scheme: dark)" srcset="images/a-dark.webp"><img src="images/a-light.webp" alt="A" width="1280" height="800" onload="x"></picture>',
  ].join('\n')
  const { title, html } = renderGuide('docs/flows.md', text, new Set(['docs/flows.md', 'docs/files.md']))
  assert.equal(title, 'A & B')
  assert.doesNotMatch(html, /<script|href="javascript|server\/x\.ts|<picture|<img/)
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

test('llms.txt lists every document, and each is there as Markdown', async (t) => {
  const { request } = await startTestStack(t)
  const open = (path: string) => request('GET', path, { token: null })
  const list = await open('/llms.txt')
  assert.match(list.headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(list.text, /^# Millrace\n\n> /)
  const links = Array.from(list.text.matchAll(/^- \[.+\]\((\/help\S+\.md)\)$/gm), ([, link]) => link!)
  assert.ok(links.length > 30, `only ${links.length} documents`)
  for (const link of links) {
    const { status, headers, text } = await open(link)
    assert.equal(status, 200, link)
    assert.match(headers.get('content-type') ?? '', /^text\/markdown/)
    assert.match(text, /^# /m, link)
  }
  assert.equal(links.includes('/help/agents.md'), true)
  for (const name of ['none', '../package.json']) assert.equal((await open(`/help/${name}.md`)).status, 404)
})
