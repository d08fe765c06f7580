/** Names of columns and tables (spec extractor 13.5). */
import { hash } from 'node:crypto'

const MAX_LENGTH = 64

/** The name of the column at a place: the keys from the item down, joined by dots. */
export function columnName(path: string): string {
  return cleanName(`[].${path}`)
}

/** Keeps letters, digits and hyphens; everything else becomes `_`, never twice in a row, never at an end; shortens what is too long. */
export function cleanName(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1') // a letter outside ASCII is several bytes, each replaced
  const plain = bytes.replace(/[^A-Za-z0-9-]/g, '_')
  return shorten(plain)
    .replace(/[^A-Za-z0-9-]+/g, '_')
    .replace(/^_+|_+$/g, '')
}

/** Initials (or a hash when there is one word only), then the end of the text from an underscore on. */
export function shorten(text: string): string {
  if (text.length <= MAX_LENGTH) return text
  const words = text.replace(/^['-]+|-+$/g, '').match(/[A-Za-z'-]+/g) ?? []
  const short = `${words.length > 1 ? initials(text) : hash('md5', text)}_`
  const from = text.indexOf('_', Math.max(0, text.length - (MAX_LENGTH - short.length)))
  return short.length >= MAX_LENGTH || from === -1 ? short : short + text.slice(from)
}

/** Underscores are parts of words here, so only hyphens separate them. */
function initials(text: string): string {
  return (text.match(/\b\w/g) ?? []).join('')
}

/** The name itself, or the first of `name_u0`, `name_u1`, ... that is free. */
export function uniqueName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name
  for (let i = 0; ; i++) if (!isTaken(`${name}_u${i}`)) return `${name}_u${i}`
}
