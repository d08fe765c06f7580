// A project as a row and nothing else, for tests of stores: what they write belongs to one.

import { sql } from 'kysely'
import type { Db } from '../../server/src/engines/metadata-db/dialects.ts'

export async function newProjectRow(db: Db): Promise<number> {
  const { rows } = await sql<{
    id: number
  }>`insert into project (name, features, is_disabled, created_at) values ('p', '[]', 0, 0) returning id`.execute(db)
  return Number(rows[0]!.id)
}
