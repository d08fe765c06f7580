// Bodies that are JSON, and items that nobody expects: wide, deep, huge, changing from page to page, with names that collide.
// Each ends with the right tables or with a named reason, and a run that fails leaves nothing behind.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UserError } from '../src/errors.ts'
import { extract, type Outcome, serve } from './harness.ts'

const ID = /(\w+\.)*\w+_[0-9a-f]{32}/g

/** Serves the bodies as the pages of one job `x`, and runs it. */
async function pages(
  t: Parameters<typeof serve>[0],
  bodies: readonly string[],
  config: object = {},
  job: object = {},
): Promise<Outcome> {
  let page = 0
  const { url } = await serve(t, (_request, response) => response.end(bodies[page++] ?? '[]'))
  const outcome = await extract({
    api: { baseUrl: url, pagination: { method: 'pagenum' } },
    config: { jobs: [{ endpoint: 'x', ...job }], ...config },
  })
  assert.deepEqual(outcome.leftovers, [])
  if (outcome.error) {
    assert.ok(outcome.error instanceof UserError, outcome.error.stack)
    assert.deepEqual(outcome.tables, {}, 'a failed run leaves no tables')
    assert.equal(outcome.state, undefined, 'a failed run does not move the state')
  }
  return outcome
}

const message = ({ error }: Outcome) => error?.message ?? '(no error)'
const lines = (csv: string | undefined) =>
  (csv ?? '(no table)').replaceAll('"', '').replace(ID, 'ID').replace(/\n$/, '').split('\n')

test('ids beyond 2^53 are exact on every way to a table', async (t) => {
  const items = '[{"id":9007199254740993,"l":[18446744073709551615]}]'
  const plain = await pages(t, [items])
  assert.deepEqual([lines(plain.tables.x), lines(plain.tables.x_l)], [['id,l', '9007199254740993,ID'], ['data,JSON_parentId', '18446744073709551615,ID']]) // biome-ignore format: two tables
  const spooled = await pages(t, [items, '[{"late":1}]'])
  assert.equal(lines(spooled.tables.x)[1], '9007199254740993,ID,')
  const mapped = await pages(t, [items], { mappings: { x: { id: 'id' } } })
  assert.deepEqual(lines(mapped.tables.x), ['id', '9007199254740993'])
  const filtered = await pages(t, [items], {}, { responseFilter: 'l' })
  assert.equal(filtered.tables.x, '"id","l"\n"9007199254740993","[18446744073709551615]"\n')
})

test('a type that changes on the hundredth page is named with its place', async (t) => {
  const bodies = Array.from({ length: 99 }, (_, i) => `[{"id":${i},"owner":"x"}]`)
  assert.match(
    message(await pages(t, [...bodies, '[{"id":100,"owner":{"id":1}}]'])),
    /Unhandled nodeType change from "scalar" to "object" in "x\.\[\]\.owner".*"responseFilter": "owner"/,
  )
})

test('columns that appear on later pages stand in all rows', async (t) => {
  const { tables } = await pages(t, ['[{"a":1}]', '[{"b":2}]', '[{"c":{"d":3}}]'])
  assert.deepEqual(lines(tables.x), ['a,b,c_d', '1,,', ',2,', ',,3'])
})

test('an array that is null, empty, single and full on different pages loses no value', async (t) => {
  const { tables } = await pages(t, ['[{"v":null}]', '[{"v":[]}]', '[{"v":"one"}]', '[{"v":["two","three"]}]', '[{"v":null}]'])
  assert.deepEqual(lines(tables.x), ['v', '', '', 'ID', 'ID', ''])
  assert.deepEqual(lines(tables.x_v), ['data,JSON_parentId', 'one,ID', 'two,ID', 'three,ID'])
})

test('names that collide after cleaning stay apart', async (t) => {
  const { tables } = await pages(t, ['[{"a b":1,"a.b":2,"a_b":3,"a":{"b":4},"A_B":5,"ä":6,"ö":7,"":8}]'])
  assert.deepEqual(lines(tables.x)[0], 'a_b,a_b_u0,a_b_u1,a_b_u2,A_B,,_u0,_u1')
})

test('two lists whose tables would have one name end the run when their columns differ', async (t) => {
  assert.match(
    message(await pages(t, ['[{"a b":[{"p":1}],"a.b":[{"q":1}]}]'])),
    /Multiple results for 'x_a_b' table have different columns!.*'x\.\[\]\.a b\.\[\]' gives p, JSON_parentId/,
  )
})

test('keys with quotes, commas, line ends and control characters are harmless', async (t) => {
  const { tables } = await pages(t, [
    JSON.stringify([{ '"': 1, ',': 2, 'a\nb': 3, '../../etc/passwd': [1], 'c\u0000d': '\u0000"' }]),
  ])
  assert.deepEqual(Object.keys(tables), ['x', 'x_etc_passwd'])
  assert.match(tables.x!, /^"","_u0","a_b","etc_passwd","c_d"\n"1","2","3","x_[0-9a-f]{32}","\0"""\n$/)
})

test('a data type full of dots and slashes stays inside the output folder', async (t) => {
  const { tables } = await pages(t, ['[1]'], {}, { dataType: '../../outside' })
  assert.deepEqual(Object.keys(tables), ['outside'])
  assert.match(
    message(await pages(t, ['[1]'], { outputBucket: '../up' })),
    /output bucket '\.\.\/up' cannot be part of a file name/,
  )
})

test('items with two thousand columns become a table of two thousand columns', async (t) => {
  const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`column ${i}`, i]))
  const { tables, error } = await pages(t, [JSON.stringify(Array(20).fill(wide))])
  assert.equal(error, undefined)
  assert.equal(lines(tables.x)[0]!.split(',').length, 2000)
})

test('keys that are data end the run before the table becomes unusable', async (t) => {
  const byId = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`id-${i}`, i]))
  assert.match(message(await pages(t, [JSON.stringify([byId])])), /would need more than 10000 columns in 'x'.*"responseFilter"/)
  const grown = Array.from({ length: 12 }, (_, page) =>
    JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ [`k${page}-${i}`]: 1 }))),
  )
  assert.match(message(await pages(t, grown)), /would need more than 10000 columns/)
  const lists = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`l${i}`, [1]]))
  assert.match(message(await pages(t, [JSON.stringify([lists])])), /would need more than 1000 tables/)
})

test('many tables need few open files', async (t) => {
  const lists = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`l${i}`, [i]]))
  const { tables, error } = await pages(t, [JSON.stringify([lists]), JSON.stringify([{ ...lists, late: 1 }])])
  assert.equal(error, undefined)
  assert.equal(Object.keys(tables).length, 901)
  assert.deepEqual(lines(tables.x_l899), ['data,JSON_parentId', '899,ID', '899,ID'])
})

test('an item five hundred levels deep is a column', async (t) => {
  const deep = (levels: number) => `${'{"k":'.repeat(levels)}1${'}'.repeat(levels)}`
  const { tables, error } = await pages(t, [`[${deep(500)}]`])
  assert.equal(error, undefined)
  assert.equal(lines(tables.x)[1], '1')
  assert.match(message(await pages(t, [`[${deep(512)}]`])), /Invalid JSON response from API: .*more than 512 levels deep/)
})

test('five hundred nested lists end as JSON text', async (t) => {
  const { tables, log } = await pages(t, [`[{"a":${'['.repeat(500)}${']'.repeat(500)}}]`])
  assert.deepEqual(lines(tables.x_a), ['data,JSON_parentId', `${'['.repeat(499)}${']'.repeat(499)},ID`])
  assert.match(log, /Converting nested array 'x\.\[\]\.a\.\[\]' to JSON string\./)
})

test('a cell of many megabytes is one cell', async (t) => {
  const long = '"é'.repeat(1_000_000)
  const { tables, error } = await pages(t, [JSON.stringify([{ long, l: [1] }])])
  assert.equal(error, undefined)
  assert.ok(tables.x!.includes(`\n"${long.replaceAll('"', '""')}",`))
})

test('a hundred thousand items on one page', async (t) => {
  const { tables, error } = await pages(t, [JSON.stringify(Array.from({ length: 100_000 }, (_, id) => ({ id, l: [{ id }] })))])
  assert.equal(error, undefined)
  assert.equal(lines(tables.x_l).length, 100_001)
})

test('items that are lists, scalars and nulls', async (t) => {
  assert.deepEqual(lines((await pages(t, ['[1,null,"x",[2]]'])).tables.x), ['data', '1', '', 'x', '[2]'])
  assert.match(
    message(await pages(t, ['[1,{"a":1}]'])),
    /Data array in 'x\.\[\]' contains incompatible types 'scalar' and 'object'/,
  )
})

test('lone surrogates and characters beyond the first plane survive as far as they can', async (t) => {
  const { tables } = await pages(t, ['[{"a":"\\ud83d\\ude00","b":"x\\ud83dy","c":"\u{1f600}"}]'])
  assert.deepEqual(lines(tables.x), ['a,b,c', '😀,xy,😀'])
})

test('numbers of every spelling', async (t) => {
  const { tables } = await pages(t, [
    '[{"a":1e400,"b":-0.0,"c":1E3,"d":0.1,"e":123456789.123456789,"f":1e-7,"g":-9223372036854775808}]',
  ])
  assert.deepEqual(lines(tables.x)[1], '1e400,-0,1000,0.1,123456789.12346,1.0E-7,-9223372036854775808')
})

test('a table that cannot be completed keeps the tables of another bucket from appearing', async (t) => {
  const { url } = await serve(t, (request, response) =>
    response.end(request.url === '/bad' ? '[{"a b":[{"p":1}],"a.b":[{"q":1}]}]' : '[{"id":1}]'),
  )
  const outcome = await extract({
    parameters: {
      api: { baseUrl: url },
      config: { jobs: [] },
      iterations: [
        { outputBucket: 'good', jobs: [{ endpoint: 'good' }] },
        { outputBucket: 'bad', jobs: [{ endpoint: 'bad' }] },
      ],
    },
  })
  assert.match(message(outcome), /Multiple results for 'bad_a_b'/)
  assert.deepEqual(outcome.tables, {})
})
