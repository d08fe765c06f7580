// Looks for project filters that no test would miss: `node tools/mutants.ts [--list] [part of a path ...]`, a long run. Each filter is taken
// out of a copy of the repository, one at a time; then the test of isolation and the tests of its module run, and one of them must
// fail. The last line is `N caught, M survived`.

import { execFileSync, spawn } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SHARED_POSTGRES, startPostgres } from '../tests/support/postgres-server.ts'
import { moduleOf } from './test-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ISOLATION = 'tests/conformance/isolation.test.ts'

/** What a filter looks like, and what is left of it. */
const FILTERS: readonly (readonly [RegExp, string])[] = [
  [/\.where(?:Ref)?\(\s*'(?:\w+\.)?project_id',\s*'=',\s*[^()]+\)/g, ''],
  [/\b[\w.]+\.projectId !== (?:\w+\.)?projectId\b/g, 'false'],
  [/\b[\w.]+\.projectId === (?:\w+\.)?projectId\b/g, 'true'],
  [/\bproject_id = \$\{[^}]+\}/g, '1 = 1'],
]

interface Mutant {
  readonly file: string
  readonly line: number
  readonly filter: string
  readonly text: string
}

const { values: options, positionals: words } = parseArgs({ allowPositionals: true, options: { list: { type: 'boolean' } } })
const mutants = globSync('server/src/**/*.ts', { cwd: ROOT })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.test.ts') && (words.length === 0 || words.some((word) => file.includes(word))))
  .sort()
  .flatMap(mutantsOf)
if (options.list) {
  for (const { file, line, filter } of mutants) console.log(`${file}:${line}  ${filter}`)
  process.exit(0)
}

const postgres = await startPostgres()
const env = { ...process.env, [SHARED_POSTGRES]: postgres.url, NODE_COMPILE_CACHE: join(ROOT, '.cache/compiled') }
const copies = Array.from({ length: Math.max(1, Math.floor(availableParallelism() / 2)) }, copyRepository)
process.on('exit', () => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

if (!(await passes(copies[0]!, [ISOLATION]))) {
  console.error(`${ISOLATION} fails without any change: nothing can be learned from it. Make it pass first.`)
  process.exit(1)
}

const outcomes: Array<{ readonly mutant: Mutant; readonly caughtBy: string | undefined }> = []
const queue = [...mutants]
await Promise.all(
  copies.map(async (copy) => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const caughtBy = await testsThatFail(copy, mutant)
      outcomes.push({ mutant, caughtBy })
      console.log(
        `${caughtBy ? 'caught  ' : 'SURVIVED'} ${mutant.file}:${mutant.line}  ${mutant.filter}${caughtBy ? `  (${caughtBy})` : ''}`,
      )
    }
  }),
)
await postgres.stop()
const survived = outcomes.filter(({ caughtBy }) => caughtBy === undefined).length
console.log(`${outcomes.length - survived} caught, ${survived} survived`)
process.exit(survived === 0 ? 0 : 1)

function mutantsOf(file: string): readonly Mutant[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return FILTERS.flatMap(([pattern, rest]) =>
    [...text.matchAll(pattern)].map(({ 0: filter, index }) => ({
      file,
      line: text.slice(0, index).split('\n').length,
      filter: filter.replace(/\s+/g, ' '),
      text: text.slice(0, index) + rest + text.slice(index + filter.length),
    })),
  ).sort((a, b) => a.line - b.line)
}

/** The first of the two that notices. */
async function testsThatFail(copy: string, { file, text }: Mutant): Promise<string | undefined> {
  const original = readFileSync(join(ROOT, file), 'utf8')
  writeFileSync(join(copy, file), text)
  try {
    if (!(await passes(copy, [ISOLATION]))) return 'isolation'
    const ofModule = globSync(`${moduleOf(file)}/**/*.test.ts`, { cwd: copy })
    return ofModule.length > 0 && !(await passes(copy, ofModule)) ? 'its module' : undefined
  } finally {
    writeFileSync(join(copy, file), original)
  }
}

function passes(cwd: string, files: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...files], { cwd, env, stdio: 'ignore' })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code === 0))
  })
}

/** What git knows and what is new, with the packages of the original. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'millrace-mutants-'))
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  for (const file of list.split('\n').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}
