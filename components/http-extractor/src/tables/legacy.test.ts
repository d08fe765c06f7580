import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonValue } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'
import { exactJson } from '../json/text.ts'
import { legacyName } from './legacy.ts'
import { createTables } from './tables.ts'

async function run(pages: readonly string[], { compatLevel = 1, state }: { compatLevel?: 1 | 3; state?: string } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'legacy-'))
  try {
    const warnings: string[] = []
    const log = { debug: () => {}, warning: (text: string) => void warnings.push(text), error: () => {} }
    const parserState = state === undefined ? undefined : parseJson(state)
    const tables = createTables({ outDir: join(root, 'out'), workDir: join(root, 'work'), compatLevel, parserState, log })
    for (const items of pages) tables.add({ type: 't', items: parseJson(items) as JsonValue[] })
    const complete = tables.complete({ incremental: false })
    tables.publish()
    const files = readdirSync(join(root, 'out')).filter((file) => !file.endsWith('.manifest'))
    const out = Object.fromEntries(files.map((file) => [file, readFileSync(join(root, 'out', file), 'utf8')]))
    return { out, warnings, state: exactJson(complete.parserState(undefined) ?? null) }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

test('with compatLevel 1 colliding columns are named by a hash and stay empty, their values go over the first', async () => {
  const { out, warnings } = await run(['[{"some.prop":"a","some_prop":"b","l":[{"x y":1,"x_y":2}]}]'])
  assert.match(out.t!, /^"some_prop","[0-9a-f]{32}","l"\n"b","","t_[0-9a-f]{32}"\n$/)
  assert.match(out.t_l!, /^"x_y","[0-9a-f]{32}","JSON_parentId"\n"2","","t_/)
  assert.match(warnings[0]!, /old converter \(compatLevel 1\)/)
})

test('with compatLevel 1 names keep one underscore per character', async () => {
  assert.equal(legacyName('a..b c'), 'a__b_c')
  assert.equal(legacyName('_é_x_'), 'x')
  const { out } = await run(['[{"a  b":1,"o":{"p.q":2}}]'])
  assert.equal(out.t, '"a__b","o_p_q"\n"1","2"\n')
})

test('with compatLevel 1 the state has version 2, and such a state keeps to it', async () => {
  const first = await run(['[{"id":1,"o":{"x":null},"l":["a"],"m":[{"k":1}],"e":[]}]'])
  assert.equal(
    first.state,
    '{"struct":{"t":{"id":"scalar","o":"object","l":"arrayOfscalar","m":"arrayOfobject","e":"array"},"t.o":{"x":"NULL"},"t.l":{"data":"scalar"},"t.m":{"k":"scalar"}},"structVersion":2}',
  )
  const second = await run(['[{"new.key":1}]'], { compatLevel: 3, state: first.state })
  assert.equal(second.out.t, '"id","o_x","l","m","e","new_key"\n"","","","","","1"\n')
  assert.match(second.state, /"structVersion":2/)
  assert.match(second.warnings[0]!, /old converter/)
})

test('a wish for compatLevel 1 is ignored when the state has version 3', async () => {
  const current = await run(['[{"a":1}]'], { compatLevel: 3 })
  const { out, warnings } = await run(['[{"a.b":1,"a_b":2}]'], { state: current.state })
  assert.equal(out.t, '"a","a_b","a_b_u0"\n"","1","2"\n')
  assert.match(warnings[0]!, /compatLevel 1 is ignored/)
})
