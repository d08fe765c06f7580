import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reviewText } from './proposal.ts'

test('a review in a terminal shows what the console shows: values copied from data, jobs, destinations and costs', () => {
  const place = { componentId: 'a.b', configurationId: '7', name: 'Orders' }
  const text = reviewText({
    ...{ id: 5, state: 'refused', title: 'Another host', description: 'It moved.', token: { id: 1, description: 'agent' } },
    ...{ branchId: 2, mergeRequestId: 3, created: '2026-11-19T06:00:00+0000', expires: null, link: 'https://stack/5' },
    refusal: { reason: 'not ours', by: 'ann' },
    changes: [
      {
        ...{ ...place, kind: 'changed', isConflict: false },
        differences: [{ pointer: '/configuration/url', before: '"a"', after: '"b.example"', copiedFrom: 'b.example' }],
      },
    ],
    storageChanges: [
      {
        ...{ kind: 'dataTest', tableId: 'in.c-main.orders', name: 'ids', change: 'created', isConflict: false },
        differences: [{ pointer: '', before: null, after: '{"severity":"stop"}', copiedFrom: null }],
      },
      { kind: 'table', tableId: 'in.c-main.new', name: 'in.c-main.new', change: 'created', isConflict: true, differences: [] },
    ],
    runs: [
      { componentId: 'keboola.flow', configurationId: '8', jobId: '12', problem: null },
      { componentId: 'a.b', configurationId: '7', jobId: null, problem: 'It is disabled.' },
    ],
    tables: ['in.c-main.orders'],
    schedules: [{ configurationId: '9', cronTab: '0 5 * * *' }],
    hosts: [{ host: 'b.example', isNew: true }],
    runBy: [{ ...place, componentId: 'keboola.flow', configurationId: '8', name: 'Daily' }],
    destinations: [{ ...place, componentId: 'platform.wr-http', configurationId: '6', name: 'CRM' }],
    costs: [{ ...place, runs: 4, usualMs: 2500 }],
  })
  assert.deepEqual(text.split('\n'), [
    'Proposal 5 of agent: refused',
    'Another host',
    'It moved.',
    'refused by ann: not ours',
    '',
    'changed a.b 7 "Orders"',
    '  /configuration/url: "a" -> "b.example" (COPIED FROM DATA: b.example)',
    '',
    'created data test of in.c-main.orders "ids"',
    '  all of it: - -> {"severity":"stop"}',
    '',
    'created table in.c-main.new (conflict with the default branch)',
    '',
    'tables: in.c-main.orders',
    'runs when accepted: keboola.flow 8, job 12',
    'runs when accepted: a.b 7: It is disabled.',
    'run by keboola.flow 8 "Daily"',
    'destination platform.wr-http 6 "CRM"',
    'schedule 9: 0 5 * * *',
    'host b.example (NEW: no configuration of production names it)',
    'cost of a.b 7: 2.5 s (median of 4 runs)',
  ])
})
