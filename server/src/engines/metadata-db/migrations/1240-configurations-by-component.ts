// The index of the stack lists components that only have stored configurations (corrections-2 G19).

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.createIndex('configuration_by_component').on('configuration').columns(['component_id']).execute()
}
