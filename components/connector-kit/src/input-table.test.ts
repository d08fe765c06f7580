import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Cells, completeRows, type InputTable, rowsOf } from './input-table.ts'

test('absent values and empty texts stay different, wherever the text is cut', () => {
  const text = '"a","b"\n"x ""y"" , \nz",""\n,\n"1",\n,"2"\n"",,\n'.replace('"",,\n', '"",\n')
  const rows: Cells[] = [
    ['a', 'b'],
    ['x "y" , \nz', ''],
    [null, null],
    ['1', null],
    [null, '2'],
    ['', null],
  ]
  for (let cut = 0; cut <= text.length; cut++) {
    const first = completeRows(text.slice(0, cut), 2, false)
    const second = completeRows(text.slice(first.end), 2, true)
    assert.deepEqual([...first.rows, ...second.rows], rows, `cut at ${cut}`)
  }
  assert.deepEqual(completeRows('"a"\n\n""\n', 1, true).rows, [['a'], [null], ['']])
})

test('rows longer than a chunk are read whole', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-input-'))
  try {
    const path = join(folder, 'long')
    const long = 'ž"'.repeat(500_000)
    writeFileSync(path, `"a","b"\n"1","${long.replaceAll('"', '""')}"\n"2",\n`)
    const column = { base: 'STRING', length: undefined, nullable: true } as const
    const table: InputTable = {
      ...{ id: 'in.c-a.b', path, primaryKey: [], rowsCount: 2 },
      columns: [
        { name: 'a', ...column },
        { name: 'b', ...column },
      ],
    }
    const rows: Cells[] = []
    for await (const row of rowsOf(table)) rows.push(row)
    assert.deepEqual(rows, [
      ['1', long],
      ['2', null],
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
