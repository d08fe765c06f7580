// What every operation of the protocol is: a name, what it needs to be allowed, and what it does.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HashThread } from '../../../engines/object-store/checksums/background-hash.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import type { Authenticated } from './authenticate.ts'
import type { Need } from './authorize.ts'
import type { S3Call } from './s3-call.ts'
import { S3Error } from './s3-errors.ts'

export interface S3Context {
  readonly call: S3Call
  readonly auth: Authenticated
  readonly message: IncomingMessage
  readonly hashThread: HashThread
  readonly response: ServerResponse
  readonly proceed: () => void
  readonly store: ObjectStore
  readonly bucket: string
  readonly region: string
}

export interface Operation {
  /** As AWS calls it; also the label in log and metrics. */
  readonly name: string
  readonly need: (call: S3Call) => Need
  readonly run: (context: S3Context) => Promise<void>
}

export function sendXml(response: ServerResponse, document: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { 'content-type': 'application/xml', 'content-length': Buffer.byteLength(document), ...headers })
  response.end(document)
}

export function sendEmpty(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, status === 204 || status === 304 ? headers : { 'content-length': '0', ...headers })
  response.end()
}

/** A whole number in a query parameter, within bounds. */
export function numberParameter(call: S3Call, name: string, fallback: number, [min, max]: readonly [number, number]): number {
  const text = call.query.get(name)
  if (text === undefined || text === '') return fallback
  if (!/^-?\d{1,10}$/.test(text) || Number(text) < min || Number(text) > max)
    throw new S3Error('InvalidArgument', `${name} must be a whole number from ${min} to ${max}.`, {
      ArgumentName: name,
      ArgumentValue: text,
    })
  return Number(text)
}

export const noSuchKey = (key: string): S3Error => new S3Error('NoSuchKey', 'The specified key does not exist.', { Key: key })
