// AWS Signature Version 4 (spec extractor 19): the last thing done to a request before it goes out.

import { createHash, createHmac } from 'node:crypto'
import { at } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { isEmpty, isScalar, type JsonObject } from '../json/json.ts'
import { toText } from '../json/text.ts'
import { rawEncode } from '../percent.ts'
import { hostOf } from './address.ts'
import type { HttpRequest, Send } from './exchange.ts'
import { headerValue, withHeaders } from './headers.ts'
import { parseQuery } from './query.ts'

export const awsSchema = {
  type: 'object',
  title: 'AWS signature',
  description: 'Signs every request with AWS Signature Version 4.',
  properties: {
    accessKeyId: { type: 'string' },
    '#secretKey': { type: 'string' },
    serviceName: { type: 'string', description: 'e.g. execute-api' },
    regionName: { type: 'string', description: 'e.g. eu-central-1' },
  },
  required: ['accessKeyId', '#secretKey', 'serviceName', 'regionName'],
} as const

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretKey: string
  readonly service: string
  readonly region: string
}

export function readAwsCredentials(value: JsonObject): AwsCredentials {
  const required = (name: string) => {
    const option = at(value, name)
    if (isEmpty(option) || !isScalar(option)) {
      throw new UserError(`Option "${name}" under "parameters.aws.signature.credentials" cannot be empty.`)
    }
    return toText(option)
  }
  return {
    accessKeyId: required('accessKeyId'),
    secretKey: required('#secretKey'),
    service: required('serviceName'),
    region: required('regionName'),
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

export function withAwsSignature(send: Send, credentials: AwsCredentials, now: () => number): Send {
  return (request) => send(signAws(request, credentials, new Date(now())))
}

export function signAws(
  request: HttpRequest,
  { accessKeyId, secretKey, service, region }: AwsCredentials,
  time: Date,
): HttpRequest {
  const timestamp = `${time.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const day = timestamp.slice(0, 8)
  const scope = `${day}/${region}/${service}/aws4_request`
  const host = headerValue(request.headers, 'host') ?? hostOf(request.address)
  const canonical = [
    request.method,
    request.address.path.split('/').map(rawEncode).join('/'),
    canonicalQuery(request.address.query),
    `host:${host}`,
    `x-amz-date:${timestamp}`,
    '',
    'host;x-amz-date',
    sha256(request.body ?? ''),
  ].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', timestamp, scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<Buffer>((k, part) => hmac(k, part), Buffer.from(`AWS4${secretKey}`))
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=host;x-amz-date, Signature=${hmac(key, toSign).toString('hex')}`
  return {
    ...request,
    headers: withHeaders(request.headers, [
      ['X-Amz-Date', timestamp],
      ['Authorization', authorization],
    ]),
  }
}

function canonicalQuery(query: string | undefined): string {
  return parseQuery(query)
    .map(([name, value = '']) => `${rawEncode(name)}=${rawEncode(value)}`)
    .sort()
    .join('&')
}
