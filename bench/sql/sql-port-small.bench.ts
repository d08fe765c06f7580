// Small statements over the PostgreSQL port, one after another on one connection, as dashboards and pools send them: the processor time of
// the whole stack per statement, and how long a client waits, against a PostgreSQL with the same rows.

import pg from 'pg'
import { tableClient } from '../../tests/support/clients/table-client.ts'
import { startPostgres } from '../../tests/support/servers/postgres-server.ts'
import { cpuSecondsBelow, inTurns, report, round } from '../support/measure.ts'
import { startPortStack } from '../support/port-stack.ts'

const STATEMENTS = 200
const ends: (() => unknown)[] = []
const { stack, port } = await startPortStack(ends)

const client = tableClient(stack)
await client.bucket('bench')
await client.create(
  'in.c-bench',
  'orders',
  `id,city,amount\n${Array.from({ length: 100_000 }, (_, i) => `${i},city ${i % 1000},${i / 100}`).join('\n')}\n`,
)

const ours = new pg.Client({
  host: '127.0.0.1',
  port,
  user: 'bench',
  password: stack.masterToken,
  database: 'default',
})
await ours.connect()
const cpuOfStack = () => cpuSecondsBelow([])
const statements = { 'select-1': 'SELECT 1', 'limit-10': 'SELECT * FROM "in.c-bench".orders LIMIT 10' }
const cpu: Record<string, number> = {}
for (const [name, sql] of Object.entries(statements)) {
  for (let i = 0; i < 20; i++) await ours.query(sql)
  const before = cpuOfStack()
  for (let i = 0; i < STATEMENTS; i++) await ours.query(sql)
  cpu[name] = ((cpuOfStack() - before) / STATEMENTS) * 1000
}

const postgres = await startPostgres()
ends.push(() => postgres.stop())
const theirs = new pg.Client({ connectionString: postgres.url })
await theirs.connect()
await theirs.query(`CREATE TABLE orders AS SELECT i::text AS id, 'city ' || i % 1000 AS city, (i / 100.0)::text AS amount
  FROM generate_series(0, 99999) i`)
for (const [name, sql] of Object.entries(statements)) {
  const waited = async (db: pg.Client, text: string) => {
    const start = performance.now()
    for (let i = 0; i < 50; i++) await db.query(text)
    return (performance.now() - start) / 50
  }
  const milliseconds = await inTurns(5, {
    ours: () => waited(ours, sql),
    theirs: () => waited(theirs, sql.replace('"in.c-bench".', '')),
  })
  const target = name === 'select-1' ? 2 : 5
  report({
    bench: `sql-port-${name}`,
    ratio: cpu[name]! / target,
    target: '<= 1',
    cpuMilliseconds: round(cpu[name]!),
    milliseconds: round(milliseconds.ours),
    postgresMilliseconds: round(milliseconds.theirs),
  })
}
for (const db of [theirs, ours]) await db.end()
for (const end of ends.toReversed()) await end()
