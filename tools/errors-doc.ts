// Writes docs/errors.md from contract/error-codes.ts. `npm run docs`; errors.test.ts fails when the two differ.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ERRORS } from '../contract/error-codes.ts'
import { CAUSES } from '../contract/failure-causes.ts'
import { statusOf } from '../server/src/http/errors-to-http.ts'
import { PlatformError } from '../server/src/kit/errors.ts'

export function errorsDocument(): string {
  const codes = (Object.keys(ERRORS) as (keyof typeof ERRORS)[]).sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  const rows = codes.map(
    (code) =>
      `| \`${code}\` | ${statusOf(new PlatformError(code))} | ${ERRORS[code].text.replaceAll('\n', ' ').replaceAll('|', '\\|')} |`,
  )
  return `# Errors

Look up an error code: its HTTP status and its message. Every error has the same body: \`error\` (the message), \`code\` (a stable name), \`exceptionId\` (finds the request in the log) and \`status\`;
if fields of the request are invalid, \`errors\` lists them as \`{key, message}\`. Match on \`code\`, never on the text.
The services around storage (queue, scheduler, encryption, ...) put the HTTP status into \`code\` and the name into \`context.stringCode\`; their clients expect that.
A failed job has the same code in its \`error\`, with the status that a response would have.

Words in braces are filled in. This page is written by \`npm run docs\` from \`contract/error-codes.ts\`; a test compares the two.

| code | status | text |
|---|---|---|
${rows.join('\n')}

## Causes of failed jobs

A failed job of the queue has \`result.error.cause\`: \`kind\` (one of the list below), \`text\`, \`subject\` (a host, a table: failures of one kind and subject are one group),
\`where\` {\`pointer\` (JSON pointer into the effective configuration), \`in\` row or configuration, \`rowId\`}, \`request\` {\`method\`, \`url\`, \`status\`, \`endpoint\`, \`page\`},
\`place\` (\`table\`, \`file\`, \`line\`, \`column\` of a load; \`block\`, \`code\`, \`statement\`, \`line\`, \`character\` of a script), \`since\` (what differs from the last run that ended well:
its \`job\`, \`endTime\` and \`configVersion\`, \`isConfigurationChanged\`, \`rowsChanged\`), \`advice\`, \`code\` (of the list above) and \`help\` (this page). What is not known is null.
\`GET /queue/search/failures\` groups failed jobs by cause.

A component of yours may say the same of its failure: before it ends with exit code 1, it writes \`out/failure.json\` with any of \`kind\`, \`subject\`, \`pointer\`, \`request\`, \`place\` and \`advice\`.

| kind | found by | meaning | what to do |
|---|---|---|---|
${causes()}
`
}

/** Why jobs fail: the same page, so that one address explains a failed request and a failed job. */
const causes = (): string =>
  Object.entries(CAUSES)
    .map(([kind, { by, text, advice }]) => `| \`${kind}\` | ${by} | ${text} | ${advice} |`)
    .join('\n')

export const ERRORS_DOCUMENT = fileURLToPath(new URL('../docs/errors.md', import.meta.url))

if (import.meta.main) writeFileSync(ERRORS_DOCUMENT, errorsDocument())
