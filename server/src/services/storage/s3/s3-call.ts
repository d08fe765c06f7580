// A request as the S3 protocol sees it: bucket, key and query, decoded once and never again.

import type { IncomingMessage } from 'node:http'
import { S3Error } from './s3-errors.ts'

export interface S3Call {
  readonly method: string
  /** Decoded path as it was sent, which is what gets signed. */
  readonly path: string
  readonly query: ReadonlyMap<string, string>
  /** In the order sent, duplicates kept: what gets signed. */
  readonly queryPairs: readonly (readonly [string, string])[]
  readonly headers: IncomingMessage['headers']
  /** Empty when the request is about the service itself. */
  readonly bucket: string
  /** Empty when the request is about the bucket. */
  readonly key: string
}

export function parseCall(message: Pick<IncomingMessage, 'method' | 'url' | 'headers'>, ourBucket: string): S3Call {
  const url = message.url ?? '/'
  const questionMark = url.indexOf('?')
  const rawPath = questionMark < 0 ? url : url.slice(0, questionMark)
  const path = decode(rawPath)
  if (!path.startsWith('/')) throw new S3Error('InvalidURI', 'The path of the request must start with a slash.')
  const queryPairs = questionMark < 0 ? [] : parseQuery(url.slice(questionMark + 1))
  const { bucket, key } = locate(path, String(message.headers.host ?? ''), ourBucket)
  return {
    method: message.method ?? 'GET',
    path,
    query: new Map(queryPairs),
    queryPairs,
    headers: message.headers,
    bucket,
    key,
  }
}

/**
 * Path style (`/bucket/key`), or the bucket as the first part of the host name. A server may itself be called
 * `bucket.company.com`: a path that names the bucket is path style there too.
 */
function locate(path: string, host: string, ourBucket: string): { bucket: string; key: string } {
  const slash = path.indexOf('/', 1)
  const byPath = slash < 0 ? { bucket: path.slice(1), key: '' } : { bucket: path.slice(1, slash), key: path.slice(slash + 1) }
  const inHost = host.startsWith(`${ourBucket}.`) && byPath.bucket !== ourBucket
  return inHost ? { bucket: ourBucket, key: path.slice(1) } : byPath
}

function parseQuery(text: string): [string, string][] {
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=')
      const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
      return [decode(name.replaceAll('+', ' ')), decode(value.replaceAll('+', ' '))]
    })
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new S3Error('InvalidURI', 'The address of the request is not percent-encoded UTF-8.')
  }
}

export const headerOf = (call: S3Call, name: string): string | undefined => {
  const value = call.headers[name]
  return Array.isArray(value) ? value.join(',') : value
}
