// How the guides are searched: by the stack, and by the script of the documentation site. No module of Node is needed here.

import type { Options } from 'minisearch'

/** A part of a page as the index has it. */
export interface Part {
  readonly id: number
  /** Title of the document. */
  readonly page: string
  readonly heading: string
  /** On this stack, with the anchor of the heading. */
  readonly address: string
  readonly passage: string
  /** What other tools call it, by the glossary; with the first part of a page. */
  readonly keywords: string
  readonly weight: number
}

/** Words that every question has and that find nothing. */
const STOP = new Set(
  'a an and are can do does for from how i in is it my of on or that the this to what when where which why with'.split(' '),
)

/** Words, and names with dots as a whole: the code of an error finds its line. */
const termsOf = (text: string): string[] => [...text.split(/[\n\r\p{Z}\p{P}]+/u), ...(text.match(/\w+(?:\.\w+)+/g) ?? [])]

export const SEARCH_OPTIONS: Options<Part> = {
  fields: ['page', 'heading', 'keywords', 'passage'],
  storeFields: ['page', 'heading', 'address', 'passage', 'weight'],
  tokenize: termsOf,
  processTerm: (term) => (STOP.has(term.toLowerCase()) ? null : term.toLowerCase()),
  searchOptions: {
    boost: { keywords: 12, heading: 3, page: 2 },
    boostDocument: (_id, _term, stored) => Number(stored?.weight ?? 1),
    prefix: (term) => term.length > 3,
    fuzzy: (term) => (term.length > 5 ? 0.15 : false),
  },
}

const SHOWN_CHARACTERS = 260

/** The beginning of a passage, without the signs of Markdown. */
export function shortened(passage: string): string {
  const plain = passage
    .replace(/```\w*|[`*|]|\]\([^)]*\)|\[/g, ' ')
    .replace(/-{3,}/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return plain.length > SHOWN_CHARACTERS ? `${plain.slice(0, SHOWN_CHARACTERS)} ...` : plain
}
