// Layers and module boundaries, checked on every run. ARCHITECTURE.md gives the reasons.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { functionsOf } from './support/syntax.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PLACES = ['contract', 'client', 'server', 'components', 'cli', 'console', 'tests', 'bench', 'tools']

interface Source {
  /** From the root of the repository, with forward slashes. */
  readonly path: string
  readonly text: string
  /** Files of ours it imports. */
  readonly imports: readonly string[]
  /** Those of them that are loaded with it. */
  readonly loads: readonly string[]
  /** Packages and `node:` modules it imports for more than their types. */
  readonly packages: readonly string[]
}

const IMPORT = /^[ \t]*(?:import|export)\b(\s+type\b)?([^'";]*?)\bfrom\s+'([^']+)'/gm
const LATE_IMPORT = /\bimport\('(\.[^']+)'\)/g
const isRelative = (specifier: string) => specifier.startsWith('.')
const isTest = (path: string) => /\.(test|contract|bench)\.tsx?$/.test(path)

function read(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const found = [...text.matchAll(IMPORT)].map(([, typeOnly, names, specifier]) => ({
    typeOnly: Boolean(typeOnly),
    names: names!,
    specifier: specifier!,
  }))
  const loaded = found.filter((one) => !one.typeOnly && !onlyTypes(one.names)).map((one) => one.specifier)
  return {
    path,
    text,
    imports: [
      ...found.filter((one) => isRelative(one.specifier)).map((one) => one.specifier),
      ...[...text.matchAll(LATE_IMPORT)].map(([, specifier]) => specifier!),
    ].map((specifier) => posix.join(posix.dirname(path), specifier)),
    loads: loaded.filter(isRelative).map((specifier) => posix.join(posix.dirname(path), specifier)),
    packages: loaded.filter((specifier) => !isRelative(specifier)),
  }
}

/** `{ type A, type B }` */
const onlyTypes = (names: string): boolean =>
  (names.match(/^\s*\{([^}]*)\}\s*$/)?.[1] ?? 'a value')
    .split(',')
    .map((name) => name.trim())
    .every((name) => name === '' || name.startsWith('type '))

const everything = globSync(
  PLACES.map((place) => `${place}/**/*.{ts,tsx}`),
  { cwd: ROOT, exclude: (path) => ['node_modules', 'dist', 'fixtures'].includes(basename(path)) },
)
  .map((path) => path.replaceAll('\\', '/'))
  .sort()
  .map(read)
const program = everything.filter(({ path }) => !isTest(path) && !path.startsWith('tests/'))
const server = program.filter(({ path }) => path.startsWith('server/src/'))

const LAYERS: Readonly<Record<string, number>> = {
  kit: 0,
  engines: 1,
  model: 2,
  http: 3,
  services: 4,
  wiring: 5,
  start: 6,
  '.': 7,
} // '.' is main.ts
/** 'services/storage/files', 'engines/runner', 'http', 'kit' or '.' */
const moduleOf = (path: string): string => {
  const parts = posix.dirname(posix.relative('server/src', path)).split('/')
  return parts.slice(0, { services: 3, engines: 2 }[parts[0]!] ?? 1).join('/')
}
const layerOf = (path: string): number => LAYERS[moduleOf(path).split('/')[0]!] ?? assert.fail(`${path} belongs to no layer`)

const arrows = (sources: readonly Source[], wrong: (from: string, to: string) => boolean) =>
  sources.flatMap(({ path, imports }) => imports.filter((to) => wrong(path, to)).map((to) => `${path} -> ${to}`))
const under = (place: string) => everything.filter(({ path }) => path.startsWith(`${place}/`))
const lines = (sources: readonly Source[], pattern: RegExp) =>
  sources.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line.replace(/\/\/.*|^\s*\*.*/, '')) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  )

/** Fails on an empty list: a check that looks at nothing proves nothing. */
const some = <T>(sources: readonly T[]): readonly T[] => {
  assert.notEqual(sources.length, 0, 'this check found no file to look at')
  return sources
}

test('there is something to look at', () => {
  assert.ok(server.length > 3)
  assert.ok(server.some(({ imports }) => imports.length > 0))
})

/** The files of a module that others may import. */
const isEntrance = (path: string) => path.endsWith('.module.ts')

test('in the server imports point to a lower layer or stay in their module; entrances name the types of other entrances', () => {
  const wrong = server.flatMap(({ path, imports, loads }) =>
    imports
      .filter((to) => to.startsWith('server/src/') && moduleOf(path) !== moduleOf(to) && layerOf(path) <= layerOf(to))
      .filter((to) => !isEntrance(path) || !isEntrance(to) || loads.includes(to))
      .map((to) => `${path} -> ${to}`),
  )
  assert.deepEqual(wrong, [])
})

test('a module of services is imported by its entrances', () => {
  const above = server.filter(({ path }) => layerOf(path) > layerOf('server/src/services/storage/files/files.ts'))
  assert.deepEqual(
    arrows(some(above), (_, to) => to.startsWith('server/src/services/') && !isEntrance(to)),
    [],
  )
})

test('the server imports itself and the contract, nothing else of ours', () => {
  assert.deepEqual(
    arrows(server, (_, to) => !to.startsWith('server/src/') && !to.startsWith('contract/')),
    [],
  )
})

test('the contract imports nothing of ours', () => {
  assert.deepEqual(
    arrows(
      under('contract').filter(({ path }) => !isTest(path)),
      (_, to) => !to.startsWith('contract/'),
    ),
    [],
  )
})

test('components are programs of their own: nothing of the server, the command line or the console', () => {
  assert.deepEqual(
    arrows(
      program.filter(({ path }) => path.startsWith('components/')),
      (_, to) => !to.startsWith('components/') && !to.startsWith('contract/'),
    ),
    [],
  )
})

test('the console knows the contract and the client only', () => {
  assert.deepEqual(
    arrows(
      program.filter(({ path }) => path.startsWith('console/')),
      (_, to) => !['console/', 'contract/', 'client/'].some((place) => to.startsWith(place)),
    ),
    [],
  )
})

/** The folders of the console that a folder may not import, so that facts serve every screen and no screen another subject's. */
const CONSOLE_BELOW: Readonly<Record<string, readonly string[]>> = {
  facts: ['parts', 'editor', 'shell', 'views', 'screens'],
  parts: ['facts', 'editor', 'shell', 'views', 'screens'],
  editor: ['facts', 'shell', 'views', 'screens'],
  shell: ['editor', 'views', 'screens'],
  views: ['screens'],
}

test('in the console facts know no markup, and screens import what several subjects share from facts and views', () => {
  const sources = some(under('console/src').filter(({ path }) => !isTest(path)))
  const placeOf = (path: string) => path.split('/').slice(2, -1)
  assert.deepEqual(
    arrows(sources, (from, to) => CONSOLE_BELOW[placeOf(from)[0]!]?.includes(placeOf(to)[0]!) ?? false),
    [],
  )
  assert.deepEqual(
    arrows(sources, (from, to) => {
      const [[fromFolder, fromSubject], [toFolder, toSubject]] = [placeOf(from), placeOf(to)]
      return fromFolder === 'screens' && toFolder === 'screens' && fromSubject !== toSubject
    }),
    [],
  )
  assert.deepEqual(
    sources.filter(({ path }) => path.startsWith('console/src/facts/') && path.endsWith('.tsx')).map(({ path }) => path),
    [],
  )
})

test('a folder of screens has at most 12 files', () => {
  const files = globSync('console/src/screens/**/*.*', { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'))
  assert.deepEqual(largeFolders(files, 12), [])
  assert.deepEqual(
    files.filter((path) => posix.dirname(path) === 'console/src/screens'),
    [],
    'a screen lies in the folder of its subject',
  )
})

interface Styles {
  readonly path: string
  readonly folder: string
  readonly selectors: readonly string[]
}

/** The styles of the console, without steps of animations and without classes that the code editor sets itself. */
const readStyles = (): readonly Styles[] =>
  some(globSync('console/src/**/*.css', { cwd: ROOT }))
    .map((path) => path.replaceAll('\\', '/'))
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8').replace(/\/\*.*?\*\//gs, '')
      const selectors = [...text.matchAll(/([^{};]+)\{/g)].map(([, selector]) => selector!.trim())
      const ours = selectors.filter((one) => !one.startsWith('@')).flatMap((one) => one.split(/,(?![^(]*\))/))
      return { path, folder: posix.dirname(path), selectors: ours.filter((one) => !/\.cm-|^\s*(from|to|[\d.]+%)\s*$/.test(one)) }
    })

const classesOf = (selector: string): readonly string[] => selector.match(/(?<=\.)-?[a-z][\w-]*/gi) ?? []

/** The words of all texts in quotes of a source: every class that it sets is among them. */
const quotedWords = ({ text }: Source): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/'([^'\n]*)'|"([^"\n]*)"|[`}]([^`${}\n]*)(?=`|\$\{)/g)].flatMap((found) =>
      found.slice(1).join(' ').split(/\s+/),
    ),
  )

test('classes of the console are words, are used and have styles', () => {
  const sources = under('console/src')
  const used = new Set(sources.flatMap((source) => [...quotedWords(source)]))
  const wrong = readStyles().flatMap(({ path, selectors }) =>
    [...new Set(selectors.flatMap(classesOf))]
      .filter((name) => name.length < 4 || !used.has(name))
      .map((name) => `${path}: .${name}`),
  )
  assert.deepEqual(wrong, [])
  const styled = new Set(readStyles().flatMap(({ selectors }) => selectors.flatMap(classesOf)))
  const bare = some(sources.filter(({ path }) => path.endsWith('.tsx'))).flatMap(({ path, text }) =>
    [...text.matchAll(/className(?:="([^"]*)"| = '([^']*)')/g)]
      .flatMap(([, names, otherwise]) => (names ?? otherwise ?? '').split(/\s+/))
      .filter((name) => name !== '' && !styled.has(name) && !name.startsWith('cm-'))
      .map((name) => `${path}: ${name}`),
  )
  assert.deepEqual(bare, [])
})

test('a folder of the console styles what only its files use, and they import its styles; the rest is in styles/', () => {
  const sources = under('console/src')
    .filter(({ path }) => path.endsWith('.tsx'))
    .map(({ path, text }) => ({
      path,
      text,
      classes: new Set([...text.matchAll(/className="([^"]*)"/g)].flatMap(([, names]) => names!.split(' '))),
    }))
  const wrong = some(readStyles().filter(({ folder }) => folder !== 'console/src/styles')).flatMap(
    ({ path, folder, selectors }) => {
      const isInside = (source: { path: string }) => source.path.startsWith(`${folder}/`)
      const elsewhere = new Set(sources.filter((source) => !isInside(source)).flatMap(({ classes }) => [...classes]))
      const isOwn = (name: string) => !elsewhere.has(name)
      const own = new Set(selectors.flatMap(classesOf).filter(isOwn))
      const importers = sources.filter((source) => isInside(source) && [...source.classes].some((name) => own.has(name)))
      const specifier = (from: string) => posix.relative(posix.dirname(from), path).replace(/^(?!\.)/, './')
      return [
        ...selectors.filter((one) => !classesOf(one).some(isOwn)).map((one) => `${path}: ${one.trim()} is not its own`),
        ...importers
          .filter((source) => !source.text.includes(`import '${specifier(source.path)}'`))
          .map((source) => `${source.path} does not import ${path}`),
      ]
    },
  )
  assert.deepEqual(wrong, [])
})

test('the console and the client call operations without casts', () => {
  assert.deepEqual(lines([...under('console'), ...under('client')], /\bas never\b/), [])
})

test('there are no import cycles', () => {
  const importsOf = new Map(everything.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), [...trail.slice(trail.indexOf(path)), path].join(' -> '))
    if (!done.has(path)) for (const to of importsOf.get(path) ?? []) visit(to, [...trail, path])
    done.add(path)
  }
  for (const { path } of everything) visit(path, [])
})

/** The packages that a program loads when it starts, each with the file that imports it. */
function packagesAtStart(program: string): string[] {
  const sources = new Map(everything.map((source) => [source.path, source]))
  const loaded = new Set<string>()
  const load = (path: string): void => {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const to of sources.get(path)?.loads ?? []) load(to)
  }
  load(program)
  assert.ok(loaded.size > 20)
  return [...loaded].flatMap((path) => (sources.get(path)?.packages ?? []).map((name) => `${path}: ${name}`))
}

test('a command starts without the packages of the server: what only some commands need is loaded late', () => {
  const heavy = packagesAtStart('cli/src/program.ts').filter((line) => !/: (node:.*|commander|jsonc-parser)$/.test(line))
  assert.deepEqual(heavy, [])
})

test('the server starts without the packages that only some stacks need', () => {
  const late = packagesAtStart('server/src/start/serve.ts').filter((line) =>
    /: (@aws-sdk\/|@duckdb\/|@electric-sql\/|@peculiar\/|isomorphic-git|nodemailer)/.test(line),
  )
  assert.deepEqual(late, [])
})

test('every import of ours has a form that these tests see', () => {
  assert.deepEqual(lines(program, /\bimport\(\s*["`]\.|\bimport\($|^\s*import\s+'\.(?!.*\.css')|\brequire\(\s*['"]\./), [])
})

test('only config.ts reads the environment', () => {
  assert.deepEqual(
    lines(
      server.filter(({ path }) => path !== 'server/src/start/config.ts'),
      /\bprocess\.env\b/,
    ),
    [],
  )
})

test('only kit/clock.ts asks the time', () => {
  assert.deepEqual(
    lines(
      server.filter(({ path }) => path !== 'server/src/kit/clock.ts'),
      /\bDate\.now\(|\bnew Date\(\s*\)|\bDate\(\s*\)/,
    ),
    [],
  )
})

test('services, the model and the kit reach disk, network and processes through an engine', () => {
  const outside =
    /^(node:(fs|net|tls|http|https|dgram|dns|child_process|worker_threads|sqlite)(\/.*)?|undici|pg|@aws-sdk\/.*|@duckdb\/.*)$/
  const wrong = server
    .filter(({ path }) => /^server\/src\/(services|model|kit)\//.test(path))
    .flatMap(({ path, packages }) => packages.filter((name) => outside.test(name)).map((name) => `${path} -> ${name}`))
  assert.deepEqual(wrong, [])
})

test('routes import no routes and name no store', () => {
  const routes = some(server.filter(({ path }) => path.endsWith('.routes.ts')))
  assert.deepEqual(
    arrows(routes, (_, to) => to.endsWith('.routes.ts')),
    [],
  )
  assert.deepEqual(lines(routes, /\bstore\.\w+\(|\bcreate\w*Store\b|\{[^}]*\bstore\b[^}]*\} =/), [])
})

test('hooks and error handlers that are for the routes of one module are kept to them', () => {
  const own = /\bapp\.(?:addHook\('(?!preClose)|setErrorHandler|addContentTypeParser|decorate)/ // a server closes as a whole
  const modules = some(server.filter(({ path, text }) => path.endsWith('.routes.ts') && own.test(text)))
  const registered = modules.flatMap(({ text }) =>
    [...text.matchAll(/export (?:function|const) (\w+Routes)\b/g)].map(([, name]) => name!),
  )
  const entrances = server.filter(({ path }) => isEntrance(path))
  const kept = entrances.flatMap(({ text }) => [...text.matchAll(/encapsulated\(\s*(\w+Routes)\b/g)].map(([, name]) => name!))
  assert.deepEqual(some(registered).toSorted(), kept.toSorted(), 'these routes, and no others, need encapsulated()')
})

test('decisions and lines of functions are counted by the syntax tree', () => {
  const text = 'const f = (a: string) => {\n  if (a && b) return 1\n  const g = () =>\n    a ? 1 : 2\n  return g()\n}'
  assert.deepEqual(functionsOf(text), [
    { name: 'g', complexity: 2, lines: 2 },
    { name: 'f', complexity: 3, lines: 5 },
  ])
})

/** ADR 0063: a module is a function around the functions that it returns, so each counts for itself. */
test('no function of the server has a complexity of 25, or 150 lines of its own', () => {
  const measured = server.flatMap(({ path, text }) => functionsOf(text).map((one) => ({ ...one, id: `${path}: ${one.name}` })))
  assert.ok(measured.length > 5000, `only ${measured.length} functions found: the search is broken`)
  assert.deepEqual(
    measured
      .filter(({ complexity, lines }) => complexity >= 25 || lines >= 150)
      .map(({ id, complexity, lines }) => `${id}: complexity ${complexity}, ${lines} lines`),
    [],
  )
})

test('the wiring has at most 1,400 lines', () => {
  const wiring = some(server.filter(({ path }) => path.startsWith('server/src/wiring/')))
  const lines = wiring.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
  assert.ok(lines <= 1400, `${lines} lines`)
})

test('the wiring uses few functions of modules that are created later', () => {
  const wiring = some(server.filter(({ path }) => path.startsWith('server/src/wiring/')))
  const early = wiring.flatMap(({ path, text }) => usedEarly(text).map((use) => `${path}: ${use}`))
  assert.ok(early.length <= 10, early.join('\n'))
})

/** Constants that functions use above the line that declares them. */
function usedEarly(text: string): string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const name = /^ {2}const (\w+) = (?:await )?create\w+\(/.exec(line)?.[1]
    if (name === undefined) return []
    const begin = lines.findLastIndex((above, index) => index < at && /^(export )?(async )?function/.test(above))
    return lines.slice(begin, at).filter((above) => new RegExp(`(?<![\\w.])${name}\\.`).test(above))
  })
}

/** Folders with more files than the number, each with it. */
const largeFolders = (paths: readonly string[], maxFiles: number): string[] =>
  [...Map.groupBy(some(paths), (path) => posix.dirname(path.replaceAll('\\', '/')))]
    .filter(([, files]) => files.length > maxFiles)
    .map(([folder, files]) => `${folder}: ${files.length} files`)

/** The guides are flat, because their names are URLs (`/help/tables`) that errors and other pages link to; docs/README.md groups them. */
test('no folder has more than 40 files, except migrations, decision records and guides', () => {
  const paths = globSync('{cli,server,contract,client,components,console,tests,bench,tools,docs,deploy,examples}/**/*.*', {
    cwd: ROOT,
    exclude: (path) => ['node_modules', 'dist', 'data', 'migrations', 'adr'].includes(basename(path)),
  })
  assert.ok(paths.length > 2000)
  assert.deepEqual(
    largeFolders(paths, 40).filter((line) => !/fixtures|shots|examples|^docs:/.test(line)),
    [],
  )
})

test('a folder of the tables module has at most 15 files', () => {
  assert.deepEqual(largeFolders(globSync('server/src/services/storage/tables/**/*.*', { cwd: ROOT }), 15), [])
})

test('no file is a barrel or is named for nothing in particular', () => {
  const vague = /^(utils?|helpers?|common|misc|shared|manager)(\.|$)|[-.](utils?|helpers?|manager)\.tsx?$/
  const wrong = program.filter(
    ({ path }) => vague.test(basename(path)) || (path.startsWith('server/') && basename(path) === 'index.ts'),
  )
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

/** Used by tests alone, for a reason. */
const FOR_TESTS: Readonly<Record<string, string>> = {
  TABLE_FUNCTIONS: 'the test compares it with what the database offers, so that a new function is noticed',
}

test('every exported value is used: in another file of the program, or in its own and in its test', () => {
  const isForTests = ({ path }: Source) => isTest(path) || /(^|\/)tests\/|\.fixture\.ts$/.test(path)
  const wordsOf = new Map(everything.map((source) => [source, new Set(source.text.match(/[\w$]+/g))]))
  const programFiles = everything.filter((source) => !isForTests(source))
  const tests = everything.filter(isForTests)
  const dead = some(programFiles.filter(({ path }) => /^(server|cli|components|contract)\//.test(path))).flatMap((source) =>
    [...source.text.matchAll(/^export (?:async )?(?:const|let|function\*?|class) ([\w$]+)/gm)]
      .map(([, name]) => name!)
      .filter((name) => {
        if (name in FOR_TESTS || programFiles.some((other) => other !== source && wordsOf.get(other)?.has(name))) return false
        const ownUses = source.text.split(new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`)).length - 2
        return ownUses === 0 || !tests.some((test) => wordsOf.get(test)?.has(name))
      })
      .map((name) => `${source.path}: ${name}`),
  )
  assert.deepEqual(dead, [])
})
