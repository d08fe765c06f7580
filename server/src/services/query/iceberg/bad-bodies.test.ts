// Whatever is sent to the catalogue of Iceberg, the answer is a sentence and never a 5xx.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'
import { applyUpdates, checkRunRequirements, newMetadata } from './run-metadata.ts'

const startProject = shareTestStack()
const HOSTILE = { toString: 1, valueOf: 1, toJSON: 1, length: 2 }
const VALUES = [
  null,
  '',
  0,
  -1,
  1e300,
  true,
  [],
  {},
  [null],
  [{}],
  'x',
  HOSTILE,
  { fields: null },
  { fields: 'x' },
  { fields: [null, 1, HOSTILE] },
]

test('a form, an empty body, null and wrong types are refused with a sentence by every route of the catalogue', async () => {
  const stack = await startProject()
  const client = tableClient(stack)
  await client.bucket()
  await client.create('in.c-main', 't', 'id\n1\n')
  const tables = `/iceberg/v1/${stack.projectId}/namespaces/in.c-main/tables`
  const send = async (path: string, type: string | undefined, body: string) => {
    const answer = await stack.request('POST', path, { body, headers: type === undefined ? {} : { 'content-type': type } })
    const text = `${path} ${type} ${body.slice(0, 200)}: ${answer.status} ${answer.text.slice(0, 300)}`
    assert.ok(answer.status < 500, text)
    return { status: answer.status, text }
  }
  const form = 'application/x-www-form-urlencoded'
  const refused = await send(tables, form, 'name=x&schema=')
  assert.equal(refused.status, 400, refused.text)
  assert.match(refused.text, /the body must be JSON, sent as application\/json/)
  const commit = `${tables}/t`
  assert.equal((await send(commit, form, 'requirements[]=a&updates[]=b')).status, 400)
  const multipart =
    '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name="schema"\r\n\r\ny\r\n--b--\r\n'
  assert.equal((await send(tables, 'multipart/form-data; boundary=b', multipart)).status, 400)
  const addresses = [tables, commit, `${commit}/metrics`, '/iceberg/v1/oauth/tokens']
  for (const path of addresses)
    for (const [type, body] of [
      [form, ''],
      [form, 'a'],
      [form, 'name=x&schema[type]=struct&schema[fields][0][id]=1'],
      ['text/plain', 'x'],
      ['application/json', ''],
      ['application/json', '{'],
      ['application/json', '\ufeff{}'],
      ...VALUES.map((value) => ['application/json', JSON.stringify(value)] as const),
    ] as const)
      await send(path, type, body)
  const schema = { type: 'struct', fields: [{ id: 1, name: 'a', type: 'string', required: false }] }
  const whole = {
    name: 'x',
    schema,
    location: null,
    'partition-spec': null,
    'write-order': null,
    'stage-create': true,
    properties: {},
  }
  for (const member of Object.keys(whole))
    for (const value of VALUES) await send(tables, 'application/json', JSON.stringify({ ...whole, [member]: value }))
  const requirement = { type: 'assert-table-uuid', uuid: 'x' }
  const updates = [
    'add-schema',
    'set-current-schema',
    'add-snapshot',
    'set-snapshot-ref',
    'upgrade-format-version',
    'add-spec',
    'set-properties',
  ]
  for (const value of VALUES) {
    const bodies = [
      { requirements: value, updates: [] },
      { requirements: [], updates: value },
      { requirements: [value], updates: [value] },
      { requirements: [{ ...requirement, type: value }], updates: [] },
      { requirements: [{ ...requirement, uuid: value }], updates: [] },
      { requirements: [], updates: [{ action: value }] },
      ...updates.map((action) => ({
        requirements: [],
        updates: [{ action, schema: value, 'schema-id': value, snapshot: value, 'ref-name': value, spec: value, updates: value }],
      })),
    ]
    for (const body of bodies) await send(commit, 'application/json', JSON.stringify(body))
  }
})

test('updates of the tables of a run refuse wrong types by name', () => {
  const metadata = newMetadata('u', 's3://b/f', { type: 'struct', fields: [] }, new Date(0))
  const named = (work: () => unknown) => {
    try {
      work()
    } catch (error) {
      assert.match(String((error as { code?: string }).code), /^iceberg\./, String(error))
    }
  }
  const actions = [
    'assign-uuid',
    'add-schema',
    'set-current-schema',
    'add-spec',
    'set-default-spec',
    'add-sort-order',
    'set-default-sort-order',
    'add-snapshot',
    'set-snapshot-ref',
    'remove-snapshot-ref',
    'remove-snapshots',
    'set-location',
    'set-properties',
    'remove-properties',
  ]
  for (const value of VALUES) {
    for (const action of [...actions, value]) {
      const members = [
        'uuid',
        'schema',
        'schema-id',
        'spec',
        'spec-id',
        'sort-order',
        'sort-order-id',
        'snapshot',
        'ref-name',
        'snapshot-id',
        'snapshot-ids',
        'location',
        'updates',
        'removals',
        'last-column-id',
      ]
      named(() => applyUpdates(metadata, [{ action, ...Object.fromEntries(members.map((member) => [member, value])) }]))
      named(() =>
        applyUpdates(metadata, [{ action, spec: { fields: [{ 'field-id': value }] }, schema: { fields: [{ id: value }] } }]),
      )
    }
    for (const type of ['assert-table-uuid', 'assert-ref-snapshot-id', value])
      named(() => checkRunRequirements([{ type, uuid: value, ref: value }], metadata))
  }
})
