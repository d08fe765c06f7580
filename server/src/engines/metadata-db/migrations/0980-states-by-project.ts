// The sweep of table files goes project by project: what a project has is found without a look at the others.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  const index = (name: string, table: string, columns: readonly string[]) =>
    trx.schema
      .createIndex(name)
      .on(table)
      .columns([...columns])
      .execute()
  await index('table_state_by_project', 'table_state', ['project_id', 'id'])
  await index('table_snapshot_by_project', 'table_snapshot', ['project_id', 'id'])
  await index('iceberg_snapshot_by_project', 'iceberg_snapshot', ['project_id', 'state'])
  await index('iceberg_manifest_by_project', 'iceberg_manifest', ['project_id', 'id'])
}
