// Whose rights the password of a workspace has once the token that made the workspace is gone: those of the token that reset it.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('workspace').addColumn('acting_token_id', 'bigint').execute()
}
