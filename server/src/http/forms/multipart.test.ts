import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boundaryOf, readParts } from './multipart.ts'

const RUNS = process.env.MILLRACE_LONG ? 2000 : 200

async function* cut(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function parse(text: string | Buffer, boundary = 'B', size = 1_000_000) {
  const parts = []
  for await (const part of readParts(cut(Buffer.from(text), size), boundary)) {
    const chunks: Buffer[] = []
    for await (const chunk of part.body) chunks.push(chunk)
    parts.push([part.name, part.filename, Buffer.concat(chunks).toString('latin1')])
  }
  return parts
}

const part = (head: string, body: string) => `--B\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`

test('fields and files come out in order, however the bytes were cut', async () => {
  const form = `${part('name="a"', 'one')}${part('name="f"; filename="x.csv"', 'line\r\n--Bnot quite\r\n--\r\n')}${part('name="e"', '')}--B--\r\n`
  // `\r\n--B` inside a body is the boundary by RFC 2046; `\r\n--` alone is not.
  await assert.rejects(parse(form), { code: 'malformedRequest' })
  const fair = form.replace('--Bnot', '--Cnot')
  for (const size of [1, 2, 3, 7, 50, 10_000])
    assert.deepEqual(await parse(fair, 'B', size), [
      ['a', undefined, 'one'],
      ['f', 'x.csv', 'line\r\n--Cnot quite\r\n--\r\n'],
      ['e', undefined, ''],
    ])
})

test('names and file names are understood as browsers, curl and old clients write them', async () => {
  const heads = {
    'name="data"; filename="a \\"b\\" \\\\c.csv"': 'a "b" \\c.csv',
    'name="data"; filename="a%22b.csv"': 'a"b.csv',
    'name=data; filename=plain.csv': 'plain.csv',
    'name="data"; filename="x"; filename*=UTF-8\'\'%C5%BE.csv': 'ž.csv',
    'name="data"; filename=""': '',
    'name="data"; filename="příliš 😀.csv"': 'příliš 😀.csv',
  }
  for (const [head, filename] of Object.entries(heads))
    assert.deepEqual(await parse(`${part(head, 'x')}--B--`), [['data', filename, 'x']], head)
})

test('text before, after and padding around the parts is skipped', async () => {
  assert.deepEqual(
    await parse(`preamble\r\n--B \t\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--B--epilogue\r\nmore`),
    [['a', undefined, '1']],
  )
  assert.deepEqual(await parse('--B--\r\n'), [])
})

test('a reader may leave a part unread', async () => {
  const names = []
  for await (const one of readParts(
    cut(Buffer.from(`${part('name="a"', 'x'.repeat(9999))}${part('name="b"', 'y')}--B--`), 10),
    'B',
  ))
    names.push(one.name)
  assert.deepEqual(names, ['a', 'b'])
})

test('whatever is wrong with the body is an error, never a hang', async () => {
  const broken = [
    '',
    'no boundary at all',
    '--B',
    '--B\r\n',
    '--Bjunk\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--B--',
    '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nno end',
    '--B\r\n\r\nno name\r\n--B--',
    '--B\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--B--',
    `--B\r\nX: ${'y'.repeat(20_000)}\r\n\r\nx\r\n--B--`,
    `--B${'z'.repeat(5000)}`,
  ]
  for (const body of broken) await assert.rejects(parse(body), { code: 'malformedRequest' }, body.slice(0, 50))
  assert.throws(() => boundaryOf('multipart/form-data'), { code: 'malformedRequest' })
  assert.equal(boundaryOf('application/json'), undefined)
  assert.equal(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b"'), 'a b')
})

test('any bytes come back as they were sent', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('\r', '\n', '-', 'B', 'a', '\r\n--', '\r\n'), { maxLength: 60 }),
      fc.integer({ min: 1, max: 9 }),
      async (pieces, size) => {
        const body = pieces.join('').replaceAll('\r\n--B', '')
        fc.pre(!`${body}\r\n`.includes('\r\n--B'))
        assert.deepEqual(await parse(`${part('name="a"; filename="f"', body)}--B--`, 'B', size), [['a', 'f', body]])
      },
    ),
    { numRuns: RUNS },
  )
})
