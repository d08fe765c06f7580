import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAnswer } from './recorded-answer.ts'

const exchange = (page: number, body: unknown, more: object = {}) =>
  JSON.stringify({
    request: { method: 'GET', url: `https://api.example.com/orders?page=${page}`, headers: {} },
    response: { status: 200, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body), ...more },
  })

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const find = (lines: readonly string[], rows: readonly (string | null)[][], size = 7) =>
  findAnswer(inPieces(`${lines.join('\n')}\n`, size), rows)

test('the answer is the one with an item that has the values of a row', async () => {
  const orders = (from: number) => ({
    items: [0, 1, 2].map((i) => ({ id: from + i, state: 'paid', total: '12.50', city: { name: `město ${from + i}` } })),
  })
  const lines = [exchange(1, orders(10)), exchange(2, orders(20)), exchange(3, orders(30))]
  assert.deepEqual(await find(lines, [['21', 'paid', '12.50', 'město 21', null, '']]), {
    ...{ line: 2, method: 'GET', url: 'https://api.example.com/orders?page=2', status: 200 },
    matches: { found: 4, of: 4 },
  })
  // Values of different items do not add up, and a column that the extraction added is no hindrance.
  assert.equal((await find(lines, [['31', 'město 32', 'added', 'other']]))?.line, undefined)
  assert.equal((await find(lines, [['31', 'město 31', 'added', 'other']]))?.line, 3)
})

test('numbers are compared as they were written, and rows may be lists', async () => {
  const body = '{"rows": [[9007199254740993, 1.10, "a"], [9007199254740992, 1.1, "a"]]}'
  const rows = [['9007199254740993', '1.10', 'a']]
  assert.deepEqual((await find([exchange(1, '[]'), exchange(2, body)], rows))?.matches, { found: 3, of: 3 })
  assert.equal((await find([exchange(1, '{"rows": [[9007199254740992, 1.1, "b"]]}')], rows))?.line, undefined)
  const packed = { body: undefined, bodyBase64: Buffer.from(body).toString('base64') }
  assert.equal((await find([exchange(1, '', packed)], rows))?.line, 1)
})

test('what is no exchange, no JSON or too deep is left out', async () => {
  const deep = `${'['.repeat(1000)}"a"${']'.repeat(1000)}`
  const lines = [
    '',
    'nothing',
    '{}',
    '{"request": 1, "response": null}',
    exchange(1, 'a,b\n1,2'),
    exchange(2, deep),
    exchange(3, ['a']),
  ]
  assert.equal((await find(lines, [['a']], 1 << 16))?.line, 7)
  assert.equal(await find(lines, [[null, '']]), undefined)
  assert.equal(await find(lines, []), undefined)
  assert.equal(
    await findAnswer(inPieces(exchange(1, ['a']), 5), [['a']]).then((answer) => answer?.line),
    1,
    'without a last line end',
  )
})
