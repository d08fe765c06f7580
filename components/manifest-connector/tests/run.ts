// Runs the cases of a folder: npm run test:manifests -- --cases DIR [names]. The exit code is 0 when every case passed.

import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadCase, runCase } from './case.ts'
import { engine } from './engine.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { cases: { type: 'string' } } })
const folder = values.cases ?? join(import.meta.dirname, 'fixtures')
const files = globSync('*.{json,json.gz}', { cwd: folder })
  .filter((file) => positionals.length === 0 || positionals.includes(basename(file).replace(/\.json(?:\.gz)?$/, '')))
  .sort()
let failed = 0
for (const file of files) {
  const given = loadCase(join(folder, file))
  const problems = await runCase(given, engine).catch((error: unknown) => [String(error)])
  process.stdout.write(problems.length === 0 ? `PASS ${given.name}\n` : `FAIL ${given.name}: ${problems.join('\n     ')}\n`)
  if (problems.length > 0) failed++
}
process.stdout.write(`${files.length - failed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 || files.length === 0 ? 1 : 0
