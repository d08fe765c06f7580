// A data folder as the platform gives it to a writer: one table and its manifest.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface WriteFolder {
  readonly path: string
  /** CSV with a header line, every value quoted. */
  readonly file: string
}

export function writeFolder(columns: Readonly<Record<string, string>>, lines: readonly string[]): WriteFolder {
  const path = mkdtempSync(join(tmpdir(), 'writer-bench-'))
  for (const folder of ['in/tables', 'out/tables']) mkdirSync(join(path, folder), { recursive: true })
  const file = join(path, 'in/tables/t')
  const names = Object.keys(columns)
  writeFileSync(file, [names.map((name) => `"${name}"`).join(','), ...lines, ''].join('\n'))
  const schema = Object.entries(columns).map(([name, type]) => ({ name, data_type: { base: { type } }, nullable: true }))
  const manifest = { id: 'in.c-bench.t', columns: names, primary_key: ['id'], rows_count: lines.length, schema }
  writeFileSync(`${file}.manifest`, JSON.stringify(manifest))
  return { path, file }
}
