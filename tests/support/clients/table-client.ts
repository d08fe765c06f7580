// What a client of the tables API does: upload a file, start a job, poll it, read the slices of an export in order.

import { gunzipSync } from 'node:zlib'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import type { Answer, RequestOptions, TestStack } from '../test-stack.ts'
import { until } from '../until.ts'
import { openFile, prepareFile, s3ClientFor, uploadClient } from './file-client.ts'

export interface JobAnswer {
  readonly id: number
  readonly status: string
  readonly url: string
  readonly tableId: string | null
  readonly operationName: string
  readonly operationParams: Record<string, unknown>
  readonly results: Record<string, unknown> | null
  readonly error?: { readonly code: string; readonly message: string; readonly exceptionId: string }
  readonly metrics: Record<string, unknown>
  readonly [field: string]: unknown
}

export interface TableAnswer {
  readonly id: string
  readonly name: string
  readonly columns: string[]
  readonly primaryKey: string[]
  readonly rowsCount: number | null
  readonly [field: string]: unknown
}

export interface TableClient {
  /** Bytes as an uploaded file; answers its id. */
  upload(bytes: string | Uint8Array, name?: string): Promise<number>
  uploadSliced(slices: readonly (string | Uint8Array)[], name?: string): Promise<number>
  bucket(name?: string, stage?: string): Promise<string>
  /** Polls the job an answer carries until it has ended. */
  finish(answer: Answer, token?: string): Promise<JobAnswer>
  /** As finish, and fails when the job failed. */
  succeed(answer: Answer, token?: string): Promise<JobAnswer>
  create(bucketId: string, name: string, csv: string | Uint8Array, fields?: Record<string, unknown>): Promise<JobAnswer>
  load(tableId: string, csv: string | Uint8Array, fields?: Record<string, unknown>): Promise<JobAnswer>
  detail(tableId: string, options?: RequestOptions): Promise<TableAnswer>
  /** All rows, through an export: the slices joined in the order of the manifest, unpacked, without a header. */
  exported(tableId: string, fields?: Record<string, unknown>): Promise<string>
  /** All rows of a small table, through the preview. */
  rows(tableId: string, query?: string): Promise<string[][]>
}

export function tableClient(stack: TestStack): TableClient {
  const post = (path: string, json: unknown) => stack.request('POST', path, { json })

  async function upload(bytes: string | Uint8Array, name = 'data.csv'): Promise<number> {
    const file = await prepareFile(stack, { name })
    const { bucket, key } = file.uploadParams!
    await uploadClient(file).send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes }))
    return file.id
  }

  async function uploadSliced(slices: readonly (string | Uint8Array)[], name = 'data.csv'): Promise<number> {
    const file = await prepareFile(stack, { name, isSliced: true })
    const { bucket, key } = file.uploadParams!
    const s3 = uploadClient(file)
    const entries = []
    for (const [i, Body] of slices.entries()) {
      const suffix = `part${i}${name.endsWith('.gz') ? '.gz' : ''}`
      await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key + suffix, Body }))
      entries.push({ url: `s3://${bucket}/${key}${suffix}` })
    }
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: `${key}manifest`, Body: JSON.stringify({ entries }) }))
    return file.id
  }

  async function bucket(name = 'main', stage = 'in'): Promise<string> {
    const answer = await post('/v2/storage/buckets', { name, stage })
    if (answer.status !== 201) throw new Error(`buckets answered ${answer.status}: ${answer.text}`)
    return answer.json<{ id: string }>().id
  }

  async function finish(answer: Answer, token?: string): Promise<JobAnswer> {
    if (answer.status !== 202) throw new Error(`no job but ${answer.status}: ${answer.text}`)
    const { id, url } = answer.json<JobAnswer>()
    return until(`storage job ${id} ends`, async () => {
      const job = (await stack.request('GET', url, token ? { token } : {})).json<JobAnswer>()
      return job.status !== 'waiting' && job.status !== 'processing' && job
    })
  }

  async function succeed(answer: Answer, token?: string): Promise<JobAnswer> {
    const job = await finish(answer, token)
    if (job.status !== 'success') throw new Error(`job ${job.operationName} failed: ${JSON.stringify(job.error)}`)
    return job
  }

  const create = async (bucketId: string, name: string, csv: string | Uint8Array, fields: Record<string, unknown> = {}) =>
    succeed(await post(`/v2/storage/buckets/${bucketId}/tables-async`, { name, dataFileId: await upload(csv), ...fields }))

  const load = async (tableId: string, csv: string | Uint8Array, fields: Record<string, unknown> = {}) =>
    succeed(await post(`/v2/storage/tables/${tableId}/import-async`, { dataFileId: await upload(csv), ...fields }))

  async function exported(tableId: string, fields: Record<string, unknown> = {}): Promise<string> {
    const job = await succeed(await post(`/v2/storage/tables/${tableId}/export-async`, fields))
    const file = await openFile(stack, (job.results as { file: { id: number } }).file.id)
    const s3 = s3ClientFor(file.credentials!, file.endpoint!)
    const read = async (key: string) =>
      Buffer.from(
        await (await s3.send(new GetObjectCommand({ Bucket: file.s3Path!.bucket, Key: key }))).Body!.transformToByteArray(),
      )
    const unpack = (bytes: Buffer) => (fields.gzip ? gunzipSync(bytes) : bytes)
    if (!file.isSliced) return unpack(await read(file.s3Path!.key)).toString()
    const { entries } = (await (await fetch(file.url)).json()) as { entries: { url: string }[] }
    const slices = []
    for (const { url } of entries) slices.push(unpack(await read(url.split('/').slice(3).join('/'))))
    return Buffer.concat(slices).toString()
  }

  async function rows(tableId: string, query = ''): Promise<string[][]> {
    const answer = await stack.request('GET', `/v2/storage/tables/${tableId}/data-preview?format=json&${query}`)
    if (answer.status !== 200) throw new Error(`preview answered ${answer.status}: ${answer.text}`)
    return answer.json<{ rows: { value: string }[][] }>().rows.map((row) => row.map((cell) => cell.value))
  }

  return {
    upload,
    uploadSliced,
    bucket,
    finish,
    succeed,
    create,
    load,
    detail: async (tableId, options) =>
      (await stack.request('GET', `/v2/storage/tables/${tableId}`, options)).json<TableAnswer>(),
    exported,
    rows,
  }
}
