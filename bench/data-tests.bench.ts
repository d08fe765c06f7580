// What data tests cost, in processor time of the stack and its workers. Tests that the figures of the files answer (values that must be there,
// ranges, accepted values, rows, schema) against the load that they are part of: at most 3 %. The others (pattern, relations, uniqueness, SQL)
// against the same SQL as a query: at most 1.3 x. MILLRACE_BENCH_ROWS sets the size; the targets are stated for 10,000,000 rows.

import { join } from 'node:path'
import { startApiStack } from './support/api-stack.ts'
import { inTurns, report, round, usedCpuSeconds } from './support/measure.ts'
import { benchRows } from './support/table-bench.ts'
import { CSV_COLUMNS, writeCsv } from './support/table-csv.ts'

const ROUNDS = 3
const TABLE = 'in.c-bench.orders'
const rows = benchRows(1_000_000)
const { dir, post, ended, upload, query, close } = await startApiStack()
const csv = join(dir, 'orders.csv')
writeCsv(csv, { rows })
const types: Readonly<Record<string, object>> = {
  id: { type: 'INTEGER', nullable: false },
  created: { type: 'TIMESTAMP' },
  amount: { type: 'NUMERIC', length: '12,2' },
  quantity: { type: 'INTEGER' },
}
const columns = CSV_COLUMNS.map((name) => ({ name, definition: types[name] ?? { type: 'STRING' } }))
await post('buckets', { name: 'bench', stage: 'in' })
await ended(await post('buckets/in.c-bench/tables-definition', { name: 'orders', primaryKeysNames: [], columns }))
const file = await upload(csv)
const load = async () => ended(await post(`tables/${TABLE}/import-async`, { dataFileId: file }))
const loadCpu = (await inTurns(ROUNDS, { load: () => usedCpuSeconds(load) })).load

const run = async () => ended(await post(`tables/${TABLE}/data-tests/run`, {}))
const ids: string[] = []
async function replaceTests(tests: readonly { readonly type: string; readonly parameters: object }[]): Promise<void> {
  for (const id of ids.splice(0)) await post(`data-tests/${id}`, { isEnabled: false }, 'PUT')
  for (const [i, test] of tests.entries()) {
    const answer = await post('data-tests', { tableId: TABLE, name: `${test.type} ${i} of ${tests.length}`, ...test })
    ids.push(String(((await answer.json()) as { id: number }).id))
  }
}

await replaceTests([
  { type: 'notNull', parameters: { columns: ['id', 'created', 'country'] } },
  { type: 'range', parameters: { column: 'amount', min: 0, max: 1_000_000 } },
  { type: 'range', parameters: { column: 'created', min: '2024-01-01', max: '2026-12-31' } },
  { type: 'range', parameters: { column: 'quantity', min: 0, max: 50 } },
  { type: 'rowCount', parameters: { min: 1 } },
  { type: 'freshness', parameters: { maxAgeMinutes: 1000 } },
  { type: 'schema', parameters: { columns: CSV_COLUMNS.map((name) => ({ name })) } },
  { type: 'usual', parameters: { measure: 'rows' } },
])
const profiled = (await inTurns(ROUNDS, { tests: () => usedCpuSeconds(run) })).tests
report({
  bench: 'data-tests-profile',
  ratio: profiled / loadCpu,
  target: '<= 0.03',
  rows,
  testsCpuSeconds: round(profiled),
  loadCpuSeconds: round(loadCpu),
})

const T = '"in.c-bench"."orders"'
const OTHERS = {
  pattern: {
    test: { type: 'pattern', parameters: { column: 'email', pattern: '[^@]+@[^@]+' } },
    sql: `SELECT count(*) FROM ${T} t WHERE email IS NOT NULL AND NOT regexp_full_match(email, '[^@]+@[^@]+')`,
  },
  unique: {
    test: { type: 'unique', parameters: { columns: ['id'] } },
    sql: `SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM ${T} WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1)`,
  },
  relationships: {
    test: { type: 'relationships', parameters: { column: 'quantity', toTable: TABLE, toColumn: 'id' } },
    sql: `SELECT count(*) FROM ${T} t WHERE quantity IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${T} r WHERE r.id = t.quantity)`,
  },
  sql: {
    test: { type: 'sql', parameters: { sql: `SELECT * FROM ${T} WHERE amount < 0 OR length(note) < 1` } },
    sql: `SELECT count(*) FROM (SELECT * FROM ${T} WHERE amount < 0 OR length(note) < 1)`,
  },
}
let [ours, theirs] = [0, 0]
for (const { test, sql } of Object.values(OTHERS)) {
  await replaceTests([test])
  const cpu = await inTurns(ROUNDS, { test: () => usedCpuSeconds(run), query: () => usedCpuSeconds(() => query(sql)) })
  ours += cpu.test
  theirs += cpu.query
}
report({
  bench: 'data-tests-others',
  ratio: ours / theirs,
  target: '<= 1.3',
  rows,
  testsCpuSeconds: round(ours),
  sameSqlCpuSeconds: round(theirs),
})
await close()
process.exit(0)
