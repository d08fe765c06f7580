// Settings of the whole stack that were changed while it ran. They belong to no project.

import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

interface SettingTables {
  stack_setting: { name: string; value: string; changed_at: number; changed_by: string }
}

export type SettingRow = SettingTables['stack_setting']

const tables = (db: Db) => withTables<SettingTables>(db)

export function createSettingsStore(db: Db) {
  return {
    list: (): Promise<SettingRow[]> => tables(db).selectFrom('stack_setting').selectAll().execute(),

    async set(trx: Trx, row: SettingRow): Promise<void> {
      await tables(trx)
        .insertInto('stack_setting')
        .values(row)
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet((e) => ({
            value: e.ref('excluded.value'),
            changed_at: e.ref('excluded.changed_at'),
            changed_by: e.ref('excluded.changed_by'),
          })),
        )
        .execute()
    },

    async remove(trx: Trx, name: string): Promise<void> {
      await tables(trx).deleteFrom('stack_setting').where('name', '=', name).execute()
    },
  }
}
