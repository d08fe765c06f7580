// Runs the tests: `node tools/test.ts [--long] [part of a path ...]`. One PostgreSQL serves all of them.
// The last line is `N passed, M failed`, and the exit code says the same.

import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SHARED_POSTGRES, startPostgres } from '../tests/support/postgres-server.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PLACES = ['tests', 'server', 'components', 'cli', 'contract', 'console', 'bench']
/** A file that hangs is ended and counts as failed; no whole run may take longer than its callers wait. */
const FILE_LIMIT_MS = { short: 20 * 60_000, long: 60 * 60_000 }

const args = process.argv.slice(2)
const long = args.includes('--long')
const wanted = args.filter((arg) => !arg.startsWith('--'))

// Whole-stack tests first: they take longest, and the short ones fill the gaps at the end.
const files = PLACES.flatMap((place) =>
  globSync(`${place}/**/*.test.ts`, { cwd: ROOT, exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path) }).sort(),
).filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
if (files.length === 0) {
  console.error(`No test file matches ${wanted.join(' ')}.`)
  process.exit(1)
}

const postgres = await startPostgres()
process.env[SHARED_POSTGRES] = postgres.url
if (long) process.env.MILLRACE_LONG = '1'

interface Failure {
  readonly file: string
  readonly name: string
  readonly error: Error
}
const failures: Failure[] = []
const skipped: string[] = []
const output = new Map<string, string>()
const durations: Array<{ readonly file: string; readonly ms: number }> = []
let passed = 0

const started = performance.now()
const queue = [...files]
await Promise.all(
  Array.from({ length: Math.max(2, availableParallelism()) }, async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) await runFile(file)
  }),
)
await postgres.stop()

for (const { file, name, error } of failures) console.log(`\n--- ${file}\n    ${name}\n${indent(explain(error))}`)
for (const file of new Set(failures.map((failure) => failure.file)))
  if (output.has(file)) console.log(`\n--- last output of ${file}\n${indent(output.get(file)!.trimEnd())}`)
if (skipped.length > 0) console.log(`\nSkipped:\n${indent(skipped.join('\n'))}`)
console.log(`\nSlowest of ${files.length} files, ${Math.round((performance.now() - started) / 1000)} s in all:`)
for (const { file, ms } of durations.toSorted((a, b) => b.ms - a.ms).slice(0, 10))
  console.log(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`)
console.log(`${passed} passed, ${failures.length} failed`)
process.exit(failures.length === 0 ? 0 : 1)

async function runFile(file: string): Promise<void> {
  const begun = performance.now()
  const before = failures.length
  const limitMs = long ? FILE_LIMIT_MS.long : FILE_LIMIT_MS.short
  const signal = AbortSignal.timeout(limitMs)
  for await (const { type, data } of run({ files: [`${ROOT}${file}`], concurrency: 1, signal })) {
    if (type === 'test:stdout' || type === 'test:stderr') output.set(file, ((output.get(file) ?? '') + data.message).slice(-8000))
    else if (type === 'test:pass' && data.details.type !== 'suite' && !isFile(data.name)) {
      if (data.skip) skipped.push(`${file}: ${data.name}${typeof data.skip === 'string' ? ` (${data.skip})` : ''}`)
      else passed++
    } else if (type === 'test:fail' && !isConsequence(data.details.error))
      failures.push({
        file,
        name: isFile(data.name) ? 'the file as a whole' : data.name,
        error: signal.aborted ? new Error(`still running after ${limitMs / 1000} s, ended`) : data.details.error,
      })
  }
  const ms = performance.now() - begun
  durations.push({ file, ms })
  console.log(
    `${failures.slice(before).some((failure) => failure.file === file) ? 'FAIL' : 'ok  '} ${file} ${(ms / 1000).toFixed(1)} s`,
  )
}

/** The runner reports a file that could not run as if it were a test with the file's name. */
function isFile(name: string): boolean {
  return name.endsWith('.test.ts')
}

/** A suite that failed because a test in it failed is not one more failure. */
function isConsequence(error: Error & { readonly failureType?: string }): boolean {
  return error.failureType === 'subtestsFailed'
}

function explain(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error
  const text = cause.stack?.includes(cause.message) ? cause.stack : `${cause.message}\n${cause.stack ?? ''}`
  return text.replace(/\n\s+at [^\n]*node:internal[^\n]*/g, '').trimEnd()
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ')
}
