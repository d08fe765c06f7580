// The table of vault variables.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'

interface VaultTables {
  vault_variable: {
    id: Generated<number>
    project_id: number
    hash: string
    key: string
    value: string
    flags: string
    attributes: string
    updated_at: number
  }
}

/** `encrypted`: a secret. `oauthCredentialsId`: the id of an authorisation. */
export type VaultFlag = 'encrypted' | 'oauthCredentialsId'

export interface VaultVariable {
  readonly hash: string
  readonly key: string
  readonly value: string
  readonly flags: readonly VaultFlag[]
  readonly attributes: Readonly<Record<string, string>>
}

export function createVaultStore(database: Db) {
  const db = withTables<VaultTables>(database)
  return {
    async save(trx: Trx, projectId: number, { hash, key, value, flags, attributes }: VaultVariable, now: number): Promise<void> {
      const changed = { value, flags: JSON.stringify(flags), updated_at: now }
      await withTables<VaultTables>(trx)
        .insertInto('vault_variable')
        .values({ project_id: projectId, hash, key, attributes: JSON.stringify(attributes), ...changed })
        .onConflict((conflict) => conflict.columns(['project_id', 'hash']).doUpdateSet(changed))
        .execute()
    },

    /** All of them: a project has as many as people write by hand. */
    list: async (projectId: number): Promise<readonly VaultVariable[]> => {
      const rows = await db.selectFrom('vault_variable').selectAll().where('project_id', '=', projectId).orderBy('id').execute()
      return rows.map(toVariable)
    },

    async remove(trx: Trx, projectId: number, hash: string): Promise<boolean> {
      const removed = await withTables<VaultTables>(trx)
        .deleteFrom('vault_variable')
        .where('project_id', '=', projectId)
        .where('hash', '=', hash)
        .returning('id')
        .executeTakeFirst()
      return removed !== undefined
    },
  }
}

const toVariable = (row: Selectable<VaultTables['vault_variable']>): VaultVariable => ({
  hash: row.hash,
  key: row.key,
  value: row.value,
  flags: readStored<VaultFlag[]>(row.flags),
  attributes: readStored<Record<string, string>>(row.attributes),
})
