// Texts of the console's sources: what a screen shows by itself, unlike names of tables and numbers.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCES = fileURLToPath(new URL('../../console/src', import.meta.url))

/** Literals, and the text of elements, that stand in the sources as they are shown. */
export function consoleTexts(): ReadonlySet<string> {
  const texts = new Set<string>()
  for (const path of globSync('**/*.{ts,tsx}', { cwd: SOURCES })) {
    const source = readFileSync(join(SOURCES, path), 'utf8')
    for (const [, quoted, written] of source.matchAll(/'([^'\n\\]{2,80})'|>\s*([^<>{}\n]{2,80}?)\s*(?=<|\n)/g))
      texts.add((quoted ?? written ?? '').trim())
    for (const line of source.split('\n')) if (/^\s*[A-Z][^<>{}=();]*$/.test(line)) texts.add(line.trim())
  }
  return texts
}
