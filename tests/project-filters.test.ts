// A statement without the project has to be listed here: the number of such statements of a file is in project-filters.json.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openMetadataDb } from '../server/src/engines/metadata-db/metadata-db.ts'
import { tablesOfProjects, unscopedStatements, withoutFilters } from '../tools/unscoped-statements.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const KNOWN = JSON.parse(readFileSync(new URL('./project-filters.json', import.meta.url), 'utf8')) as Record<string, number>

/** Conditions that a caller may leave out: operators query all projects. */
const OPTIONAL_FILTERS = [
  'server/src/services/access/encryption/encryption.store.ts',
  'server/src/services/stack/events/events.store.ts',
]

const SOURCES = globSync('server/src/**/*.ts', { cwd: ROOT })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((file) => !/\.test\.ts$|\/migrations\//.test(file))
let tables: ReadonlySet<string>

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-filters-'))
  const path = join(folder, 'metadata.sqlite')
  const metadata = await openMetadataDb({ path })
  await metadata.migrate()
  await metadata.close()
  tables = tablesOfProjects(path)
  await rm(folder, { recursive: true })
  assert.ok(tables.size > 30)
})

test('no statement about a table of projects leaves the project out, but those that are known', () => {
  const wrong = SOURCES.flatMap((file) => {
    const found = unscopedStatements(readFileSync(join(ROOT, file), 'utf8'), tables)
    const places = found.map(({ line, table }) => `${line} (${table})`).join(', ')
    const known = KNOWN[file] ?? 0
    return found.length === known ? [] : [`${file}: ${found.length} instead of ${known}, in the lines ${places}`]
  })
  assert.deepEqual(wrong, [], 'name the project in the statement, or change the number in tests/project-filters.json')
  assert.deepEqual(
    Object.keys(KNOWN).filter((file) => !SOURCES.includes(file)),
    [],
  )
})

test('a condition on the project that is removed is noticed, each of them', () => {
  let removed = 0
  const unnoticed = SOURCES.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const known = unscopedStatements(text, tables).length
    const changes = [...withoutFilters(text)]
    removed += changes.length
    return changes
      .filter((change) => unscopedStatements(change.text, tables).length <= known)
      .map(({ line }) => `${file}:${line}`)
  })
  assert.ok(removed > 300)
  assert.deepEqual(unnoticed.map((place) => place.replace(/:\d+$/, '')).sort(), OPTIONAL_FILTERS, unnoticed.join(', '))
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
