// What is left of a project, wherever a stack keeps something.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { type Db, dialectOf } from '../../server/src/engines/metadata-db/dialects.ts'
import type { TestStack } from './test-stack.ts'

interface Column {
  readonly table: string
  readonly column: string
}

const columnsOf = async (db: Db): Promise<readonly Column[]> =>
  (dialectOf(db) === 'sqlite'
    ? await sql<Column>`select m.name as "table", c.name as "column" from sqlite_master m, pragma_table_info(m.name) c
        where m.type = 'table' and m.name not like 'sqlite_%'`.execute(db)
    : await sql<Column>`select table_name as "table", column_name as "column" from information_schema.columns
        where table_schema = current_schema()`.execute(db)
  ).rows

/** How many rows of a project each table has; tables without any are left out. */
export async function rowsOfProject(db: Db, projectId: number): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const { table, column } of await columnsOf(db)) {
    if (!/project_id$/.test(column) && !(table === 'project' && column === 'id')) continue
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from ${sql.table(table)} where ${sql.ref(column)} = ${projectId}`.execute(db)
    if (Number(rows[0]!.n) > 0) counts[`${table}.${column}`] = Number(rows[0]!.n)
  }
  return counts
}

/** Tables with a text in any row. */
export async function tablesWith(db: Db, text: string): Promise<string[]> {
  const found: string[] = []
  for (const table of new Set((await columnsOf(db)).map((one) => one.table))) {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(db)
    if (JSON.stringify(rows).includes(text)) found.push(table)
  }
  return found
}

export async function objectKeys({ platform }: TestStack): Promise<ReadonlySet<string>> {
  const { store } = platform.objects
  const keys = new Set<string>()
  for (let after = ''; ; ) {
    const { objects, more } = await store.list({ prefix: '', after })
    for (const { key } of objects) keys.add(key)
    if (!more || objects.length === 0) return keys
    after = objects.at(-1)!.key
  }
}

/** Files of the data folder with a text in them or in their name, apart from databases: what these have deleted may stand in them for a while. */
export async function filesWith({ dataDir }: TestStack, text: string): Promise<string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && !/\.sqlite/.test(entry.name))
    .map((one) => join(one.parentPath, one.name))
  const found: string[] = []
  for (const path of paths) {
    const bytes = await readFile(path).catch(() => Buffer.alloc(0)) // it was removed meanwhile
    if (path.includes(text) || bytes.includes(text)) found.push(path)
  }
  return found
}
