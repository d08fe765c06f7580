// `npm run site`: the documentation as static pages in dist/site, rendered by the stack itself (the same pages as /help and /docs), with
// search in the browser, every guide as Markdown beside its page, and llms.txt. All links are relative, so any web server can serve it.

import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import MiniSearch from 'minisearch'
import { build } from 'vite'
import { createLog } from '../../server/src/kit/log.ts'
import { createSecrets } from '../../server/src/kit/secrets.ts'
import { createGuidesModule } from '../../server/src/services/stack/guides/guides.module.ts'
import { addressOf } from '../../server/src/services/stack/guides/markdown-page.ts'
import { type Part, SEARCH_OPTIONS } from '../../server/src/services/stack/guides/search-options.ts'
import { VERSION } from '../../server/src/start/version.ts'
import { createPlatform } from '../../server/src/wiring/platform.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Where a stack is unless it is started with other settings. */
const LOCAL_STACK = 'http://127.0.0.1:8000'
/** Where it is to requests without a network. */
const INJECTED = /http:\/\/localhost(:80)?(?!\d)/g

/** A page of the stack as a file of the site; undefined for what the site does not have. */
export function fileOf(address: string): string | undefined {
  const path = address.replace(/\/$/, '')
  if (path === '/help') return 'index.html'
  if (path === '/docs') return 'api.html'
  if (path === '/openapi.json') return 'openapi.json'
  if (path.startsWith('/help/images/')) return path.slice('/help/'.length)
  if (path.startsWith('/help/')) return `${path.slice('/help/'.length)}.html`
  if (/^\/docs\/components\/[\w.-]+$/.test(path)) return `components/${posix.basename(path)}.html`
  if (/^\/docs\/components\/[\w.-]+\/icon\.svg$/.test(path)) return `components/${path.split('/').at(-2)}.svg`
  return undefined
}

/** Links of a page, relative to the file that it becomes. What leads to the stack itself becomes plain text. */
export function withRelativeLinks(html: string, file: string): string {
  const relative = (address: string): string | undefined => {
    const [path = '', anchor] = address.split('#')
    const target = fileOf(path.split('?')[0] ?? '')
    if (target === undefined) return undefined
    return `${posix.relative(posix.dirname(file), target)}${anchor === undefined ? '' : `#${anchor}`}`
  }
  return html
    .replace(/<a href="(\/[^"]*)">([\s\S]*?)<\/a>/g, (_, address: string, words: string) => {
      const target = relative(address)
      return target === undefined ? `<span>${words}</span>` : `<a href="${target}">${words}</a>`
    })
    .replace(/ (src|srcset)="(\/[^"]*)"/g, (whole, name: string, address: string) => {
      const target = relative(address)
      return target === undefined ? whole : ` ${name}="${target}"`
    })
}

/** The header of the guides, for pages that have none in the stack. */
function withHeader(html: string): string {
  if (html.includes('class="bar')) return html
  const style = '<style>.bar { display: flex; gap: 1rem; align-items: center; flex-wrap: wrap }</style>'
  const links = '<a href="/help">All guides</a> <a href="/docs">API</a>'
  return html.replace(
    '</style>\n<main>',
    `</style>\n${style}\n<div class="bar quiet">${links} <form action="/help/search"></form><span>Millrace ${VERSION}</span></div>\n<main>`,
  )
}

/** Forms of the API reference send to a stack that is named in the page, never to the server of the site. */
const withStackField = (html: string): string =>
  html
    .replaceAll(INJECTED, LOCAL_STACK)
    .replace(
      '<p hidden><input type="url" id="stack"',
      `<p><input type="url" id="stack" value="${LOCAL_STACK}" title="It has to allow this page: MILLRACE_CORS_ORIGINS"`,
    )
    .replace('Token, to send requests to this stack from this page', 'Token, to send requests to your stack from this page')

/** The search field of the stack becomes that of the site. */
function withSearch(html: string, file: string): string {
  const root = posix.relative(posix.dirname(file), '.') || '.'
  const field =
    '<div style="flex: 1"><input type="search" id="search" placeholder="Search" aria-label="Search the documentation"><ul id="found" hidden></ul></div>'
  return html
    .replace('<html lang="en">', `<html lang="en" data-root="${root}/">`)
    .replace(' <a href="/console">Console</a>', '')
    .replace(/<form action="\/help\/search"[\s\S]*?<\/form>/, field)
    .replace('</html>', `<script type="module" src="${root}/search.js"></script>\n</html>`)
}

export async function makeSite(target: string): Promise<readonly string[]> {
  rmSync(target, { recursive: true, force: true })
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    writeFileSync(join(target, file), text)
  }
  const guides = createGuidesModule({ version: VERSION })
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-site-'))
  const platform = await createPlatform({
    version: VERSION,
    region: '',
    bucket: 'millrace',
    bodyLimitBytes: 1,
    corsOrigins: [],
    log: createLog({ level: 'fatal', secrets: createSecrets() }),
    dataDir,
  })
  const written: string[] = []
  try {
    const paths = await guides.list()
    const open = ['/docs', ...paths.map(addressOf)]
    for (const address of open) {
      const { statusCode, body } = await platform.app.inject(address)
      const file = fileOf(address)
      if (statusCode !== 200 || file === undefined) throw new Error(`${address} answers ${statusCode}`)
      write(file, withRelativeLinks(withSearch(withHeader(withStackField(body)), file), file))
      written.push(file)
      for (const [, linked = ''] of body.matchAll(/(?:href|src)="(\/docs\/components\/[\w./-]+)"/g))
        if (!open.includes(linked)) open.push(linked)
    }
    write('openapi.json', (await platform.app.inject('/openapi.json')).body.replaceAll(INJECTED, LOCAL_STACK))
    const pages: string[] = []
    for (const path of paths) {
      const text = await guides.read(path)
      const file = fileOf(addressOf(path))!.replace(/\.html$/, '.md')
      write(file, text)
      if (!/^docs\/(adr|specification)\//.test(path))
        pages.push(`- [${/^# (.+)$/m.exec(text)?.[1] ?? path}](${file}): ${firstSentence(text)}`)
    }
    write(
      'llms.txt',
      `# Millrace\n\n> A self-hosted data platform: extractors, tables, SQL, flows, schedules, apps. Version ${VERSION}.\n\n## Guides\n\n${pages.join('\n')}\n\n## API\n\n- [OpenAPI](openapi.json)\n`,
    )
    const index = new MiniSearch<Part>(SEARCH_OPTIONS)
    for await (const parts of guides.indexedParts())
      index.addAll(parts.map((part) => ({ ...part, address: addressOnSite(part.address) })))
    write('search.json', JSON.stringify(index))
  } finally {
    await platform.close()
    await rm(dataDir, { recursive: true })
  }
  cpSync(join(ROOT, 'docs/images'), join(target, 'images'), { recursive: true })
  await bundleSearch(target)
  return written
}

function addressOnSite(address: string): string {
  const [path = '', anchor] = address.split('#')
  return `${fileOf(path)}${anchor === undefined ? '' : `#${anchor}`}`
}

function firstSentence(text: string): string {
  const paragraph = text
    .split(/\n\n+/)
    .find((part) => !/^(#|```|\||!|\[|<)/.test(part.trim()))
    ?.replace(/\s+/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return /^.*?[.!?](?= |$)/.exec(paragraph ?? '')?.[0] ?? ''
}

async function bundleSearch(target: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-site-search-'))
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: folder,
      emptyOutDir: true,
      lib: { entry: join(ROOT, 'tools/site/search.ts'), formats: ['es'], fileName: () => 'search.js' },
    },
  })
  copyFileSync(join(folder, 'search.js'), join(target, 'search.js'))
  await rm(folder, { recursive: true })
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { target: { type: 'string', default: 'dist/site' } } })
  const written = await makeSite(resolve(values.target))
  console.log(`${written.length} pages in ${resolve(values.target)}`)
}
