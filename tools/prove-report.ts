// The report of `npm run prove`: its shape, and its page.

import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { VERSION } from '../server/src/start/version.ts'
import { AREAS } from './prove-areas.ts'

export interface ProofFile {
  readonly file: string
  readonly ms: number
  readonly passed: number
  readonly skipped: readonly string[]
  readonly failures: readonly { readonly name: string; readonly error: string }[]
}

export interface ProofRound {
  /** Id of an area. */
  readonly area: string
  readonly seed: number
  readonly files: readonly ProofFile[]
  /** The time was over before every file had run. */
  readonly isCut: boolean
}

export interface ProofReport {
  readonly version: string
  readonly commit: string
  readonly startedAt: string
  readonly minutes: number
  readonly seed: number
  readonly machine: {
    readonly system: string
    readonly node: string
    readonly cores: number
    readonly processor: string
    readonly memoryGiB: number
  }
  readonly rounds: readonly ProofRound[]
  readonly passed: number
  readonly counts: { readonly kills: number; readonly requests: number; readonly hours: number }
  readonly failures: readonly {
    readonly file: string
    readonly test: string
    readonly error: string
    readonly seed: number
    readonly command: string
  }[]
}

/** Where and when a run was made. */
export const proofHead = (startedAt: Date, seed: number): Pick<ProofReport, Head> => ({
  version: VERSION,
  commit:
    spawnSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      encoding: 'utf8',
    }).stdout?.trim() ?? '',
  startedAt: startedAt.toISOString(),
  minutes: Math.round((Date.now() - startedAt.getTime()) / 6000) / 10,
  seed,
  machine: {
    system: `${platform()} ${release()}`,
    node: process.version,
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? '',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  },
})

type Head = 'version' | 'commit' | 'startedAt' | 'minutes' | 'seed' | 'machine'

export function repeatCommand(file: string, seed: number): string {
  const { MILLRACE_KILLS: kills } = process.env
  return `MILLRACE_SEED=${seed}${kills === undefined ? '' : ` MILLRACE_KILLS=${kills}`} npm test -- ${file}`
}

export interface AreaResult {
  readonly id: string
  readonly name: string
  readonly comparedWith: string
  readonly command: string
  readonly rounds: number
  readonly files: number
  readonly passed: number
  readonly skipped: number
  readonly failed: number
}

/** A line for each area that ran. */
export function areaResults({ rounds }: Pick<ProofReport, 'rounds'>): AreaResult[] {
  return AREAS.flatMap(({ id, name, comparedWith, words }) => {
    const own = rounds.filter(({ area }) => area === id)
    const results = own.flatMap(({ files }) => files)
    if (results.length === 0) return []
    const sum = (of: (file: ProofFile) => number) => results.reduce((total, file) => total + of(file), 0)
    return [
      {
        id,
        name,
        comparedWith,
        command: `npm test -- ${words.join(' ')}`,
        rounds: own.length,
        files: new Set(results.map(({ file }) => file)).size,
        passed: sum(({ passed }) => passed),
        skipped: sum(({ skipped }) => skipped.length),
        failed: sum(({ failures }) => failures.length),
      },
    ]
  })
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

const row = (cells: readonly (string | number)[], tag = 'td'): string =>
  `<tr>${cells.map((cell) => `<${tag}>${escaped(String(cell))}</${tag}>`).join('')}</tr>`

export function htmlReport(report: ProofReport): string {
  const { version, commit, startedAt, minutes, seed, machine, passed, counts, failures, rounds } = report
  const results = areaResults(report)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Millrace ${escaped(version)}: proof of ${escaped(startedAt.slice(0, 10))}</title>
<style>
  :root { color-scheme: light dark }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
  table { border-collapse: collapse; width: 100% }
  th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8885; vertical-align: top }
  pre { white-space: pre-wrap }
</style>
<h1>${failures.length === 0 ? 'Nothing failed' : `${failures.length} failed`}</h1>
<p>Millrace ${escaped(version)} (${escaped(commit)}), ${escaped(startedAt)}, ${minutes} minutes, seed ${seed}.
${escaped(machine.system)}, ${machine.cores} cores (${escaped(machine.processor)}), ${machine.memoryGiB} GiB, Node ${escaped(machine.node)}.</p>
<p>${passed} tests passed, ${counts.kills} processes killed, ${counts.requests} random requests sent, ${counts.hours} hours simulated, ${rounds.length} rounds.</p>
<table>
${row(['Area', 'Compared with', 'Rounds', 'Files', 'Passed', 'Skipped', 'Failed', 'Command'], 'th')}
${results.map((one) => row([one.name, one.comparedWith, one.rounds, one.files, one.passed, one.skipped, one.failed, one.command])).join('\n')}
</table>
${failures.length === 0 ? '' : '<h2>Failures</h2>'}
${failures.map(({ file, test, error, command }) => `<h3>${escaped(file)}: ${escaped(test)}</h3>\n<pre>${escaped(command)}\n\n${escaped(error)}</pre>`).join('\n')}
<h2>Rounds</h2>
<table>
${row(['Area', 'Seed', 'Files', 'Passed', 'Failed', 'Ended by the clock'], 'th')}
${rounds
  .map(({ area, seed: roundSeed, files, isCut }) =>
    row([
      area,
      roundSeed,
      files.length,
      files.reduce((sum, file) => sum + file.passed, 0),
      files.reduce((sum, file) => sum + file.failures.length, 0),
      isCut ? 'yes' : '',
    ]),
  )
  .join('\n')}
</table>
</html>
`
}
