import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sniffCsv } from './csv-sniff.ts'

const sniff = (text: string | Buffer, hints: Partial<Parameters<typeof sniffCsv>[1]> = {}) =>
  sniffCsv(Buffer.from(text as string), { isWhole: true, ...hints })

test('delimiter and enclosure are found', () => {
  const rows = (delimiter: string, quote = '"') =>
    ['id', 'name', 'note'].join(delimiter) +
    '\n' +
    [1, 2, 3].map((i) => [i, `${quote}a, b; c${quote}`, 'x'].join(delimiter)).join('\n')
  for (const delimiter of [',', ';', '\t', '|'])
    for (const enclosure of ['"', "'"]) {
      const found = sniff(rows(delimiter, enclosure))
      assert.deepEqual(
        [found.delimiter, found.enclosure, found.columns.length],
        [delimiter, enclosure, 3],
        `${delimiter} ${enclosure}`,
      )
      assert.equal(found.preview[0]?.[1], 'a, b; c')
    }
  const one = sniff('name\nAnna\nBob\n')
  assert.deepEqual([one.delimiter, one.enclosure, one.columns], [',', '"', [{ name: 'name', type: 'STRING', nullable: false }]])
})

test('an apostrophe in a text is not an enclosure', () => {
  const found = sniff("id,name\n1,O'Neil\n2,D'Arcy\n3,'s Hertogenbosch\n")
  assert.deepEqual([found.delimiter, found.enclosure, found.preview[2]], [',', '"', ['3', "'s Hertogenbosch"]])
})

test('types are the narrowest that every value fits, and codes with a leading zero stay text', () => {
  const { columns } = sniff(
    [
      'i,n,f,b,d,t,s,code,big,gap',
      '1,1.5,1e3,true,2026-01-01,2026-01-01 10:00:00,x,007,9223372036854775808,',
      '-2,2,0.5,FALSE,2026-12-31,2026-12-31T23:59:59.5Z,1,010,1,4',
    ].join('\n'),
  )
  assert.deepEqual(
    columns.map(({ name, type }) => `${name} ${type}`),
    [
      'i INTEGER',
      'n NUMERIC',
      'f FLOAT',
      'b BOOLEAN',
      'd DATE',
      't TIMESTAMP',
      's STRING',
      'code STRING',
      'big NUMERIC',
      'gap INTEGER',
    ],
  )
  assert.deepEqual(
    columns.filter(({ nullable }) => nullable).map(({ name }) => name),
    ['gap'],
  )
})

test('a first line of values is not taken for a header', () => {
  assert.equal(sniff('id,name\n1,Anna\n').hasHeader, true)
  assert.equal(sniff('1,Anna\n2,Bob\n').hasHeader, false)
  assert.equal(sniff('a,a\n1,2\n').hasHeader, false)
  assert.deepEqual(
    sniff('1,Anna\n').columns.map(({ name }) => name),
    ['column_1', 'column_2'],
  )
  assert.equal(sniff('id,name\n1,Anna\n', { hasHeader: false }).rows, 2)
})

test('encodings are told apart, and only UTF-8 can be loaded', () => {
  const text = 'id,město\n1,Plzeň\n2,Žďár\n'
  const le = Buffer.from(text, 'utf16le')
  const be = Buffer.from(le).swap16()
  const cases: [Buffer, string, boolean][] = [
    [Buffer.from(text), 'utf-8', false],
    [Buffer.from(`\uFEFF${text}`), 'utf-8', true],
    [Buffer.concat([Buffer.from([0xff, 0xfe]), le]), 'utf-16le', true],
    [le, 'utf-16le', false],
    [Buffer.concat([Buffer.from([0xfe, 0xff]), be]), 'utf-16be', true],
    [Buffer.from('id,name\n1,Jos\xe9\n2,Ren\xe9\n', 'latin1'), 'windows-1252', false],
  ]
  for (const [bytes, encoding, hasByteOrderMark] of cases) {
    const found = sniff(bytes)
    assert.deepEqual([found.encoding, found.hasByteOrderMark], [encoding, hasByteOrderMark])
    assert.equal(found.isLoadable, encoding === 'utf-8')
    assert.equal(found.columns.length, 2, encoding)
    assert.deepEqual(
      found.problems.map(({ kind }) => kind),
      encoding === 'utf-8' ? [] : ['encoding'],
    )
  }
})

test('each bad line has its line, column and offset, and the next ones are still found', () => {
  const text = 'id,name\n1,Anna\n2\n3,say "hi"\n\n4,b,c\n5,"open" x\n6,ok\n'
  const { problems, isLoadable } = sniff(text)
  assert.deepEqual(
    problems.map(({ kind, line, column }) => `${kind} ${line}:${column}`),
    ['ragged 3:1', 'strayQuote 4:7', 'blankLine 5:1', 'ragged 6:1', 'textAfterQuote 7:9'],
  )
  assert.equal(isLoadable, false)
  for (const { offset, line, text: shown } of problems) {
    assert.equal(text.slice(0, offset).split('\n').length, line)
    assert.equal(text.split('\n')[line - 1], shown)
  }
  assert.match(problems[0]!.message, /1 value instead of 2/)
})

test('bad bytes among good characters are bad lines, not another encoding', () => {
  const good = Buffer.from(`id,name\n${Array.from({ length: 30 }, (_, i) => `${i},Žofie\n`).join('')}`)
  const { encoding, problems } = sniff(Buffer.concat([good, Buffer.from('99,Jos\xe9\n', 'latin1')]))
  assert.equal(encoding, 'utf-8')
  assert.deepEqual(
    problems.map(({ kind, line }) => [kind, line]),
    [['utf8', 32]],
  )
})

test('a quote that is never closed is named where it opens', () => {
  const { problems } = sniff('id,name\n1,"Anna\n2,Bob\n')
  assert.deepEqual(
    problems.map(({ kind, line, column }) => [kind, line, column]),
    [['unterminatedQuote', 2, 3]],
  )
})

test('the beginning of a larger file may be cut anywhere', () => {
  const whole = Buffer.from(`id,name\n${Array.from({ length: 50 }, (_, i) => `${i},"Žofie, ${i}"\n`).join('')}`)
  for (let end = whole.length - 40; end < whole.length; end++) {
    const found = sniff(whole.subarray(0, end), { isWhole: false })
    assert.deepEqual([found.encoding, found.problems, found.columns.length], ['utf-8', [], 2], `cut at ${end}`)
  }
})

test('nothing, blank lines and random bytes are answered', () => {
  assert.deepEqual([sniff('').columns, sniff('').isLoadable], [[], false])
  assert.equal(sniff('\n\n\n').rows, 0)
  let seed = 7
  for (let round = 0; round < 200; round++) {
    const bytes = Buffer.alloc(300)
    for (let i = 0; i < bytes.length; i++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      bytes[i] = seed % 256
    }
    assert.ok(sniff(bytes, { isWhole: round % 2 === 0 }).problems.length <= 20)
  }
})

test('a quote that is never closed is named, and is no reason to take another enclosure', () => {
  const found = sniffCsv(Buffer.from('id,name\n1,"Tea\n2,Milk\n3,Bread\n'), { isWhole: true })
  assert.equal(found.enclosure, '"')
  assert.deepEqual(
    found.problems.map(({ kind }) => kind),
    ['unterminatedQuote'],
  )
})
