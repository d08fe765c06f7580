// What loading promises. Every test runs real DuckDB workers against a folder.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { addColumn, countRows, dropColumn, emptySnapshot, referencedKeys } from './snapshot.ts'
import { startTables, type TestTables } from './table-engine.fixture.ts'

/** The time that a load takes grows with the square of its columns. */
const WIDE_COLUMNS = process.env.MILLRACE_LONG ? 4000 : 1000

let tables: TestTables
before(async () => {
  tables = await startTables()
})
after(async () => {
  assert.equal(tables.objects.open(), 0, 'every opened object was released')
  assert.deepEqual(await tables.scratch(), [], 'no scratch folder is left')
  await tables[Symbol.asyncDispose]()
})

test('values are text, and an empty string stays an empty string', async () => {
  const { snapshot, rowsInFile } = await tables.load('id,name\n1,\n2,""\n007," x "\n')
  assert.equal(rowsInFile, 3)
  assert.equal(countRows(snapshot), 3)
  assert.deepEqual(await tables.rows(snapshot), [
    ['1', ''],
    ['2', ''],
    ['007', ' x '],
  ])
})

const SAME_TABLE: Record<string, string> = {
  LF: 'a,b\n1,"x\ny"\n2,z\n',
  CRLF: 'a,b\r\n1,"x\ny"\r\n2,z\r\n',
  'mixed line ends': 'a,b\r\n1,"x\ny"\n2,z\r\n',
  'no line end at the end': 'a,b\n1,"x\ny"\n2,z',
  'a byte order mark': '\ufeffa,b\n1,"x\ny"\n2,z\n',
  'a byte order mark and CRLF': '\ufeff"a","b"\r\n1,"x\ny"\r\n2,z\r\n',
  'blank lines at the end': 'a,b\n1,"x\ny"\n2,z\n\n\n',
}
for (const [what, csv] of Object.entries(SAME_TABLE))
  test(`a file with ${what} loads the same rows, plain and packed`, async () => {
    for (const gzip of [false, true]) {
      const { snapshot } = await tables.load(csv, { gzip })
      assert.deepEqual(
        snapshot.columns.map((c) => c.name),
        ['a', 'b'],
      )
      assert.deepEqual(await tables.rows(snapshot), [
        ['1', 'x\ny'],
        ['2', 'z'],
      ])
    }
  })

test('line breaks inside quotes are kept as they are', async () => {
  const { snapshot } = await tables.load('a,b\r\n1,"x\r\ny\rz"\r\n')
  assert.deepEqual(await tables.rows(snapshot), [['1', 'x\r\ny\rz']])
})

test('in a file of one column a blank line is a row with an empty value', async () => {
  const { snapshot } = await tables.load('a\nx\n\ny\n\n')
  assert.deepEqual(await tables.rows(snapshot), [['x'], [''], ['y'], ['']])
})

test('a header alone gives a table without rows', async () => {
  for (const csv of ['a,b\n', 'a,b', 'a,b\r\n']) {
    const { snapshot } = await tables.load(csv)
    assert.deepEqual(snapshot.segments, [])
    assert.deepEqual(await tables.rows(snapshot), [])
  }
})

test('delimiters, enclosures and escapes of other dialects are read', async () => {
  const cases = [
    { dialect: { delimiter: '\\t' }, csv: 'a\tb\n1\t"x\ty"\n' },
    { dialect: { delimiter: ';', enclosure: "'" }, csv: "a;b\n1;'x\ty'\n" },
    { dialect: { delimiter: '|', enclosure: '' }, csv: 'a|b\n1|x\ty\n' },
    { dialect: { delimiter: ',', escapedBy: '\\' }, csv: 'a,b\n1,x\\\ty\n' },
  ]
  for (const { dialect, csv } of cases) {
    const { snapshot } = await tables.load(csv, { dialect })
    assert.deepEqual(await tables.rows(snapshot), [['1', 'x\ty']])
  }
  const quotes = await tables.load('a|b\n1|say "hi"\n', { dialect: { delimiter: '|', enclosure: '' } })
  assert.deepEqual(await tables.rows(quotes.snapshot), [['1', 'say "hi"']])
  const escapes = await tables.load('a,b\n1,x\\,y\\\nz\\\\\n', { dialect: { escapedBy: '\\' } })
  assert.deepEqual(await tables.rows(escapes.snapshot), [['1', 'x,y\nz\\']])
})

test('fields go to columns by name; ignored ones are left out and absent columns are empty', async () => {
  const snapshot = emptySnapshot([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  const loaded = await tables.load('3,x,1\n', { snapshot, fileColumns: ['c', null, 'a'] })
  assert.deepEqual(await tables.rows(loaded.snapshot), [['1', '', '3']])
})

test('lines before the data are passed over, whatever they hold', async () => {
  const { snapshot } = await tables.load('a report "of\nmany, things\na,b\n1,2\n', { fileColumns: ['a', 'b'], skipLines: 3 })
  assert.deepEqual(await tables.rows(snapshot), [['1', '2']])
})

test('a header that spans lines is one row', async () => {
  const { snapshot } = await tables.load('"first\nname",b\n1,2\n')
  assert.deepEqual(await tables.rows(snapshot), [['1', '2']])
})

test('slices load in their order, many small ones into one segment', async () => {
  const slices = Array.from({ length: 12 }, (_, i) => `${i},x\n${i},y\n`)
  const { snapshot, rowsInFile } = await tables.load(slices, { columns: ['a', 'b'], gzip: true })
  assert.equal(rowsInFile, 24)
  assert.equal(snapshot.segments.length, 1)
  assert.deepEqual(
    (await tables.rows(snapshot)).map((row) => row.join()),
    slices.flatMap((slice) => slice.trimEnd().split('\n')),
  )
})

test('a full load replaces all rows, an incremental one without a key appends', async () => {
  const first = await tables.load('a\n1\n2\n')
  const appended = await tables.load('a\n2\n3\n', { snapshot: first.snapshot, mode: 'incremental' })
  assert.deepEqual(await tables.rows(appended.snapshot), [['1'], ['2'], ['2'], ['3']])
  const replaced = await tables.load('a\n9\n', { snapshot: appended.snapshot })
  assert.deepEqual(await tables.rows(replaced.snapshot), [['9']])
  assert.deepEqual(await tables.rows(first.snapshot), [['1'], ['2']], 'an older snapshot still reads as it was')
})

test('with a primary key the last row of a key wins, in a full load too', async () => {
  const full = await tables.load('id,v\n1,a\n2,b\n1,c\n3,d\n1,e\n', { primaryKey: ['id'] })
  assert.equal(full.rowsDuplicate, 2)
  assert.equal(full.rowsWritten, 3)
  assert.equal(countRows(full.snapshot), 3)
  assert.deepEqual(await tables.rows(full.snapshot), [
    ['2', 'b'],
    ['3', 'd'],
    ['1', 'e'],
  ])
})

test('an incremental load by key replaces, adds, and leaves what did not change alone', async () => {
  const first = await tables.load('id,v\n1,a\n2,b\n3,c\n4,d\n', { primaryKey: ['id'], loadedAt: 1_000 })
  const second = await tables.load('id,v\n2,B\n3,c\n5,x\n5,e\n', {
    snapshot: first.snapshot,
    mode: 'incremental',
    loadedAt: 2_000,
  })
  const { rowsInFile, rowsWritten, rowsReplaced, rowsUnchanged, rowsDuplicate } = second
  assert.deepEqual(
    { rowsInFile, rowsWritten, rowsReplaced, rowsUnchanged, rowsDuplicate },
    { rowsInFile: 4, rowsWritten: 2, rowsReplaced: 1, rowsUnchanged: 1, rowsDuplicate: 1 },
  )
  assert.equal(countRows(second.snapshot), 5)
  assert.deepEqual(await tables.rows(second.snapshot, { orderBy: [{ column: 'id', order: 'ASC' }] }), [
    ['1', 'a'],
    ['2', 'B'],
    ['3', 'c'],
    ['4', 'd'],
    ['5', 'e'],
  ])
  assert.deepEqual(await tables.rows(second.snapshot, { changedSince: 2_000 }), [
    ['2', 'B'],
    ['5', 'e'],
  ])
  assert.deepEqual(await tables.rows(second.snapshot, { changedUntil: 2_000 }), [
    ['1', 'a'],
    ['3', 'c'],
    ['4', 'd'],
  ])
  const again = await tables.load('id,v\n2,B\n5,e\n', { snapshot: second.snapshot, mode: 'incremental', loadedAt: 3_000 })
  assert.deepEqual(again.snapshot, second.snapshot, 'the same rows again change nothing at all')
})

test('a key of several columns compares them one by one', async () => {
  const first = await tables.load('a,b,v\nx,yz,1\nxy,z,2\n', { primaryKey: ['a', 'b'] })
  const second = await tables.load('a,b,v\nxy,z,3\n', { snapshot: first.snapshot, mode: 'incremental' })
  assert.deepEqual(await tables.rows(second.snapshot), [
    ['x', 'yz', '1'],
    ['xy', 'z', '3'],
  ])
})

test('many loads by key keep each key once, and compaction changes neither rows nor load times', async () => {
  let { snapshot } = await tables.load(`id,v\n${Array.from({ length: 50 }, (_, i) => `${i},0`).join('\n')}\n`, {
    primaryKey: ['id'],
    loadedAt: 0,
  })
  const expected = new Map(Array.from({ length: 50 }, (_, i) => [String(i), '0']))
  for (let round = 1; round <= 12; round++) {
    const changed = Array.from({ length: 10 }, (_, i) => (i * 7 + round * 11) % 70)
    for (const id of changed) expected.set(String(id), String(round))
    const load = await tables.load(`id,v\n${changed.map((id) => `${id},${round}`).join('\n')}\n`, {
      snapshot,
      mode: 'incremental',
      loadedAt: round,
    })
    snapshot = load.snapshot
    assert.equal(countRows(snapshot), expected.size)
  }
  const sorted = { orderBy: [{ column: 'id', order: 'ASC', dataType: 'INTEGER' }] } as const
  const rows = [...expected].sort((a, b) => Number(a[0]) - Number(b[0]))
  assert.deepEqual(await tables.rows(snapshot, sorted), rows)
  const compacted = await tables.engine.compact({ snapshot, keyPrefix: 'tables/t/', force: true })
  assert.ok(compacted)
  assert.ok(compacted.segments.length < snapshot.segments.length)
  assert.deepEqual(await tables.rows(compacted), await tables.rows(snapshot), 'the order of rows stays')
  assert.deepEqual(await tables.rows(compacted, { changedSince: 7 }), await tables.rows(snapshot, { changedSince: 7 }))
  assert.equal(await tables.engine.compact({ snapshot: compacted, keyPrefix: 'tables/t/' }), null)
})

test('columns come and go without touching a file', async () => {
  const first = await tables.load('a,b\n1,2\n')
  const wider = addColumn(first.snapshot, { name: 'c' })
  assert.deepEqual(await tables.rows(wider), [['1', '2', '']])
  const second = await tables.load('a,b,c\n3,4,5\n', { snapshot: wider, mode: 'incremental' })
  const narrower = dropColumn(second.snapshot, 'b')
  assert.deepEqual(await tables.rows(narrower), [
    ['1', ''],
    ['3', '5'],
  ])
  const again = addColumn(narrower, { name: 'b' })
  assert.deepEqual(
    await tables.rows(again),
    [
      ['1', '', ''],
      ['3', '5', ''],
    ],
    'a column added again is new: old values stay dropped',
  )
})

test('column names may be anything SQL or Parquet would stumble over', async () => {
  const names = ['file_row_number', 'select', 'with "quotes"', "o'clock", 'c2', 'filename', 'ěščř', 'a.b', 'pos']
  const { snapshot } = await tables.load(
    `${names.map((n) => `"${n.replaceAll('"', '""')}"`).join()}\n${names.map((_, i) => i).join()}\n`,
    { primaryKey: ['file_row_number', "o'clock"] },
  )
  assert.deepEqual(await tables.rows(snapshot), [names.map((_, i) => String(i))])
  const more = await tables.load(`${names.map((n) => `"${n.replaceAll('"', '""')}"`).join()}\n0,x,2,3,4,5,6,7,8\n`, {
    snapshot,
    mode: 'incremental',
  })
  assert.deepEqual(await tables.rows(more.snapshot, { columns: ['select', "o'clock"] }), [['x', '3']])
})

test('the load time can come from the file', async () => {
  const { snapshot } = await tables.load('1,2020-01-01 00:00:00\n2,2020-01-01T01:00:00Z\n', {
    fileColumns: ['a', '_timestamp'],
    loadedAt: Date.UTC(2026, 0, 1),
  })
  assert.deepEqual(await tables.rows(snapshot, { changedSince: Date.UTC(2020, 0, 1, 0, 30) }), [['2']])
})

test(`${WIDE_COLUMNS} columns and rows of several megabytes load`, async () => {
  const names = Array.from({ length: WIDE_COLUMNS }, (_, i) => `column_${i}`)
  const wide = await tables.load(
    `${names.join()}\n${Array.from({ length: 50 }, (_, r) => names.map((_, i) => r * i).join()).join('\n')}\n`,
  )
  assert.equal(wide.rowsInFile, 50)
  assert.deepEqual(await tables.rows(wide.snapshot, { columns: [names.at(-1)!], limit: 2 }), [['0'], [String(WIDE_COLUMNS - 1)]])
  const long = 'ž'.repeat(3 << 20)
  const deep = await tables.load(`a,b\n1,"${long}"\n2,x\n`)
  assert.deepEqual(await tables.rows(deep.snapshot), [
    ['1', long],
    ['2', 'x'],
  ])
})

for (const columns of [1200, WIDE_COLUMNS === 4000 ? 4000 : 1500]) {
  for (const value of ['x', '']) {
    test(`${columns} columns of ${value || 'empty texts'} in 100 rows load, and leave as Parquet`, async () => {
      const names = Array.from({ length: columns }, (_, i) => `c${i}`)
      const row = names.map(() => value).join()
      const { snapshot } = await tables.load(`${names.join()}\n${`${row}\n`.repeat(100)}`)
      assert.equal(countRows(snapshot), 100)
      assert.deepEqual(await tables.rows(snapshot, { columns: ['c0', names.at(-1)!], limit: 1 }), [[value, value]])
      const { slices } = await tables.engine.unload({ snapshot, format: 'parquet', keyPrefix: `exports/${columns}${value}/` })
      assert.equal(slices.length, 1)
    })
  }
}

test('a key scan larger than the memory of a worker spills to disk and still finds every duplicate', async () => {
  await using small = await startTables({ workerMemoryMb: 224, longWorkers: 1 })
  const rows = Array.from(
    { length: 600_000 },
    (_, i) => `a rather long key that fills the memory ${(i * 7919) % 540_000}\n`,
  ).join('')
  const onDisk = new Set<string>()
  const look = setInterval(() => {
    for (const file of readdirSync(join(small.root, 'scratch/spill'), { encoding: 'utf8', recursive: true }))
      if (file.endsWith('.tmp')) onDisk.add(file)
  }, 5)
  const { snapshot, rowsDuplicate } = await small.load(rows, {
    columns: ['id'],
    snapshot: emptySnapshot([{ name: 'id' }], { primaryKey: ['id'] }),
  })
  clearInterval(look)
  assert.notEqual(onDisk.size, 0, 'it fits into the memory')
  assert.equal(rowsDuplicate, 60_000)
  assert.equal(countRows(snapshot), 540_000)
})

test('every object a snapshot names exists, and a load leaves no other', async () => {
  const prefix = 'tables/alone/'
  const first = await tables.load('id,v\n1,a\n2,b\n', { primaryKey: ['id'], keyPrefix: prefix })
  const second = await tables.load('id,v\n1,c\n', { snapshot: first.snapshot, mode: 'incremental', keyPrefix: prefix })
  const referenced = [...new Set([...referencedKeys(first.snapshot), ...referencedKeys(second.snapshot)])]
  assert.deepEqual((await tables.keys(prefix)).map((name) => prefix + name).sort(), referenced.sort())
})

test('rows that the file marks as deleted leave the table by their key, and the last row of a key wins', async () => {
  for (const typed of [false, true]) {
    const columns = [{ name: 'id' }, { name: 'name' }]
    const empty = emptySnapshot(columns, { primaryKey: ['id'], typed })
    const first = await tables.load('id,name\n1,a\n2,b\n3,c\n4,d\n5,e\n', { snapshot: empty })
    const changes = 'id,name,gone\n1,a,true\n2,B,false\n6,f,\n6,f,1\n7,g,true\n7,G,0\n5,e,false\n8,,true\n'
    const request = { mode: 'incremental', deletedColumn: 'gone' } as const
    const { snapshot, ...counts } = await tables.load(changes, { ...request, snapshot: first.snapshot })
    assert.deepEqual((await tables.rows(snapshot)).sort(), [
      ['2', 'B'],
      ['3', 'c'],
      ['4', 'd'],
      ['5', 'e'],
      ['7', 'G'],
    ])
    assert.deepEqual(
      [
        counts.rowsInFile,
        counts.rowsWritten,
        counts.rowsReplaced,
        counts.rowsUnchanged,
        counts.rowsDuplicate,
        counts.rowsDeleted,
      ],
      [8, 2, 1, 1, 2, 1],
    )
    assert.deepEqual(
      snapshot.columns.map(({ name }) => name),
      ['id', 'name'],
    )
    const added = addColumn(snapshot, { name: 'later' }) // it takes the number that the mark had
    assert.deepEqual((await tables.rows(added)).map(([, , later]) => later ?? '').join(''), '')
    const whole = await tables.load('id,name,gone\n1,a,false\n1,a,true\n2,b,false\n', { deletedColumn: 'gone', snapshot })
    assert.deepEqual(await tables.rows(whole.snapshot), [['2', 'b']])
  }
})
