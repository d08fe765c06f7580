// One space of ids for people and for the master tokens of projects, and buckets that are shared with ids of it. A share named token
// descriptions or token ids before: what cannot be read as one certain person or master token is closed.

import { sql } from 'kysely'
import { type DialectName, type Trx, withTables } from '../dialects.ts'

interface Tables {
  token: { id: number; description: string; is_master: number; person_id: number | null; admin_id: number | null }
  person: { id: number; email: string; name: string }
  bucket: { id: number; sharing_parameters: string | null }
  ticket: { name: string; last_id: number }
}

interface Admin {
  readonly id: number
  readonly name: string
  readonly email: string | null
}

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  const db = withTables<Tables>(trx)
  await trx.schema.alterTable('token').addColumn('admin_id', 'bigint').execute()
  await trx.schema.createIndex('token_by_admin').on('token').column('admin_id').unique().execute()

  let lastId = await lastPersonId(trx, dialect)
  const masters = new Map<string, Admin>()
  const tokens = await db
    .selectFrom('token')
    .select(['id', 'description'])
    .where('is_master', '=', 1)
    .where('person_id', 'is', null)
    .orderBy('id')
    .execute()
  for (const { id, description } of tokens) {
    lastId += 1
    await db.updateTable('token').set({ admin_id: lastId }).where('id', '=', id).execute()
    masters.set(String(id), { id: lastId, name: description, email: null })
  }
  await db.insertInto('ticket').values({ name: 'admin', last_id: lastId }).execute()

  const people = await db.selectFrom('person').select(['id', 'email', 'name']).execute()
  const byEmail = new Map(people.map((person) => [person.email, person]))
  const personIds = new Set(people.map(({ id }) => String(id)))
  const adminOf = (user: string): Admin | undefined =>
    byEmail.get(user.trim().toLowerCase()) ?? (personIds.has(user) ? undefined : masters.get(user))
  const shared = await db
    .selectFrom('bucket')
    .select(['id', 'sharing_parameters'])
    .where('sharing_parameters', 'like', '%"users"%')
    .execute()
  for (const { id, sharing_parameters } of shared) {
    const parameters = JSON.parse(sharing_parameters ?? '{}') as { readonly users: readonly string[] } // as sharing wrote it
    const admins = new Map(parameters.users.flatMap((user) => adminOf(user) ?? []).map((admin) => [admin.id, admin]))
    const users = [...admins.values()]
    await db
      .updateTable('bucket')
      .set({ sharing_parameters: JSON.stringify({ ...parameters, users }) })
      .where('id', '=', id)
      .execute()
  }
}

/** Also of a person who was removed: an id never means somebody else. */
async function lastPersonId(trx: Trx, dialect: DialectName): Promise<number> {
  const { rows } =
    dialect === 'sqlite'
      ? await sql<{ id: number }>`select coalesce(max(seq), 0) as id from sqlite_sequence where name = 'person'`.execute(trx)
      : await sql<{ id: number }>`select last_value as id from person_id_seq`.execute(trx)
  const { rows: known } = await sql<{ id: number }>`select coalesce(max(id), 0) as id from person`.execute(trx)
  return Math.max(0, ...[...rows, ...known].map(({ id }) => Number(id)))
}
