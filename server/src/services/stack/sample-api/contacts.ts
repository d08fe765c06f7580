// The writing side of the sample shop: contacts that a delivery creates, changes and deletes. Only their ids are kept, in memory and not
// for long, because the login is public: what one project sends must not be readable by another.

import { PlatformError } from '../../../kit/errors.ts'

const MAX_CONTACTS = 10_000
const SHOWN_IDS = 100

export interface Contact {
  readonly id: string
  /** How often it was created or changed. */
  readonly version: number
}

export interface Written {
  readonly status: 200 | 201 | 204
  readonly contact: Contact
}

export function createContacts() {
  const versions = new Map<string, number>()
  const answered = new Map<string, Written>()

  function put(id: string, status: Written['status']): Written {
    const version = (versions.get(id) ?? 0) + 1
    versions.delete(id)
    versions.set(id, version)
    dropOldest(versions)
    return { status, contact: { id, version } }
  }

  /** The same key again: the same answer, and nothing is done. */
  function once(key: string | undefined, work: () => Written): Written {
    const known = key === undefined ? undefined : answered.get(key)
    if (known) return known
    const written = work()
    if (key !== undefined) answered.set(key, written)
    dropOldest(answered)
    return written
  }

  const existing = (id: string): void => {
    if (!versions.has(id)) throw new PlatformError('sample.contactNotFound', { id })
  }

  return {
    create: (id: string, email: string | undefined, key?: string): Written =>
      once(key, () => {
        refuseBad(email)
        if (versions.has(id)) throw new PlatformError('sample.contactExists', { id })
        return put(id, 201)
      }),
    /** `isUpsert`: one that does not exist is created. */
    change: (id: string, email: string | undefined, isUpsert: boolean, key?: string): Written =>
      once(key, () => {
        refuseBad(email)
        if (!isUpsert) existing(id)
        return put(id, versions.has(id) ? 200 : 201)
      }),
    remove: (id: string, key?: string): Written =>
      once(key, () => {
        existing(id)
        const version = versions.get(id) ?? 0
        versions.delete(id)
        return { status: 204, contact: { id, version } }
      }),
    find(id: string): Contact {
      existing(id)
      return { id, version: versions.get(id) ?? 0 }
    },
    list: () => ({ total: versions.size, ids: [...versions.keys()].slice(-SHOWN_IDS) }),
  }
}

/** A record that is refused, to practise with. */
function refuseBad(email: string | undefined): void {
  if (email !== undefined && !email.includes('@')) throw new PlatformError('sample.contactInvalid', { email: email.slice(0, 60) })
}

/** Maps keep the order in which their keys were set. */
function dropOldest(map: Map<string, unknown>): void {
  if (map.size <= MAX_CONTACTS) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
