import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonValue } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { phpSerialize } from '../json/text.ts'
import type { AddedValue } from './page.ts'
import { createTables, type TablesOptions } from './tables.ts'

type PageText = { type?: string; items: string; added?: AddedValue[]; viaBody?: boolean; keptAsText?: string[][] }

const pick = (response: JsonValue) => response as JsonValue[]

/** Runs pages, given as JSON texts, through the tables and reads what appeared in the output folder. */
async function run(
  pages: readonly (string | PageText)[],
  options: Partial<Omit<TablesOptions, 'mappings'>> & { mappings?: string; incremental?: boolean } = {},
) {
  const root = mkdtempSync(join(tmpdir(), 'tables-'))
  try {
    const messages: string[] = []
    const note = (level: string) => (message: string) => void messages.push(`${level} ${message}`)
    const { mappings, incremental = false, ...rest } = options
    const tables = createTables({
      outDir: join(root, 'out'),
      workDir: join(root, 'work'),
      log: { debug: note('DEBUG'), warning: note('WARNING'), error: note('ERROR') },
      ...(mappings === undefined ? {} : { mappings: parseJson(mappings) }),
      ...rest,
    })
    for (const page of pages) {
      const { type = 't', items, added, keptAsText, viaBody = true }: PageText = typeof page === 'string' ? { items: page } : page
      tables.add({
        type,
        items: parseJson(items) as JsonValue[],
        added,
        keptAsText,
        ...(viaBody ? { origin: { body: items, pick } } : {}),
      })
      assert.ok(!existsSync(join(root, 'out')), 'nothing appears before the end')
    }
    const complete = tables.complete({ incremental })
    assert.ok(!existsSync(join(root, 'out')), 'nothing appears before it is published')
    tables.publish()
    assert.ok(!existsSync(join(root, 'work')), 'the work folder is gone')
    const files = existsSync(join(root, 'out')) ? readdirSync(join(root, 'out')).sort() : []
    const out = Object.fromEntries(files.map((file) => [file, readFileSync(join(root, 'out', file), 'utf8')]))
    return { out, messages, tables: complete.tables, parserState: complete.parserState(undefined) }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** A table as lines without quotes, for values that need none. */
const lines = (csv: string | undefined) => csv?.trimEnd().replaceAll('"', '').split('\n')

test('scalars become columns: null and false are empty, true is 1, numbers keep their digits, quotes are doubled', async () => {
  const { out } = await run(['[{"n":null,"t":true,"f":false,"i":9223372036854775807,"d":1.50,"s":"a \\"b\\", c\\nd"}]'])
  assert.equal(out.t, '"n","t","f","i","d","s"\n"","1","","9223372036854775807","1.5","a ""b"", c\nd"\n')
  assert.equal(out['t.manifest'], '{"incremental":false}')
})

test('with a bucket, files and manifests carry it', async () => {
  const { out } = await run(['[{"id":1}]'], { bucket: 'htns', incremental: true })
  assert.deepEqual(Object.keys(out), ['htns.t', 'htns.t.manifest'])
  assert.equal(out['htns.t.manifest'], '{"destination":"in.c-htns.t","incremental":true}')
})

test('objects become columns, arrays become tables linked by JSON_parentId', async () => {
  const { out } = await run(['[{"id":1,"tags":["q"]}]'])
  const id = 't_7fbc9155c3496f9f75924f642a6029cd'
  assert.deepEqual(lines(out.t), ['id,tags', `1,${id}`])
  assert.deepEqual(lines(out.t_tags), ['data,JSON_parentId', `q,${id}`])

  const nested = await run(['[{"id":1,"o":{"k":[1]},"s":"x"}]'])
  const inner = 't.o_b906bbe40d38742552a61aefcbe0c52c'
  assert.deepEqual(lines(nested.out.t), ['id,o_k,s', `1,${inner},x`])
  assert.deepEqual(lines(nested.out.t_o_k), ['data,JSON_parentId', `1,${inner}`])
})

test('link ids cover the added columns', async () => {
  const { out } = await run([{ items: '[{"id":1,"tags":["q"]}]', added: [['other', 'V']] }])
  assert.deepEqual(lines(out.t), ['id,tags,other', '1,t_3ee2806fa465c13fc1dc0ce44eb12e6c,V'])
})

test('link ids depend on key order and on the spelling of numbers', async () => {
  const idOf = async (item: string) => lines((await run([`[${item}]`])).out.t_a)?.[1]
  const all = await Promise.all(['{"1":1,"0":2,"a":[1]}', '{"0":2,"1":1,"a":[1]}', '{"0":2.0,"1":1,"a":[1]}'].map(idOf))
  assert.equal(new Set(all).size, 3)
})

test('link ids are those of the whole item, whatever its alphabet and numbers, and however few of the keys it has', async () => {
  const all = Array.from({ length: 11 }, (_, i) => `"k${i}":"${i}"`).join(',')
  const texts = [
    'é',
    '東京',
    'a😀"b',
    '\ud7ff\ue000\uffff',
    `€ and more than ninety-nine bytes: ${'Č'.repeat(40)}`,
    'x'.repeat(97),
  ]
  const numbers = [
    '0',
    '-0',
    '9',
    '10',
    '-7',
    '2147483647',
    '2147483648',
    '4294967296',
    '0.1',
    '79.91',
    '1e3',
    '9007199254740993',
  ]
  const members = [all, ...[...texts.map((text) => JSON.stringify(text)), ...numbers].map((value) => `"k3":${value}`)]
  const items = members.map((text) => `{${text},"list":[1]}`)
  const { out } = await run([`[${items.join(',')}]`])
  const written = [...out.t_list!.matchAll(/t_[0-9a-f]{32}/g)].map(([id]) => id)
  assert.deepEqual(
    written,
    items.map((item) => `t_${hash('md5', phpSerialize(parseJson(item)))}`),
  )
  for (const text of texts) assert.ok(out.t!.includes(`"${text.replaceAll('"', '""')}"`), text)
  for (const number of ['0', '9', '10', '2147483647', '2147483648']) assert.ok(out.t!.includes(`"${number}"`), number)
})

test('columns stand in order of first appearance, those of an object together', async () => {
  const { out } = await run(['[{"a":1,"o":{"x":1},"z":1},{"a":2,"n":2,"o":{"y":2,"x":2}}]'])
  assert.deepEqual(lines(out.t), ['a,o_x,o_y,z,n', '1,1,,1,', '2,2,2,,2'])
})

test('integer-like keys keep their place', async () => {
  const { out } = await run(['[{"b":1,"10":2,"2":3}]'])
  assert.deepEqual(lines(out.t), ['b,10,2', '1,2,3'])
})

test('a column of a late page is there for the early ones too, and the rows keep their order', async () => {
  for (const viaBody of [true, false]) {
    const pages = ['[{"a":1,"l":[{"p":1}]}]', '[{"a":2,"b":2}]', '[{"a":3,"l":[{"q":3}]}]', '[{"c":9007199254740993,"a":4}]']
    const { out } = await run(pages.map((items) => ({ items, viaBody })))
    assert.deepEqual(
      lines(out.t)?.map((line) => line.replace(/t_[0-9a-f]{32}/, 'ID')),
      ['a,l,b,c', '1,ID,,', '2,,2,', '3,ID,,', '4,,,9007199254740993'],
    )
    assert.deepEqual(
      lines(out.t_l)?.map((line) => line.replace(/t_[0-9a-f]{32}/, 'ID')),
      ['p,q,JSON_parentId', '1,,ID', ',3,ID'],
    )
  }
})

test('rows written at once and rows written from the spool are the same', async () => {
  const pages = ['[{"a":1,"o":{"l":[{"p":[1,2]},{"p":[]}]}}]', '[{"o":null,"a":"x"},{"a":true,"o":{"l":[{"p":[3]}]}}]']
  const atOnce = await run(pages)
  const spooled = await run([...pages, '[{"late":1}]'])
  const withoutLate = lines(spooled.out.t)!.map((line) => line.replace(/,(late)?$/, ''))
  assert.deepEqual(withoutLate.slice(0, -1), lines(atOnce.out.t))
  assert.equal(spooled.out.t_o_l_p, atOnce.out.t_o_l_p)
  assert.equal(spooled.out.t_o_l, atOnce.out.t_o_l)
})

test('a single value that is elsewhere an array becomes an array of one element, in either order', async () => {
  for (const items of ['[{"id":1,"v":"x"},{"id":2,"v":["y","z"]}]', '[{"id":2,"v":["y","z"]},{"id":1,"v":"x"}]']) {
    const { out } = await run([items])
    assert.deepEqual(
      lines(out.t_v)
        ?.map((line) => line.split(',')[0])
        .sort(),
      ['data', 'x', 'y', 'z'],
    )
    assert.match(out.t!, /"1","t_[0-9a-f]{32}"/)
  }
  const late = await run(['[{"id":1,"v":{"k":1}}]', '[{"id":2,"v":[{"k":2},{"m":3}]}]'])
  assert.deepEqual(lines(late.out.t)?.[0], 'id,v')
  assert.deepEqual(
    lines(late.out.t_v)?.map((line) => line.replace(/t_[0-9a-f]{32}/, 'ID')),
    ['k,m,JSON_parentId', '1,,ID', '2,,ID', ',3,ID'],
  )
})

test('null is no type: a field that is null in one item and an array in another loses nothing', async () => {
  for (const items of ['[{"v":null},{"v":["x"]},{"v":null}]', '[{"v":["x"]},{"v":null}]', '[{"v":null},{"v":[{"data":"x"}]}]']) {
    const { out } = await run([items])
    assert.deepEqual(
      lines(out.t_v)?.map((line) => line.split(',')[0]),
      ['data', 'x'],
      items,
    )
  }
  const paged = await run(['[{"v":null,"a":1}]', '[{"v":{"k":1},"a":1}]'])
  assert.deepEqual(lines(paged.out.t), ['v_k,a', ',1', '1,1'])
})

test('types that cannot share a column end with the place and the way out', async () => {
  const cases: [string, string][] = [
    ['[{"a":1},{"a":{"b":1}}]', 'Unhandled nodeType change from "scalar" to "object" in "t.[].a"'],
    ['[{"a":{"b":1}},{"a":"x"}]', 'Unhandled nodeType change from "object" to "scalar" in "t.[].a"'],
    ['[{"a":{"b":1}},{"a":["x"]}]', "Data array in 't.[].a.[]' contains incompatible types 'object' and 'scalar'"],
    ['[{"l":[{"a":[1,{"b":1}]}]}]', "Data array in 't.[].l.[].a.[]' contains incompatible types 'scalar' and 'object'"],
    ['[1,{"b":1}]', "Data array in 't.[]' contains incompatible types 'scalar' and 'object'"],
  ]
  for (const [items, text] of cases) {
    await assert.rejects(run([items]), (error: Error) => error.message.startsWith(`Error parsing response JSON: ${text}`), items)
  }
  await assert.rejects(run(['[{"l":[{"a":1}]}]', '[{"l":[{"a":{}}]}]']), /"responseFilter": "l\[\]\.a"/)
  await assert.rejects(run(['[{"l":[{"a":1}]},{"l":"x"}]']), /"responseFilter": "l" in/)
  // An outer list that is a single object in some item cannot be stepped into.
  await assert.rejects(run(['[{"l":{"a":1}},{"l":[{"a":{}}]}]']), /"responseFilter": "l" in/)
  await assert.rejects(run(['[{"o":[{"l":[{"a":1}]},{"l":{"a":{}}}]}]']), /"responseFilter": "o\[\]\.l" in/)
  await assert.rejects(run(['[{"o":[{"l":[{"a":1}]}]},{"o":{"l":[{"a":{}}]}}]']), /"responseFilter": "o" in/)
})

test('what a filter makes text of is no longer the list or the object of an earlier run', async () => {
  const { parserState } = await run(['[{"id":1,"l":[{"a":1}],"o":{"k":1,"m":2}}]'])
  const page = { items: '[{"id":1,"l":"[{}]","o":"{}"}]', viaBody: false }
  await assert.rejects(run([page], { parserState }), /incompatible types/)
  const { out } = await run([{ ...page, keptAsText: [['l'], ['o']] }], { parserState })
  assert.deepEqual(lines(out.t), ['id,l,o', '1,[{}],{}'])
})

test('items that are not objects have a data column; arrays inside arrays are JSON text with one warning', async () => {
  assert.deepEqual(lines((await run(['["a",null,1.0]'])).out.t), ['data', 'a', '', '1'])
  const { out, messages } = await run(['[{"m":[[1,"é/"],[]]}]', '[{"m":[[2]]}]'])
  assert.match(out.t_m!, /^"data","JSON_parentId"\n"\[1,""\\u00e9\\\/""\]","t_.*"\n"\[\]","t_.*"\n"\[2\]",/)
  assert.deepEqual(messages, ["WARNING Converting nested array 't.[].m.[]' to JSON string."])
})

test('empty arrays and nulls give a column, empty objects none; an empty object among others is a row of empty cells', async () => {
  const { out } = await run(['[{"a":[],"o":{},"n":null,"z":1},{},null]'])
  assert.equal(out.t, '"a","n","z"\n"","","1"\n"","",""\n"","",""\n')
  assert.deepEqual(Object.keys((await run(['[{},{}]'])).out), [])
})

test('a page without items or with a single null gives no table', async () => {
  const { out, messages } = await run(['[]', '[null]'])
  assert.deepEqual(out, {})
  assert.deepEqual(messages, ["DEBUG No data returned in 't'", "DEBUG No data returned in 't'"])
})

test('names are cleaned, shortened and kept apart', async () => {
  const long = 'data.modules.#DistributionGroups.outputs.groupCharacteristics.persistent'
  const items = JSON.stringify([
    {
      some: { prop: 1 },
      some_prop: 2,
      'some{prop}': 3,
      'Ünï cødé': 4,
      $x: 5,
      'a-b': 6,
      _lead: 7,
      [long]: 8,
      ['a'.repeat(79)]: 9,
    },
  ])
  const { out } = await run([{ type: 'Tábulka/ž žž', items }])
  const header = lines(out.T_bulka)?.[0]
  assert.match(
    header!,
    /^some_prop,some_prop_u0,some_prop_u1,n_c_d,x,a-b,lead,DistributionGroups_outputs_groupCharacteristics_persistent,[0-9a-f]{32}$/,
  )
  assert.deepEqual(Object.keys((await run([{ type: 'user/{user-id}', items: '[1]' }])).out), [
    'user_user-id',
    'user_user-id.manifest',
  ])
  assert.deepEqual(Object.keys((await run([{ type: 'users?q=a b', items: '[1]' }])).out), ['users_q_a_b', 'users_q_a_b.manifest'])
})

test('a column name once given stays when a later page brings another candidate for it', async () => {
  const { out } = await run(['[{"a_b":1}]', '[{"a":{"b":2}}]'])
  assert.deepEqual(lines(out.t), ['a_b,a_b_u0', '1,', ',2'])
})

test('an added column gives way to the item, in that table and in those written after it', async () => {
  const { out } = await run([{ items: '[{"parent_id":1,"l":[{"JSON_parentId":5}],"m":[1]}]', added: [['parent_id', 'p']] }])
  assert.match(out.t!, /^"parent_id","l","m","parent_id_u0"\n"1","t_.*","t_.*","p"\n$/)
  assert.match(out.t_l!, /^"JSON_parentId","JSON_parentId_u0"\n"5","t_/)
  assert.match(out.t_m!, /^"data","JSON_parentId_u0"\n/)
})

test('added columns follow the items, also when they come with a later job', async () => {
  const { out } = await run([
    '[{"a":1}]',
    { items: '[{"a":2}]', added: [['parent_user.id', '7']] },
    { items: '[{"a":3}]', added: [['userData', 'u']] },
  ])
  assert.deepEqual(lines(out.t), ['a,parent_user_id,userData', '1,,', '2,7,', '3,,u'])
})

test('user data that is still an object is stored as JSON and reported', async () => {
  const { out, messages } = await run([{ items: '[{"a":1}]', added: [['u', { k: 1 }]] }])
  assert.equal(out.t, '"a","u"\n"1","{""k"":1}"\n')
  assert.match(messages[0]!, /^ERROR Data parse error in 'u' - unexpected 'object'/)
})

test('two types of one table name are one table when their columns are equal, else the run ends', async () => {
  const { out } = await run([
    { type: 'a/b', items: '[{"x":1}]' },
    { type: 'a.b', items: '[{"x":2}]' },
  ])
  assert.deepEqual(lines(out.a_b), ['x', '1', '2'])
  await assert.rejects(
    run([
      { type: 'a/b', items: '[{"x":1}]' },
      { type: 'a.b', items: '[{"y":2}]' },
    ]),
    /Multiple results for 'a_b' table have different columns!/,
  )
})

test('the structure of a run is the start of the next one', async () => {
  const first = await run(['[{"a":1,"o":{"x":1},"l":[{"k":1}]}]'])
  assert.deepEqual(
    JSON.parse(JSON.stringify(first.parserState, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value))),
    {
      struct: {
        data: {
          _t: {
            '[]': {
              _a: { nodeType: 'scalar', headerNames: 'a' },
              _o: { _x: { nodeType: 'scalar', headerNames: 'o_x' }, nodeType: 'object', headerNames: 'o' },
              _l: {
                '[]': { _k: { nodeType: 'scalar', headerNames: 'k' }, nodeType: 'object', headerNames: 'data' },
                nodeType: 'array',
                headerNames: 'l',
              },
              nodeType: 'object',
              headerNames: 'data',
            },
            nodeType: 'array',
          },
        },
        parent_aliases: {},
      },
      structVersion: 3,
    },
  )
  const second = await run(['[{"z":1,"a":2}]'], { parserState: first.parserState })
  assert.deepEqual(lines(second.out.t), ['a,o_x,l,z', '2,,,1'])
  const unused = await run([{ type: 'other', items: '[{"z":1}]' }], { parserState: first.parserState })
  assert.ok(JSON.stringify(unused.parserState).includes('_t'))
  assert.deepEqual(Object.keys(unused.out), ['other', 'other.manifest'])
})

test('a discarded run leaves nothing', async () => {
  const root = mkdtempSync(join(tmpdir(), 'tables-'))
  const log = { debug: () => {}, warning: () => {}, error: () => {} }
  const tables = createTables({ outDir: join(root, 'out'), workDir: join(root, 'work'), log, mappings: { m: { a: 'a' } } })
  tables.add({ type: 't', items: [{ a: 1 }] })
  tables.add({ type: 'm', items: [{ a: 1 }] })
  tables.discard()
  assert.deepEqual(readdirSync(root), [])
  rmSync(root, { recursive: true })
})
