// Answers to questions about the documentation: the passages of the guides that match best, by full text.

import MiniSearch from 'minisearch'
import { addressOf, PICTURE, slugOf } from './markdown-page.ts'
import { type Part, SEARCH_OPTIONS } from './search-options.ts'

export interface PassagesDeps {
  readonly list: () => Promise<readonly string[]>
  readonly read: (path: string) => Promise<string>
}

export interface Passage {
  /** Title of the document. */
  readonly page: string
  readonly heading: string
  /** On this stack, with the anchor of the heading. */
  readonly address: string
  readonly passage: string
}

/** Decision records and the specification explain why and how, not what a user does. */
const isGuide = (path: string): boolean => !/^docs\/(?:adr|specification)\//.test(path)
/** Long lists, in which every word occurs. */
const isList = (path: string): boolean =>
  /^docs\/(?:errors|events|rights|cli|environment-variables|performance|glossary|README)\.md$/.test(path)
const MAX_PASSAGE = 1_200
const MAX_TERMS = 16
const MAX_QUESTION = 500
export function createPassages({ list, read }: PassagesDeps) {
  let index: Promise<MiniSearch<Part>> | undefined

  /** Built by the first question: most starts have none. */
  async function build(): Promise<MiniSearch<Part>> {
    const search = new MiniSearch<Part>(SEARCH_OPTIONS)
    for await (const parts of indexedParts({ list, read })) await search.addAllAsync(parts, { chunkSize: 20 })
    return search
  }

  /** The best first. */
  async function find(question: string, limit = 4): Promise<Passage[]> {
    index ??= build().catch((error: unknown) => {
      index = undefined
      throw error
    })
    const terms = question.slice(0, MAX_QUESTION).trim().split(/\s+/).slice(0, MAX_TERMS)
    const found = (await index).search(terms.join(' '))
    return found.slice(0, limit).map(({ page, heading, address, passage }) => ({ page, heading, address, passage }))
  }

  return { find }
}

/** The parts of every guide, page by page. */
export async function* indexedParts({ list, read }: PassagesDeps): AsyncIterable<Part[]> {
  let id = 0
  const paths = (await list()).filter(isGuide)
  const keywords = paths.includes(GLOSSARY) ? keywordsOf(await read(GLOSSARY)) : new Map<string, string>()
  for (const path of paths) {
    const words = keywords.get(path) ?? ''
    yield partsOf(path, await read(path)).map((part, place) => ({
      ...part,
      id: id++,
      keywords: place === 0 ? words : '',
      weight: isList(path) ? LIST_WEIGHT : 1,
    }))
  }
}

const GLOSSARY = 'docs/glossary.md'
const LIST_WEIGHT = 0.4

/** Rows such as `| **upsert**, merge | [incremental load](incremental-load.md) |`: the words, by the page that the first link leads to. */
function keywordsOf(glossary: string): ReadonlyMap<string, string> {
  const rows = Array.from(glossary.matchAll(/^\| \*\*(.+?) \|(.*)$/gm), ([, words = '', target = '']) => ({
    words: words.replaceAll('*', ''),
    path: `docs/${/\]\(([\w-]+\.md)/.exec(target)?.[1]}`,
  }))
  const byPath = Map.groupBy(rows, ({ path }) => path)
  return new Map([...byPath].map(([path, found]) => [path, found.map(({ words }) => words).join(', ')]))
}

/** A document by its headings; long sections by their paragraphs. */
function partsOf(path: string, document: string): Passage[] {
  const text = document.replace(PICTURE, '$2.')
  const page = /^# (.+)$/m.exec(text)?.[1] ?? path
  return text
    .split(/^(?=#{1,4} )/m)
    .flatMap((section) => {
      const heading = /^#{1,4} (.+)$/m.exec(section)?.[1] ?? page
      const body = section.replace(/^#{1,4} .+\n?/, '').trim()
      const anchor = heading === page ? '' : `#${slugOf(heading)}`
      return chunksOf(body).map((passage) => ({ page, heading, address: `${addressOf(path)}${anchor}`, passage }))
    })
    .filter(({ passage }) => passage !== '')
}

/** Whole lines, so that a row of a table or a step of a list stays together. */
function chunksOf(body: string): string[] {
  if (body.length <= MAX_PASSAGE) return [body]
  const chunks: string[] = []
  let chunk = ''
  for (const line of body.split('\n')) {
    if (chunk !== '' && chunk.length + line.length > MAX_PASSAGE) {
      chunks.push(chunk.trim())
      chunk = ''
    }
    chunk += `${line.slice(0, MAX_PASSAGE)}\n`
  }
  return [...chunks, chunk.trim()]
}
