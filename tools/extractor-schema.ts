// Writes what the HTTP extractor declares (the schema of its configuration, its actions) into its description, which
// the platform publishes. `node tools/extractor-schema.ts` writes, `--check` only compares.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ACTION_NAMES } from '../components/http-extractor/src/actions/actions.ts'
import { rowSchema, savedConfigurationSchema } from '../components/http-extractor/src/configuration/schema.ts'

const FILE = fileURLToPath(
  new URL('../server/src/services/configuration/components/builtin/http-extractor.json', import.meta.url),
)

const description = JSON.parse(readFileSync(FILE, 'utf8'))
const current = {
  ...description,
  data: { ...description.data, synchronous_actions: ACTION_NAMES },
  configurationSchema: savedConfigurationSchema(),
  configurationRowSchema: rowSchema(),
}
if (JSON.stringify(current) === JSON.stringify(description)) process.exit(0)
if (process.argv.includes('--check')) {
  console.error('The description of the HTTP extractor is out of date: run node tools/extractor-schema.ts')
  process.exit(1)
}
writeFileSync(FILE, `${JSON.stringify(current, null, 2)}\n`)
