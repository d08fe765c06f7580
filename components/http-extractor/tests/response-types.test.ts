// Answers that are XML or CSV, and those that should be and are not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extract, serve } from './harness.ts'

const run = async (t: Parameters<typeof serve>[0], bodies: readonly string[], job: object) => {
  let asked = 0
  const { url } = await serve(t, (_q, r) => r.end(bodies[asked++] ?? ''))
  return extract({
    api: { baseUrl: url, pagination: { method: 'pagenum', forceStop: { pages: bodies.length } } },
    config: { jobs: [{ endpoint: 'x', ...job }] },
  })
}

test('pages of CSV become one table, also when a later one has more columns', async (t) => {
  const { error, tables } = await run(t, ['\uFEFFa,b\n1,"x ""y"""\n\n2,\n', 'b,c\n3,4\n'], { responseType: 'csv' })
  assert.equal(error, undefined)
  assert.equal(tables.x, '"a","b","c"\n"1","x ""y""",""\n"2","",""\n"","3","4"\n')
  const tabs = await run(t, ['a\tb\n1\t2\n'], { responseType: { type: 'CSV', delimiter: '\\t' } })
  assert.equal(tabs.tables.x, '"a","b"\n"1","2"\n')
})

test('XML keeps texts as they are, and attributes and texts apart', async (t) => {
  const xml = '<r xmlns:m="urn:m"><m:i n="01">1.50</m:i><m:i n="02"><![CDATA[<b>]]></m:i><m:i n="03"/></r>'
  const { error, tables } = await run(t, [xml], { responseType: 'xml', dataField: 'r.m:i' })
  assert.equal(error, undefined)
  assert.equal(tables.x, '"text","n"\n"1.50","01"\n"<b>","02"\n"","03"\n')
})

test('what is not in the format is named with its place', async (t) => {
  for (const [responseType, body, expected] of [
    [
      'xml',
      '<a><b></a>',
      /^Invalid response from API: Expected closing tag 'b' .*\(line 1, column \d+\) \(GET \S+ answered 200 with <a>/,
    ],
    ['xml', '{"a":1}', /^Invalid response from API: /],
    ['xml', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', /declares entities, which are not read/],
    ['csv', 'a,b\n1\n', /^Invalid response from API: Invalid Record Length/],
    ['csv', 'a,a\n1,2\n', /the first line has the column 'a' twice/],
    ['yaml', '', /'config\.jobs\.0\.responseType' must be one of json, xml, csv, given 'yaml'/],
  ] as const)
    assert.match((await run(t, [body], { responseType })).error?.message ?? '', expected, body)
})
