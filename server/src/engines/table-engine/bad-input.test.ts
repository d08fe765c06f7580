// A bad file loads nothing; the error names the place and the reason. Each case names the code, the place and a part of the sentence.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { PlatformError } from '../../kit/errors.ts'
import { type LoadOptions, startTables, type TestTables } from './table-engine.fixture.ts'

let tables: TestTables
before(async () => {
  tables = await startTables({ maxRowBytes: 1 << 20, maxInflatedBytes: 20 << 20, maxColumns: 100 })
})
after(async () => {
  assert.equal(tables.objects.open(), 0, 'every opened object was released')
  assert.deepEqual(await tables.scratch(), [], 'no scratch folder is left')
  assert.deepEqual(await tables.keys('tables'), [], 'no bad file left an object behind')
  await tables[Symbol.asyncDispose]()
})

interface BadFile {
  readonly csv: string | Uint8Array | readonly (string | Uint8Array)[]
  readonly options?: LoadOptions
  readonly code?: string
  readonly line?: number
  readonly column?: string
  readonly says: RegExp
}

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const padding = (rows: number) => Array.from({ length: rows }, (_, i) => `${i},"some text\nover two lines"\n`).join('')

const BAD_FILES: Record<string, BadFile> = {
  'a row with too few values': {
    csv: 'a,b\n1,2\n3\n4,5\n',
    line: 3,
    column: 'b',
    says: /1 value instead of 2.*Found: 3⏎4,5⏎\. Give every row/,
  },
  'a row with too many values': { csv: 'a,b\n1,2\n3,4,5\n', line: 3, column: 'number 3', says: /3 values instead of 2/ },
  'a blank line between rows': { csv: 'a,b\n1,2\n\n3,4\n', line: 3, column: 'a', says: /blank line.*Remove the line/ },
  'a quote inside a bare value': { csv: 'a,b\n1,x"y\n', line: 2, column: 'b', says: /quote inside a value.*Found: x"y/ },
  'text behind a closing quote': { csv: 'a,b\n"x"y,2\n', line: 2, column: 'a', says: /behind the closing quote.*Found: "x"y,2/ },
  'a quote that is never closed': { csv: 'a,b\n1,2\n3,"4\n5,6\n', line: 3, column: 'b', says: /never closed.*Found: "4⏎5,6/ },
  'a carriage return in a bare value': { csv: 'a,b\n1,x\ry\n', line: 2, column: 'b', says: /carriage return/ },
  'a NUL byte': { csv: 'a,b\n1,x\0y\n', line: 2, column: 'b', says: /NUL/ },
  'a NUL byte inside quotes': { csv: 'a,b\n1,"x\n\0y"\n', line: 3, column: 'b', says: /NUL/ },
  'bytes that are not UTF-8': {
    csv: latin1('a,b\n1,na\xefve\n'),
    line: 2,
    column: 'b',
    says: /not valid UTF-8.*Save the file with the encoding UTF-8/,
  },
  'a character cut off at the end': { csv: latin1('a,b\n1,\xc5'), line: 2, column: 'b', says: /not valid UTF-8/ },
  'a fault far into the file': { csv: `a,b\n${padding(50_000)}x\n${padding(10)}`, line: 100_002, says: /1 value instead of 2/ },
  'a fault far into a packed file': {
    csv: gzipSync(`a,b\n${padding(50_000)}x\n`),
    options: { gzip: true },
    line: 100_002,
    says: /1 value instead of 2/,
  },
  'a fault in the second slice': {
    csv: ['1,2\n', '1,2\n3,4\n5\n'],
    options: { columns: ['a', 'b'] },
    line: 3,
    says: /^Load error: file1\.csv, line 3/,
  },
  'a packed file that is not gzip': {
    csv: Buffer.from('a,b\n1,2\n'),
    options: { gzip: true, columns: ['a', 'b'] },
    says: /not valid gzip/,
  },
  'a packed file that was cut off': {
    csv: gzipSync(padding(2000)).subarray(0, -2000),
    options: { gzip: true, columns: ['a', 'b'] },
    says: /ends in the middle/,
  },
  'a packed file with a wrong checksum': {
    csv: damaged(gzipSync('1,2\n')),
    options: { gzip: true, columns: ['a', 'b'] },
    says: /not valid gzip/,
  },
  'a gzip bomb': {
    csv: gzipSync('1\n'.repeat(12 << 20)),
    options: { gzip: true, columns: ['a'] },
    says: /unpacks to more than \d+ bytes/,
  },
  'a row beyond the limit': {
    csv: `a,b\n1,2\n3,"${'x'.repeat(2 << 20)}"\n`,
    code: 'rowTooLarge',
    says: /line 3 of file\.csv is longer than the 1048576 bytes/,
  },
  'a value of 100 MB': { csv: `a,b\n1,"${'x'.repeat(100 << 20)}"\n`, code: 'rowTooLarge', says: /line 2/ },
  'too many columns': {
    csv: `${Array.from({ length: 101 }, (_, i) => `c${i}`).join()}\n`,
    code: 'storage.maxNumberOfColumnsExceed',
    says: /100 columns; file\.csv has 101/,
  },
  'a header with a stray quote': { csv: 'a,b"c\n1,2\n', line: 1, column: 'number 2', says: /quote inside a value/ },
  'a header without an end': { csv: `a,"b\n${'x'.repeat(3 << 20)}`, says: /does not end within/ },
  'the same column twice': { csv: 'a,b,A\n1,2,3\n', code: 'storage.tables.columnAlreadyExists', says: /"A" cannot be added/ },
  'a reserved column': {
    csv: '1\n',
    options: { fileColumns: ['_Timestamp'] },
    code: 'storage.tables.columnAlreadyExists',
    says: /reserved/,
  },
  'a delimiter that is also the enclosure': {
    csv: 'a',
    options: { dialect: { delimiter: '"' } },
    code: 'csvImport.invalidCsvParams',
    says: /different characters/,
  },
  'a delimiter of two characters': {
    csv: 'a',
    options: { dialect: { delimiter: '/t' } },
    code: 'csvImport.invalidCsvParams',
    says: /exactly one ASCII character/,
  },
  'a delimiter beyond ASCII': {
    csv: 'a',
    options: { dialect: { delimiter: '¦' } },
    code: 'csvImport.invalidCsvParams',
    says: /exactly one ASCII character/,
  },
  'an enclosure and an escape': {
    csv: 'a',
    options: { dialect: { enclosure: '"', escapedBy: '\\' } },
    code: 'csvImport.invalidCsvParams',
    says: /exclude each other/,
  },
  'an escape at the very end': {
    csv: 'a,b\n1,x\\',
    options: { dialect: { escapedBy: '\\' } },
    line: 2,
    says: /escape character with nothing behind it/,
  },
}

function damaged(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[copy.length - 6]! ^= 0xff
  return copy
}

for (const [what, { csv, options, code = 'invalidCsv', line, column, says }] of Object.entries(BAD_FILES))
  test(`${what} is refused with its place`, async () => {
    const error = await tables.load(csv, options).then(
      () => assert.fail('it was loaded'),
      (e: unknown) => e,
    )
    assert.ok(error instanceof PlatformError, String(error))
    assert.equal(error.code, code, error.message)
    assert.match(error.message, says)
    assert.ok(error.message.length < 500, 'the text is shortened')
    if (line !== undefined) assert.equal(error.details.line, line)
    if (column !== undefined) assert.equal(error.details.column, column)
  })

test('an empty file has an empty header, which the caller turns into its own error', async () => {
  await tables.put('uploads/empty', '')
  await tables.put('uploads/empty.gz', gzipSync(''))
  await tables.put('uploads/zero.gz', '')
  for (const key of ['uploads/empty', 'uploads/empty.gz', 'uploads/zero.gz'])
    assert.deepEqual(await tables.engine.readHeader({ slices: [{ key, gzip: key.endsWith('.gz') }] }), [])
})
