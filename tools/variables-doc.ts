// Rewrites the table of variables in docs/environment-variables.md from server/src/start/config.ts: `npm run docs`.

import { readFileSync, writeFileSync } from 'node:fs'
import { VARIABLES } from '../server/src/start/config.ts'

const FILE = new URL('../docs/environment-variables.md', import.meta.url)
const rows = Object.entries(VARIABLES).map(
  ([name, { shownDefault, sentence }]) => `| \`${name}\` | ${shownDefault} | ${sentence} |`,
)
const table = ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
const before = readFileSync(FILE, 'utf8')
writeFileSync(
  FILE,
  before.replace(/(<!-- variables -->\n)[\s\S]*?(\n<!-- \/variables -->)/, (_, start, end) => `${start}${table}${end}`),
)
