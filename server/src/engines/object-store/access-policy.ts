// The scope of temporary credentials as an IAM policy, for an external S3, and back, for our own service in that role.

import type { AccessScope } from './object-access.ts'

interface Statement {
  readonly Effect: 'Allow'
  readonly Action: readonly string[]
  readonly Resource: string
  readonly Condition?: { readonly StringLike: { readonly 's3:prefix': string } }
}

export interface Policy {
  readonly Version: '2012-10-17'
  readonly Statement: readonly Statement[]
}

const WRITING = ['s3:PutObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts']
const READING = ['s3:GetObject']
const LISTING = ['s3:ListBucket']

/** In a policy `*`, `?` and `$` mean something; as policy variables they mean themselves. */
const escapeKey = (key: string): string => key.replace(/[*?$]/g, (char) => `\${${char}}`)
const unescapeKey = (text: string): string => text.replace(/\$\{([*?$])\}/g, '$1')

/**
 * Demanding encryption is left out: no condition of IAM holds for the start of an upload in parts and for its parts alike, and
 * external stores encrypt by their own default.
 */
export function policyFor({ action, key, isPrefix }: AccessScope, bucket: string): Policy {
  const pattern = escapeKey(key) + (isPrefix ? '*' : '')
  const Resource = `arn:aws:s3:::${bucket}/${pattern}`
  const listing: Statement = {
    Effect: 'Allow',
    Action: LISTING,
    Resource: `arn:aws:s3:::${bucket}`,
    Condition: { StringLike: { 's3:prefix': pattern } },
  }
  const statements: Statement[] =
    action === 'upload'
      ? [{ Effect: 'Allow', Action: WRITING, Resource }, listing]
      : [{ Effect: 'Allow', Action: READING, Resource }, listing]
  return { Version: '2012-10-17', Statement: statements }
}

/** The scope whose policy this is; undefined for any other policy: what we do not understand we do not grant. */
export function scopeOfPolicy(policy: unknown, bucket: string): AccessScope | undefined {
  const text = JSON.stringify(policy) ?? ''
  const prefix = `arn:aws:s3:::${bucket}/`
  const [, pattern] = /"Resource":"((?:[^"\\]|\\.)*)"/.exec(text) ?? []
  const resource = pattern === undefined ? '' : String(JSON.parse(`"${pattern}"`))
  if (!resource.startsWith(prefix)) return undefined
  const isPrefix = resource.endsWith('*')
  const key = unescapeKey(resource.slice(prefix.length, isPrefix ? -1 : undefined))
  const scope: AccessScope = {
    action: text.includes(WRITING[0]!) ? 'upload' : 'download',
    key,
    isPrefix,
    demandEncryption: false,
  }
  // Read leniently, then compared strictly: only the exact policy of a scope passes.
  return JSON.stringify(policyFor(scope, bucket)) === text ? scope : undefined
}
