// The reader of Singer messages, from the bytes of a tap to the CSV file of a table, against JSON.parse of the same lines. SINGER_RECORDS
// changes their number. Rates of processor time, since they are the same on a busy machine.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lineReader } from '../components/program-connector/src/lines.ts'
import { createReader } from '../components/program-connector/src/singer.ts'
import { createTables } from '../components/program-connector/src/tables.ts'
import { inTurns, report, round } from './support/measure.ts'

const ROUNDS = 5
const RECORDS = Number(process.env.SINGER_RECORDS ?? 200_000)
const CHUNK = 64 * 1024

const properties = {
  id: { type: 'integer' },
  name: { type: 'string' },
  email: { type: 'string' },
  active: { type: 'boolean' },
  score: { type: 'number' },
  created_at: { type: 'string', format: 'date-time' },
  country: { type: 'string' },
  note: { type: ['null', 'string'] },
  deleted_at: { type: ['null', 'string'], format: 'date' },
  address: { type: 'object', properties: { street: { type: 'string' }, zip: { type: 'string' } } },
}
const schema = JSON.stringify({ type: 'SCHEMA', stream: 'items', schema: { type: 'object', properties }, key_properties: ['id'] })
const lines = Array.from({ length: RECORDS }, (_, id) =>
  JSON.stringify({
    type: 'RECORD',
    stream: 'items',
    record: {
      id,
      name: `Customer ${(id * 7919) % 100_000}`,
      email: `user${id}@example.com`,
      active: id % 3 === 0,
      score: (id % 10_000) / 100,
      created_at: `2026-05-${10 + (id % 18)}T12:00:00Z`,
      country: 'CZ',
      note: id % 4 === 0 ? null : `said "${id % 997}", then left`,
      deleted_at: id % 10 === 0 ? '2026-12-31' : null,
      address: { street: `Main ${id % 500}`, zip: String(10_000 + (id % 90_000)) },
    },
    time_extracted: '2026-05-20T12:00:00Z',
  }),
)
const bytes = Buffer.from(`${[schema, ...lines].join('\n')}\n`)

const cpuOf = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

function parse(): void {
  for (const line of lines) JSON.parse(line)
}

async function read(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'singer-bench-'))
  try {
    mkdirSync(join(folder, 'out', 'tables'), { recursive: true })
    const tables = createTables({ folder, fields: undefined })
    const log = { info: () => {}, warning: () => {} } as never // of a tap that prints nothing else
    const reader = createReader({ wanted: [{ name: 'items' }], nameOf: (stream) => stream, tables, stored: {}, log })
    const input = lineReader(reader.line, (error) => {
      throw error
    })
    for (let at = 0; at < bytes.length; at += CHUNK) input.push(bytes.subarray(at, at + CHUNK))
    input.end()
    const counts = await tables.publish(reader.isReplaced)
    if (counts.get('items') !== RECORDS) throw new Error(`${counts.get('items')} records`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const cpu = await inTurns(ROUNDS, { parse: () => cpuOf(parse), read: () => cpuOf(read) })
report({
  bench: 'singer-reader',
  ratio: cpu.parse / cpu.read,
  target: '>= 0.4',
  records: RECORDS,
  parseCpuSeconds: round(cpu.parse),
  readCpuSeconds: round(cpu.read),
})
