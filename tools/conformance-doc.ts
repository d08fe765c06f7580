// `npm run conformance -- [REPORT ...]`: docs/conformance.md from reports of `npm run prove`. The newest report makes the table of areas; every
// report adds a line to the list of runs, which is kept from one call to the next.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { areaResults, type ProofReport } from './prove-report.ts'

const TARGET = fileURLToPath(new URL('../docs/conformance.md', import.meta.url))
const RUNS = '| date | commit | minutes | seed | kills | requests | passed | failed |'

/** `before` is the document so far, whose runs are kept. */
export function conformanceDocument(before: string, reports: readonly ProofReport[]): string {
  const sorted = reports.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt))
  const known = runsIn(before)
  const runs = [...new Set([...known, ...sorted.map(runLine)])].toSorted()
  const areas = sorted.length === 0 ? areasIn(before) : areaTable(sorted.at(-1)!)
  const total = (column: number) => runs.reduce((sum, line) => sum + Number(cellsOf(line)[column]), 0)
  return `# Conformance

What Millrace is compared with, and the results of the last recorded run; areas that did not run are not listed. Repeat it on your machine:

    npm run prove -- --minutes 60

It runs every area once, then fault and fuzz tests in rounds with new seeds until the time is over, and writes a report (HTML and JSON) to \`dist/proof\`. Each failure is listed with the command that repeats it. \`--seed N\` begins with a seed of yours, \`--only faults,fuzz\` chooses areas.

Every number below was written by \`npm run conformance\` from such reports. The component types of manifests are in [connectors.md](connectors.md), the clients of the API in [clients.md](clients.md).

## Areas

${areas}

## Runs

${runs.length === 0 ? 'None yet.' : `In all ${total(4)} processes were killed and ${total(5)} random requests sent in ${runs.length} recorded ${runs.length === 1 ? 'run' : 'runs'}.`}

${RUNS}
|---|---|---|---|---|---|---|---|
${runs.join('\n')}
`
}

function areaTable(report: ProofReport): string {
  const { version, commit, startedAt, machine } = report
  const lines = areaResults(report).map(
    (one) =>
      `| ${one.name} | ${one.comparedWith} | ${one.files} | ${one.passed} | ${one.skipped} | ${one.failed} | \`${one.command}\` |`,
  )
  return `Version ${version} (${commit}), ${startedAt.slice(0, 10)}, on ${machine.system.split('-')[0]}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}.

| area | compared with | files | passed | skipped | failed | command |
|---|---|---|---|---|---|---|
${lines.join('\n')}`
}

const areasIn = (text: string): string => /\n## Areas\n\n([\s\S]*?)\n\n## Runs\n/.exec(text)?.[1] ?? 'No run yet.'

const runsIn = (text: string): string[] => (text.split(RUNS)[1] ?? '').split('\n').filter((line) => /^\| \d{4}-/.test(line))

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

const runLine = ({ startedAt, commit, minutes, seed, counts, passed, failures }: ProofReport): string =>
  `| ${[`${startedAt.slice(0, 16).replace('T', ' ')}`, commit, minutes, seed, counts.kills, counts.requests, passed, failures.length].join(' | ')} |`

if (process.argv[1] === import.meta.filename) {
  const paths = process.argv.slice(2)
  const reports = (paths.length > 0 ? paths : ['dist/proof/report.json']).map(
    (path) => JSON.parse(readFileSync(path, 'utf8')) as ProofReport, // by tools/prove.ts
  )
  writeFileSync(TARGET, conformanceDocument(readFileSync(TARGET, { encoding: 'utf8', flag: 'a+' }), reports))
}
