// What was written for Iceberg readers: per state of a table its list of manifests, manifests that several states share, and schemas.
// It goes with the state; a manifest that no list names any more is removed by the sweep.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('iceberg_snapshot')
    .addColumn('state', 'bigint', (c) => c.primaryKey().references('table_state.id').onDelete('cascade'))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('data_table', 'bigint', (c) => c.notNull())
    // Null: other engines would read this state wrong, so that it is never shown to them.
    .addColumn('list_key', 'text')
    .addColumn('metadata_key', 'text')
    .addColumn('schema_id', 'integer')
    .addColumn('summary', 'text')
    .addColumn('outside', 'text')
    .execute()
  await trx.schema.createIndex('iceberg_snapshot_of_table').on('iceberg_snapshot').columns(['data_table', 'state']).execute()

  await trx.schema
    .createTable('iceberg_manifest')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('data_table', 'bigint', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('files', 'text', (c) => c.notNull())
    .execute()
  await trx.schema
    .createTable('iceberg_snapshot_manifest')
    .addColumn('state', 'bigint', (c) => c.notNull().references('iceberg_snapshot.state').onDelete('cascade'))
    .addColumn('manifest', 'bigint', (c) => c.notNull().references('iceberg_manifest.id'))
    .addPrimaryKeyConstraint('iceberg_snapshot_manifest_pk', ['state', 'manifest'])
    .execute()
  await trx.schema.createIndex('iceberg_snapshot_by_manifest').on('iceberg_snapshot_manifest').column('manifest').execute()

  await trx.schema
    .createTable('iceberg_schema')
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('data_table', 'bigint', (c) => c.notNull())
    .addColumn('schema_id', 'integer', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('iceberg_schema_pk', ['data_table', 'schema_id'])
    .execute()
}
