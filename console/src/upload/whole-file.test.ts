import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readWhole, splitLines } from './whole-file.ts'

const DIALECT = { delimiter: ',', enclosure: '"', hasHeader: true, columns: 2 }
const never = new AbortController().signal
const read = (content: string | Buffer, more = {}) => readWhole(new Blob([content as BlobPart]), { ...DIALECT, ...more }, never)
const found = async (content: string | Buffer, more = {}) => {
  const { rows, bad } = await read(content, more)
  return [rows, ...bad.map(({ line, kind }) => `${line} ${kind}`)]
}

test('good files have no bad lines, whatever is in quotes and however lines end', async () => {
  assert.deepEqual(await found('id,name\n1,Tea\n2,"a ""b"",\n c"\n'), [2])
  assert.deepEqual(await found('\uFEFFid,name\r\n1,Tea\r\n\r\n\r\n'), [1])
  assert.deepEqual(await found('1;2', { delimiter: ';', hasHeader: false }), [1])
  assert.deepEqual(await found("id,name\n1,'a\nb'\n", { enclosure: "'" }), [1])
})

test('each bad line is named, also an unclosed quote, and the lines behind it are read', async () => {
  assert.deepEqual(await found('id,name\n1,Tea,x\n2\n\n3,Milk\n'), [1, '2 ragged', '3 ragged', '4 blank'])
  assert.deepEqual(await found('id,name\n1,"Tea\n2,Milk\n3,Bread\n'), [2, '2 unclosed'])
  assert.deepEqual(await found('id,name\n1,"Tea\n2,"Milk"\n'), [1, '2 quote'])
  assert.deepEqual(await found('id,name\n1,T"ea\n2,Milk\rx\n3,\0\n4,Salt\n'), [1, '2 quote', '3 return', '4 nul'])
  assert.deepEqual(await found(Buffer.from('id,name\n1,caf\xe9\n2,Milk\n', 'latin1')), [1, '2 encoding'])
})

test('lines behind the first megabytes are read, and cut out without a copy', async () => {
  const lines = Array.from({ length: 400_000 }, (_, i) => `${i},name of ${i}`)
  lines[390_000] = '390000,"never closed'
  lines[399_999] = 'too,many,values'
  const file = new File([`id,name\n${lines.join('\n')}\n`], 'large.csv')
  assert.ok(file.size > 6 << 20)
  const { rows, bad } = await readWhole(file, DIALECT, never)
  assert.deepEqual([rows, ...bad.map(({ line, kind }) => `${line} ${kind}`)], [399_998, '390002 unclosed', '400001 ragged'])
  const { good, bad: aside } = splitLines(file, bad)
  assert.equal(await aside.text(), '390000,"never closed\ntoo,many,values\n')
  assert.equal(good.size + aside.size, file.size)
  assert.deepEqual((await readWhole(good, DIALECT, never)).bad, [])
})

test('what is left when bad lines are cut out is good, and every byte is in one of the two', async () => {
  const text = fc.array(fc.constantFrom('a', ',', '"', '\n', '\r\n', '""', 'é'), { maxLength: 60 }).map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(text, async (content) => {
      const file = new File([`id,name\n${content}`], 'a.csv')
      const { bad } = await readWhole(file, DIALECT, never)
      const { good, bad: aside } = splitLines(file, bad)
      assert.equal(good.size + aside.size, file.size)
      assert.deepEqual((await readWhole(good, DIALECT, never)).bad, [])
    }),
  )
})

test('reading stops when it is told to', async () => {
  await assert.rejects(readWhole(new Blob(['id,name\n']), DIALECT, AbortSignal.abort()), { name: 'AbortError' })
})
