// The bare thing that transfers are measured against: PUT and POST pipe the socket into a file and fsync it, GET pipes the file back.
// Answers like S3, so that the AWS SDK can talk to it. Prints its address, ends with its stdin.

import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const folder = await mkdtemp(join(tmpdir(), 'millrace-bare-'))
const object = join(folder, 'object')
let checksum: Record<string, string> = {}

const server = createServer({ requestTimeout: 0 }, async (request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-length': (await stat(object)).size, etag: '"0"', ...checksum })
    return pipeline(createReadStream(object), response)
  }
  if (request.method === 'POST') return begin(request.url ?? '', response)
  // So that the SDK verifies what it reads, as it does with ours.
  const given = request.headers['x-amz-checksum-crc32']
  if (given) checksum = { 'x-amz-checksum-crc32': String(given), 'x-amz-checksum-type': 'FULL_OBJECT' }
  // Parts of an upload arrive side by side: a file each.
  const part = new URL(request.url ?? '/', 'http://x').searchParams.get('partNumber')
  const path = part === null ? object : join(folder, `part-${part}`)
  await pipeline(request, createWriteStream(path))
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
  return response.writeHead(200, { etag: '"0"', 'content-length': '0' }).end()
})
/** Just enough of an upload in parts that the upload manager is content. */
function begin(url: string, response: ServerResponse): void {
  const xml = url.includes('uploads')
    ? '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>'
    : '<CompleteMultipartUploadResult><ETag>"0"</ETag></CompleteMultipartUploadResult>'
  response.writeHead(200, { 'content-type': 'application/xml', 'content-length': xml.length }).end(xml)
}

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.stdin.on('end', async () => {
  await rm(folder, { recursive: true })
  process.exit(0)
})
process.stdin.resume()
