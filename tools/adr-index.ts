// Writes docs/adr/README.md from the decision records. `npm run docs`; tests/documents.test.ts fails when the two differ.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ADR_FOLDER = fileURLToPath(new URL('../docs/adr', import.meta.url))
export const ADR_INDEX = join(ADR_FOLDER, 'README.md')

export interface DecisionRecord {
  readonly file: string
  readonly number: string
  readonly title: string
  readonly status: string
  readonly date: string
}

/** A record starts with `# 0001 Title`, an empty line and `Accepted, 2026-11-15.`, or another status in place of `Accepted`. */
const HEAD = /^# (\d{4}) (\S.*)\n\n(Accepted|Superseded(?: in part)? by \d{4}), (\d{4}-\d\d-\d\d)\.\n/

export const decisionRecords = (): DecisionRecord[] =>
  readdirSync(ADR_FOLDER)
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .sort()
    .map(readRecord)

function readRecord(file: string): DecisionRecord {
  const head = readFileSync(join(ADR_FOLDER, file), 'utf8').match(HEAD)
  if (!head) throw new Error(`docs/adr/${file} has to start with "# 0001 Title", an empty line and "Accepted, 2026-11-15."`)
  const [, number, title, status, date] = head
  return { file, number: number!, title: title!, status: status!, date: date! }
}

export function adrIndex(): string {
  const rows = decisionRecords().map(
    ({ file, number, title, status, date }) => `| [${number}](${file}) | ${title} | ${status} | ${date} |`,
  )
  return `# Architecture decision records

One page for each decision that is costly to reverse: the situation, the choice, what was given up, when to look again. Behaviour that clients see belongs
in the [specification](../specification/README.md), measurements and tuning into [performance.md](../performance.md).

A new record takes the next number. A record that no longer holds stays, with the status \`Superseded by\` (or \`Superseded in part by\`) and the number of its successor, and the superseded sentences name it.
This page is written by \`npm run docs\`; a test compares it with the files.

| number | decision | status | date |
|---|---|---|---|
${rows.join('\n')}
`
}

if (import.meta.main) writeFileSync(ADR_INDEX, adrIndex())
