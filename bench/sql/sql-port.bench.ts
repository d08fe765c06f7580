// A million rows over the PostgreSQL port against a PostgreSQL with the same rows, through the same client: COPY TO STDOUT of both, and
// a plain SELECT. Target: at least as fast.

import pg from 'pg'
import { tableClient } from '../../tests/support/clients/table-client.ts'
import { startPostgres } from '../../tests/support/servers/postgres-server.ts'
import { inTurns, report, round } from '../support/measure.ts'
import { startPortStack } from '../support/port-stack.ts'
import { benchRows } from '../support/table-bench.ts'

const rows = benchRows(1_000_000)
const ends: (() => unknown)[] = []
const { stack, port } = await startPortStack(ends)
const postgres = await startPostgres()
ends.push(() => postgres.stop())

const columns = [
  { name: 'id', type: 'INTEGER', pg: 'bigint' },
  { name: 'city', type: 'STRING', pg: 'text' },
  { name: 'amount', type: 'NUMERIC', pg: 'numeric(12,2)', length: '12,2' },
  { name: 'paid', type: 'BOOLEAN', pg: 'boolean' },
  { name: 'at', type: 'TIMESTAMP', pg: 'timestamp' },
]
const client = tableClient(stack)
await client.bucket('bench')
await client.succeed(
  await stack.request('POST', '/v2/storage/buckets/in.c-bench/tables-definition', {
    json: {
      name: 'orders',
      primaryKeysNames: [],
      columns: columns.map(({ name, type, length }) => ({ name, definition: { type, ...(length && { length }) } })),
    },
  }),
)
const line = (i: number) =>
  `${i},city ${i % 1000},${(i % 100_000) / 100},${i % 3 === 0},2024-01-01 ${String(i % 24).padStart(2, '0')}:00:00`
const csv = `${columns.map(({ name }) => name).join()}\n${Array.from({ length: rows }, (_, i) => line(i)).join('\n')}\n`
await client.load('in.c-bench.orders', csv)

const theirs = new pg.Client({ connectionString: postgres.url })
const ours = new pg.Client({
  host: '127.0.0.1',
  port,
  user: 'bench',
  password: stack.masterToken,
  database: 'default',
})
for (const db of [theirs, ours]) await db.connect()
await theirs.query(`CREATE TABLE orders AS SELECT i::bigint AS id, 'city ' || i % 1000 AS city, ((i % 100000) / 100.0)::numeric(12,2) AS amount,
  i % 3 = 0 AS paid, timestamp '2024-01-01' + (i % 24) * interval '1 hour' AS at FROM generate_series(0, ${rows - 1}) i`)
await theirs.query('VACUUM ANALYZE orders')

/** Seconds until the last row of a COPY is here. */
async function copied(db: pg.Client, source: string): Promise<number> {
  const start = performance.now()
  let count = 0
  await new Promise<void>((resolve, reject) => {
    db.query({
      submit: (connection: { query(text: string): void }) => connection.query(`COPY (SELECT * FROM ${source}) TO STDOUT`),
      handleCopyData: () => count++,
      handleRowDescription: () => {},
      handleCommandComplete: () => {},
      handleReadyForQuery: () => resolve(),
      handleError: reject,
    } as never)
  })
  if (count !== rows) throw new Error(`${count} rows instead of ${rows}`)
  return (performance.now() - start) / 1000
}

async function selected(db: pg.Client, source: string): Promise<number> {
  const start = performance.now()
  const result = await db.query({ text: `SELECT * FROM ${source}`, rowMode: 'array' })
  if (result.rows.length !== rows) throw new Error(`${result.rows.length} rows instead of ${rows}`)
  return (performance.now() - start) / 1000
}

const TABLE = '"in.c-bench".orders'
for (const [bench, work] of [
  ['sql-port-copy', copied],
  ['sql-port-select', selected],
] as const) {
  const seconds = await inTurns(3, { ours: () => work(ours, TABLE), theirs: () => work(theirs, 'orders') })
  report({
    bench,
    ratio: seconds.ours / seconds.theirs,
    target: '<= 1',
    rows,
    seconds: round(seconds.ours),
    postgresSeconds: round(seconds.theirs),
  })
}
const first = await inTurns(5, {
  ours: async () => {
    const start = performance.now()
    await ours.query(`SELECT * FROM ${TABLE} LIMIT 100`)
    return performance.now() - start
  },
})
report({ bench: 'sql-port-first-rows', ratio: first.ours / 60, target: '<= 1', rows, milliseconds: round(first.ours) })
for (const db of [theirs, ours]) await db.end()
for (const end of ends.toReversed()) await end()
