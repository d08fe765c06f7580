// A file as the API shows it (spec storage 2.6.1).

import { Type } from 'typebox'
import type { ObjectAccess, TemporaryCredentials } from '../../../engines/object-store/object-access.ts'
import { optionalFlag } from '../../../http/parameters.ts'
import { CreatorToken, Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import type { FileRecord } from './files.store.ts'

export const Tag = Type.String({ minLength: 1, maxLength: 1000, description: 'A tag of the file.' })

/** Attributes of a file that may be set when it is prepared or uploaded. */
export const FileFlags = {
  isPermanent: optionalFlag('True: kept until it is deleted. False: deleted after 15 days.'),
  isPublic: optionalFlag('Stored and returned; has no effect: every read needs a link or credentials.'),
  isEncrypted: optionalFlag('True: the upload must request server-side encryption.'),
  notify: optionalFlag('Stored; no mail is sent.'),
  tags: Type.Optional(Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 1000, description: 'Tags, which filter lists.' })),
}

const Credentials = Type.Object({
  AccessKeyId: Type.String(),
  SecretAccessKey: Type.String(),
  SessionToken: Type.String(),
  Expiration: Type.String({ description: 'YYYY-MM-DDThh:mm:ss+hh:mm' }),
})

const SharedAccess = Type.Object({
  SASConnectionString: Type.String({
    description: 'For Azure SDKs: URL of the object store and shared access signature.',
  }),
  expiration: Type.String({ description: 'YYYY-MM-DDThh:mm:ss+hh:mm' }),
  accountName: Type.String(),
  container: Type.String(),
})

export const FileView = Type.Object(
  {
    id: Type.Integer(),
    created: Timestamp,
    isPublic: Type.Boolean(),
    isSliced: Type.Boolean(),
    isEncrypted: Type.Boolean(),
    name: Type.String(),
    url: Type.String({ description: 'Downloads the file (of a sliced one: the manifest) for 3600 seconds.' }),
    provider: Type.String(),
    fileType: Type.String({ description: 'csv or parquet, by the name.' }),
    region: Type.String(),
    sizeBytes: Type.Integer(),
    tags: Type.Array(Type.String()),
    maxAgeDays: Type.Union([Type.Integer(), Type.Null()]),
    runId: Type.Union([Type.String(), Type.Null()]),
    runIds: Type.Array(Type.String()),
    creatorToken: CreatorToken,
    uploadParams: Type.Optional(
      Type.Object({
        key: Type.String(),
        bucket: Type.String(),
        acl: Type.String(),
        'x-amz-server-side-encryption': Type.String(),
        credentials: Type.Optional(Credentials),
        endpoint: Type.String({ description: 'URL of the object store, for the endpoint setting of SDKs.' }),
      }),
    ),
    absUploadParams: Type.Optional(
      Type.Object(
        { blobName: Type.String(), accountName: Type.String(), container: Type.String(), absCredentials: SharedAccess },
        { description: 'Instead of `uploadParams` if the provider is azure.' },
      ),
    ),
    absPath: Type.Optional(Type.Object({ container: Type.String(), name: Type.String() })),
    absCredentials: Type.Optional(SharedAccess),
    s3Path: Type.Optional(Type.Object({ bucket: Type.String(), key: Type.String() })),
    credentials: Type.Optional(Credentials),
    endpoint: Type.Optional(Type.String({ description: 'URL of the object store; in a detail with credentials.' })),
  },
  { title: 'File' },
)

export const fileView = (file: FileRecord, url: string, region: string) => ({
  id: file.id,
  created: formatTimestamp(file.createdAt),
  isPublic: file.isPublic,
  isSliced: file.isSliced,
  isEncrypted: file.isEncrypted,
  name: file.name,
  url,
  provider: file.provider,
  fileType: /\.parquet$/i.test(file.name) ? 'parquet' : 'csv',
  region,
  sizeBytes: file.sizeBytes ?? 0,
  tags: [...file.tags],
  maxAgeDays: file.maxAgeDays,
  runId: file.runId,
  runIds: [...(file.runId === null ? [] : [file.runId]), ...file.moreRunIds],
  creatorToken: file.creatorToken,
})

/** What a client needs to upload the file, in the shape of its provider. */
export const uploadParams = (
  file: FileRecord,
  access: ObjectAccess,
  baseUrl: string,
  credentials: TemporaryCredentials | undefined,
) => ({
  key: file.key,
  bucket: access.bucket,
  acl: 'private',
  // Four clients read this without looking whether it is there.
  'x-amz-server-side-encryption': 'AES256',
  ...(credentials && { credentials }),
  endpoint: access.endpointFor(baseUrl),
})
