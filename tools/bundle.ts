// Bundles the programs that start often into dist/: a few files load in a fraction of the time that their 2,000 modules take. Run by
// tools/setup.mjs when a source has changed; a bundle is used as long as it is as new as the sources (server/src/engines/runner/bundle.ts).

import { existsSync, globSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'vite'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** `installed`: packages that are loaded from where they are installed, because of native code or of threads they start from their files. */
interface Bundle {
  readonly folder: string
  readonly programs: Readonly<Record<string, string>>
  readonly installed: readonly string[]
}

const BUNDLES: readonly Bundle[] = [
  {
    folder: 'dist',
    programs: { serve: 'server/src/start/serve.ts', cli: 'cli/src/program.ts' },
    installed: ['@duckdb/node-api', 'pino', 'pg-native', 'pg-cloudflare'], // the last two are what `pg` takes if it is there
  },
  ...componentFolders().map((name) => ({
    folder: `dist/components/${name}`,
    programs: { program: `components/${name}/src/program.ts` },
    installed: ['@duckdb/node-api', 'ssh2', 'pg-native', 'pg-cloudflare'],
  })),
]

const PLACE = '@@place@@'

for (const bundle of BUNDLES) await makeBundle(bundle)

/** Components of more than a few files: their main.ts only starts program.ts. tools/setup.mjs finds them in the same way. */
function componentFolders(): string[] {
  const programs = globSync('components/*/src/program.ts', { cwd: ROOT }).map((path) => join(ROOT, dirname(path)))
  return programs.filter((folder) => existsSync(join(folder, 'main.ts'))).map((folder) => basename(dirname(folder)))
}

async function makeBundle({ folder, programs, installed }: Bundle): Promise<void> {
  const sources = new Set([join(ROOT, 'package-lock.json')])
  rmSync(join(ROOT, folder, 'chunks'), { recursive: true, force: true })
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [keepPlaces(folder, sources)],
    ssr: { noExternal: true, external: [...installed] },
    build: {
      ssr: true,
      outDir: join(ROOT, folder),
      emptyOutDir: false, // `npm run package` writes to dist/, too
      target: 'node24',
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, join(ROOT, path)])),
        output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
      },
    },
  })
  writeFileSync(
    join(ROOT, folder, 'sources.json'),
    JSON.stringify(Object.fromEntries([...sources].map((path) => [inTree(path), stateOf(path)]))),
  )
}

/**
 * Modules look for workers, data files and documents beside themselves: in the bundle they keep the place of their source, as seen from
 * the bundle, so that a checkout can be moved or copied as it is.
 */
function keepPlaces(folder: string, sources: Set<string>): Plugin {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (!id.startsWith(ROOT) || id.includes('node_modules')) return
      sources.add(id)
      const place = JSON.stringify(`${PLACE}/${inTree(id)}`)
      return { code: code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`), map: null }
    },
    renderChunk(code, { fileName }) {
      const root = posix.relative(posix.dirname(posix.join(folder, fileName)), '')
      return { code: code.replaceAll(`${PLACE}/`, `${root}/`), map: null }
    },
  }
}

function inTree(path: string): string {
  return relative(ROOT, path).split(sep).join('/')
}

/** Compared with the file as it is now. */
function stateOf(path: string): string {
  const { size, mtimeMs } = statSync(path)
  return `${size} ${mtimeMs}`
}
