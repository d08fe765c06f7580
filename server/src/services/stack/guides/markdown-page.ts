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

const DARK = '(prefers-color-scheme: dark)'
/** The only HTML of the guides: a picture of the console in both themes, as GitHub shows it. Here it is read as an image of Markdown. */
export const PICTURE =
  /<picture><source media="\(prefers-color-scheme: dark\)" srcset="([\w/-]+)-dark\.webp"><img src="\1-light\.webp" alt="([^"<>[\]]+)" width="1280" height="800"><\/picture>/g

export function renderGuide(path: string, text: string, documents: ReadonlySet<string>): RenderedGuide {
  const markdown = new MarkdownIt({ html: false, linkify: false, highlight: highlighted })
  const { escapeHtml } = markdown.utils
  markdown.renderer.rules.image = (parts, index) => {
    const [, source, name] = /^(?:docs\/)?(images\/([\w-]+)\.(?:webp|svg))$/.exec(String(parts[index]?.attrGet('src'))) ?? []
    const words = escapeHtml(parts[index]?.content ?? '')
    if (source === undefined) return words // pages load nothing from elsewhere
    const isThemed = name?.endsWith('-light')
    const image = `<img src="/help/${source}" alt="${words}" loading="lazy"${isThemed ? ' width="1280" height="800"' : ''}>`
    return isThemed
      ? `<picture><source media="${DARK}" srcset="/help/${source.replace('-light.', '-dark.')}">${image}</picture>`
      : image
  }
  const tokens = markdown.parse(text.replace(FRONT_MATTER, '').replace(PICTURE, '![$2]($1-light.webp)'), {})
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
