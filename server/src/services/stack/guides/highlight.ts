// Code of the guides as HTML: strings, comments and keywords marked, everything else unchanged.

import { escapeHtml } from '../../../http/html-page.ts'

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`
const WORDS = {
  sh: 'for do done if then else fi export in return local echo',
  sql: 'select from where group by order create table as with join on limit copy to count sum show describe',
  json: 'true false null',
  python: 'import from def return for in if else with as',
} as const
const COMMENT = {
  sh: String.raw`(?<=^|\s)#[^\n]*`,
  sql: String.raw`--[^\n]*`,
  json: '(?!)',
  python: String.raw`#[^\n]*`,
} as const

const isLanguage = (name: string): name is keyof typeof WORDS => Object.hasOwn(WORDS, name)

const PATTERNS = Object.fromEntries(
  Object.entries(WORDS).map(([name, words]) => [
    name,
    new RegExp(
      `(?<c>${COMMENT[name as keyof typeof WORDS]})|(?<s>${STRING})|(?<k>\\b(?:${words.replaceAll(' ', '|')})\\b)`,
      name === 'sql' ? 'gim' : 'gm',
    ),
  ]),
)

/** The empty text for languages without marks: the caller then escapes the code itself. */
export function highlighted(code: string, language: string): string {
  const [name = ''] = language.split(' ')
  if (!isLanguage(name)) return ''
  let html = ''
  let at = 0
  for (const match of code.matchAll(PATTERNS[name]!)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? ['k']
    html += `${escapeHtml(code.slice(at, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`
    at = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(at))
}
