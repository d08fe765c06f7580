// Runs the tests: `npm test -- [options] [part of a path ...]`; CONTRIBUTING.md lists the options. One PostgreSQL serves all of them,
// if any of them needs it. The last line is `N passed, M failed`, and the exit code agrees with it.

import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { MIGRATED_SQLITE } from '../tests/support/migrated-sqlite.ts'
import { SHARED_POSTGRES } from '../tests/support/servers/postgres-server.ts'
import { makeMemoryFolder } from './memory-folder.ts'
import { changedSince, concernedBy, type Durations, listTestFiles, shardOf, type TestFile } from './test-files.ts'
import { type Outcome, shareTestProcess, startTestProcess, type TestProcess } from './test-process.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DURATIONS = join(ROOT, 'tests/durations.json')
/** A file that hangs is ended and counts as failed. */
const FILE_LIMIT_MS = { short: 8 * 60_000, long: 60 * 60_000 }
/** Tests wait for processes, timers and the disk about half of their time; with two files per core, a seventh of the cores' time was left. */
const FILES_PER_CORE = 2.5
/** What is printed of a failure at once; all of it comes at the end. */
const BRIEF = { lines: 4, characters: 300 }
const KINDS = ['unit', 'api', 'faults']

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    kind: { type: 'string' },
    changed: { type: 'boolean', default: false },
    base: { type: 'string', default: 'main' },
    shard: { type: 'string' },
    long: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    retry: { type: 'string', default: '0' },
    list: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
})
const durations = JSON.parse(readFileSync(DURATIONS, 'utf8')) as Durations // written by record() below
const files = chooseFiles()
const retries = /^\d+$/.test(options.retry) ? Number(options.retry) : refuse(`--retry ${options.retry}: write a number of files.`)
if (options.list) {
  for (const { path, kind } of files) console.log(`${kind.padEnd(6)} ${path}`)
  process.exit(0)
}
if (files.length === 0) {
  console.error(`No test file matches ${process.argv.slice(2).join(' ')}.`)
  process.exit(1)
}

export interface Result extends Outcome {
  readonly file: string
  readonly ms: number
  readonly cpuSeconds: number
}
const results = new Map<string, Result>()
/** First results of files that failed and passed when they ran again. */
const unstable: Result[] = []

let endedBy: NodeJS.Signals | undefined
const interrupted = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.on(signal, () => {
    endedBy = signal
    interrupted.abort(`ended by ${signal}`)
  })

// Every process that a test starts reads the same sources: what was compiled once is kept for the next one, and for the next run.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, '.cache/compiled')
if (options.long) process.env.MILLRACE_LONG = '1'
const memory = process.env.TMPDIR || options.long ? undefined : makeMemoryFolder() // long tests make large files
if (memory) process.env.TMPDIR = memory.path
process.on('exit', () => memory?.remove())
const needsPostgres = files.some((file) => file.needsPostgres)
const needsStack = files.some(({ kind }) => kind !== 'unit')
// What opens databases is loaded only when one is needed: unit tests begin sooner without it.
const databases = needsPostgres || needsStack ? await import('../tests/support/fresh-databases.ts') : undefined
const postgres = needsPostgres ? await databases?.startTestPostgres() : undefined
if (postgres) process.env[SHARED_POSTGRES] = postgres.url
const sqlite = needsStack ? await databases?.makeSqliteTemplate() : undefined
if (sqlite) process.env[MIGRATED_SQLITE] = sqlite.path

const started = performance.now()
const queue = [...files]
await Promise.all(
  Array.from({ length: Math.ceil(FILES_PER_CORE * availableParallelism()) }, async () => {
    const shared = shareTestProcess()
    for (let file = queue.shift(); file !== undefined && !interrupted.signal.aborted; file = queue.shift())
      results.set(file.path, await runFile(await shared.next(), file.path))
    await shared.end()
  }),
)
await retryFailed(retries)
await postgres?.stop()
await sqlite?.remove()
if (options.record) record()
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify([...results.values()]))
report()
process.exit(endedBy ? 128 + constants.signals[endedBy] : failed().length > 0 ? 1 : 0)

function chooseFiles(): readonly TestFile[] {
  const { kind, changed, base, shard } = options
  if (kind !== undefined && !KINDS.includes(kind)) refuse(`--kind ${kind}: there are ${KINDS.join(', ')}.`)
  const [, part, parts] = /^(\d+)\/(\d+)$/.exec(shard ?? '1/1')?.map(Number) ?? []
  if (!part || !parts || part > parts) refuse(`--shard ${shard}: write the part and the number of parts, such as 1/4.`)
  const all = listTestFiles(ROOT, durations)
  const chosen = (changed ? concernedBy(ROOT, changedSince(ROOT, base), all) : all).filter(
    (file) =>
      (kind === undefined || file.kind === kind) && (words.length === 0 || words.some((word) => file.path.includes(word))),
  )
  return shardOf(chosen, part, parts)
}

function refuse(reason: string): never {
  console.error(reason)
  process.exit(1)
}

async function runAlone(file: string): Promise<Result> {
  const alone = startTestProcess()
  try {
    return await runFile(alone, file)
  } finally {
    await alone.end()
  }
}

async function runFile(testProcess: TestProcess, file: string): Promise<Result> {
  const begun = performance.now()
  const cpuBefore = testProcess.cpuSeconds
  const limitMs = options.long ? FILE_LIMIT_MS.long : FILE_LIMIT_MS.short
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(`still running after ${limitMs / 1000} s, ended`), limitMs)
  const outcome = await testProcess.run(join(ROOT, file), AbortSignal.any([limit.signal, interrupted.signal]))
  clearTimeout(timer)
  const ms = performance.now() - begun
  const cpuSeconds = Math.max(0, testProcess.cpuSeconds - cpuBefore)
  console.log(
    `${outcome.failures.length > 0 ? 'FAIL' : 'ok  '} ${file} ${(ms / 1000).toFixed(1)} s (CPU ${cpuSeconds.toFixed(1)} s)`,
  )
  for (const { name, error } of outcome.failures) console.log(indent(`${name}\n${indent(briefly(error))}`))
  return { ...outcome, file, ms, cpuSeconds }
}

/** Runs a few failed files once more, each alone. More than `most` failed files are no accident: they stay failed. */
async function retryFailed(max: number): Promise<void> {
  const first = failed()
  if (first.length > max || interrupted.signal.aborted) return
  for (const result of first) {
    const again = await runAlone(result.file)
    if (again.failures.length > 0) continue
    results.set(result.file, again)
    unstable.push(result)
  }
}

function failed(): Result[] {
  return [...results.values()].filter(({ failures }) => failures.length > 0)
}

function report(): void {
  const all = [...results.values()]
  for (const result of failed()) printFailures(result)
  if (unstable.length > 0) console.log(`\nUNSTABLE: failed once, passed when they ran again. Find out why.`)
  for (const result of unstable) printFailures(result)
  const skipped = all.flatMap(({ file, skipped }) => skipped.map((name) => `${file}: ${name}`))
  if (skipped.length > 0) console.log(`\nSkipped:\n${indent(skipped.join('\n'))}`)
  console.log(`\nSlowest of ${all.length} files, ${Math.round((performance.now() - started) / 1000)} s in all:`)
  for (const { file, ms, cpuSeconds } of all.toSorted((a, b) => b.ms - a.ms).slice(0, 10))
    console.log(`  ${(ms / 1000).toFixed(1).padStart(6)} s, CPU ${cpuSeconds.toFixed(1).padStart(5)} s  ${file}`)
  if (endedBy) console.log(`Ended by ${endedBy}; ${queue.length} files were not run.`)
  const count = (of: (result: Result) => number) => all.reduce((sum, result) => sum + of(result), 0)
  console.log(`${count(({ passed }) => passed)} passed, ${count(({ failures }) => failures.length)} failed`)
}

function printFailures({ file, failures, output }: Result): void {
  for (const { name, error } of failures) console.log(`\n--- ${file}\n    ${name}\n${indent(error)}`)
  if (output) console.log(`\n--- last output of ${file}\n${indent(output.trimEnd())}`)
}

/** Keeps the durations for the order of later runs and for shards; files that are gone are dropped. */
function record(): void {
  const seconds = new Map(Object.entries(durations))
  for (const { file, ms } of results.values()) seconds.set(file, Math.max(1, Math.round(ms / 1000)))
  const present = new Set(listTestFiles(ROOT, {}).map(({ path }) => path))
  const kept = [...seconds].filter(([file, time]) => time > 1 && present.has(file)).sort(([a], [b]) => a.localeCompare(b))
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`)
}

function briefly(error: string): string {
  const lines = error.split('\n', BRIEF.lines)
  return lines.map((line) => line.slice(0, BRIEF.characters)).join('\n')
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ')
}
