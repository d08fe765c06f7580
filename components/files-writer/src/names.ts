// Names of files: dates in them, parts and partitions of them. A name never leads out of its place.

import { UserError } from '../../http-extractor/src/errors.ts'

/** `{{date}}` and its companions, in UTC. */
export function withDates(text: string, now: Date, runId: string): string {
  const iso = now.toISOString()
  const values: Readonly<Record<string, string>> = {
    date: iso.slice(0, 10),
    time: iso.slice(11, 19).replaceAll(':', ''),
    datetime: `${iso.slice(0, 19).replace(/[-:]/g, '')}Z`,
    year: iso.slice(0, 4),
    month: iso.slice(5, 7),
    day: iso.slice(8, 10),
    hour: iso.slice(11, 13),
    run: runId,
  }
  return text.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, name: string) => {
    if (!Object.hasOwn(values, name))
      throw new UserError(`"{{${name.slice(0, 40)}}}" is not known. Use ${Object.keys(values).join(', ')}.`)
    return values[name] ?? ''
  })
}

export function plainPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (parts.length === 0 || parts.includes('..') || path.startsWith('/') || /[\\\u0000-\u001f]/.test(path) || path.length > 800)
    throw new UserError(
      `"${path.slice(0, 100)}" in path cannot be the name of a file: use plain names with slashes between, at most 800 characters.`,
    )
  return parts.join('/')
}

/** As other engines write and read it: `country=CZ/year=2026/orders.parquet`. */
export function inPartition(path: string, columns: readonly string[], values: readonly (string | null)[]): string {
  const cut = path.lastIndexOf('/') + 1
  const folders = columns.map((name, at) => `${encoded(name)}=${encoded(values[at] ?? NO_VALUE) || NO_VALUE}`)
  return `${path.slice(0, cut)}${folders.join('/')}${folders.length > 0 ? '/' : ''}${path.slice(cut)}`
}

const NO_VALUE = '__HIVE_DEFAULT_PARTITION__'
const encoded = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%20', ' ')
    .replace(/^\.+$/, (dots) => '%2E'.repeat(dots.length))

/** `orders-2.csv.gz`: the second part. */
export function partOf(path: string, number: number): string {
  if (number === 1) return path
  const cut = path.lastIndexOf('/') + 1
  const [name = '', ...endings] = path.slice(cut).split('.')
  return `${path.slice(0, cut)}${[`${name}-${number}`, ...endings].join('.')}`
}
