// The table of objects in docs/console.md describes how each is created, seen, changed and deleted. Here are the operations that do it: the
// document, the API and the console are compared by them.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ROUTES } from '../../client/src/operations.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

interface Operations {
  readonly create: readonly string[]
  readonly see: readonly string[]
  /** Empty: not possible according to the document. */
  readonly change: readonly string[]
  readonly delete: readonly string[]
}

/** In the order of the document. */
const OBJECTS: Readonly<Record<string, Operations>> = {
  bucket: { create: ['buckets.create'], see: ['buckets.get'], change: ['buckets.update'], delete: ['buckets.delete'] },
  table: { create: ['tables.createAsync'], see: ['tables.get'], change: ['tables.changeDefinition'], delete: ['tables.delete'] },
  alias: {
    create: ['tables.createAlias'],
    see: ['lineage.usedBy'],
    change: ['tables.setAliasFilter', 'tables.deleteAliasFilter', 'tables.enableAliasSync', 'tables.disableAliasSync'],
    delete: ['tables.delete'],
  },
  'row of a table': {
    create: ['tables.importAsync'],
    see: ['tables.rows'],
    change: ['tables.importAsync'],
    delete: ['tables.deleteRows'],
  },
  column: {
    create: ['tables.addColumn'],
    see: ['tables.profileNow'],
    change: ['tables.changeColumn', 'tables.changeColumnType'],
    delete: ['tables.deleteColumn'],
  },
  snapshot: { create: ['tables.createSnapshot'], see: ['tables.listSnapshots'], change: [], delete: ['snapshots.delete'] },
  'view of a table': {
    create: ['tables.setMetadata', 'account.setPreference'],
    see: ['tables.get', 'account.preferences'],
    change: ['tables.setMetadata', 'account.setPreference'],
    delete: ['tables.deleteMetadata', 'account.setPreference'],
  },
  comment: {
    create: ['tableComments.create'],
    see: ['tableComments.list'],
    change: ['tableComments.update'],
    delete: ['tableComments.delete'],
  },
  trigger: { create: ['triggers.create'], see: ['triggers.list'], change: ['triggers.update'], delete: ['triggers.delete'] },
  'data test': {
    create: ['dataTests.create'],
    see: ['dataTests.list'],
    change: ['dataTests.update'],
    delete: ['dataTests.remove'],
  },
  'data contract': {
    create: ['dataContracts.save'],
    see: ['dataContracts.get'],
    change: ['dataContracts.save'],
    delete: ['dataContracts.remove'],
  },
  file: { create: ['import.uploadFile'], see: ['files.list'], change: ['files.addTag'], delete: ['files.delete'] },
  'configuration, row': {
    create: ['configurations.create', 'rows.create'],
    see: ['configurations.get'],
    change: ['configurations.update', 'rows.update'],
    delete: ['configurations.delete', 'rows.delete'],
  },
  flow: {
    create: ['configurations.create'],
    see: ['configurations.get'],
    change: ['configurations.update'],
    delete: ['configurations.delete'],
  },
  schedule: {
    create: ['scheduler.activate'],
    see: ['scheduler.list'],
    change: ['scheduler.activate'],
    delete: ['scheduler.delete'],
  },
  stream: {
    create: ['stream.createSource'],
    see: ['stream.aggregateSources'],
    change: ['stream.updateSource', 'stream.updateSink'],
    delete: ['stream.deleteSource'],
  },
  'saved query': {
    create: ['savedQueries.create'],
    see: ['savedQueries.list'],
    change: ['savedQueries.update'],
    delete: ['savedQueries.remove'],
  },
  'dashboard, link': {
    create: ['dashboards.create', 'dashboards.createLink'],
    see: ['dashboards.get', 'dashboards.links'],
    change: ['dashboards.update'],
    delete: ['dashboards.remove', 'dashboards.removeLink'],
  },
  'data app': {
    create: ['dataScience.createApp'],
    see: ['dataScience.listApps'],
    change: ['dataScience.changeApp'],
    delete: ['dataScience.deleteApp'],
  },
  workspace: {
    create: ['sandboxes.create'],
    see: ['sandboxes.list'],
    change: ['sandboxes.activate'],
    delete: ['sandboxes.delete'],
  },
  'template instance': {
    create: ['templates.use'],
    see: ['templates.listInstances'],
    change: [],
    delete: ['templates.deleteInstance'],
  },
  'branch, merge request': {
    create: ['branches.create', 'mergeRequests.create'],
    see: ['branches.list', 'mergeRequests.list'],
    change: ['branches.update'],
    delete: ['branches.delete'],
  },
  token: { create: ['tokens.create'], see: ['tokens.list'], change: ['tokens.update'], delete: ['tokens.delete'] },
  'personal token': {
    create: ['account.createManageToken'],
    see: ['account.manageTokens'],
    change: [],
    delete: ['account.deleteManageToken'],
  },
  person: {
    create: ['projectInvitations.create'],
    see: ['projectUsers.list'],
    change: ['projectUsers.update'],
    delete: ['projectUsers.remove'],
  },
  project: { create: ['projects.create'], see: ['projects.list'], change: ['projects.update'], delete: ['projects.delete'] },
  notification: {
    create: ['notification.subscribe'],
    see: ['notification.list'],
    change: [],
    delete: ['notification.unsubscribe'],
  },
  'vault variable': { create: ['vault.save'], see: ['vault.list'], change: ['vault.save'], delete: ['vault.remove'] },
  backup: { create: ['operations.backUp'], see: ['operations.backups'], change: [], delete: [] },
}

/** Operations that create what is no object of its own in the console, each with the reason. */
const NO_OBJECTS: Readonly<Record<string, string>> = {
  'dataScience.create': 'another address of sandboxes.create',
  'editor.create': 'a session of an editor, for clients',
  'events.create': 'a line of a log, for components',
  'queue.create': 'a job: it is run again, never changed',
  'tables.create': 'the same as tables.createAsync, waiting for it',
  'tickets.create': 'a number',
  'workspaces.create': 'the console makes workspaces with credentials that stay readable: sandboxes.create',
}

/** Rows of the table below the heading: cells by column. */
function documented(): readonly Readonly<Record<string, string>>[] {
  const text = readFileSync(`${ROOT}docs/console.md`, 'utf8')
  const [, section = ''] = /## Objects: create, change, delete, undo\n([\s\S]*?)\n## /.exec(text) ?? []
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  const cells = (line: string) => line.split('|').slice(1, -1).map((cell) => cell.trim()) // biome-ignore format: one thought
  const [head = [], , ...rows] = lines.map(cells)
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ''])))
}

test('each object of the table in docs/console.md has operations that the console calls, and says no where it has none', () => {
  const rows = documented()
  assert.deepEqual(
    rows.map(({ object }) => object),
    Object.keys(OBJECTS),
  )
  const sources = globSync('console/src/**/*.{ts,tsx}', { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => readFileSync(`${ROOT}${path}`, 'utf8'))
    .join('\n')
  for (const row of rows) {
    const operations = OBJECTS[row.object!]!
    for (const part of ['create', 'see', 'change', 'delete'] as const) {
      for (const name of operations[part]) {
        assert.ok(name in ROUTES, `${row.object}: the API has no ${name}`)
        assert.ok(
          sources.includes(`'${name}'`) || sources.includes(`"${name}"`),
          `${row.object}: the console does not call ${name}`,
        )
      }
      assert.equal(/^no\b/.test(row[part]!), operations[part].length === 0, `${row.object}, ${part}: "${row[part]}"`)
    }
    assert.notEqual(row.undo, '', `${row.object}: whether it can be undone`)
  }
})

test('what the API creates is an object of that table, or is not one for a reason', () => {
  const inTable = new Set(Object.values(OBJECTS).flatMap(({ create }) => create))
  const created = Object.keys(ROUTES).filter((name) => name.endsWith('.create'))
  assert.deepEqual(
    created.filter((name) => !inTable.has(name) && !(name in NO_OBJECTS)),
    [],
  )
  assert.deepEqual(
    Object.keys(NO_OBJECTS).filter((name) => !created.includes(name)),
    [],
    'exceptions that no longer exist',
  )
})
