// Writes docs/rights.md from docs/openapi.json and http/rights.ts: `npm run docs:api`.
// tests/conformance/rights.test.ts fails when the page and the routes differ.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { RIGHTS } from '../server/src/http/rights.ts'
import { OPENAPI_DOCUMENT } from './openapi-doc.ts'

export const RIGHTS_DOCUMENT = fileURLToPath(new URL('../docs/rights.md', import.meta.url))

interface Operation {
  readonly operationId: string
  readonly 'x-required-right': string
  readonly 'x-minimum-role'?: string
}

export function rightsDocument(openApi: string): string {
  const { paths } = JSON.parse(openApi) as { paths: Record<string, Record<string, Operation>> } // our own document
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { operationId, 'x-required-right': right, 'x-minimum-role': role }]) =>
        `| \`${operationId}\` | ${method.toUpperCase()} \`${path}\` | \`${right}\` | ${role ?? ''} |`,
    ),
  )
  const rights = Object.entries(RIGHTS).map(([name, { sentence }]) => `| \`${name}\` | ${sentence} |`)
  return `${INTRODUCTION}
| right | who has it |
|---|---|
${rights.join('\n')}

## Secrets in answers

An answer contains a secret only if the caller may change the object. Others get the object without it, or 403:

| secret | who reads it | what others get |
|---|---|---|
| address of a stream (\`stream.getSource\`, \`stream.listSources\`) | master tokens, editors, admins | the address with \`***\` in place of the secret; 403 without \`project\` |
| address of a webhook (\`notification.*\`) | canManageBuckets, editors, admins, and the token that subscribed | viewers: host and \`***\`; 403 to all others |
| signing secret of a webhook | the answer to its creation only | never shown |
| password of a workspace | the answer that creates or resets it | never shown |
| password of a sandbox or an editor session | the token that created it, master tokens; of a shared sandbox, also canManageBuckets and editors | viewers: an empty password; 404 to all others |
| password of a data app | access to the component of the app, editors, admins | 403 |
| git credentials of a data app | the answer to their creation only | never shown |
| values of vault variables | canManageBuckets; encrypted ones never | 403 |
| OAuth credentials, \`#\` values of configurations | no caller: they are returned encrypted | |
| value of a token | the answer to its creation or refresh only | never shown |

## Operations

The lowest role counts for people; tokens of scripts have no role. An empty role: no project is involved, or the module names it.

| operation | address | right | lowest role |
|---|---|---|---|
${rows.sort().join('\n')}
`
}

const INTRODUCTION = `# Rights

Look up which permission and which role an operation requires. Every operation declares one right, which is checked in one place, before the request reaches its module (\`server/src/http/rights.ts\`); where the
right names an object (a bucket, a component, a job), the module that owns it also compares the object with the token. A refusal is 403
\`accessDenied\`, or 404 where the existence of the object is not shown. The OpenAPI document has the same as \`x-required-right\` and \`x-minimum-role\`.

A stack does not start with a route that declares no right, and \`tests/conformance/rights.test.ts\` calls every operation with a token without
rights, with one bucket, with one component, as each role and from another project. This page is written by \`npm run docs:api\`.
`

if (import.meta.main) writeFileSync(RIGHTS_DOCUMENT, rightsDocument(readFileSync(OPENAPI_DOCUMENT, 'utf8')))
