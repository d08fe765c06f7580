import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createSqlEngine } from '../../../engines/sql/engine.ts'
import type { SqlEngine } from '../../../engines/sql/sql-engine.ts'
import { statementsOf } from '../../../engines/sql/statements.ts'
import { createScriptColumns } from './script-columns.ts'

let root: string
let engine: SqlEngine
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'millrace-columns-'))
  engine = await createSqlEngine({
    openLocal: async () => undefined,
    scratchDir: join(root, 'scratch'),
    settings: { memoryMb: 512 },
  })
})
after(async () => {
  await engine.close()
  await rm(root, { recursive: true, force: true })
})

const TABLES: Readonly<Record<string, string>> = {
  orders: 'SELECT 1 AS id, 2 AS city, 3 AS price, [1] AS tags',
  rates: 'SELECT 1 AS id, 2 AS rate',
}

/** `column <- orders.price, rates.rate` for each column of the table `t` that the script makes; undefined when it is not known. */
async function trace(script: string): Promise<string[] | undefined> {
  await using session = await engine.open({
    mode: 'write',
    database: join(root, `${crypto.randomUUID()}.db`),
    findTable: async (_, name) => {
      const select = TABLES[name]
      return select === undefined ? undefined : { version: name, keys: [], select: () => select }
    },
  })
  const columns = createScriptColumns(session)
  await session.execute('CREATE VIEW orders AS SELECT id, city AS town, price FROM "in.c-main".orders')
  await columns.addInput('orders', 'in.c-main.orders', (column) => (column === 'town' ? 'city' : column))
  for await (const statement of statementsOf(script)) {
    await session.execute(statement.text)
    await columns.follow(statement)
  }
  return columns
    .of('t')
    ?.map(({ column, from }) =>
      [column, ...from.map(({ tableId, column: source }) => `${tableId.slice(10)}.${source}`)].join(' '),
    )
}

const CASES: readonly (readonly [script: string, columns: readonly string[] | undefined])[] = [
  [
    'CREATE TABLE t AS SELECT town, sum(price) AS total, 1 AS one FROM orders WHERE id > 1 GROUP BY town',
    ['town orders.city', 'total orders.price', 'one'],
  ],
  [
    'CREATE TABLE t AS SELECT * FROM orders o JOIN "in.c-main".rates r USING (id)',
    ['id orders.id', 'town orders.city', 'price orders.price', 'rate rates.rate'],
  ],
  [
    'CREATE TABLE t AS SELECT r.*, price * rate AS cost FROM orders, "in.c-main"."rates" AS r',
    ['id rates.id', 'rate rates.rate', 'cost orders.price rates.rate'],
  ],
  ['CREATE TABLE t AS WITH a(x) AS (SELECT town FROM orders), b AS (FROM a) SELECT abs(x) AS y FROM b', ['y orders.city']],
  [
    'CREATE TABLE t AS SELECT * EXCLUDE (id) REPLACE (price + id AS price) FROM orders',
    ['town orders.city', 'price orders.price orders.id'],
  ],
  ['CREATE TABLE t AS SELECT town AS a FROM orders UNION ALL SELECT rate FROM "in.c-main".rates', ['a orders.city rates.rate']],
  [
    'CREATE TABLE t AS SELECT (SELECT max(rate) FROM "in.c-main".rates r WHERE r.id = o.id) AS m, price AS p, p + 1 AS q FROM orders o',
    ['m rates.rate', 'p orders.price', 'q orders.price'],
  ],
  [
    'CREATE TABLE t AS SELECT list_transform(tags, x -> x + id) AS l, e FROM "in.c-main".orders, unnest(tags) u(e)',
    ['l orders.tags orders.id', 'e orders.tags'],
  ],
  [
    'CREATE TABLE a AS SELECT price AS p FROM orders; CREATE OR REPLACE TABLE a AS SELECT p * 2 AS q FROM a; CREATE TEMP VIEW t AS FROM a',
    ['q orders.price'],
  ],
  [
    'CREATE TABLE t (a INTEGER, b INTEGER); INSERT INTO t (b) SELECT price FROM orders; INSERT INTO t SELECT id, 1 FROM orders',
    ['a orders.id', 'b orders.price'],
  ],
  [
    'CREATE TABLE t AS WITH RECURSIVE r AS (SELECT price AS n FROM orders UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r',
    ['n orders.price'],
  ],
  ['CREATE TABLE t AS SELECT v FROM (VALUES (1), (2)) x(v)', ['v']],
  ['CREATE TABLE t AS SELECT sum(price) OVER (PARTITION BY town) AS s FROM orders', ['s orders.price orders.city']],
  // What the syntax tree does not contain.
  ["CREATE TABLE t AS SELECT COLUMNS(c -> c LIKE 'p%') FROM orders", undefined],
  ['CREATE TABLE t AS PIVOT orders ON town USING sum(price)', undefined],
  ['CREATE TABLE t AS SELECT price FROM orders; UPDATE t SET price = 1', undefined],
  ['CREATE TABLE t AS SELECT price FROM orders; ALTER TABLE t ADD COLUMN x INTEGER', undefined],
  ['CREATE TABLE t AS SELECT price FROM orders; DROP TABLE t', undefined],
  ['BEGIN; CREATE TABLE t AS SELECT price FROM orders; ROLLBACK; CREATE TABLE t AS SELECT town FROM orders', undefined],
]

for (const [script, columns] of CASES) test(script, async () => assert.deepEqual(await trace(script), columns))
