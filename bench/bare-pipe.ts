// The bare thing that transfers are measured against: PUT and POST pipe the socket into a file and fsync it, GET pipes the file back.
// Answers like S3, so that the AWS SDK can talk to it. Prints its address, ends with its stdin.

import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const folder = await mkdtemp(join(tmpdir(), 'millrace-bare-'))
const path = join(folder, 'object')

const server = createServer({ requestTimeout: 0 }, async (request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-length': (await stat(path)).size, etag: '"0"' })
    return pipeline(createReadStream(path), response)
  }
  await pipeline(request, createWriteStream(path))
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
  return response.writeHead(200, { etag: '"0"', 'content-length': '0' }).end()
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.stdin.on('end', async () => {
  await rm(folder, { recursive: true })
  process.exit(0)
})
process.stdin.resume()
