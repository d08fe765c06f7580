// Writes docs/events.md from server/src/model/event-definitions.ts. `npm run docs`; events.test.ts fails when the two differ.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { EVENTS, type EventDefinition } from '../server/src/model/event-definitions.ts'

export function eventsDocument(): string {
  const rows = Object.entries<EventDefinition>(EVENTS).map(
    ([name, { objectType, message, params, type = 'info' }]) =>
      `| \`${name}\` | ${type} | ${objectType} | ${message.replaceAll('|', '\\|')} | ${params.map((param) => `\`${param}\``).join(', ')} |`,
  )
  return `# Events

Look up every event that the stack records: its name, its type, the type of its object (\`objectType\`; \`objectId\` and \`objectName\` identify the object), its \`message\` and its \`params\` in their order.
Words in braces are filled in: params, fields of params (\`{configuration.component}\`), or the event's \`objectId\`, \`objectName\`, \`component\`, \`configurationId\`. A number is written with its noun (\`{deletedRows row}\` is "1 row" or "2 rows"). A param with a question mark is optional.

An event belongs to the branch in which the request was made (\`idBranch\`). Components and scripts report events of their own with \`POST /v2/storage/events\`; they are named \`ext.<component>.<configuration>\`.

This page is written by \`npm run docs\` from \`server/src/model/event-definitions.ts\`; a test compares the two.

| event | type | objectType | message | params |
|---|---|---|---|---|
${rows.join('\n')}
`
}

export const EVENTS_DOCUMENT = fileURLToPath(new URL('../docs/events.md', import.meta.url))

if (import.meta.main) writeFileSync(EVENTS_DOCUMENT, eventsDocument())
