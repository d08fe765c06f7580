// Who answers for a bucket: id, name and address of the holder of a token, as JSON (spec storage 2.4).

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('bucket').addColumn('owner', 'text').execute()
}
