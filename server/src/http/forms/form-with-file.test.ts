import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { readFormWithFile } from './form-with-file.ts'

const MIB = 1024 * 1024

/** A multipart request with a field of that many bytes before its file, as the server sees it. */
function requestWith(fieldBytes: number): FastifyRequest {
  const part = (head: string, body: string) => `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${body}\r\n`
  const form = `${part('name="note"', 'x'.repeat(fieldBytes))}${part('name="data"; filename="f.csv"', 'id')}--b--\r\n`
  // The only members that are read.
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    raw: Readable.from([Buffer.from(form)]),
  } as unknown as FastifyRequest
}

const read = (fieldBytes: number) =>
  readFormWithFile(requestWith(fieldBytes), 'data', async ({ body }) => {
    for await (const _ of body); // stored somewhere
    return 'stored'
  })

test('a field of a form may hold 1 MiB and not a byte more', async () => {
  const { fields, file } = await read(MIB)
  assert.deepEqual([String(fields.note).length, file], [MIB, 'stored'])
  await assert.rejects(read(MIB + 1), { code: 'bodyTooLarge' })
})
