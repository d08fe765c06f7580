// The bare thing that the receiving route of streams is measured against: a Fastify route that appends each body to a file, with one
// fsync for all that wait. Prints its address, ends with its stdin.

import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'

const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const file = await open(join(folder, 'records'), 'a')
let waiting: { readonly body: string; readonly done: () => void }[] = []
let isWriting = false

async function writeAll(): Promise<void> {
  isWriting = true
  while (waiting.length > 0) {
    const batch = waiting
    waiting = []
    await file.appendFile(batch.map(({ body }) => `${body}\n`).join(''))
    await file.datasync()
    for (const { done } of batch) done()
  }
  isWriting = false
}

const app = Fastify()
app.post('/', async (request, reply) => {
  await new Promise<void>((done) => {
    waiting.push({ body: JSON.stringify(request.body), done })
    if (!isWriting) void writeAll()
  })
  return reply.type('text/plain').send('OK')
})
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
process.stdin
  .on('end', () => {
    rmSync(folder, { recursive: true })
    process.exit(0)
  })
  .resume()
