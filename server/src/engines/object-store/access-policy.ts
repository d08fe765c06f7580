// The scope of temporary credentials as an IAM policy, for an external S3, and back, for our own service in that role.

import type { AccessScope, Grant } from './object-access.ts'

interface Statement {
  readonly Effect: 'Allow'
  readonly Action: readonly string[]
  readonly Resource: string | readonly string[]
  readonly Condition?: { readonly StringLike: { readonly 's3:prefix': string } }
}

export interface Policy {
  readonly Version: '2012-10-17'
  readonly Statement: readonly Statement[]
}

const WRITING = ['s3:PutObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts']
const READING = ['s3:GetObject']
const DELETING = ['s3:DeleteObject']
const LISTING = ['s3:ListBucket']

/** In a policy `*`, `?` and `$` mean something; as policy variables they mean themselves. */
const escapeKey = (key: string): string => key.replace(/[*?$]/g, (char) => `\${${char}}`)
const unescapeKey = (text: string): string => text.replace(/\$\{([*?$])\}/g, '$1')

const resourceOf = ({ key, isPrefix }: Grant, bucket: string): string =>
  `arn:aws:s3:::${bucket}/${escapeKey(key)}${isPrefix ? '*' : ''}`

/**
 * Demanding encryption is left out: no condition of IAM holds for the start of an upload in parts and for its parts alike, and
 * external stores encrypt by their own default. AWS takes 2,048 characters, so several grants share a statement and list nothing.
 */
export function policyFor({ grants }: AccessScope, bucket: string): Policy {
  const [only, ...others] = grants
  const statements =
    only && others.length === 0 ? forOne(only, bucket) : ACTIONS.flatMap((action) => forAll(action, grants, bucket))
  return { Version: '2012-10-17', Statement: statements }
}

const ACTIONS = ['download', 'upload', 'delete'] as const
const ALLOWED = { download: READING, upload: WRITING, delete: DELETING } as const
const actionsOf = (action: Grant['action']) => ALLOWED[action]

/** Programs that sync list what they read or write. */
const forOne = (grant: Grant, bucket: string): Statement[] => [
  { Effect: 'Allow', Action: actionsOf(grant.action), Resource: resourceOf(grant, bucket) },
  {
    Effect: 'Allow',
    Action: LISTING,
    Resource: `arn:aws:s3:::${bucket}`,
    Condition: { StringLike: { 's3:prefix': escapeKey(grant.key) + (grant.isPrefix ? '*' : '') } },
  },
]

function forAll(action: Grant['action'], grants: readonly Grant[], bucket: string): Statement[] {
  const resources = grants.filter((grant) => grant.action === action).map((grant) => resourceOf(grant, bucket))
  return resources.length === 0 ? [] : [{ Effect: 'Allow', Action: actionsOf(action), Resource: resources }]
}

/** The scope whose policy this is; undefined for any other policy: what we do not understand we do not grant. */
export function scopeOfPolicy(policy: unknown, bucket: string): AccessScope | undefined {
  const statements = (policy as Partial<Policy> | null | undefined)?.Statement
  if (!Array.isArray(statements)) return undefined
  const scope: AccessScope = { grants: statements.flatMap((one) => grantsOf(one, bucket)), demandEncryption: false }
  // Read leniently, then compared strictly: only the exact policy of a scope passes.
  return scope.grants.length > 0 && JSON.stringify(policyFor(scope, bucket)) === JSON.stringify(policy) ? scope : undefined
}

function grantsOf(statement: Partial<Statement> | null, bucket: string): Grant[] {
  const prefix = `arn:aws:s3:::${bucket}/`
  const first = String(statement?.Action?.[0])
  const action = ACTIONS.find((one) => ALLOWED[one][0] === first) ?? 'download'
  const resources = [statement?.Resource ?? []].flat().map(String)
  return resources.flatMap((resource) => {
    if (!resource.startsWith(prefix)) return []
    const isPrefix = resource.endsWith('*')
    return [{ action, key: unescapeKey(resource.slice(prefix.length, isPrefix ? -1 : undefined)), isPrefix }]
  })
}
