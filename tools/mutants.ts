// Looks for project filters that no test would miss: `node tools/mutants.ts [--list] [part of a path ...]`, a long run; with `--rights` for
// permission checks. Most filters are missed by tests/project-filters.test.ts, which counts statements without a project: that is checked
// first. In a copy of the repository every other
// filter can be turned off (tools/mutant-switch.ts). The test of isolation and the tests of the modules run with all filters, to see which
// of them each file reaches; then, with one filter off at a time, the files that reach it, the quickest first, until one fails. The last
// line is `N caught, M survived`.

import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { makeSqliteTemplate, startTestPostgres } from '../tests/support/fresh-databases.ts'
import { MIGRATED_SQLITE } from '../tests/support/migrated-sqlite.ts'
import { SHARED_POSTGRES } from '../tests/support/servers/postgres-server.ts'
import { permissionChecks } from './permission-checks.ts'
import { moduleOf } from './test-files.ts'
import type * as TestProcesses from './test-process.ts'
import { tablesOfProjects, unscopedStatements } from './unscoped-statements.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SWITCH = fileURLToPath(new URL('./mutant-switch.ts', import.meta.url))
const ISOLATION = 'tests/conformance/isolation.test.ts'
const RIGHTS = ['tests/conformance/rights.test.ts', 'tests/conformance/role-matrix.test.ts']
const COUNTED = 'tests/project-filters.test.ts'

/** What a filter looks like, and the same with a switch. */
const FILTERS: readonly (readonly [RegExp, (filter: string, off: string) => string])[] = [
  [
    /\.where(?:Ref)?\(\s*'(?:\w+\.)?project_id',\s*'=',\s*[^()]+\)/g,
    (filter, off) => `.$call((query) => (${off} ? query : query${filter}))`,
  ],
  [/\b[\w.]+\.projectId !== (?:\w+\.)?projectId\b/g, (filter, off) => `(!${off} && ${filter})`],
  [/\b[\w.]+\.projectId === (?:\w+\.)?projectId\b/g, (filter, off) => `(${off} || ${filter})`],
  [/\bproject_id = \$\{[^}]+\}/g, (filter, off) => `\${${off} ? sql\`1 = 1\` : sql\`${filter}\`}`],
]
/** A file that waits for what a mutant never gives has noticed it; so many times longer than without one, and at least so long. */
const LIMIT_FACTOR = 10
const LIMIT_MS = 120_000
/** Without a mutant: only what hangs is ended. */
const FIRST_LIMIT_MS = 15 * 60_000
const NONE = -1

interface Mutant {
  readonly id: number
  readonly file: string
  readonly line: number
  readonly filter: string
  /** The file without it. */
  readonly mutated: string
}

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean' }, rights: { type: 'boolean' } },
})
const mutants: Mutant[] = []
const instrumented = new Map<string, string>()
for (const file of globSync(options.rights ? 'server/src/{http,services}/**/*.ts' : 'server/src/**/*.ts', { cwd: ROOT })
  .map((name) => name.replaceAll('\\', '/'))
  .sort())
  if (!file.endsWith('.test.ts')) instrument(file)
const chosen = mutants.filter(({ file }) => words.length === 0 || words.some((word) => file.includes(word)))
if (options.list) {
  for (const { file, line, filter } of chosen) console.log(`${file}:${line}  ${filter}`)
  process.exit(0)
}

const copy = copyRepository()
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
const [postgres, sqlite] = await Promise.all([startTestPostgres(), makeSqliteTemplate()])
const { shareTestProcess } = (await import(pathToFileURL(join(copy, 'tools/test-process.ts')).href)) as typeof TestProcesses
const runners = Array.from({ length: availableParallelism() }, (_, n) => createRunner(join(copy, `reached-${n}`)))

const tables = tablesOfProjects(sqlite.path)
const counted = new Set(options.rights ? [] : chosen.filter(isCounted))
const uncounted = chosen.filter((mutant) => !counted.has(mutant))
for (const { file, line, filter } of counted) console.log(`caught   ${file}:${line}  ${filter}  (${COUNTED})`)

const candidates = [
  ...(options.rights ? RIGHTS : [ISOLATION]),
  ...new Set(uncounted.flatMap(({ file }) => globSync(`${moduleOf(file)}/**/*.test.ts`, { cwd: copy }))),
]
const reaching = new Map<number, { readonly file: string; readonly ms: number }[]>()
await inParallel(candidates, async (file, runner) => {
  const begun = performance.now()
  const { passes, reached } = await runner.run(file, NONE, FIRST_LIMIT_MS / LIMIT_FACTOR)
  if (!passes) console.log(`${file} fails without any change: nothing can be learned from it.`)
  else for (const id of reached) getOrMake(reaching, id).push({ file, ms: performance.now() - begun })
})
let survived = 0
await inParallel(uncounted, async ({ id, file, line, filter }, runner) => {
  const files = getOrMake(reaching, id).toSorted((a, b) => a.ms - b.ms)
  let caughtBy: string | undefined
  for (const one of files) {
    if ((await runner.run(one.file, id, one.ms)).passes) continue
    caughtBy = one.file
    break
  }
  if (caughtBy === undefined) survived++
  const by = caughtBy ?? (files.length > 0 ? `reached by ${files.map((one) => one.file).join(', ')}` : 'reached by no test')
  console.log(`${caughtBy ? 'caught  ' : 'SURVIVED'} ${file}:${line}  ${filter}  (${by})`)
})
for (const runner of runners) await runner.end()
await postgres.stop()
await sqlite.remove()
console.log(`${chosen.length - survived} caught, ${survived} survived`)
process.exit(survived === 0 ? 0 : 1)

/** Without the filter a statement of the file names no project. */
function isCounted({ file, mutated }: Mutant): boolean {
  const before = unscopedStatements(readFileSync(join(ROOT, file), 'utf8'), tables).length
  return unscopedStatements(mutated, tables).length > before
}

const filtersOf = (text: string) =>
  FILTERS.flatMap(([pattern, withSwitch]) =>
    [...text.matchAll(pattern)].map(({ 0: filter, index }) => ({
      text: filter,
      index,
      withSwitch: (off: string) => withSwitch(filter, off),
    })),
  ).sort((a, b) => a.index - b.index)

/** Each filter of a file with a switch, in the order of their places. */
function instrument(file: string): void {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = options.rights ? permissionChecks(text) : filtersOf(text)
  let result = ''
  let done = 0
  for (const { text: filter, index, withSwitch } of found) {
    result += text.slice(done, index) + withSwitch(`globalThis.isMutant(${mutants.length})`)
    done = index + filter.length
    const line = text.slice(0, index).split('\n').length
    const mutated = text.slice(0, index) + text.slice(index + filter.length)
    mutants.push({ id: mutants.length, file, line, filter: filter.replace(/\s+/g, ' '), mutated })
  }
  if (found.length > 0) instrumented.set(file, result + text.slice(done))
}

interface Runner {
  /** `usualMs`: without a mutant. */
  run(file: string, mutant: number, usualMs: number): Promise<{ readonly passes: boolean; readonly reached: readonly number[] }>
  end(): Promise<void>
}

function createRunner(reachedFile: string): Runner {
  const env = {
    ...process.env,
    [SHARED_POSTGRES]: postgres.url,
    [MIGRATED_SQLITE]: sqlite.path,
    MILLRACE_MUTANTS_REACHED: reachedFile,
  }
  const shared = shareTestProcess({ env, preload: SWITCH })
  return {
    run: async (file, mutant, usualMs) => {
      const current = await shared.next()
      writeFileSync(reachedFile, '')
      current.send({ mutant })
      const { failures } = await current.run(
        join(copy, file),
        AbortSignal.timeout(Math.max(LIMIT_MS, Math.ceil(LIMIT_FACTOR * usualMs))),
      )
      return { passes: failures.length === 0, reached: readFileSync(reachedFile, 'utf8').split('\n').filter(Boolean).map(Number) }
    },
    end: shared.end,
  }
}

async function inParallel<T>(items: readonly T[], work: (item: T, runner: Runner) => Promise<void>): Promise<void> {
  const queue = [...items]
  await Promise.all(
    runners.map(async (runner) => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, runner)
    }),
  )
}

function getOrMake<K, V>(map: Map<K, V[]>, key: K): V[] {
  const found = map.get(key) ?? []
  map.set(key, found)
  return found
}

/** Tracked and new files, with the packages of the original and a switch at every filter. */
function copyRepository(): string {
  const target = mkdtempSync(join(tmpdir(), 'millrace-mutants-'))
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  for (const file of list.split('\n').filter(Boolean)) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    cpSync(join(ROOT, file), join(target, file))
  }
  for (const [file, text] of instrumented) writeFileSync(join(target, file), text)
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'))
  return target
}
