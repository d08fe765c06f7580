// Realistic CSV for the table benches: ids, numbers, names, dates, sentences, and one value in twelve quoted with newlines and quotes.
// The same seed gives the same bytes, so that runs can be compared.

import { closeSync, openSync, writeSync } from 'node:fs'

export const CSV_COLUMNS = [
  'id',
  'created',
  'name',
  'email',
  'country',
  'amount',
  'quantity',
  'status',
  'note',
  'comment',
] as const

const FIRST = ['Anna', 'Jiří', 'Marie', 'Søren', 'Chloé', 'Ivan', 'Mei', 'Omar', 'Łucja', 'Peter', 'Zoë', 'Karel', 'Aiko', 'Noah']
const LAST = [
  'Nováková',
  'Smith',
  'García',
  'Dvořák',
  'Müller',
  'Rossi',
  'Tanaka',
  'Olsen',
  'Kowalski',
  'Brown',
  'Silva',
  'Ahmed',
]
const COUNTRIES = ['CZ', 'US', 'DE', 'FR', 'GB', 'PL', 'JP', 'BR', 'SE', 'ES']
const STATUS = ['new', 'paid', 'shipped', 'returned', 'cancelled']
const WORDS =
  'order delivered to the back door please call before arriving customer asked for a refund of one item box was damaged during transport agent confirmed new address and sent invoice again'.split(
    ' ',
  )

/** A small generator of whole numbers below n: fast, repeatable, good enough for data. */
export function random(seed: number): (n: number) => number {
  let state = seed >>> 0 || 1
  return (n) => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % n
  }
}

function sentence(next: (n: number) => number, words: number): string {
  let text = WORDS[next(WORDS.length)]!
  for (let i = 1; i < words; i++) text += ` ${WORDS[next(WORDS.length)]}`
  return text
}

export function csvRow(id: number, next: (n: number) => number): string {
  const first = FIRST[next(FIRST.length)]!
  const last = LAST[next(LAST.length)]!
  const day = `2025-${String(1 + next(12)).padStart(2, '0')}-${String(1 + next(28)).padStart(2, '0')} ${String(next(24)).padStart(2, '0')}:${String(next(60)).padStart(2, '0')}:00`
  const comment =
    next(12) === 0
      ? `"${sentence(next, 8)},\nthen said ""${sentence(next, 5)}""\nand left"`
      : next(3) === 0
        ? ''
        : sentence(next, 6 + next(10))
  return `${id},${day},${first} ${last},user${next(5_000_000)}@example${next(400)}.com,${COUNTRIES[next(10)]},${next(100_000)}.${10 + next(90)},${next(50)},${STATUS[next(5)]},"${sentence(next, 4 + next(6))}",${comment}\n`
}

/** Writes a file of about `bytes` bytes (or exactly `rows` rows) with a header; returns how many rows and bytes it has. */
export function writeCsv(
  path: string,
  size: { readonly bytes?: number; readonly rows?: number },
  options: { readonly seed?: number; readonly idOf?: (row: number) => number } = {},
): { readonly rows: number; readonly bytes: number } {
  const next = random(options.seed ?? 42)
  const idOf = options.idOf ?? ((row: number) => row)
  const file = openSync(path, 'w')
  let bytes = writeSync(file, `${CSV_COLUMNS.join(',')}\n`)
  let rows = 0
  let block = ''
  const more = () => (size.rows === undefined ? bytes < (size.bytes ?? 0) : rows < size.rows)
  while (more()) {
    block += csvRow(idOf(rows), next)
    rows++
    if (block.length > 4_000_000) {
      bytes += writeSync(file, block)
      block = ''
    }
  }
  bytes += writeSync(file, block)
  closeSync(file)
  return { rows, bytes }
}
