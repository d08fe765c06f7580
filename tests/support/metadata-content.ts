// The rows of the metadata database, to see whether requests changed something.

import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { TestStack } from './test-stack.ts'

/** Everything that is stored, apart from the traces of reading: one text for each table. */
export async function contentOf({ platform }: TestStack): Promise<ReadonlyMap<string, string>> {
  const { db } = platform.metadata
  const tables = await sql<{ name: string }>`select name from sqlite_master where type = 'table' order by name`.execute(db)
  const kept = tables.rows
    .map(({ name }) => name)
    .filter((name) => !/^sqlite|^event|^session$|^stack_node$|^usage_day$|search/.test(name))
  assert.ok(kept.includes('token') && kept.includes('configuration') && kept.length > 30, kept.join(' '))
  const content = new Map<string, string>()
  for (const name of kept) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db)
    content.set(name, JSON.stringify(rows.map(({ last_used_at: _, ...row }) => row))) // written once a minute
  }
  return content
}

/** The tables whose rows differ. */
export const changedTables = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...after.keys()].filter((name) => before.get(name) !== after.get(name))
