// The address of a program's bundle in dist/, as long as it is as new as the sources it was made of (tools/bundle.ts).

import { readFileSync, statSync } from 'node:fs'

const REPOSITORY = new URL('../../', import.meta.url)

/** Undefined: load the sources. */
export const bundleOf = (program: 'serve' | 'cli'): string | undefined =>
  isAsNewAsItsSources() ? new URL(`dist/${program}.js`, REPOSITORY).href : undefined

function isAsNewAsItsSources(): boolean {
  try {
    const sources = JSON.parse(readFileSync(new URL('dist/sources.json', REPOSITORY), 'utf8')) as Record<string, string> // by tools/bundle.ts
    return Object.entries(sources).every(([path, state]) => {
      const { size, mtimeMs } = statSync(new URL(path, REPOSITORY))
      return state === `${size} ${mtimeMs}`
    })
  } catch {
    return false // there is no bundle, or a source is gone
  }
}
