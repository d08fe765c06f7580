import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { eventOf } from '../server/src/model/event.ts'
import { EVENTS_DOCUMENT, eventsDocument } from '../tools/events-doc.ts'

test('docs/events.md lists exactly the events that are defined (npm run docs writes it)', () => {
  assert.equal(readFileSync(EVENTS_DOCUMENT, 'utf8'), eventsDocument())
})

test('an event has the params of its definition, in that order, and its sentence filled in', () => {
  const configuration = { component: 'c', configurationId: '1', name: 'Main', version: 4 }
  const event = eventOf('storage.componentConfigurationRowChanged', { configuration, version: 2, name: '{name}', rowId: 'r' })
  assert.deepEqual(Object.keys(event.params ?? {}), ['rowId', 'name', 'version', 'configuration'])
  assert.equal(event.message, 'Changed component configuration row "{name}" (c)')
  const exported = eventOf('storage.tableExported', { columns: [], limit: null, gzip: false, fileId: 3 })
  assert.deepEqual(exported.params, { columns: [], limit: null, gzip: false, fileId: 3 })
})

test('events count with the noun of one or of many', () => {
  const messageOf = (deletedRows: number) =>
    eventOf('storage.tableRowsDeleted', { deletedRows }, { objectId: 'in.c-main.orders' }).message
  assert.deepEqual([0, 1, 2].map(messageOf), [
    'Deleted 0 rows of table in.c-main.orders',
    'Deleted 1 row of table in.c-main.orders',
    'Deleted 2 rows of table in.c-main.orders',
  ])
})
