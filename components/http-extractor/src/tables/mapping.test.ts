import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonValue } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import type { AddedValue } from './page.ts'
import { createTables } from './tables.ts'
import { TablesError } from './tables-error.ts'

const quiet = { debug: () => {}, warning: () => {}, error: () => {} }

async function map(mappings: object | string, items: string, added: AddedValue[] = [], type = 't', bucket?: string) {
  const root = mkdtempSync(join(tmpdir(), 'mapping-'))
  try {
    const text = typeof mappings === 'string' ? mappings : JSON.stringify(mappings)
    const tables = createTables({
      outDir: join(root, 'out'),
      workDir: join(root, 'work'),
      log: quiet,
      mappings: parseJson(text),
      bucket,
    })
    tables.add({ type, items: parseJson(items) as JsonValue[], added })
    const parserState = tables.complete({ incremental: false }).parserState(undefined)
    tables.publish()
    assert.equal(parserState, undefined, 'with mappings the remembered structure is not touched')
    const out = Object.fromEntries(
      readdirSync(join(root, 'out')).map((file) => [file, readFileSync(join(root, 'out', file), 'utf8')]),
    )
    return out
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const lines = (csv: string | undefined) => (csv ?? '(no table)').trimEnd().replaceAll('"', '').split('\n')
const column = (destination: string, more: object = {}) => ({ type: 'column', mapping: { destination }, ...more })
const key = (destination: string) => ({ mapping: { destination, primaryKey: true } })

test('a mapped type has the mapped columns only, in their order', async () => {
  const out = await map(
    { t: { id: key('id'), 'o.name': 'name', 'a/b': column('slash', { delimiter: '/' }), gone: 'gone', 'l.1': 'second' } },
    '[{"x":1,"id":9007199254740993,"o":{"name":"N"},"a":{"b":true},"l":["p","q"]},{"id":2,"a":{"b":false}}]',
    [],
    't',
    'b',
  )
  assert.deepEqual(lines(out['b.t']), ['id,name,slash,gone,second', '9007199254740993,N,1,,q', '2,,,,'])
  assert.equal(out['b.t.manifest'], '{"destination":"in.c-b.t","incremental":false,"primary_key":["id"]}')
})

test('integer-like paths pick from arrays, in the order of the mapping', async () => {
  const out = await map('{"t":{"1":"b","0":"a"}}', '[["x","y"],["z"]]')
  assert.deepEqual(lines(out.t), ['b,a', 'y,x', ',z'])
})

test('a type without mapping is converted automatically beside mapped ones', async () => {
  const out = await map({ other: { id: 'id' } }, '[{"a":1}]')
  assert.deepEqual(lines(out.t), ['a', '1'])
  assert.deepEqual(lines(out.other), ['id'])
})

test('a value that is not a scalar needs forceType', async () => {
  await assert.rejects(
    map({ t: { o: 'o' } }, '[{"o":{"k":1}}]'),
    /^Error: Error saving 't' data to CSV column: Error writing 'o' column/,
  )
  const out = await map({ t: { o: column('o', { forceType: true }) } }, '[{"o":{"k":[1.0,"é/"]}},{"o":"plain"},{"o":[]}]')
  assert.equal(out.t, '"o"\n"{""k"":[1,""\\u00e9\\/""]}"\n"plain"\n"[]"\n')
})

test('user columns come from user data and parent columns', async () => {
  const out = await map(
    {
      t: {
        id: 'id',
        parent_id: { type: 'user', mapping: { destination: 'owner' } },
        no: { type: 'user', mapping: { destination: 'no' } },
      },
    },
    '[{"id":1,"parent_id":"own"}]',
    [
      ['parent_id', 7],
      ['unmapped', 'x'],
    ],
  )
  assert.deepEqual(lines(out.t), ['id,owner,no', '1,7,'])
})

test('a nested table without primary key is linked by a hash of the item', async () => {
  const mapping = { t: { id: 'id', tags: { type: 'table', destination: 'tags', tableMapping: { '': 'tag' } } } }
  const out = await map(mapping, '[{"id":1,"tags":["q"]},{"id":2,"tags":[]},{"id":3},{"id":4,"tags":"one"}]')
  assert.deepEqual(lines(out.t), [
    'id,tags',
    '1,7fbc9155c3496f9f75924f642a6029cd',
    '2,',
    '3,',
    `4,${lines(out.tags)[2]!.split(',')[1]}`,
  ])
  assert.deepEqual(lines(out.tags).slice(0, 2), ['tag,t_pk', 'q,7fbc9155c3496f9f75924f642a6029cd'])
  const withUser = await map(mapping, '[{"id":1,"tags":["q"]}]', [['u', 'v']])
  assert.notEqual(lines(withUser.tags)[1], 'q,7fbc9155c3496f9f75924f642a6029cd')
})

test('a nested table with primary key refers to it and leaves no column in the parent', async () => {
  const nested = (parentKey?: object) => ({
    t: {
      id: key('id'),
      k: key('k'),
      l: { type: 'table', destination: 'child', tableMapping: { x: key('x') }, ...(parentKey ? { parentKey } : {}) },
    },
  })
  const items = '[{"id":1,"k":"a","l":[{"x":1},{"x":2}]},{"id":2,"k":"b","l":[]},{"id":3,"k":"c"}]'
  const out = await map(nested(), items)
  assert.deepEqual(lines(out.t), ['id,k', '1,a', '2,b', '3,c'])
  assert.equal(out.child, '"x","t_pk"\n"1","1,a"\n"2","1,a"\n')
  assert.equal(out['child.manifest'], '{"incremental":false,"primary_key":["x"]}')
  const named = await map(nested({ destination: 'parent', primaryKey: true }), items)
  assert.equal(named['child.manifest'], '{"incremental":false,"primary_key":["x","parent"]}')
  await assert.rejects(
    map(nested(), '[{"id":{},"k":"a","l":[1]}]'),
    /primary key column 'id' needs a scalar|Error writing 'id' column/,
  )
})

test('parentKey.disable cuts the link, and the destination may be the own table', async () => {
  const out = await map(
    { t: { id: 'id', l: { type: 'table', destination: 'c', parentKey: { disable: true }, tableMapping: { x: 'x' } } } },
    '[{"id":1,"l":[{"x":1}]}]',
  )
  assert.deepEqual([lines(out.t), lines(out.c)], [['id', '1'], ['x', '1']]) // biome-ignore format: short
  const own = await map(
    { t: { id: 'id', subs: { type: 'table', destination: 't', parentKey: { disable: true } } } },
    '[{"id":1,"subs":[{"id":2,"subs":[{"id":3}]}]},{"id":4}]',
  )
  assert.deepEqual(lines(own.t).sort(), ['1', '2', '3', '4', 'id'])
})

test('deeper tables are linked level by level', async () => {
  const out = await map(
    {
      t: {
        id: key('id'),
        a: {
          type: 'table',
          destination: 'a',
          tableMapping: { b: { type: 'table', destination: 'b', tableMapping: { c: 'c' } } },
        },
      },
    },
    '[{"id":1,"a":[{"b":[{"c":5}]}]}]',
  )
  const [, row] = lines(out.b)
  assert.deepEqual(lines(out.b)[0], 'c,a_pk')
  assert.deepEqual(lines(out.a), ['b,t_pk', `${row!.split(',')[1]},1`])
})

test('a link that is part of the primary key is part of what deeper tables refer to, so that they find their row', async () => {
  const lines3 = { q: 'q' }
  const table = (destination: string, tableMapping: object) => ({
    type: 'table',
    destination,
    tableMapping,
    parentKey: { primaryKey: true },
  })
  const items = '[{"id":1,"l":[{"n":1,"m":[{"q":"a"}]}]},{"id":2,"l":[{"n":1,"m":[{"q":"b"}]}]}]'
  const own = await map({ t: { id: key('id'), l: table('l', { n: key('n'), m: table('m', lines3) }) } }, items, [], 't', 'b')
  assert.deepEqual(lines(own['b.l']), ['n,t_pk', '1,1', '1,2'])
  assert.equal(own['b.m'], '"q","l_pk"\n"a","1,1"\n"b","1,2"\n')
  assert.equal(own['b.m.manifest'], '{"destination":"in.c-b.m","incremental":false,"primary_key":["l_pk"]}')

  const only = await map({ t: { id: key('id'), l: table('l', { n: 'n', m: table('m', lines3) }) } }, items)
  assert.deepEqual(lines(only.l), ['n,t_pk', '1,1', '1,2'], 'a table with a primary key has no column for the link')
  assert.deepEqual(lines(only.m), ['q,l_pk', 'a,1', 'b,2'])
})

test('mapped tables without data are made with their header and manifest', async () => {
  const out = await map(
    { t: { id: key('id'), l: { type: 'table', destination: 'child', tableMapping: { x: 'x' } } } },
    '[]',
    [],
    't',
    'b',
  )
  assert.equal(out['b.t'], '"id"\n')
  assert.equal(out['b.child'], '"x","t_pk"\n')
  assert.equal(out['b.t.manifest'], '{"incremental":false,"destination":"in.c-b.t","primary_key":["id"]}')
})

test('one table from two entries is merged when the headers are equal, else the run ends', async () => {
  const table = (destination: string, tableMapping: object) => ({
    type: 'table',
    destination,
    tableMapping,
    parentKey: { disable: true },
  })
  const out = await map({ t: { a: table('c', { x: 'x' }), b: table('c', { y: 'x' }) } }, '[{"a":{"x":1},"b":{"y":2}}]')
  assert.deepEqual(lines(out.c), ['x', '1', '2'])
  await assert.rejects(
    map({ t: { a: table('c', { x: 'x' }), b: table('c', { y: 'y' }) } }, '[]'),
    /Multiple results for 'c' table have different columns!/,
  )
})

test('a wrong mapping is refused before the first page, naming the entry', async () => {
  const cases: [string, RegExp][] = [
    ['{"t":{}}', /^Empty mapping for 't' data type in 'mappings' config\.$/],
    ['{"t":[]}', /^Empty mapping for 't' data type in 'mappings' config\.$/],
    ['{"t":"x"}', /^Bad Json to CSV Mapping configuration: the mapping of 't' has to be an object of paths, it is a string\./],
    ['[1]', /^Bad Json to CSV Mapping configuration: 'mappings' has to be an object/],
    [
      '{"t":{"a":5}}',
      /^Bad Json to CSV Mapping configuration: 't\.a' has to be an object or the name of a column, it is a number\./,
    ],
    ['{"t":{"a":{}}}', /^Bad Json to CSV Mapping configuration: 't\.a' needs "mapping"/],
    ['{"t":{"a":{"mapping":"x"}}}', /'t\.a\.mapping' has to be an object/],
    ['{"t":{"a":{"type":"table"}}}', /'t\.a' is a table and needs "destination"/],
    ['{"t":{"a":{"type":"table","destination":"c"}}}', /'t\.a' is a table and needs "tableMapping"/],
    ['{"t":{"a":{"type":"table","destination":"c","tableMapping":{"x":{}}}}}', /'t\.a\.tableMapping\.x' needs "mapping"/],
    [
      '{"t":{"a":{"type":"table","destination":"c","tableMapping":{"x":"x"},"parentKey":1}}}',
      /'t\.a\.parentKey' has to be an object/,
    ],
    ['{"t":{"a":{"type":"date","mapping":{"destination":"x"}}}}', /^Invalid mapping type "date"\.$/],
  ]
  for (const [mappings, message] of cases)
    await assert.rejects(map(mappings, '[]'), { constructor: TablesError, message }, mappings)
})
