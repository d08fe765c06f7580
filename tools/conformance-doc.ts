// `npm run conformance -- [REPORT ...]`: docs/conformance.md from reports of `npm run prove` and `npm run simulate`. An area has the result of
// the newest report in which all of it ran; every report adds a line to the list of runs. Both are kept from one call to the next.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AREAS } from './prove-areas.ts'
import { areaResults, type ProofReport } from './prove-report.ts'

const TARGET = fileURLToPath(new URL('../docs/conformance.md', import.meta.url))
const AREA_HEAD = '| area | compared with | files | passed | skipped | failed | last run | command |'
const RUNS = '| date | commit | minutes | seed | kills | requests | simulated hours | passed | failed | machine |'

/** `before` is the document so far, whose runs are kept. */
export function conformanceDocument(before: string, reports: readonly ProofReport[]): string {
  const sorted = reports.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt))
  const known = runsIn(before)
  const runs = [...new Set([...known, ...sorted.map(runLine)])].toSorted()
  const areas = new Map([...areasIn(before), ...sorted.flatMap(areaLines)])
  const total = (column: number) => runs.reduce((sum, line) => sum + Number(cellsOf(line)[column]), 0)
  return `# Conformance

See what Millrace is compared with and the results of the last recorded runs, and repeat them on your machine. Areas that did not run are not listed.

    npm run prove -- --minutes 60

It runs every area once, then fault, simulation and fuzz tests in rounds with new seeds until the time is over, and writes a report (HTML and JSON) to \`dist/proof\`. Each failure is listed with the command that repeats it. \`--seed N\` sets the first seed, \`--only faults,fuzz\` chooses areas, \`--kills 20\` sets the number of kills in each fault test.

    npm run simulate -- --minutes 60

It simulates years of several nodes that fail, and writes its report to \`dist/simulation\`. [ADR 0059](adr/0059-simulation.md) defines what a simulated hour is and what is not simulated.

Every number below was written by \`npm run conformance\` from such reports. The component types of manifests are in [connectors.md](connectors.md), the clients of the API in [clients.md](clients.md).

## Areas

${AREA_HEAD}
|---|---|---|---|---|---|---|---|
${AREAS.flatMap(({ name }) => areas.get(name) ?? []).join('\n')}

## Runs

${runs.length === 0 ? 'None yet.' : `${runs.length} recorded ${runs.length === 1 ? 'run' : 'runs'}: ${total(4)} processes killed, ${total(5)} random requests sent, ${total(6)} hours simulated.`}

${RUNS}
|---|---|---|---|---|---|---|---|---|---|
${runs.join('\n')}
`
}

/** A line for each area of a report, by the name of the area. Without those for which the time did not suffice. */
const areaLines = (report: ProofReport): [string, string][] => {
  const whole = new Set(report.rounds.filter(({ isCut }) => !isCut).map(({ area }) => area))
  return areaResults(report).flatMap((one): [string, string][] => {
    const { id, name, comparedWith, files, passed, skipped, failed, command } = one
    if (!whole.has(id)) return []
    const run = `${report.startedAt.slice(0, 10)} (${report.commit})`
    return [[name, `| ${[name, comparedWith, files, passed, skipped, failed, run, `\`${command}\``].join(' | ')} |`]]
  })
}

/** The lines of a table, by their first cell. */
const areasIn = (text: string): [string, string][] =>
  (/\n## Areas\n\n([\s\S]*?)\n\n## Runs\n/.exec(text)?.[1] ?? '')
    .split('\n')
    .slice(2)
    .map((line) => [cellsOf(line)[0] ?? '', line])

const runsIn = (text: string): string[] => (text.split(RUNS)[1] ?? '').split('\n').filter((line) => /^\| \d{4}-/.test(line))

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

const machineText = ({ cores, memoryGiB, node }: ProofReport['machine']): string =>
  `${cores} cores, ${memoryGiB} GiB, Node ${node}`

const runLine = ({ startedAt, commit, minutes, seed, counts, passed, failures, machine }: ProofReport): string =>
  `| ${[`${startedAt.slice(0, 16).replace('T', ' ')}`, commit, minutes, seed, counts.kills, counts.requests, counts.hours, passed, failures.length, machineText(machine)].join(' | ')} |`

if (process.argv[1] === import.meta.filename) {
  const paths = process.argv.slice(2)
  const reports = (paths.length > 0 ? paths : ['dist/proof/report.json']).map(
    (path) => JSON.parse(readFileSync(path, 'utf8')) as ProofReport, // by tools/prove.ts
  )
  writeFileSync(TARGET, conformanceDocument(readFileSync(TARGET, { encoding: 'utf8', flag: 'a+' }), reports))
}
