// Writes the tables of docs/connectors.md from a run of the cases: node tools/connectors-doc.ts [DIR]. DIR holds the whole set of cases, of
// which those of the catalogue are not part of the repository.

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMPONENTS } from '../components/manifest-connector/src/manifest/components.ts'
import { type Case, loadCase, runCase } from '../components/manifest-connector/tests/case.ts'
import { engine } from '../components/manifest-connector/tests/engine.ts'

const DOCUMENT = new URL('../docs/connectors.md', import.meta.url)
const HEADING = '## Cases and component types\n'
const folder = process.argv[2] ?? join(import.meta.dirname, '../components/manifest-connector/tests/fixtures')

const results: { readonly given: Case; readonly passed: boolean; readonly isCatalogue: boolean }[] = []
for (const file of globSync('*.{json,json.gz}', { cwd: folder }).sort()) {
  const given = loadCase(join(folder, file))
  results.push({ given, passed: (await runCase(given, engine)).length === 0, isCatalogue: file.startsWith('cat-') })
}

const of = (isCatalogue: boolean) => results.filter((each) => each.isCatalogue === isCatalogue)
const row = (name: string, list: typeof results) => `| ${name} | ${list.length} | ${list.filter(({ passed }) => passed).length} |`

/** Types that a manifest has anywhere. */
function typesOf(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found
  const { type } = value as { type?: unknown }
  if (typeof type === 'string') found.add(type)
  for (const each of Object.values(value)) typesOf(each, found)
  return found
}
const types = results.map((each) => ({ ...each, types: typesOf(each.given.manifest ?? {}) }))
const components = Object.keys(COMPONENTS)
  .sort()
  .map((type) => {
    const using = types.filter((each) => each.types.has(type))
    return `| ${type} | ${using.length} | ${using.filter(({ passed }) => passed).length} |`
  })

const text = `${HEADING}
Made by \`node tools/connectors-doc.ts DIR\`. Each case holds a manifest, the answers of an API, and the requests, records and states of the reference engine.

| cases | number | passed |
|---|---|---|
${row('written by hand, one feature each (`npm test`)', of(false))}
${row('cut from manifests of the catalogue', of(true))}

Supported component types, with the cases that use them:

| component type | cases | passed |
|---|---|---|
${components.join('\n')}
`
const document = readFileSync(DOCUMENT, 'utf8')
const at = document.indexOf(HEADING)
writeFileSync(DOCUMENT, (at < 0 ? document : document.slice(0, at)) + text)
