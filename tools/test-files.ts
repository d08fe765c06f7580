// Which test files there are, what each of them needs, and which ones a run is about. Nothing is annotated: a file is known by what it
// imports and by where it stands.

import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const PLACES = ['tests', 'server', 'components', 'cli', 'client', 'contract', 'console', 'bench']
const POSTGRES = 'tests/support/servers/postgres-server.ts'
/** A file that reaches one of these starts a stack, a database server or the command line. */
const WHOLE_PROGRAMS = [POSTGRES, 'tests/support/test-stack.ts', 'tests/support/run-cli.ts', 'tests/support/stack-process.ts']
/** These import the whole server, so a change anywhere would concern every test that uses them. */
const STARTERS = new Set(WHOLE_PROGRAMS)
/** Cheap, and about every file. */
const ALWAYS = ['tests/architecture.test.ts', 'tests/errors.test.ts']
const UNMEASURED_SECONDS = 1

export type Kind = 'unit' | 'api' | 'faults'

export interface TestFile {
  readonly path: string
  readonly kind: Kind
  readonly needsPostgres: boolean
  /** As measured by the last `--record`. */
  readonly seconds: number
}

export type Durations = Readonly<Record<string, number>>

/** All of them, the longest first: the short ones fill the gaps at the end. */
export function listTestFiles(root: string, durations: Durations): readonly TestFile[] {
  const reach = createImportGraph(root)
  return PLACES.flatMap((place) =>
    globSync(`${place}/**/*.test.ts`, { cwd: root, exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path) }),
  )
    .map((name) => {
      const path = name.replaceAll('\\', '/')
      const reached = reach(path)
      return {
        path,
        kind: kindOf(path, reached),
        needsPostgres: reached.has(POSTGRES),
        seconds: durations[path] ?? UNMEASURED_SECONDS,
      }
    })
    .sort((a, b) => b.seconds - a.seconds || a.path.localeCompare(b.path))
}

function kindOf(path: string, reached: ReadonlySet<string>): Kind {
  if (/^tests\/(faults|fuzz)\/|\.faults\.test\.ts$/.test(path)) return 'faults'
  return WHOLE_PROGRAMS.some((program) => reached.has(program)) ? 'api' : 'unit'
}

/** Answers what a file imports, directly or not. `beyond`: files at which the search stops. */
function createImportGraph(root: string) {
  const direct = new Map<string, readonly string[]>()
  const importsOf = (path: string): readonly string[] => {
    let found = direct.get(path)
    if (found === undefined) {
      const text = path.endsWith('.ts') && existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : ''
      found = [...text.matchAll(/(?:from |import\()'(\.{1,2}\/[^']+)'/g)].map(([, to]) => posix.join(posix.dirname(path), to!))
      direct.set(path, found)
    }
    return found
  }
  return (from: string, beyond: ReadonlySet<string> = new Set()): ReadonlySet<string> => {
    const seen = new Set<string>()
    const visit = (path: string): void => {
      if (seen.has(path)) return
      seen.add(path)
      if (!beyond.has(path)) for (const to of importsOf(path)) visit(to)
    }
    visit(from)
    return seen
  }
}

/**
 * The tests that a change of these files is most likely to break: those of the same module, those that import one of them (not through
 * a started stack), and those that name one of them in their text, as tests of documents do.
 */
export function concernedBy(root: string, changed: readonly string[], files: readonly TestFile[]): readonly TestFile[] {
  const reach = createImportGraph(root)
  const modules = new Set(changed.map(moduleOf)).difference(new Set([undefined]))
  const names = changed.filter((path) => !path.endsWith('.ts')).map((path) => posix.basename(path))
  return files.filter(({ path }) => {
    if (ALWAYS.includes(path) || modules.has(moduleOf(path))) return true
    const reached = reach(path, STARTERS)
    if (changed.some((one) => reached.has(one))) return true
    const text = readFileSync(join(root, path), 'utf8')
    return names.some((name) => text.includes(name))
  })
}

/** `server/src/services/storage/files`, `server/src/kit`, `components/processors`, `cli`; nothing for tests of the whole. */
export function moduleOf(path: string): string | undefined {
  const parts = posix.dirname(path).split('/')
  const depthInServer = { services: 5, engines: 4 }[parts[2] ?? ''] ?? 3
  const depth = { server: depthInServer, components: 2, cli: 1, contract: 1 }[parts[0]!]
  return depth === undefined ? undefined : parts.slice(0, depth).join('/')
}

/** What differs from the commit where this branch left `base`, committed or not. */
export function changedSince(root: string, base: string): readonly string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const [fork] = git('merge-base', 'HEAD', base)
  return [...git('diff', '--name-only', fork!), ...git('ls-files', '--others', '--exclude-standard')]
}

/** Part `part` of `parts`, all of them about equally long; the same on every machine. */
export function shardOf(files: readonly TestFile[], part: number, parts: number): readonly TestFile[] {
  const shards = Array.from({ length: parts }, () => ({ seconds: 0, files: [] as TestFile[] }))
  for (const file of files) {
    const shortest = shards.reduce((a, b) => (b.seconds < a.seconds ? b : a))
    shortest.files.push(file)
    shortest.seconds += file.seconds
  }
  return shards[part - 1]!.files
}
