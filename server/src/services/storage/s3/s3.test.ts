// The wire, driven by the official AWS SDK with its defaults.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import {
  AbortMultipartUploadCommand,
  type ChecksumAlgorithm,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  type S3ServiceException,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { BUCKET, type StartedS3, startS3 } from '../../../../../tests/support/servers/start-s3.ts'
import { sendSigned } from '../../../../../tests/support/signed-request.ts'

const md5 = (data: Uint8Array | string) => createHash('md5').update(data).digest('hex')
const Bucket = BUCKET

suite('the AWS SDK with its defaults', () => {
  let s3: StartedS3
  let client: S3Client
  before(async () => {
    s3 = await startS3()
    client = s3.client()
  })
  after(() => s3.close())

  const read = async (Key: string): Promise<Buffer> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
    return Buffer.from(await Body!.transformToByteArray())
  }

  test('puts and gets an object with everything said about it', async () => {
    const put = await client.send(
      new PutObjectCommand({
        Bucket,
        Key: 'a/b.csv',
        Body: 'hello world',
        ACL: 'private',
        ContentType: 'text/csv',
        ContentDisposition: 'attachment; filename=b.csv;',
        CacheControl: 'no-cache',
        ServerSideEncryption: 'AES256',
        Metadata: { Author: 'somebody' },
      }),
    )
    assert.equal(put.ETag, `"${md5('hello world')}"`)
    assert.equal(put.ServerSideEncryption, 'AES256')
    assert.ok(put.ChecksumCRC32)
    const got = await client.send(new GetObjectCommand({ Bucket, Key: 'a/b.csv' }))
    assert.equal(await got.Body!.transformToString(), 'hello world')
    assert.equal(got.ETag, put.ETag)
    assert.equal(got.ContentType, 'text/csv')
    assert.equal(got.ContentDisposition, 'attachment; filename=b.csv;')
    assert.equal(got.CacheControl, 'no-cache')
    assert.equal(got.ServerSideEncryption, 'AES256')
    assert.deepEqual(got.Metadata, { author: 'somebody' })
    assert.equal(got.ChecksumCRC32, put.ChecksumCRC32)
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'a/b.csv' }))
    assert.equal(head.ContentLength, 11)
    assert.equal(head.ETag, put.ETag)
  })

  test('streams a file as aws-chunked with a checksum in the trailer', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-s3-'))
    t.after(() => rm(folder, { recursive: true }))
    const data = randomBytes(3_000_001)
    await writeFile(join(folder, 'data'), data)
    await client.send(new PutObjectCommand({ Bucket, Key: 'streamed', Body: createReadStream(join(folder, 'data')) }))
    assert.ok((await read('streamed')).equals(data))
  })

  test('gives an ETag that is the MD5, except of a large body that came with another checksum', async () => {
    const large = Buffer.alloc(64 * 1024 * 1024 + 1, 'x')
    const put = await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body: large }))
    assert.match(String(put.ETag), /^"[0-9a-f]{32}-1"$/)
    assert.ok(put.ChecksumCRC32)
    const bare = s3.sessions.root
    const request = { method: 'PUT', path: `/${Bucket}/large`, body: large, payloadHash: 'UNSIGNED-PAYLOAD' }
    assert.equal((await sendSigned(s3.endpoint, request, bare)).headers.etag, `"${md5(large)}"`)
  })

  for (const algorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] satisfies ChecksumAlgorithm[])
    test(`verifies and hands back a ${algorithm} checksum, in the header and in the trailer`, async () => {
      const data = randomBytes(1_000_003)
      const name = `Checksum${algorithm}` as const
      const put = await client.send(new PutObjectCommand({ Bucket, Key: 'sum', Body: data, ChecksumAlgorithm: algorithm }))
      assert.ok(put[name])
      const stream = Readable.from([data.subarray(0, 400_000), data.subarray(400_000)])
      const command = new PutObjectCommand({
        Bucket,
        Key: 'sum2',
        Body: stream,
        ContentLength: data.length,
        ChecksumAlgorithm: algorithm,
      })
      const streamed = await client.send(command)
      assert.equal(streamed[name], put[name])
      const got = await client.send(new GetObjectCommand({ Bucket, Key: 'sum2', ChecksumMode: 'ENABLED' }))
      assert.equal(got[name], put[name])
      assert.ok(Buffer.from(await got.Body!.transformToByteArray()).equals(data))
    })

  test('uploads a stream in parts with the upload manager', async () => {
    const data = randomBytes(17_000_000)
    const upload = new Upload({ client, params: { Bucket, Key: 'managed', Body: Readable.from(chop(data, 700_001)) } })
    const done = await upload.done()
    assert.match(String(done.ETag), /^"[0-9a-f]{32}-4"$/)
    assert.ok((await read('managed')).equals(data))
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'managed', ChecksumMode: 'ENABLED' }))
    assert.equal(head.ContentLength, data.length)
    assert.match(String(head.ChecksumCRC32), /-4$/)
  })

  for (const algorithm of ['CRC32', 'CRC32C', 'CRC64NVME'] satisfies ChecksumAlgorithm[])
    test(`knows the ${algorithm} of a whole object that came in parts`, async () => {
      const data = randomBytes(5_400_000)
      const whole = await client.send(new PutObjectCommand({ Bucket, Key: 'whole', Body: data, ChecksumAlgorithm: algorithm }))
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ Bucket, Key: 'full', ChecksumAlgorithm: algorithm, ChecksumType: 'FULL_OBJECT' }),
      )
      const parts = []
      for (const [i, Body] of chop(data, 5_300_000).entries()) {
        const part = await client.send(
          new UploadPartCommand({ Bucket, Key: 'full', UploadId, PartNumber: i + 1, Body, ChecksumAlgorithm: algorithm }),
        )
        parts.push({ ...part, PartNumber: i + 1 })
      }
      const done = await client.send(
        new CompleteMultipartUploadCommand({
          Bucket,
          Key: 'full',
          UploadId,
          MultipartUpload: { Parts: parts },
          ChecksumType: 'FULL_OBJECT',
        }),
      )
      assert.equal(done[`Checksum${algorithm}` as const], whole[`Checksum${algorithm}` as const])
    })

  test('reads ranges and honours conditions', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'r', Body: '0123456789' }))
    const range = async (Range: string) => {
      const got = await client.send(new GetObjectCommand({ Bucket, Key: 'r', Range }))
      return [got.ContentRange, await got.Body!.transformToString()]
    }
    assert.deepEqual(await range('bytes=2-4'), ['bytes 2-4/10', '234'])
    assert.deepEqual(await range('bytes=7-'), ['bytes 7-9/10', '789'])
    assert.deepEqual(await range('bytes=-3'), ['bytes 7-9/10', '789'])
    assert.deepEqual(await range('bytes=0-99'), ['bytes 0-9/10', '0123456789'])
    await assert.rejects(range('bytes=10-'), { name: 'InvalidRange' })
    const etag = `"${md5('0123456789')}"`
    await client.send(new GetObjectCommand({ Bucket, Key: 'r', IfMatch: etag }))
    await assert.rejects(client.send(new GetObjectCommand({ Bucket, Key: 'r', IfMatch: '"other"' })), {
      name: 'PreconditionFailed',
    })
    const unchanged = client.send(new HeadObjectCommand({ Bucket, Key: 'r', IfNoneMatch: etag }))
    await assert.rejects(unchanged, (error: S3ServiceException) => error.$metadata.httpStatusCode === 304)
    const past = new Date('2020-01-01')
    await assert.rejects(client.send(new GetObjectCommand({ Bucket, Key: 'r', IfUnmodifiedSince: past })), {
      name: 'PreconditionFailed',
    })
    await assert.rejects(client.send(new PutObjectCommand({ Bucket, Key: 'r', Body: 'x', IfNoneMatch: '*' })), {
      name: 'PreconditionFailed',
    })
  })

  test('goes on with a download only while the object is the same, and knows one part of it', async () => {
    await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'resume', Body: 'hello world' }))
    const { ETag, LastModified } = await client.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'resume' }))
    const resume = async (ifRange: string) => {
      const request = { path: `/${BUCKET}/resume`, headers: { range: 'bytes=6-', 'if-range': ifRange } }
      const { status, text } = await sendSigned(s3.endpoint, request, s3.sessions.root)
      return [status, text]
    }
    assert.deepEqual(await resume(ETag!), [206, 'world'])
    assert.deepEqual(await resume(LastModified!.toUTCString()), [206, 'world'])
    assert.deepEqual(await resume('"another"'), [200, 'hello world'])
    assert.deepEqual(await resume(new Date(0).toUTCString()), [200, 'hello world'])
    const part = (PartNumber: number) => client.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'resume', PartNumber }))
    assert.equal(await (await part(1)).Body!.transformToString(), 'hello world')
    await assert.rejects(part(2), { name: 'InvalidPartNumber' })
    await assert.rejects(client.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'resume', PartNumber: 2 })))
  })

  test('overrides response headers when asked', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'o', Body: 'x', ContentType: 'text/plain' }))
    const got = await client.send(
      new GetObjectCommand({
        Bucket,
        Key: 'o',
        ResponseContentType: 'text/html',
        ResponseContentDisposition: 'attachment; filename="ž.csv"',
      }),
    )
    assert.equal(got.ContentType, 'text/html')
    assert.equal(Buffer.from(got.ContentDisposition!, 'latin1').toString(), 'attachment; filename="ž.csv"')
  })

  test('says NoSuchKey, NotFound and NoSuchBucket where AWS does', async () => {
    await assert.rejects(client.send(new GetObjectCommand({ Bucket, Key: 'absent' })), { name: 'NoSuchKey' })
    await assert.rejects(client.send(new HeadObjectCommand({ Bucket, Key: 'absent' })), { name: 'NotFound' })
    await assert.rejects(client.send(new GetObjectCommand({ Bucket: 'another', Key: 'absent' })), { name: 'NoSuchBucket' })
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'absent' }))
  })

  test('lists with prefix, delimiter and pages, in both versions', async () => {
    const keys = ['l/a', 'l/b/1', 'l/b/2', 'l/b/3', 'l/c', 'l/d/1', 'l/ž & <x>\ny', 'l/z']
    for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }))
    const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const listed = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'l/', EncodingType: 'url' }))
    assert.deepEqual(
      listed.Contents!.map((object) => decodeURIComponent(object.Key!)),
      sorted,
    )
    assert.equal(listed.Contents![0]!.ETag, `"${md5('l/a')}"`)

    const seen: string[] = []
    for (let ContinuationToken: string | undefined; ; ) {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket, Prefix: 'l/', Delimiter: '/', MaxKeys: 2, ContinuationToken }),
      )
      seen.push(
        ...(page.Contents ?? []).map((object) => object.Key!),
        ...(page.CommonPrefixes ?? []).map((common) => common.Prefix!),
      )
      assert.equal(page.KeyCount, (page.Contents?.length ?? 0) + (page.CommonPrefixes?.length ?? 0))
      if (!page.IsTruncated) break
      ContinuationToken = page.NextContinuationToken
    }
    assert.deepEqual(seen.toSorted(), ['l/a', 'l/b/', 'l/c', 'l/d/', 'l/z', 'l/ž & <x>\ny'].toSorted())

    const old: string[] = []
    for (let Marker: string | undefined; ; ) {
      const page = await client.send(new ListObjectsCommand({ Bucket, Prefix: 'l/', Delimiter: '/', MaxKeys: 1, Marker }))
      old.push(
        ...(page.Contents ?? []).map((object) => object.Key!),
        ...(page.CommonPrefixes ?? []).map((common) => common.Prefix!),
      )
      if (!page.IsTruncated) break
      Marker = page.NextMarker
    }
    assert.deepEqual(old.toSorted(), seen.toSorted())
    const after = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'l/', StartAfter: 'l/c' }))
    assert.equal(after.Contents![0]!.Key, 'l/d/1')
  })

  test('deletes one object and many', async () => {
    for (const Key of ['x/1', 'x/2', 'x/3 & <more>']) await client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }))
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'x/1' }))
    const gone = await client.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'x/2' }, { Key: 'x/3 & <more>' }, { Key: 'x/never' }] } }),
    )
    assert.equal(gone.Deleted?.length, 3)
    assert.equal((await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'x/' }))).KeyCount, 0)
  })

  test('copies, with the metadata or with other', async () => {
    const Key = 'c/příliš žluťoučký + 100%.csv'
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'copied', ContentType: 'text/csv', Metadata: { a: '1' } }))
    const CopySource = `${Bucket}/${encodeURIComponent(Key)}`
    const copied = await client.send(new CopyObjectCommand({ Bucket, Key: 'c/2', CopySource }))
    assert.equal(copied.CopyObjectResult?.ETag, `"${md5('copied')}"`)
    assert.deepEqual((await client.send(new HeadObjectCommand({ Bucket, Key: 'c/2' }))).Metadata, { a: '1' })
    await client.send(
      new CopyObjectCommand({ Bucket, Key: 'c/2', CopySource, MetadataDirective: 'REPLACE', Metadata: { b: '2' } }),
    )
    assert.deepEqual((await client.send(new HeadObjectCommand({ Bucket, Key: 'c/2' }))).Metadata, { b: '2' })
    assert.equal((await read('c/2')).toString(), 'copied')
  })

  test('lists, copies into, completes and aborts uploads in parts', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'm/source', Body: randomBytes(6_000_000) }))
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm/a', ContentType: 'text/csv' }))
    const one = await client.send(
      new UploadPartCopyCommand({
        Bucket,
        Key: 'm/a',
        UploadId,
        PartNumber: 1,
        CopySource: `${Bucket}/m/source`,
        CopySourceRange: 'bytes=0-5242879',
      }),
    )
    const two = await client.send(new UploadPartCommand({ Bucket, Key: 'm/a', UploadId, PartNumber: 2, Body: 'tail' }))
    const parts = await client.send(new ListPartsCommand({ Bucket, Key: 'm/a', UploadId, MaxParts: 1 }))
    assert.equal(parts.IsTruncated, true)
    assert.equal(parts.Parts?.[0]?.Size, 5_242_880)
    const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'm/' }))
    assert.deepEqual(
      uploads.Uploads?.map((upload) => upload.UploadId),
      [UploadId],
    )
    await client.send(
      new CompleteMultipartUploadCommand({
        Bucket,
        Key: 'm/a',
        UploadId,
        MultipartUpload: {
          Parts: [
            { PartNumber: 1, ETag: one.CopyPartResult!.ETag },
            { PartNumber: 2, ETag: two.ETag },
          ],
        },
      }),
    )
    assert.equal((await read('m/a')).length, 5_242_884)
    assert.equal((await client.send(new HeadObjectCommand({ Bucket, Key: 'm/a' }))).ContentType, 'text/csv')
    const aborted = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'm/b' }))
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'm/b', UploadId: aborted.UploadId }))
    const late = new UploadPartCommand({ Bucket, Key: 'm/b', UploadId: aborted.UploadId, PartNumber: 1, Body: 'x' })
    await assert.rejects(client.send(late), { name: 'NoSuchUpload' })
  })

  test('refuses parts that are too small, out of order, out of range or not there', async () => {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'p' }))
    const part = (PartNumber: number) =>
      client.send(new UploadPartCommand({ Bucket, Key: 'p', UploadId, PartNumber, Body: 'small' }))
    const { ETag } = await part(1)
    await part(2)
    await assert.rejects(part(0), { name: 'InvalidArgument' })
    await assert.rejects(part(10_001), { name: 'InvalidArgument' })
    const complete = (...Parts: { PartNumber: number; ETag: string | undefined }[]) =>
      client.send(new CompleteMultipartUploadCommand({ Bucket, Key: 'p', UploadId, MultipartUpload: { Parts } }))
    await assert.rejects(complete({ PartNumber: 1, ETag }, { PartNumber: 2, ETag }), { name: 'EntityTooSmall' })
    await assert.rejects(complete({ PartNumber: 2, ETag }, { PartNumber: 1, ETag }), { name: 'InvalidPartOrder' })
    await assert.rejects(complete({ PartNumber: 1, ETag: '"0123"' }), { name: 'InvalidPart' })
    await assert.rejects(complete({ PartNumber: 7, ETag }), { name: 'InvalidPart' })
    await assert.rejects(complete(), { name: 'MalformedXML' })
    await complete({ PartNumber: 1, ETag })
    assert.equal((await read('p')).toString(), 'small')
  })

  test('finds its bucket', async () => {
    await assert.rejects(client.send(new CreateBucketCommand({ Bucket })), { name: 'BucketAlreadyOwnedByYou' })
    await assert.rejects(client.send(new CreateBucketCommand({ Bucket: 'other' })), { name: 'NoSuchBucket' })
    await client.send(new HeadBucketCommand({ Bucket }))
    assert.equal((await client.send(new GetBucketLocationCommand({ Bucket }))).LocationConstraint, undefined)
    assert.deepEqual(
      (await client.send(new ListBucketsCommand({}))).Buckets?.map((bucket) => bucket.Name),
      [Bucket],
    )
  })

  test('keeps the most inconvenient keys apart', async () => {
    const keys = [
      '..',
      '../x',
      'a//b',
      '/a',
      'a/',
      'a b+c%2F%25',
      "q'!()*~",
      'cafe\u0301',
      'caf\u00e9',
      '😀/日本',
      `k/${'y'.repeat(1000)}`,
    ]
    for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key: `odd/${Key}`, Body: Key }))
    for (const Key of keys) assert.equal((await read(`odd/${Key}`)).toString(), Key)
    await assert.rejects(client.send(new PutObjectCommand({ Bucket, Key: 'z'.repeat(1025), Body: 'x' })), {
      name: 'KeyTooLongError',
    })
  })
})

function chop(data: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(data.length / size) }, (_, i) => data.subarray(i * size, (i + 1) * size))
}
