// Takes away every row of a project, in whichever table: all of them carry its id, or go with a row that does. Tables refer to older tables
// only, so the youngest goes first. The bytes of tables go with the sweep that finds nothing referring to them.

import { sql } from 'kysely'
import { type Db, dialectOf, type Trx } from './dialects.ts'

/** `iceberg_snapshot_manifest` refers to it, carries no project, and goes with the older `iceberg_snapshot`. */
const GOES_LAST = 'iceberg_manifest'

export async function deleteRowsOfProject(trx: Trx, projectId: number): Promise<void> {
  const tables = await tablesOfProjects(trx)
  // Writers of the project hold its row: their work is waited for and deleted too, and no new writer starts.
  if (dialectOf(trx) === 'postgres') await sql`select 1 from project where id = ${projectId} for update`.execute(trx)
  for (const table of [...tables.filter((name) => name !== GOES_LAST), GOES_LAST])
    await sql`delete from ${sql.table(table)} where project_id = ${projectId}`.execute(trx)
  await sql`delete from project where id = ${projectId}`.execute(trx)
}

async function tablesOfProjects(db: Db): Promise<readonly string[]> {
  const { rows } =
    dialectOf(db) === 'sqlite'
      ? await sql<{ name: string }>`
          select m.name from sqlite_master m where m.type = 'table'
          and exists (select 1 from pragma_table_info(m.name) c where c.name = 'project_id') order by m.rowid desc`.execute(db)
      : await sql<{ name: string }>`
          select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
          where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and a.attname = 'project_id' and not a.attisdropped
          order by c.oid desc`.execute(db)
  return rows.map(({ name }) => name)
}
