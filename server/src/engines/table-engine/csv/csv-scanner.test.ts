// The scanner alone: whatever the borders of the chunks, it sees what a parser written for clarity sees.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRecordReader } from './csv-normalise.ts'
import { type CsvProblem, type CsvScan, createCsvScanner } from './csv-scanner.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 50_000 : 5_000
const RFC = { delimiter: 44, enclosure: 34, escaper: -1 }

function scan(bytes: Uint8Array, chunk: number, columns: number, skipLines = 0): CsvProblem | CsvScan {
  const scanner = createCsvScanner({ dialect: RFC, columns, skipLines, maxRowBytes: 1 << 20 })
  for (let i = 0; i < bytes.length; i += chunk) {
    const problem = scanner.write(bytes.subarray(i, i + chunk))
    if (problem) return problem
  }
  return scanner.end() ?? scanner.result()
}

/** RFC 4180 read one character at a time: rows, or null where the text is none. `quotedBlanks` gets the rows that are `""` alone. */
function parse(text: string, quotedBlanks: string[][] = []): string[][] | null {
  const rows: string[][] = []
  let at = 0
  while (at < text.length) {
    const row: string[] = []
    const isQuoted = text[at] === '"'
    for (;;) {
      let value = ''
      if (text[at] === '"') {
        for (at++; ; at++) {
          if (at >= text.length) return null
          if (text[at] === '"' && text[++at] !== '"') break
          value += text[at]
        }
        if (at < text.length && !',\r\n'.includes(text[at]!)) return null
      } else
        while (at < text.length && !',\r\n'.includes(text[at]!)) {
          if (text[at] === '"') return null
          value += text[at++]
        }
      row.push(value)
      if (text[at] !== ',') break
      at++
    }
    rows.push(row)
    if (isQuoted && row.length === 1 && row[0] === '') quotedBlanks.push(row)
    if (text[at] === '\r' && text[++at] !== '\n') return null
    at++
  }
  return rows
}

const csvLike = fc.string({ unit: fc.constantFrom('"', '"', ',', ',', '\n', '\r\n', '\r', 'a', 'ž', '💥', ' '), maxLength: 24 })

test(`the scanner and a plain parser agree on what is valid, at any chunk size (${ROUNDS} texts)`, () => {
  fc.assert(
    fc.property(csvLike, fc.integer({ min: 1, max: 9 }), (text, chunk) => {
      const quotedBlanks: string[][] = []
      const rows = parse(text, quotedBlanks)
      const columns = rows?.[0]?.length ?? 1
      const found = scan(Buffer.from(text), chunk, columns)
      const whole = scan(Buffer.from(text), 1 << 20, columns)
      assert.deepEqual(found, whole, 'chunk borders change nothing')
      if (rows === null) return assert.ok('kind' in found, `accepted ${JSON.stringify(text)}`)
      // Blank lines are rows of one empty value; with more columns they are fine at the end and wrong elsewhere.
      const isBlank = (row: string[]) => row.length === 1 && row[0] === ''
      const last = columns === 1 ? rows.length : rows.findLastIndex((row) => !isBlank(row)) + 1
      const ragged = rows.slice(0, last).some((row) => row.length !== columns)
      // An empty value in quotes is no blank line.
      if (ragged || (quotedBlanks.length > 0 && columns > 1))
        return assert.ok('kind' in found, `accepted ${JSON.stringify(text)}`)
      assert.ok(!('kind' in found), `refused ${JSON.stringify(text)}`)
      assert.equal(found.rows, last)
    }),
    { numRuns: ROUNDS, examples: [['"\r\n""\n",', 1]] },
  )
})

test(`normalising keeps every value, at any chunk size (${ROUNDS} texts)`, () => {
  fc.assert(
    fc.property(csvLike, fc.integer({ min: 1, max: 9 }), fc.boolean(), (text, chunk, keepsBare) => {
      const rows = parse(text)
      if (!rows || rows.some((row) => row.length !== rows[0]?.length)) return
      const pieces: Buffer[] = []
      const reader = createRecordReader(RFC, 0, rows[0]?.length ?? 1, (bytes) => pieces.push(bytes) > 0, keepsBare)
      const bytes = Buffer.from(text)
      for (let i = 0; i < bytes.length; i += chunk) reader.write(bytes.subarray(i, i + chunk))
      reader.end()
      const normalised = Buffer.concat(pieces).toString()
      assert.deepEqual(parse(normalised), rows)
      if (keepsBare) return
      const expected = rows.map((row) => `${row.map((v) => `"${v.replaceAll('"', '""')}"`).join()}\n`).join('')
      assert.equal(normalised, expected)
    }),
    { numRuns: ROUNDS },
  )
})

test('a byte that is not UTF-8 is found where it is, at any chunk size', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.constantFrom([0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]),
      fc.integer({ min: 1, max: 7 }),
      (text, bad, chunk) => {
        const before = Buffer.from(text.replace(/[",\r\n\0]/g, ''))
        const found = scan(Buffer.concat([before, Buffer.from(bad), Buffer.from('abc\n')]), chunk, 1)
        assert.ok('kind' in found && found.kind === 'utf8')
        assert.ok(Math.abs(found.offset - before.length) <= 3, `${found.offset} instead of ${before.length}`)
      },
    ),
    { numRuns: ROUNDS },
  )
})
