// `npm run package`: the npm package that people install, in dist/package, and packed in dist/millrace-<version>.tgz (ADR 0055). It is the
// tree of this repository with every program bundled: a file that finds another by its own address finds it in the package as well.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build, type Plugin } from 'vite'
import { commitOf } from '../server/src/start/version.ts'
import { licencesOf } from './package-licences.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = join(ROOT, 'dist')

/** Packages that cannot be bundled, and why. They are the dependencies of the package; everything else is in its files. */
export const INSTALLED = {
  '@duckdb/node-api': 'native code',
  '@electric-sql/pglite': 'loads its WebAssembly and data files from its own folder',
} as const

/** What `pg` and `ssh2` load if it is installed, and run without. */
const OPTIONAL = ['pg-native', 'pg-cloudflare', 'cpu-features', /\.node$/]

/** Each has its own files: a component may read its folder, and no other. */
const PROGRAMS: readonly (readonly string[])[] = [
  ['server/src/main.ts', 'cli/src/main.ts'],
  ...globSync('components/*/src/main.ts', { cwd: ROOT }).map((path) => [path.split(sep).join('/')]),
]

const DOCUMENTS = ['README.md', 'LICENSE', 'CHANGELOG.md', 'docs', 'deploy']

interface Manifest {
  readonly version: string
  readonly description: string
  readonly license: string
}

/** Makes `target`/package and packs it; returns the path of the archive. `repository`: the address that the package names. */
export async function makePackage(target = DIST, repository?: string): Promise<string> {
  const folder = join(target, 'package')
  rmSync(folder, { recursive: true, force: true })
  for (const programs of PROGRAMS) await bundle(folder, programs)
  for (const name of DOCUMENTS) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  copy(join(ROOT, 'cli/bin/packaged.mjs'), join(folder, 'cli/bin/millrace.mjs'))
  writeFileSync(join(folder, 'commit'), commitOf(ROOT) ?? '')
  writeFileSync(join(folder, 'THIRD-PARTY-LICENCES.txt'), licencesOf(ROOT, Object.keys(INSTALLED)))
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest // our own
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packageManifest(manifest, repository), null, 2)}\n`)
  execFileSync('npm', ['pack', '--silent', '--pack-destination', target], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  return join(target, `millrace-${manifest.version}.tgz`)
}

/** That of the lockfile, which the tests ran with. */
const installedVersion = (name: string): string =>
  (JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as Manifest).version

function packageManifest({ version, description, license }: Manifest, repository: string | undefined) {
  return {
    name: 'millrace',
    version,
    description,
    keywords: ['data-platform', 'etl', 'elt', 'extractor', 'pipeline', 'scheduler', 'duckdb', 'parquet', 'iceberg', 'keboola'],
    license,
    ...(repository !== undefined && {
      homepage: `${repository}#readme`,
      repository: { type: 'git', url: `git+${repository}.git` },
      bugs: `${repository}/issues`,
    }),
    type: 'module',
    engines: { node: '>=24' },
    bin: { millrace: 'cli/bin/millrace.mjs' },
    dependencies: Object.fromEntries(Object.keys(INSTALLED).map((name) => [name, installedVersion(name)])),
  }
}

async function bundle(folder: string, programs: readonly string[]): Promise<void> {
  const [first = ''] = programs
  const own = first.startsWith('components/') ? `${dirname(first)}/` : ''
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [keepPlaces(folder)],
    ssr: { noExternal: true, external: Object.keys(INSTALLED) },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      target: 'node24',
      minify: false,
      rolldownOptions: {
        external: OPTIONAL,
        input: Object.fromEntries(programs.map((path) => [path, join(ROOT, path)])),
        output: {
          entryFileNames: ({ name }) => asJavaScript(name),
          chunkFileNames: `${own}chunks/[name].js`,
        },
      },
    },
  })
}

const asJavaScript = (path: string): string => path.replace(/\.ts$/, '.js')

const PLACE = '@@place@@'
const ADDRESS = /new URL\(\s*'([^']+)',\s*import\.meta\.url\)/g

/** Modules look for programs, data files and documents beside themselves: each keeps its place in the tree, and what it names is put there. */
function keepPlaces(folder: string): Plugin {
  return {
    name: 'keep-places',
    enforce: 'pre',
    transform(code, id) {
      if (!id.startsWith(ROOT) || id.includes('node_modules') || !code.includes('import.meta.url')) return
      for (const [, named = ''] of code.matchAll(ADDRESS)) {
        const target = resolve(dirname(id), named)
        if (target.endsWith('.ts')) this.emitFile({ type: 'chunk', id: target, fileName: asJavaScript(inTree(target)) })
        else copyNamed(folder, target)
      }
      return {
        code: code
          .replaceAll(ADDRESS, (whole, named: string) => whole.replace(named, asJavaScript(named)))
          .replaceAll(/createRequire\(import\.meta\.url\)\(/g, 'require(')
          .replaceAll('import.meta.url', `new URL("${PLACE}/${inTree(id)}", import.meta.url).href`),
        map: null,
      }
    },
    renderChunk(code, { fileName }) {
      const here = `${posix.relative(posix.dirname(fileName), '') || '.'}/`
      // Packages in CommonJS have these names by themselves.
      const names = ['dirname', 'filename'].filter((name) => code.includes(`__${name}`))
      return names.map((name) => `const __${name} = import.meta.${name};\n`).join('') + code.replaceAll(`${PLACE}/`, here)
    },
  }
}

const inTree = (path: string): string => relative(ROOT, path).split(sep).join('/')

/** A file or a folder that the program reads; not the folder that it lies in, by which it finds others. */
function copyNamed(folder: string, path: string): void {
  const isAround = ROOT.startsWith(path.endsWith(sep) ? path : path + sep)
  if (isAround || inTree(path).startsWith('node_modules')) return
  if (!existsSync(path)) throw new Error(`${inTree(path)} does not exist; a program of the package reads it.`)
  copy(path, join(folder, inTree(path)))
}

function copy(path: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  cpSync(path, target, { recursive: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { repository: { type: 'string' } } })
  console.log(relative(process.cwd(), await makePackage(DIST, values.repository)))
}
