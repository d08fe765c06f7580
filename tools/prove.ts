// `npm run prove -- --minutes 60 [--seed N] [--only faults,fuzz] [--kills N] [--report FOLDER]`: every area once, then fault and fuzz tests in rounds, each
// with a seed of its own, until the time is over. The report lists what ran, what failed, and how to repeat it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { AREAS, type Area } from './prove-areas.ts'
import { htmlReport, type ProofFile, type ProofReport, type ProofRound, proofHead, repeatCommand } from './prove-report.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string' },
    only: { type: 'string' },
    kills: { type: 'string' },
    report: { type: 'string', default: 'dist/proof' },
  },
})
const minutes = positive('minutes', values.minutes)
const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : positive('seed', values.seed)
if (values.kills !== undefined) process.env.MILLRACE_KILLS = String(positive('kills', values.kills)) // for the fault tests
const areas = chosenAreas(values.only)
const folder = resolve(values.report)
const startedAt = new Date()
const deadline = Date.now() + minutes * 60_000
mkdirSync(folder, { recursive: true })
const countsFile = join(folder, 'counts')
rmSync(countsFile, { force: true })

let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isInterrupted = true))

const rounds: ProofRound[] = []
for (const area of areas) if (hasTime()) rounds.push(await runRound(area, seed))
const repeated = areas.filter(({ isRepeated }) => isRepeated)
for (let round = 1; repeated.length > 0 && hasTime(); round++)
  for (const area of repeated) if (hasTime()) rounds.push(await runRound(area, seed + round))

const report = reportOf(rounds)
writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`)
writeFileSync(join(folder, 'report.html'), htmlReport(report))
console.log(
  `\n${report.passed} passed, ${report.failures.length} failed, ${report.counts.kills} kills, ${report.counts.requests} requests, ${report.counts.hours} simulated hours.`,
)
for (const { file, test, command } of report.failures) console.log(`FAILED ${file}: ${test}\n  ${command}`)
console.log(`Report: ${join(folder, 'report.html')}`)
process.exit(report.failures.length > 0 ? 1 : 0)

function hasTime(): boolean {
  return !isInterrupted && Date.now() < deadline
}

async function runRound(area: Area, roundSeed: number): Promise<ProofRound> {
  const json = join(folder, 'round.json')
  rmSync(json, { force: true })
  console.log(`\n${area.name}, seed ${roundSeed}`)
  const child = spawn(process.execPath, [join(ROOT, 'tools/test.ts'), '--json', json, ...area.words], {
    cwd: ROOT,
    env: { ...process.env, MILLRACE_SEED: String(roundSeed), MILLRACE_COUNTS: countsFile },
    stdio: 'inherit',
  })
  // Files that did not end before the time was over are not part of the report.
  const timer = setTimeout(() => child.kill('SIGTERM'), Math.max(0, deadline - Date.now()))
  await once(child, 'exit')
  clearTimeout(timer)
  const files = existsSync(json) ? (JSON.parse(readFileSync(json, 'utf8')) as ProofRound['files']) : [] // by tools/test.ts
  const isEndedByClock = ({ failures }: ProofFile) => failures.some(({ error }) => error.startsWith('ended by SIGTERM'))
  const ended = files.filter((file) => !isEndedByClock(file))
  return { area: area.id, seed: roundSeed, files: ended, isCut: Date.now() >= deadline || isInterrupted }
}

function reportOf(all: readonly ProofRound[]): ProofReport {
  const failures = all.flatMap(({ seed: roundSeed, files }) =>
    files.flatMap(({ file, failures: failed }) =>
      failed.map(({ name, error }) => ({ file, test: name, error, seed: roundSeed, command: repeatCommand(file, roundSeed) })),
    ),
  )
  return {
    ...proofHead(startedAt, seed),
    rounds: all,
    passed: all.flatMap(({ files }) => files).reduce((sum, { passed }) => sum + passed, 0),
    counts: { kills: counted('kills'), requests: counted('requests'), hours: counted('hours') },
    failures,
  }
}

function counted(what: string): number {
  const lines = existsSync(countsFile) ? readFileSync(countsFile, 'utf8').trim().split('\n') : []
  return lines.reduce((sum, line) => sum + (line.startsWith(`${what} `) ? Number(line.split(' ')[1]) : 0), 0)
}

function chosenAreas(only: string | undefined): readonly Area[] {
  if (only === undefined) return AREAS
  const ids = only.split(',')
  const unknown = ids.filter((id) => !AREAS.some((area) => area.id === id))
  if (unknown.length > 0) refuse(`--only ${unknown.join(',')}: there are ${AREAS.map(({ id }) => id).join(', ')}.`)
  return AREAS.filter(({ id }) => ids.includes(id))
}

function positive(name: string, text: string): number {
  return /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 ? Number(text) : refuse(`--${name} ${text}: write a number above 0.`)
}

function refuse(reason: string): never {
  console.error(reason)
  process.exit(1)
}
