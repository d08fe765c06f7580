// Variables of a project that configurations refer to as {{ vault.name }}. One for each key and set of attributes (a branch).

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('vault_variable')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('flags', 'text', (c) => c.notNull())
    .addColumn('attributes', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('one_variable_per_hash', ['project_id', 'hash'])
    .execute()
}
