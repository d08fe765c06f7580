#!/usr/bin/env node
// Stands for the driver of a Spark run and the cluster behind it, where no Spark is: does over HTTP and S3 what Spark does with the catalogue and
// the object store. A code of the script is a JSON object of what to do; the results are printed, as a driver would.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseExactly } from '../../../server/src/kit/text/exact-json.ts'
import type { Loaded } from '../clients/iceberg-reader.ts'

export interface StandInTask {
  /** Rows of results, by the name of the script's table. */
  readonly write?: Readonly<Record<string, { columns: string[]; select: string; ids?: Record<string, number>; rows?: number }>>
  /** Tables of the run whose rows are printed. */
  readonly read?: readonly string[]
  /** Paths below the catalogue to be requested with the token of the run; their status is printed. */
  readonly ask?: readonly string[]
  /** Ends with these words in `spark-end.json`. */
  readonly problem?: object
  /** Ends without a word. */
  readonly exit?: number
  /** Runs until it is killed. */
  readonly hang?: true
}

interface Plan {
  readonly name: string
  readonly inputs: readonly object[]
  readonly catalogue: { readonly uri: string; readonly token: string; readonly prefix: string; readonly warehouses: object }
  readonly parts: readonly { readonly statements: readonly string[] }[]
  readonly results: readonly { readonly table: string; readonly name: string; readonly isText: boolean }[]
}

const data = process.env.KBC_DATADIR ?? ''
const plan = JSON.parse(await readFile(join(data, 'spark.json'), 'utf8')) as Plan
const task = JSON.parse(plan.parts[0]?.statements[0] ?? '{}') as StandInTask
const { uri, token, prefix } = plan.catalogue
const space = `${uri}/v1/${prefix}/namespaces`
const headers = {
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  'x-iceberg-access-delegation': 'vended-credentials',
}
const say = (text: string): void => void process.stdout.write(`${text}\n`)

say(`2026-11-16 00:00:00,000 INFO ${plan.name} with ${token}`)
say(`2026-11-16 00:00:00,000 INFO inputs ${JSON.stringify(plan.inputs)} ${JSON.stringify(plan.results)}`)
say(`2026-11-16 00:00:00,000 INFO catalogues ${JSON.stringify(plan.catalogue.warehouses)} of the run`)
say('2026-11-16 00:00:00,000 INFO Statement 1 of 1 is done. {"done": 1, "total": 1}')
for (const path of task.ask ?? []) say(`asked ${path}: ${(await fetch(`${space}${path}`, { headers })).status}`)
for (const name of task.read ?? []) say(`read ${name}: ${JSON.stringify(await rowsOf(name))}`)
if (task.hang) setInterval(() => {}, 1000)
else {
  for (const [table, rows] of Object.entries(task.write ?? {}))
    for (const { name } of plan.results.filter((one) => one.table === table)) await write(name, rows)
  if (task.exit !== undefined) {
    process.stderr.write('no more memory\n')
    process.exit(task.exit)
  }
  await writeFile(join(data, 'spark-end.json'), JSON.stringify(task.problem ? { problem: task.problem } : {}))
  process.exitCode = task.problem ? 1 : 0
}

async function rowsOf(name: string): Promise<readonly unknown[]> {
  const { icebergReader } = await import('../clients/iceberg-reader.ts') // slow to load
  const answer = await fetch(`${space}/run/tables/${name}`, { headers })
  return icebergReader(parseExactly(await answer.text()) as Loaded).rows() // the wire format
}

async function write(name: string, { columns, select, ids, rows }: NonNullable<StandInTask['write']>[string]): Promise<void> {
  const fields = columns.map((column, i) => ({ id: i, name: column, type: 'string', required: false }))
  const loaded = await send(`${space}/run/tables`, JSON.stringify({ name, schema: { type: 'struct', fields } }))
  const { icebergWriter } = await import('../clients/iceberg-writer.ts') // slow to load, and not every task writes
  const writer = icebergWriter(loaded)
  const file = await writer.dataFile(select, ids)
  const made = await writer.snapshot([{ ...file, rows: rows ?? file.rows }])
  await send(`${space}/run/tables/${name}`, writer.commitOf(made))
  writer.close()
}

async function send(address: string, body: string): Promise<Loaded> {
  const answer = await fetch(address, { method: 'POST', headers, body })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status} ${text}`)
  return parseExactly(text) as Loaded // the wire format
}
