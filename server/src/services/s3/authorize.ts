// What temporary credentials may do. An operation states its need, this file says yes or 403; there is no third way in.

import { type Grant, mayTouch } from '../../engines/object-store/object-access.ts'
import type { Principal } from './authenticate.ts'
import { S3Error } from './s3-errors.ts'

export type Need =
  /** Reading or writing the object at `key`, or only seeing that it is there, with its size and checksum. */
  | { readonly action: 'read' | 'write' | 'head'; readonly key: string }
  /** Listing what starts with `prefix`. */
  | { readonly action: 'list'; readonly prefix: string }
  /** Anything about the bucket itself that reveals nothing but its existence. */
  | { readonly action: 'see-bucket' }
  /** Everything that only the store's own key may do. */
  | { readonly action: 'administer' }

export function authorize(principal: Principal, need: Need): void {
  if (principal.kind === 'root') return
  if (!principal.scope.grants.some((grant) => allows(grant, need))) throw new S3Error('AccessDenied', 'Access Denied')
}

function allows(grant: Grant, need: Need): boolean {
  switch (need.action) {
    case 'read':
      return grant.action === 'download' && mayTouch(grant, need.key)
    case 'write':
      return grant.action === 'upload' && mayTouch(grant, need.key)
    // Programs that sync look at what is there before they write, so credentials for uploads may look too.
    case 'head':
      return mayTouch(grant, need.key)
    case 'list':
      return grant.isPrefix ? need.prefix.startsWith(grant.key) : isKeyOrFolder(grant.key, need.prefix)
    case 'see-bucket':
      return true
    case 'administer':
      return false
  }
}

/** Programs that sync list `key/` as well, to see whether the object is a folder. */
const isKeyOrFolder = (key: string, prefix: string): boolean => prefix === key || prefix === `${key}/`

/** An encrypted file refuses an upload that does not ask for encryption (spec storage 2.6.3). */
export function demandEncryption(principal: Principal, encryption: string | undefined): void {
  if (principal.kind === 'session' && principal.scope.demandEncryption && encryption !== 'AES256')
    throw new S3Error('AccessDenied', 'Access Denied: this file must be uploaded with x-amz-server-side-encryption: AES256')
}
