// Data keys, unwrapped in memory. What must stay true:
//  (1) the row `encryption_stack` names the current root key, the key file only holds keys; both change under that row's lock,
//      so a data key is never wrapped by a root key that is about to be dropped, whichever process does what when;
//  (2) the file holds every root key that wraps anything, at every moment of a rotation;
//  (3) a project has its own data key; ids of projects that do not exist share the stack's, so callers cannot make us store keys at will.

import { randomUUID } from 'node:crypto'
import { type DataKey, newDataKey, unwrap, wrap } from '../../../engines/encryption/cipher.ts'
import { newRootKey, type RootKey, type RootKeys } from '../../../engines/encryption/root-keys.ts'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import {
  findStack,
  insertDataKey,
  insertStack,
  listDataKeys,
  lockStack,
  rewrapDataKey,
  type StoredDataKey,
  type StoredStack,
  setRootKey,
} from './encryption.store.ts'

const STACK = 0

export interface ProjectKeys {
  readonly stackId: string
  /** New ciphers are made with this one. */
  readonly current: DataKey
  readonly byId: ReadonlyMap<string, DataKey>
}

export interface KeyRing {
  /** The keys of one project and of the stack; `undefined` is the stack alone. */
  keysOf(projectId: string | undefined): Promise<ProjectKeys>
  /** Throws with a sentence when a stored data key cannot be opened with the root keys there are. Makes no key. */
  check(): Promise<void>
  /** Wraps every data key with a fresh root key (or with the first of the environment). Ciphers stay valid, running nodes continue. */
  rotate(): Promise<{ readonly rootKeyId: string; readonly rewrapped: number }>
}

export interface KeyRingDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly rootKeys: RootKeys
  readonly projectExists: (projectId: number) => Promise<boolean>
  readonly clock: Clock
}

export function createKeyRing({ db, inTransaction, rootKeys, projectExists, clock }: KeyRingDeps): KeyRing {
  const known = new Map<number, ProjectKeys>()

  async function keysOf(projectId: string | undefined): Promise<ProjectKeys> {
    const id = projectId !== undefined && /^[1-9]\d{0,14}$/.test(projectId) ? Number(projectId) : STACK
    return known.get(id) ?? (await load(id))
  }

  async function load(projectId: number): Promise<ProjectKeys> {
    const stack = (await findStack(db)) ?? (await inTransaction(createStack))
    let stored = await listDataKeys(db, [STACK, projectId])
    if (!stored.some((key) => key.projectId === projectId)) {
      if (!(await projectExists(projectId))) return await keysOf(undefined) // by (3); not remembered: the project may come
      await inTransaction((trx) => createDataKey(trx, projectId))
      stored = await listDataKeys(db, [STACK, projectId])
    }
    const opened = await openAll(stored)
    const own = opened.find(({ projectId: owner }) => owner === projectId)! // made above, when it was not there before
    const keys = { stackId: stack.stackId, current: own.key, byId: new Map(opened.map(({ key }) => [key.id, key])) }
    known.set(projectId, keys)
    return keys
  }

  async function createStack(trx: Trx): Promise<StoredStack> {
    await insertStack(trx, { stackId: randomUUID(), rootKeyId: (await rootKeys.readOrCreate())[0]!.id })
    await createDataKey(trx, STACK)
    return (await findStack(trx))! // inserted above, by us or by another node
  }

  async function createDataKey(trx: Trx, projectId: number): Promise<void> {
    const stack = (await lockStack(trx))! // inserted before the first data key
    if ((await listDataKeys(trx, [projectId])).length > 0) return // another node was faster
    const root = findRoot(await rootKeys.read(), stack.rootKeyId)
    const key = newDataKey()
    const stored = { id: key.id, projectId, wrapped: wrap(root.key, key, String(projectId)), rootKeyId: root.id }
    await insertDataKey(trx, stored, clock.now().getTime())
  }

  async function openAll(stored: readonly StoredDataKey[]): Promise<{ projectId: number; key: DataKey }[]> {
    const roots = await rootKeys.read()
    return stored.map((row) => ({ projectId: row.projectId, key: openDataKey(roots, row) }))
  }

  async function rotate() {
    await keysOf(undefined) // a stack that was never used has no row to lock
    const result = await inTransaction(async (trx) => {
      await lockStack(trx)
      const present = await rootKeys.read()
      const fresh = rootKeys.source === 'file' ? newRootKey() : present[0]!
      if (rootKeys.source === 'file') await rootKeys.write([fresh, ...present]) // by (2) before anything is wrapped by it
      const stored = await listDataKeys(trx)
      for (const row of stored) {
        await rewrapDataKey(trx, row.id, wrap(fresh.key, openDataKey(present, row), String(row.projectId)), fresh.id)
      }
      await setRootKey(trx, fresh.id)
      return { rootKeyId: fresh.id, rewrapped: stored.length }
    })
    if (rootKeys.source === 'file') await inTransaction(dropUnusedRoots)
    return result
  }

  async function dropUnusedRoots(trx: Trx): Promise<void> {
    const stack = await lockStack(trx)
    const used = new Set([stack?.rootKeyId, ...(await listDataKeys(trx)).map((key) => key.rootKeyId)])
    await rootKeys.write((await rootKeys.read()).filter((key) => used.has(key.id)))
  }

  return { keysOf, rotate, check: async () => void (await openAll(await listDataKeys(db))) }
}

const findRoot = (roots: readonly RootKey[], id: string): RootKey => {
  const root = roots.find((key) => key.id === id)
  if (!root) throw new PlatformError('encryption.rootKeyMissing', { id })
  return root
}

function openDataKey(roots: readonly RootKey[], row: StoredDataKey): DataKey {
  const key = unwrap(findRoot(roots, row.rootKeyId).key, row.id, String(row.projectId), row.wrapped)
  if (!key) throw new PlatformError('encryption.dataKeyDamaged', { id: row.id, root: row.rootKeyId })
  return key
}
