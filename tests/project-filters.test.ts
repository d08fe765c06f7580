// Who leaves the project out of a statement has to say so here: the number of such statements of a file is in project-filters.json.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openMetadataDb } from '../server/src/engines/metadata-db/metadata-db.ts'
import { tablesOfProjects, unscopedStatements } from '../tools/unscoped-statements.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const KNOWN = JSON.parse(readFileSync(new URL('./project-filters.json', import.meta.url), 'utf8')) as Record<string, number>

test('no statement about a table of projects leaves the project out, but those that are known', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-filters-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'metadata.sqlite')
  const metadata = await openMetadataDb({ path })
  await metadata.migrate()
  await metadata.close()
  const tables = tablesOfProjects(path)
  assert.ok(tables.size > 30)

  const files = globSync('server/src/**/*.ts', { cwd: ROOT }).map((name) => name.replaceAll('\\', '/'))
  const wrong = files
    .filter((file) => !/\.test\.ts$|\/migrations\//.test(file))
    .flatMap((file) => {
      const found = unscopedStatements(readFileSync(join(ROOT, file), 'utf8'), tables)
      const places = found.map(({ line, table }) => `${line} (${table})`).join(', ')
      const known = KNOWN[file] ?? 0
      return found.length === known ? [] : [`${file}: ${found.length} instead of ${known}, in the lines ${places}`]
    })
  assert.deepEqual(wrong, [], 'name the project in the statement, or change the number in tests/project-filters.json')
  assert.deepEqual(
    Object.keys(KNOWN).filter((file) => !files.includes(file)),
    [],
  )
})

test('statements and the statements inside of them are told apart', () => {
  const unscoped = (text: string) => unscopedStatements(text, new Set(['a', 'b'])).map(({ table }) => table)
  const WHERE = `.where('project_id', '=', projectId)`
  assert.deepEqual(unscoped(`db.selectFrom('a')\n  .selectAll()\n  ${WHERE}\n  .execute()`), [])
  assert.deepEqual(unscoped(`db.selectFrom('a')\n  .selectAll()\n  .where('id', '=', id)\nconst projectId = 1`), ['a'])
  assert.deepEqual(unscoped(`db.selectFrom('a').where('id', 'in', (e) => e.selectFrom('b').select('id')${WHERE})`), ['a'])
  assert.deepEqual(unscoped(`db.selectFrom('a')${WHERE}.where('id', 'in', (e) => e.selectFrom('b').select('id'))`), ['b'])
  assert.deepEqual(unscoped(`{ one: () => db.updateTable('a').set({ x: ')' }), two: (projectId) => db.deleteFrom('c') }`), ['a'])
})
