import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowCsv } from './row-csv.ts'

test('a row is quoted, and null differs from every text of it', () => {
  assert.deepEqual(rowCsv(['id', 'note', 'gone'], { id: '1', note: 'say "hi",\nAda', gone: null }), {
    csv: '"id","note","gone"\n"1","say ""hi"",\nAda","<null>"\n',
    nullText: '<null>',
  })
  assert.equal(rowCsv(['id', 'a', 'b'], { id: '<null>', a: '<null>>', b: null }).nullText, '<null>>>')
})
