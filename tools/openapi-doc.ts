// Writes docs/openapi.json from the routes of a stack: `npm run docs:api`. Committed, so that a change of the API shows in
// review; tests/conformance/openapi.test.ts fails when the file and the routes differ.

import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLog } from '../server/src/kit/log.ts'
import { createSecrets } from '../server/src/kit/secrets.ts'
import { createPlatform } from '../server/src/wiring/platform.ts'

export const OPENAPI_DOCUMENT = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))

/** What GET /openapi.json answers, without what differs from stack to stack. */
export function openApiText(answer: string): string {
  const document = JSON.parse(answer) as { info: { version: string }; servers: unknown } // our own document
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  document.info.version = version
  document.servers = [{ url: 'http://127.0.0.1:8000' }]
  return `${JSON.stringify(document, null, 1)}\n`
}

if (import.meta.main) {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-openapi-'))
  const platform = await createPlatform({
    version: '',
    region: '',
    bucket: 'millrace',
    bodyLimitBytes: 1,
    corsOrigins: [],
    log: createLog({ level: 'fatal', secrets: createSecrets() }),
    dataDir,
  })
  writeFileSync(OPENAPI_DOCUMENT, openApiText((await platform.app.inject('/openapi.json')).body))
  await platform.close()
  await rm(dataDir, { recursive: true })
}
