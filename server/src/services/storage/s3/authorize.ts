// What temporary credentials may do. An operation declares the right it needs, and this file allows it or returns 403; there is no other access.

import { type Grant, mayTouch } from '../../../engines/object-store/object-access.ts'
import type { Principal } from './authenticate.ts'
import { S3Error } from './s3-errors.ts'

export type Need =
  /** Reading or writing the object at `key`, or only seeing that it is there, with its size and checksum. */
  | { readonly action: 'read' | 'write' | 'head'; readonly key: string }
  /** Deleting the object at `key`, or (without one) any object, whose key is checked later. */
  | { readonly action: 'delete'; readonly key?: string }
  /** Listing what starts with `prefix`. */
  | { readonly action: 'list'; readonly prefix: string }
  /** Anything about the bucket itself that reveals nothing but its existence. */
  | { readonly action: 'see-bucket' }
  /** Everything that only the store's own key may do. */
  | { readonly action: 'administer' }

export function authorize(principal: Principal, need: Need): void {
  if (!isAllowed(principal, need)) throw new S3Error('AccessDenied', 'Access Denied')
}

export const isAllowed = (principal: Principal, need: Need): boolean =>
  principal.kind === 'root' || principal.scope.grants.some((grant) => allows(grant, need))

function allows(grant: Grant, need: Need): boolean {
  switch (need.action) {
    case 'read':
      return grant.action === 'download' && mayTouch(grant, need.key)
    case 'write':
      return grant.action === 'upload' && mayTouch(grant, need.key)
    case 'delete':
      return grant.action === 'delete' && (need.key === undefined || mayTouch(grant, need.key))
    // Programs that sync look at what is there before they write, so credentials for uploads may look too.
    case 'head':
      return mayTouch(grant, need.key)
    case 'list':
      return covers(grant, need.prefix) || isFolderOf(grant, need.prefix)
    case 'see-bucket':
      return true
    case 'administer':
      return false
  }
}

/** Programs that sync list `key/` as well, to see whether the object is a folder. */
const covers = ({ key, isPrefix }: Grant, prefix: string): boolean =>
  isPrefix ? prefix.startsWith(key) : prefix === key || prefix === `${key}/`

const isFolderOf = ({ key }: Grant, prefix: string): boolean => prefix.endsWith('/') && key.startsWith(prefix)

/** The part of a list that its reader sees: keys that start with `within` and for which `shows` is true. */
export interface Visible {
  readonly within: string
  shows(key: string): boolean
}

/** Programs look for a file in the list of its folder: there, temporary credentials see what they are for and nothing else. */
export function visibleIn(principal: Principal, prefix: string): Visible {
  if (principal.kind === 'root') return { within: prefix, shows: () => true }
  const { grants } = principal.scope
  const folderOf = grants.some((grant) => covers(grant, prefix)) ? undefined : grants.find((grant) => isFolderOf(grant, prefix))
  return { within: folderOf?.key ?? prefix, shows: (key) => grants.some((grant) => mayTouch(grant, key)) }
}

/** An encrypted file refuses an upload that does not request encryption (spec storage 2.6.3). */
export function demandEncryption(principal: Principal, encryption: string | undefined): void {
  if (principal.kind === 'session' && principal.scope.demandEncryption && encryption !== 'AES256')
    throw new S3Error('AccessDenied', 'Access Denied: this file must be uploaded with x-amz-server-side-encryption: AES256')
}
