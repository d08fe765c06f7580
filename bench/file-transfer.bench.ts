// 1 GB in through the importer, in and out through S3 with the AWS SDK, each against a bare Node pipe between socket and fsynced file
// that the same client talks to; and what the stack's memory does meanwhile.

import { crc32 } from 'node:zlib'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { startStackProcess } from '../tests/support/stack-process.ts'
import { inTurns, report, startBare } from './support/measure.ts'
import { bytes, memoryOf, processorSeconds, SIZE_BYTES, send, sendForm, serverPid } from './support/transfer.ts'

const size = Number(process.env.BENCH_BYTES ?? SIZE_BYTES)
const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
const bare = await startBare('./bare-pipe.ts')
const pid = serverPid(stack.dataDir)

interface Prepared {
  readonly id: number
  readonly uploadParams: { readonly bucket: string; readonly key: string }
}
const { body } = await stack.post('/v2/storage/files/prepare', { name: 'bench.csv', federationToken: 1 })
const { uploadParams, id } = body as Prepared // the contract of prepare
const target = { Bucket: uploadParams.bucket, Key: uploadParams.key }

const clientOf = (credentials: Record<string, string>, endpoint: string) =>
  new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: {
      accessKeyId: credentials.AccessKeyId!,
      secretAccessKey: credentials.SecretAccessKey!,
      sessionToken: credentials.SessionToken!,
    },
  })
const writing = (uploadParams as unknown as { credentials: Record<string, string> }).credentials // requested above
const reading = ((await stack.get(`/v2/storage/files/${id}?federationToken=1`)).body as { credentials: Record<string, string> })
  .credentials

const seconds = async (work: () => Promise<unknown>) => {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}
async function crc32Of(body: AsyncIterable<Buffer>): Promise<string> {
  let value = 0
  for await (const chunk of body) value = crc32(chunk, value)
  const out = Buffer.alloc(4)
  out.writeUInt32BE(value)
  return out.toString('base64')
}
const put = (client: S3Client) =>
  seconds(() => client.send(new PutObjectCommand({ ...target, Body: bytes(size), ContentLength: size })))
const upload = (client: S3Client) => seconds(() => new Upload({ client, params: { ...target, Body: bytes(size) } }).done())
const get = (client: S3Client) =>
  seconds(async () => {
    const { Body } = await client.send(new GetObjectCommand(target))
    let length = 0
    for await (const chunk of Body as AsyncIterable<Buffer>) length += chunk.length
    if (length !== size) throw new Error(`${length} bytes came back`)
  })

// Warm: code compiled, buffers and threads there. From here on memory should stay where it is.
await sendForm(`${stack.url}/import/upload-file`, stack.masterToken, size >> 2)
await upload(clientOf(writing, stack.s3Url))
await get(clientOf(reading, stack.s3Url))
const before = memoryOf(pid)

async function compare(bench: string, ours: () => Promise<number>, theirs: () => Promise<number>): Promise<void> {
  const used = { ours: processorSeconds(pid), bare: processorSeconds(bare.pid) }
  const took = await inTurns(rounds, { bare: theirs, ours })
  const perGB = (now: number, before: number) => Number((((now - before) / rounds / size) * 1e9).toFixed(2))
  const speed = (s: number) => Math.round(size / 1e6 / s)
  report({
    bench,
    ratio: took.bare / took.ours,
    target: '>= 0.7',
    oursMBs: speed(took.ours),
    bareMBs: speed(took.bare),
    oursProcessorSecondsPerGB: perGB(processorSeconds(pid), used.ours),
    bareProcessorSecondsPerGB: perGB(processorSeconds(bare.pid), used.bare),
  })
}

await compare(
  'upload-file',
  () => sendForm(`${stack.url}/import/upload-file`, stack.masterToken, size),
  () => send(`${bare.url}/x`, 'PUT', { 'content-length': size }, bytes(size)),
)
await compare(
  's3-put',
  () => put(clientOf(writing, stack.s3Url)),
  () => put(clientOf(writing, bare.url)),
)
// The same plain bytes on both sides, with the checksum that makes the SDK verify them.
await send(`${bare.url}/x`, 'PUT', { 'content-length': size, 'x-amz-checksum-crc32': await crc32Of(bytes(size)) }, bytes(size))
await compare(
  's3-get',
  () => get(clientOf(reading, stack.s3Url)),
  () => get(clientOf(reading, bare.url)),
)
await compare(
  's3-upload-in-parts',
  () => upload(clientOf(writing, stack.s3Url)),
  () => upload(clientOf(writing, bare.url)),
)
const after = memoryOf(pid)
report({
  bench: 'transfer-memory',
  ratio: after.peakMB - before.residentMB,
  target: '<= 64',
  unit: 'MB grown',
  residentMB: before.residentMB,
  peakMB: after.peakMB,
})

await bare.stop()
for (const cleanup of cleanups) await cleanup()
