// Clients of PostgreSQL for Node against the port: `node clients.mjs NAME`. See clients.ts beside this file. Packages are those of the folder
// MILLRACE_CLIENTS.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

const {
  MILLRACE_CLIENTS: folder,
  MILLRACE_PORT: port,
  MILLRACE_TOKEN: token,
  MILLRACE_USER: user,
  MILLRACE_PASSWORD: password,
} = process.env
const use = createRequire(join(folder, 'package.json'))
const asReader = { host: '127.0.0.1', port: Number(port), user: 'me', password: token, database: 'default' }
const asWriter = { ...asReader, user, password, database: 'workspace' }
const ALL = [
  { id: '1', city: 'Praha' },
  { id: '2', city: 'Brno' },
  { id: '3', city: 'Žďár' },
]
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i))

function check(what, seen, wanted) {
  assert.deepEqual(seen, wanted, what)
  process.stdout.write(`ok ${what}\n`)
}

const CLIENTS = {
  async postgresJs() {
    const postgres = use('postgres')
    const reader = postgres({ ...asReader, max: 2 })
    check('rows', [...(await reader`SELECT id, city FROM "in.c-main".orders ORDER BY id`)], ALL)
    check(
      'names in two parts',
      (await reader`SELECT city FROM ${reader('in.c-main')}.${reader('orders')} WHERE id = ${'3'}`)[0].city,
      'Žďár',
    )
    check('list', (await reader`SELECT count(*) AS n FROM "in.c-main".orders WHERE id = ANY(${['1', '3']})`)[0].n, '2')
    check('without a type', (await reader`SELECT ${'x'} AS a`)[0].a, 'x')
    check('cursor', (await Array.fromAsync(reader`SELECT i FROM range(500) t(i)`.cursor(100))).flat().length, 500)
    check(
      'copy to',
      await text(await reader`COPY (SELECT id, city FROM "in.c-main".orders ORDER BY id) TO STDOUT`.readable()),
      '1\tPraha\n2\tBrno\n3\tŽďár\n',
    )
    await reader.end()
    const writer = postgres({ ...asWriter, max: 1 })
    await writer`CREATE TABLE pj (id INTEGER, name TEXT, data BYTEA, doc JSONB)`
    await writer.begin(async (sql) => {
      await sql`INSERT INTO pj ${sql({ id: 1, name: 'kept', data: BYTES, doc: { a: [1] } })}`
      await sql
        .savepoint(async (inner) => {
          await inner`INSERT INTO pj (id) VALUES (2)`
          throw new Error('undo')
        })
        .catch(() => {})
    })
    const [row, ...others] = await writer`SELECT * FROM pj`
    check('written', [{ ...row }, others.length], [{ id: 1, name: 'kept', data: BYTES, doc: { a: [1] } }, 0])
    await writer`INSERT INTO pj ${writer([
      { id: 3, name: 'a' },
      { id: 4, name: 'b' },
    ])}`
    await pipeline(Readable.from(['5\tc\n', '6\t\\N\n']), await writer`COPY pj (id, name) FROM STDIN`.writable())
    check('copy from', (await writer`SELECT count(*)::INT AS n, count(name)::INT AS names FROM pj`)[0], { n: 5, names: 4 })
    await writer.end()
  },

  async nodePostgres() {
    const pg = use('pg')
    const { from, to } = use('pg-copy-streams')
    const reader = new pg.Client(asReader)
    await reader.connect()
    check('rows', (await reader.query('SELECT id, city FROM "in.c-main".orders ORDER BY id')).rows, ALL)
    const byIds = {
      name: 'by-ids',
      text: 'SELECT city FROM "in.c-main".orders WHERE id = ANY($1) ORDER BY id',
      values: [['1', '2']],
    }
    for (const _ of [1, 2]) check('prepared', (await reader.query(byIds)).rows, [{ city: 'Praha' }, { city: 'Brno' }])
    check('bytea', (await reader.query('SELECT $1::BYTEA AS b', [BYTES])).rows[0].b, BYTES)
    check(
      'copy to',
      await text(reader.query(to('COPY (SELECT id FROM "in.c-main".orders ORDER BY id) TO STDOUT CSV'))),
      '1\n2\n3\n',
    )
    await reader.end()
    const writer = new pg.Client(asWriter)
    await writer.connect()
    await writer.query('CREATE TABLE np (id INTEGER, name TEXT, data BYTEA)')
    await writer.query('BEGIN; SAVEPOINT a')
    await writer.query('INSERT INTO np VALUES ($1, $2, $3)', [1, 'kept', BYTES])
    await assert.rejects(writer.query('SELECT nothing'))
    await writer.query('ROLLBACK TO a')
    await writer.query('INSERT INTO np VALUES ($1, $2, $3)', [2, 'kept', BYTES])
    await writer.query('COMMIT')
    check('written', (await writer.query('SELECT * FROM np')).rows, [{ id: 2, name: 'kept', data: BYTES }])
    await pipeline(Readable.from(['7,x,\n8,,\n']), writer.query(from('COPY np FROM STDIN (FORMAT csv)')))
    check('copy from', (await writer.query('SELECT count(*)::INT AS n, count(name)::INT AS names FROM np')).rows, [
      { n: 3, names: 2 },
    ])
    await writer.end()
  },

  async knex() {
    const knex = use('knex')
    const reader = knex({ client: 'pg', connection: asReader })
    check('rows', await reader.withSchema('in.c-main').from('orders').select('id', 'city').orderBy('id'), ALL)
    check('count', await reader('in.c-main.orders').whereIn('id', ['1', '2']).count('* as n'), [{ n: '2' }])
    await reader.destroy()
    const writer = knex({ client: 'pg', connection: asWriter })
    await writer.schema.createTable('kx', (table) => {
      table.increments('id')
      table.string('name')
      table.timestamp('made').defaultTo(writer.fn.now())
    })
    check('there', [await writer.schema.hasTable('kx'), await writer.schema.hasColumn('kx', 'name')], [true, true])
    await writer.transaction((trx) => trx('kx').insert([{ name: 'a' }, { name: 'b' }]))
    await writer
      .transaction((trx) =>
        trx('kx')
          .insert({ name: 'undone' })
          .then(() => Promise.reject(new Error('undo'))),
      )
      .catch(() => {})
    check('update', await writer('kx').where({ name: 'b' }).update({ name: 'B' }), 1)
    check('written', await writer('kx').orderBy('name').pluck('name'), ['B', 'a'])
    await writer.schema.dropTable('kx')
    await writer.destroy()
  },
}

await CLIENTS[process.argv[2]]()
