// `npm run simulate -- [--minutes 10] [--days 365] [--seed N] [--report FOLDER]`: simulated years of several nodes, one seed after the other,
// until the time is over. Each failure is reported with the command that repeats it. Stopped early, it reports what it has.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openMetadataDb } from '../server/src/engines/metadata-db/metadata-db.ts'
import { type ClusterReport, simulateCluster } from '../tests/simulation/cluster-simulation.ts'
import { makeMemoryFolder } from './memory-folder.ts'
import { type ProofReport, proofHead } from './prove-report.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    days: { type: 'string', default: '365' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    report: { type: 'string', default: 'dist/simulation' },
  },
})
const startedAt = new Date()
const deadline = startedAt.getTime() + Number(values.minutes) * 60_000
const days = Number(values.days)
const firstSeed = Number(values.seed)
const folder = resolve(values.report)
mkdirSync(folder, { recursive: true })
const memory = makeMemoryFolder()

const years: (ClusterReport & { readonly seed: number })[] = []
const failures: ProofReport['failures'][number][] = []
for (let seed = firstSeed; Date.now() < deadline; seed++) {
  try {
    years.push({ seed, ...(await simulate(seed)) })
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const command = `npm run simulate -- --minutes 0.001 --days ${days} --seed ${seed}`
    failures.push({ file: 'tests/simulation/cluster-simulation.ts', test: `${days} days`, error: text, seed, command })
    console.error(`${text}\nRepeat it with: ${command}\n`)
  }
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report(), null, 2)}\n`)
}
console.log(JSON.stringify(report().totals))
console.log(`${failures.length} of ${years.length + failures.length} runs failed. Report: ${join(folder, 'report.json')}`)
memory?.remove()
process.exit(failures.length > 0 ? 1 : 0)

function report() {
  const totals: Record<string, number> = {}
  for (const { seed: _, ...year } of years)
    for (const [name, value] of Object.entries(year)) totals[name] = Math.round(((totals[name] ?? 0) + value) * 100) / 100
  const counts = { kills: 0, requests: 0, hours: Math.floor(totals.hours ?? 0) }
  return { ...proofHead(startedAt, firstSeed), rounds: [], passed: years.length, counts, failures, totals, years }
}

async function simulate(seed: number): Promise<ClusterReport> {
  const place = mkdtempSync(join(memory?.path ?? tmpdir(), 'simulation-'))
  const path = join(place, 'metadata.sqlite')
  const metadata = await openMetadataDb({ path })
  try {
    await metadata.migrate()
    return await simulateCluster(metadata, path, seed, days)
  } finally {
    await metadata.close()
    rmSync(place, { recursive: true })
  }
}
