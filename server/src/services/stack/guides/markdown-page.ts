// A document of the repository as HTML. Its links lead to pages of the stack; what has no page becomes plain text.

import { posix } from 'node:path'
import MarkdownIt from 'markdown-it'
import { highlighted } from './highlight.ts'

/** `docs/files.md` is `/help/files`, `docs/adr/README.md` is `/help/adr`, `docs/README.md` is `/help`; the README itself is `/help/readme`. */
export function addressOf(path: string): string {
  if (path === 'README.md') return '/help/readme'
  const name = path
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replace(/(^|\/)README$/, '')
  return name === '' ? '/help' : `/help/${name}`
}

export interface RenderedGuide {
  readonly title: string
  readonly html: string
  /** Headings of the second level, with their ids. */
  readonly contents: readonly { readonly id: string; readonly text: string }[]
}

/** Of skills: name and description, for programs. */
const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/

export function renderGuide(path: string, text: string, documents: ReadonlySet<string>): RenderedGuide {
  const markdown = new MarkdownIt({ html: false, linkify: false, highlight: highlighted })
  const { escapeHtml } = markdown.utils
  markdown.renderer.rules.image = (parts, index) => {
    const source = /^(?:docs\/)?(images\/[\w-]+\.(?:png|svg))$/.exec(String(parts[index]?.attrGet('src')))?.[1]
    const words = escapeHtml(parts[index]?.content ?? '')
    return source === undefined ? words : `<img src="/help/${source}" alt="${words}" loading="lazy">` // pages load nothing from elsewhere
  }
  const tokens = markdown.parse(text.replace(FRONT_MATTER, ''), {})
  const slugs = new Map<string, number>()
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 1]
    if (token.type === 'heading_open') token.attrSet('id', unique(slugOf(inline?.content ?? ''), slugs))
    if (token.type === 'tr_open') {
      const code = /^`([\w.-]+)`/.exec(tokens[index + 2]?.content ?? '')?.[1]
      if (code !== undefined) token.attrSet('id', code)
    }
  }
  for (const { children } of tokens) {
    const links = (children ?? []).filter(({ type }) => type === 'link_open' || type === 'link_close')
    for (const [index, link] of links.entries()) {
      if (link.type !== 'link_open') continue
      const target = targetOf(path, String(link.attrGet('href')), documents)
      if (target !== undefined) link.attrSet('href', target)
      else for (const part of [link, links[index + 1]!]) Object.assign(part, { tag: 'span', attrs: null })
    }
  }
  const title = tokens.find((_, index) => tokens[index - 1]?.type === 'heading_open')?.content ?? path
  const contents = tokens.flatMap((token, index) =>
    token.type === 'heading_open' && token.tag === 'h2'
      ? [{ id: String(token.attrGet('id')), text: (tokens[index + 1]?.content ?? '').replaceAll('`', '') }]
      : [],
  )
  return { title, html: markdown.renderer.render(tokens, markdown.options, {}), contents }
}

/** Undefined for a file of the repository that the stack does not serve. */
function targetOf(from: string, href: string, documents: ReadonlySet<string>): string | undefined {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href
  const [file = '', anchor] = href.split('#')
  const path = posix.join(posix.dirname(from), file)
  if (path === 'docs/openapi.json') return '/openapi.json'
  const found = [path, posix.join(path, 'README.md')].find((one) => documents.has(one))
  return found === undefined ? undefined : `${addressOf(found)}${anchor === undefined ? '' : `#${anchor}`}`
}

/** As GitHub names headings, so that the same links work there and here. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')

function unique(slug: string, seen: Map<string, number>): string {
  const count = seen.get(slug) ?? 0
  seen.set(slug, count + 1)
  return count === 0 ? slug : `${slug}-${count}`
}
