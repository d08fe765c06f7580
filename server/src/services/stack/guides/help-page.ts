// What surrounds a guide: links and the search field above it, its contents, the results of a search, and the copy buttons.

import { escapeHtml } from '../../../http/html-page.ts'
import type { RenderedGuide } from './markdown-page.ts'
import type { Passage } from './passages.ts'
import { shortened } from './search-options.ts'

/** A button at every block of code that copies it. The page is whole without it. */
export const COPY_SCRIPT = `
for (const block of document.querySelectorAll('pre')) {
  const button = document.createElement('button')
  button.textContent = 'Copy'
  button.className = 'copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent)
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 1500)
  })
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  frame.append(block, button)
}
`

const STYLE = `<style>
  .code { position: relative } .copy { position: absolute; top: .5rem; right: .5rem; font: inherit; font-size: .8rem; cursor: pointer }
  .toc { border: 1px solid var(--line); border-radius: 8px; padding: .6rem 1rem; margin: 1rem 0 } .toc a { margin-right: 1rem; display: inline-block }
  img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px } .bar { display: flex; gap: 1rem; align-items: center; flex-wrap: wrap } .bar form { flex: 1; min-width: 14rem }
  code .k { color: light-dark(#7a3b9a, #d6a8f0) } code .s { color: light-dark(#2a6b2a, #9ed69e) } code .c { opacity: .65 }
</style>`

export const navigationOf = (version: string, question: string): string => `${STYLE}
<div class="bar quiet"><a href="/help">All guides</a> <a href="/docs">API</a> <a href="/console">Console</a>
<form action="/help/search" role="search"><input type="search" name="q" value="${escapeHtml(question)}" placeholder="Search the guides" aria-label="Search the guides" maxlength="500"></form>
<span>Millrace ${escapeHtml(version)}</span></div>`

const FEWEST_HEADINGS = 3

export function contentsOf(contents: RenderedGuide['contents']): string {
  if (contents.length < FEWEST_HEADINGS) return ''
  const links = contents.map(({ id, text }) => `<a href="#${escapeHtml(id)}">${escapeHtml(text)}</a>`)
  return `<nav class="toc" aria-label="On this page">${links.join('\n')}</nav>\n`
}

const MAX_PAGES = 15

/** One entry for each page, with the passage of it that matches best. */
export function resultsOf(question: string, found: readonly Passage[]): string {
  const pages = [...Map.groupBy(found, ({ page }) => page).values()].slice(0, MAX_PAGES).map(([best]) => best!)
  const items = pages.map(
    ({ page, heading, address, passage }) =>
      `<h2><a href="${escapeHtml(address)}">${escapeHtml(page)}</a></h2>\n<p><b>${escapeHtml(heading === page ? '' : heading)}</b> ${escapeHtml(shortened(passage))}</p>`,
  )
  const title = `<h1>Search</h1>\n`
  if (question.trim() === '') return `${title}<p>Enter some words above.</p>`
  return items.length > 0
    ? `${title}${items.join('\n')}\n`
    : `${title}<p>No matching pages for <b>${escapeHtml(question)}</b>. <a href="/help/glossary">The glossary</a> maps words of other tools.</p>\n`
}
