// A bucket as the API shows it (spec storage 2.4). `tables` is an address in lists and the tables themselves in the detail.

import { Type } from 'typebox'
import { PROJECT_CATALOG } from '../../../engines/sql/protocol.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { BACKEND } from '../../../model/backend.ts'
import type { Bucket } from './buckets.store.ts'
import type { Link } from './sharing.ts'

export const BucketView = Type.Object(
  {
    uri: Type.String(),
    id: Type.String({ examples: ['in.c-main'] }),
    name: Type.String(),
    displayName: Type.String(),
    stage: Type.String(),
    description: Type.String(),
    tables: Type.Union([Type.String(), Type.Array(Type.Unknown())]),
    created: Timestamp,
    rowsCount: Type.Integer(),
    dataSizeBytes: Type.Integer(),
    backend: Type.String(),
    sharing: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'Bucket' },
)

export interface Usage {
  readonly tables: number
  readonly rows: number
  readonly bytes: number
}

export interface BucketExtras {
  readonly usage?: Usage | undefined
  readonly source?: Link | undefined
  readonly links?: readonly Link[] | undefined
  readonly metadata?: readonly unknown[] | undefined
  readonly attributes?: boolean
  /** The one that the project reports; the stack's own when omitted. */
  readonly backend?: string | undefined
}

export const bucketView = (
  bucket: Bucket,
  baseUrl: string,
  { usage, source, links, metadata, attributes, backend = BACKEND }: BucketExtras = {},
) => {
  const uri = `${baseUrl}/v2/storage/buckets/${bucket.id}`
  return {
    uri,
    id: bucket.id,
    name: bucket.name,
    displayName: bucket.displayName,
    idBranch: bucket.branchId,
    stage: bucket.stage,
    description: bucket.description,
    tables: `${uri}/tables`,
    created: formatTimestamp(bucket.createdAt),
    lastChangeDate: bucket.lastChangeAt ? formatTimestamp(bucket.lastChangeAt) : null,
    updated: bucket.updatedAt ? formatTimestamp(bucket.updatedAt) : null,
    isReadOnly: bucket.sourceKey !== undefined,
    isMaintenance: false,
    isLinkedBucket: bucket.sourceKey !== undefined,
    bucketSharingAllowed: bucket.sourceKey === undefined,
    hasExternalSchema: false,
    isSnowflakeSharedDatabase: false,
    dataSizeBytes: usage?.bytes ?? 0,
    rowsCount: usage?.rows ?? 0,
    backend,
    sharing: bucket.sharing,
    ...(bucket.sharing !== null && { sharingParameters: sharingParametersOf(bucket), sharedBy: bucket.sharedBy }),
    databaseName: null,
    path: bucket.id,
    backendPath: [PROJECT_CATALOG, bucket.id], // clients append the name of a table and use that in SQL
    color: bucket.color,
    owner: bucket.owner,
    ...(links && { linkedBy: links.map(linkView) }),
    ...(source && { sourceBucket: { ...sourceView(source), backend } }),
    ...(metadata && { metadata }),
    ...(attributes && { attributes: [] }),
  }
}

export const sharingParametersOf = ({ sharingParameters: { projects, users } }: Bucket) => ({
  ...(projects && { projects: projects.map((id) => ({ id })) }),
  ...(users && { users: users.map(({ id, name, email }) => ({ id, name, email })) }),
})

const linkView = ({ bucket, project }: Link) => ({
  id: bucket.id,
  created: formatTimestamp(bucket.createdAt),
  project: { id: project.id, name: project.name },
})

const sourceView = ({ bucket, project }: Link) => ({
  id: bucket.id,
  name: bucket.name,
  displayName: bucket.displayName,
  stage: bucket.stage,
  description: bucket.description,
  sharing: bucket.sharing,
  created: formatTimestamp(bucket.createdAt),
  lastChangeDate: bucket.lastChangeAt ? formatTimestamp(bucket.lastChangeAt) : null,
  project: { id: project.id, name: project.name },
})
