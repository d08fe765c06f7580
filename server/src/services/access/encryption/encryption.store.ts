// Wrapped data keys, and which root key wraps them. Owns `encryption_stack` (one row) and `encryption_data_key`.

import type { Kysely } from 'kysely'
import { type Db, lockRows } from '../../../engines/metadata-db/dialects.ts'

type EncryptionTables = {
  encryption_stack: { id: number; stack_id: string; root_key_id: string }
  encryption_data_key: { id: string; project_id: number; wrapped: string; root_key_id: string; created_at: number }
}

export interface StoredDataKey {
  readonly id: string
  /** 0 is the stack itself: ciphers without a project, or for a project that does not exist. */
  readonly projectId: number
  readonly wrapped: string
  readonly rootKeyId: string
}

export interface StoredStack {
  readonly stackId: string
  readonly rootKeyId: string
}

const tables = (db: Db): Kysely<EncryptionTables> => db.withTables<EncryptionTables>()

export async function findStack(db: Db): Promise<StoredStack | undefined> {
  const row = await tables(db).selectFrom('encryption_stack').selectAll().executeTakeFirst()
  return row && { stackId: row.stack_id, rootKeyId: row.root_key_id }
}

/** No other process rotates or adds a data key until the transaction ends. */
export async function lockStack(trx: Db): Promise<StoredStack | undefined> {
  const row = await tables(trx).selectFrom('encryption_stack').selectAll().$call(lockRows(trx)).executeTakeFirst()
  return row && { stackId: row.stack_id, rootKeyId: row.root_key_id }
}

/** Of nodes that start together for the first time one row stays. */
export async function insertStack(trx: Db, stack: StoredStack): Promise<void> {
  await tables(trx)
    .insertInto('encryption_stack')
    .values({ id: 1, stack_id: stack.stackId, root_key_id: stack.rootKeyId })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

export async function setRootKey(trx: Db, rootKeyId: string): Promise<void> {
  await tables(trx).updateTable('encryption_stack').set({ root_key_id: rootKeyId }).execute()
}

export async function listDataKeys(db: Db, projectIds?: readonly number[]): Promise<readonly StoredDataKey[]> {
  let query = tables(db).selectFrom('encryption_data_key').selectAll().orderBy('created_at').orderBy('id')
  if (projectIds) query = query.where('project_id', 'in', projectIds)
  const rows = await query.execute()
  return rows.map((row) => ({ id: row.id, projectId: row.project_id, wrapped: row.wrapped, rootKeyId: row.root_key_id }))
}

export async function insertDataKey(trx: Db, key: StoredDataKey, createdAt: number): Promise<void> {
  await tables(trx)
    .insertInto('encryption_data_key')
    .values({ id: key.id, project_id: key.projectId, wrapped: key.wrapped, root_key_id: key.rootKeyId, created_at: createdAt })
    .execute()
}

export async function rewrapDataKey(trx: Db, id: string, wrapped: string, rootKeyId: string): Promise<void> {
  await tables(trx).updateTable('encryption_data_key').set({ wrapped, root_key_id: rootKeyId }).where('id', '=', id).execute()
}
