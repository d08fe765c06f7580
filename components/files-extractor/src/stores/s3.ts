// A bucket of S3, or of a store compatible with S3: lists and reads, signed with Signature Version 4.

import { createHash, createHmac } from 'node:crypto'
import type { EgressGuard } from '../../../../contract/egress-guard.ts'
import { decodeXml } from '../../../http-extractor/src/decode/xml.ts'
import { httpGet } from './http-get.ts'
import type { Store } from './store.ts'

export interface S3Settings {
  /** Empty: Amazon's own. */
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretKey: string
  readonly sessionToken: string
}

interface Listed {
  readonly ListBucketResult?: {
    readonly IsTruncated?: string
    readonly NextContinuationToken?: string
    readonly Contents?: ListedObject | readonly ListedObject[]
  }
}
interface ListedObject {
  readonly Key: string
  readonly Size: string
  readonly ETag?: string
  readonly LastModified?: string
}

export function openS3(settings: S3Settings, guard: EgressGuard): Store {
  const get = (key: string, query: Readonly<Record<string, string>> = {}) => {
    const { url, ...place } = addressIn(settings, key, query)
    return httpGet(url, signed(settings, { ...place, method: 'GET' }), guard)
  }
  return {
    async list(prefix, take) {
      for (let token: string | undefined; ; ) {
        const response = await get('', {
          'list-type': '2',
          prefix,
          ...(token !== undefined && { 'continuation-token': token }),
        })
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer) // no encoding is set
        const { ListBucketResult: page = {} } = (await decodeXml(Buffer.concat(chunks))) as Listed
        for (const { Key, Size, ETag, LastModified } of [page.Contents ?? []].flat())
          if (!Key.endsWith('/')) take({ path: Key, version: `${Size}-${ETag ?? LastModified ?? ''}`, bytes: Number(Size) })
        token = page.IsTruncated === 'true' ? page.NextContinuationToken : undefined
        if (token === undefined) return
      }
    },
    open: ({ path }) => get(path),
    close() {},
  }
}

/** Of an object, or of the bucket when the key is empty. */
export function addressIn({ endpoint, region, bucket }: S3Settings, key: string, query: Readonly<Record<string, string>> = {}) {
  const base = new URL(endpoint || `https://s3.${region}.amazonaws.com`)
  const path = `${base.pathname.replace(/\/$/, '')}/${[bucket, ...(key === '' ? [] : key.split('/'))].map(encoded).join('/')}`
  const sorted = Object.entries(query)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')
  return { url: new URL(`${base.origin}${path}${sorted === '' ? '' : `?${sorted}`}`), host: base.host, path, query: sorted }
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const UNSIGNED = 'UNSIGNED-PAYLOAD'

interface Signed {
  readonly method: string
  readonly host: string
  readonly path: string
  readonly query: string
}

export function signed(
  { accessKeyId, secretKey, sessionToken, region }: S3Settings,
  { method, host, path, query }: Signed,
): Record<string, string> {
  if (accessKeyId === '') return {} // a public bucket
  const time = `${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const headers: Record<string, string> = {
    host,
    'x-amz-content-sha256': UNSIGNED,
    'x-amz-date': time,
    ...(sessionToken !== '' && { 'x-amz-security-token': sessionToken }),
  }
  const names = Object.keys(headers).sort()
  const canonical = [method, path, query, ...names.map((name) => `${name}:${headers[name]}`), '', names.join(';'), UNSIGNED].join(
    '\n',
  )
  const toSign = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = [time.slice(0, 8), region, 's3', 'aws4_request'].reduce<Buffer>(
    (before, part) => hmac(before, part),
    Buffer.from(`AWS4${secretKey}`),
  )
  const signature = hmac(key, toSign).toString('hex')
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  }
}
