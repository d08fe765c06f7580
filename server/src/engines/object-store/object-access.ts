// How external clients access one object without an account: links and temporary credentials. The files module uses this and
// is independent of whether the embedded store (embedded-access.ts) or an external S3 (sts-access.ts) answers.

/** One thing that temporary credentials may do. */
export interface Grant {
  readonly action: 'upload' | 'download' | 'delete'
  readonly key: string
  /** A folder or a sliced file: every key that starts with `key`. Else exactly `key`. */
  readonly isPrefix: boolean
}

/** What temporary credentials may do, and nothing else. */
export interface AccessScope {
  readonly grants: readonly Grant[]
  /** Refuse uploads that do not request encryption at rest. */
  readonly demandEncryption: boolean
}

/** Spelled as on the wire (spec storage 2.6.2). */
export interface TemporaryCredentials {
  readonly AccessKeyId: string
  readonly SecretAccessKey: string
  readonly SessionToken: string
  readonly Expiration: string
}

export interface LinkOptions {
  readonly endpoint: string
  readonly expiresInSeconds: number
  readonly contentDisposition?: string
  readonly contentType?: string
}

export interface ObjectAccess {
  readonly bucket: string
  readonly region: string
  /** Where clients reach the store, given the address (`http://host:port`) at which they reached the API. */
  endpointFor(apiOrigin: string): string
  /** A link that downloads the object. */
  link(key: string, options: LinkOptions): string
  /** `seconds`: how long at most; by default as long as the store allows. */
  credentials(scope: AccessScope, seconds?: number): Promise<TemporaryCredentials>
  /** The same scope for SDKs of Azure; undefined where the store does not support their protocol. */
  readonly sharedAccess?: (scope: AccessScope, endpoint: string) => SharedAccess
}

/** Spelled as on the wire (spec storage 2.6.4). */
export interface SharedAccess {
  readonly SASConnectionString: string
  readonly expiration: string
  readonly accountName: string
  readonly container: string
}

/** Temporary credentials are valid this long. */
export const CREDENTIALS_SECONDS = 12 * 3600
/** Those for the files of a table: short, because files of earlier states are kept this long after they are no longer needed. */
export const TABLE_CREDENTIALS_SECONDS = 3600

export const mayTouch = (grant: Grant, key: string): boolean => (grant.isPrefix ? key.startsWith(grant.key) : key === grant.key)
