// The password of a data app, as a cipher, and the token that asked for it: the password opens the app as long as that token works.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('data_app').addColumn('password_cipher', 'text').execute()
  await trx.schema.alterTable('data_app').addColumn('password_token_id', 'bigint').execute()
}
