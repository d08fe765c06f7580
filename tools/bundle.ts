// Bundles the server and the millrace command into dist/: a few files load in a fraction of the time that their 2,000 modules take. Run by
// tools/setup.mjs when a source has changed; both programs use the bundle as long as it is as new as the sources (server/src/bundle.ts).

import { statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUTPUT = join(ROOT, 'dist')
/** Loaded from where they are installed: native code, what starts threads from files beside itself, and what `pg` takes if it is there. */
const INSTALLED_PACKAGES = ['@duckdb/node-api', 'pino', 'pg-native', 'pg-cloudflare']

const sources = new Set([join(ROOT, 'package-lock.json')])

/** Modules look for workers, data files and documents beside themselves: in the bundle they keep the address of their source. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(ROOT) || id.includes('node_modules')) return
    sources.add(id)
    return { code: code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)), map: null }
  },
}

await build({
  root: ROOT,
  configFile: false,
  logLevel: 'warn',
  plugins: [keepPlaces],
  ssr: { noExternal: true, external: INSTALLED_PACKAGES },
  build: {
    ssr: true,
    outDir: OUTPUT,
    emptyOutDir: true,
    target: 'node24',
    minify: false,
    sourcemap: true,
    rolldownOptions: {
      input: { serve: join(ROOT, 'server/src/start/serve.ts'), cli: join(ROOT, 'cli/src/program.ts') },
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
    },
  },
})
writeFileSync(
  join(OUTPUT, 'sources.json'),
  JSON.stringify(Object.fromEntries([...sources].map((path) => [relative(ROOT, path), stateOf(path)]))),
)

/** Compared with the file as it is now. */
function stateOf(path: string): string {
  const { size, mtimeMs } = statSync(path)
  return `${size} ${mtimeMs}`
}
