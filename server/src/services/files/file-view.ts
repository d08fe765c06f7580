// A file as the API shows it (spec storage 2.6.1).

import { Type } from 'typebox'
import type { ObjectAccess, TemporaryCredentials } from '../../engines/object-store/object-access.ts'
import { optionalFlag } from '../../http/parameters.ts'
import { formatTimestamp } from '../../kit/clock.ts'
import type { FileRecord } from './files.store.ts'

export const Tag = Type.String({ minLength: 1, maxLength: 1000, description: 'A tag of the file.' })

/** What may be said about a file when it is prepared or uploaded. */
export const FileFlags = {
  isPermanent: optionalFlag('True: kept until it is deleted. False: removed after its age, 15 days.'),
  isPublic: optionalFlag('Kept and shown; every read needs a link or credentials all the same.'),
  isEncrypted: optionalFlag('True: the upload must ask for server-side encryption.'),
  notify: optionalFlag('Kept; no mail is sent.'),
  tags: Type.Optional(
    Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 1000, description: 'Tags, by which lists can be narrowed.' }),
  ),
}

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
