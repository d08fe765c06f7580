import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../../tests/support/on-both-databases.ts'
import { dialectOf, type Trx } from './dialects.ts'
import { up } from './migrations/1120-admin-ids.ts'
import { up as upMakers } from './migrations/1121-makers-of-tokens.ts'
import { MIGRATIONS } from './migrations/list.ts'
import { takeNumber } from './numbers.ts'

await onBothDatabases(
  'admin ids',
  ({ db, inTransaction }) => {
    /** Bucket `n` of project 1, shared as it was before. */
    const share = (trx: Trx, n: number, parameters: object) =>
      sql`insert into bucket (project_id, branch_id, bucket_id, name, stage, display_name, description, sharing, sharing_parameters, created_at)
        values (1, 1, ${`in.c-${n}`}, ${`c-${n}`}, 'in', ${String(n)}, '', 'specific-users', ${JSON.stringify(parameters)}, 0)`.execute(
        trx,
      )
    const token = (trx: Trx, id: number, description: string, isMaster: 0 | 1, personId: number | null = null) =>
      sql`insert into token (id, project_id, hash, description, permissions, is_master, created_at, refreshed_at, person_id)
        values (${id}, 1, ${String(id)}, ${description}, '{}', ${isMaster}, 0, 0, ${personId})`.execute(trx)
    const person = (trx: Trx, email: string) =>
      sql`insert into person (email, name, is_stack_admin, recovery_codes, wrong_count, locked_until, created_at)
        values (${email}, 'Somebody', 0, '[]', 0, 0, 0)`.execute(trx)

    test('a share from before stays with the person or the master token that it names for certain, and is closed to all others', async () => {
      await inTransaction(async (trx) => {
        await sql`insert into project (name, features, is_disabled, created_at) values ('P', '[]', 0, 0)`.execute(trx)
        for (const email of ['ann@example.com', 'bob@example.com', 'gone@example.com']) await person(trx, email)
        await sql`delete from person where email = 'gone@example.com'`.execute(trx)
        await token(trx, 1, 'Master token of P', 1)
        await token(trx, 7, 'Master token of Q', 1)
        await token(trx, 8, 'bob@example.com', 0)
        await token(trx, 9, 'Ann', 1, 1)
        const named = [
          'ANN@example.com',
          'ann@example.com',
          'Ann',
          '7',
          '8',
          '9',
          '1',
          '2',
          'Master token of Q',
          'gone@example.com',
        ]
        await share(trx, 1, { users: named })
        await share(trx, 2, { users: ['whoever'] })
        await share(trx, 3, { projects: [4], users: ['bob@example.com'] })
        await up(trx, dialectOf(trx))
      })
      const { rows: tokens } = await sql<{
        id: number
        admin_id: number | null
      }>`select id, admin_id from token order by id`.execute(db)
      // Three people were there, and the ids of all three are taken.
      assert.deepEqual(
        tokens.map(({ id, admin_id }) => [id, admin_id]),
        [
          [1, 4],
          [7, 5],
          [8, null],
          [9, null],
        ],
      )
      assert.equal(await inTransaction((trx) => takeNumber(trx, 'admin')), 6)
      const { rows } = await sql<{ sharing_parameters: string }>`select sharing_parameters from bucket order by id`.execute(db)
      const ann = { id: 1, email: 'ann@example.com', name: 'Somebody' }
      assert.deepEqual(
        rows.map(({ sharing_parameters }) => JSON.parse(sharing_parameters)),
        [
          { users: [ann, { id: 5, name: 'Master token of Q', email: null }] },
          { users: [] },
          { projects: [4], users: [{ id: 2, email: 'bob@example.com', name: 'Somebody' }] },
        ],
      )
    })

    test('a token has the person behind it who made it, if only by other tokens', async () => {
      await inTransaction(async (trx) => {
        for (const [id, creator] of [
          [21, 9],
          [22, 21],
          [23, 1],
        ] as const) {
          await token(trx, id, 'script', 0)
          await sql`update token set creator_token_id = ${creator} where id = ${id}`.execute(trx)
        }
        await upMakers(trx)
      })
      const { rows } = await sql<{ id: number; maker_person_id: number | null }>`select id, maker_person_id from token
        where id in (1, 9, 21, 22, 23) order by id`.execute(db)
      assert.deepEqual(
        rows.map(({ id, maker_person_id }) => [id, maker_person_id]),
        [
          [1, null],
          [9, null],
          [21, 1],
          [22, 1],
          [23, null],
        ],
      )
    })
  },
  { migrations: MIGRATIONS.filter(({ name }) => name < '1120') },
)
