// The address of a program's bundle in dist/, as long as it is as new as the sources it was made of (tools/bundle.ts). The npm package
// has bundles in place of the sources (tools/package.ts).

import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const REPOSITORY = new URL('../../../../', import.meta.url)

/** Undefined: load the sources. */
export function bundleOf(program: 'serve' | 'cli'): string | undefined {
  return isAsNewAsItsSources('dist/') ? new URL(`dist/${program}.js`, REPOSITORY).href : undefined
}

/** The file to start for a built-in component, by its folder. Resolved for every run: an edited component needs no restart of the server. */
export function componentBundle(folder: string): string | undefined {
  if (!/^[\w-]+$/.test(folder)) return undefined // a program beside the shipped ones, such as those of the benches
  const packaged = fileURLToPath(new URL(`components/${folder}/src/main.js`, REPOSITORY))
  if (existsSync(packaged)) return packaged
  const bundle = `dist/components/${folder}/`
  return isAsNewAsItsSources(bundle) ? fileURLToPath(new URL(`${bundle}program.js`, REPOSITORY)) : undefined
}

function isAsNewAsItsSources(folder: string): boolean {
  try {
    const sources = JSON.parse(readFileSync(new URL(`${folder}sources.json`, REPOSITORY), 'utf8')) as Record<string, string> // by tools/bundle.ts
    return Object.entries(sources).every(([path, state]) => {
      const { size, mtimeMs } = statSync(new URL(path, REPOSITORY))
      return state === `${size} ${mtimeMs}`
    })
  } catch {
    return false // there is no bundle, or a source is gone
  }
}
