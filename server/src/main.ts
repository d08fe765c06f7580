// The program. A start loads the bundle that tools/setup.mjs makes of the sources, or the sources when one of them has changed since;
// compiled code is kept between starts. Both shorten a start, hence the only imports that are not at the top of a file.

import { readFileSync, statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

const REPOSITORY = new URL('../../', import.meta.url)
const BUNDLE = new URL('server/dist/serve.js', REPOSITORY)

enableCompileCache(fileURLToPath(new URL('node_modules/.cache/millrace', REPOSITORY)))
await (isBundled() ? import(BUNDLE.href) : import('./start/serve.ts'))

function isBundled(): boolean {
  try {
    const sources = JSON.parse(readFileSync(new URL('sources.json', BUNDLE), 'utf8')) as Record<string, string> // by tools/bundle-server.ts
    return Object.entries(sources).every(([path, state]) => {
      const { size, mtimeMs } = statSync(new URL(path, REPOSITORY))
      return state === `${size} ${mtimeMs}`
    })
  } catch {
    return false // there is no bundle, or a source is gone
  }
}
