// The documentation site: complete, every link leads somewhere, and its search finds what the search of the stack finds.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import MiniSearch from 'minisearch'
import { type Part, SEARCH_OPTIONS } from '../server/src/services/stack/guides/search-options.ts'
import { VERSION } from '../server/src/start/version.ts'
import { fileOf, makeSite, withRelativeLinks } from '../tools/site/site.ts'

test('the site has every page with relative links that exist, Markdown, a search index and llms.txt', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-site-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const pages = await makeSite(folder)
  assert.ok(pages.length > 100, String(pages.length))
  const broken: string[] = []
  for (const page of pages) {
    const html = readFileSync(join(folder, page), 'utf8')
    for (const [, target = ''] of html.matchAll(/(?:href|src|srcset)="([^"]+)"/g)) {
      const [path = ''] = target.split('#')
      if (/^(https?:|mailto:)/.test(path) || path === '') continue
      if (path.startsWith('/') || !existsSync(join(folder, dirname(page), path))) broken.push(`${page}: ${target}`)
    }
  }
  assert.deepEqual(broken, [])
  for (const page of pages)
    assert.match(readFileSync(join(folder, page), 'utf8'), new RegExp(`Millrace ${VERSION.replaceAll('.', '\\.')}</span>`), page)
  const { servers } = JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8')) as { servers: { url: string }[] }
  assert.deepEqual(
    servers.map(({ url }) => url),
    ['http://127.0.0.1:8000'],
  )
  const llms = readFileSync(join(folder, 'llms.txt'), 'utf8')
  for (const [, file = ''] of llms.matchAll(/\]\(([^)]+)\)/g)) assert.ok(existsSync(join(folder, file)), file)
  const index = MiniSearch.loadJSON<Part>(readFileSync(join(folder, 'search.json'), 'utf8'), SEARCH_OPTIONS)
  const best = String(index.search('incremental load')[0]?.address)
  assert.match(best, /^incremental-load\.html/)
  assert.match(readFileSync(join(folder, 'search.js'), 'utf8'), /search\.json/)
  assert.match(readFileSync(join(folder, 'adr/0001-node-as-npm-package.html'), 'utf8'), /data-root="\.\.\/"/)
})

test('addresses of the stack become files, and what only a stack has becomes text', () => {
  assert.deepEqual(['/help', '/help/files', '/help/adr/0001-x', '/docs', '/console'].map(fileOf), [
    'index.html',
    'files.html',
    'adr/0001-x.html',
    'api.html',
    undefined,
  ])
  assert.equal(
    withRelativeLinks(
      '<a href="/help/files#a">A</a> <a href="/console">C</a> <source srcset="/help/images/y.webp"><img src="/help/images/x.webp">',
      'adr/0001.html',
    ),
    '<a href="../files.html#a">A</a> <span>C</span> <source srcset="../images/y.webp"><img src="../images/x.webp">',
  )
})
