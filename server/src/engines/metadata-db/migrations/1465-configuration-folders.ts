// Configurations are browsed by folder: those in folders are found without looking at the others.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createIndex('configuration_metadata_by_value')
    .on('configuration_metadata')
    .columns(['project_id', 'key', 'value'])
    .execute()
}
