import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addBlock,
  addCode,
  moveSpot,
  placeInCode,
  readBlocks,
  removeSpot,
  renameSpot,
  scriptOfText,
  textOfScript,
  untilSpot,
  writeScript,
} from './script-blocks.ts'

const TEXT = `{
  "parameters": {
    "blocks": [
      {"name": "One", "codes": [{"name": "a", "script": ["select 1", "select 2 -- two"], "kept": 9007199254740993}, {"script": "select 3"}]},
      {"name": "Two", "codes": [{"name": "c", "script": []}]}
    ]
  },
  "other": 9007199254740993
}`

const namesOf = (text: string) => readBlocks(text).map(({ name, codes }) => [name, ...codes.map((code) => code.name)].join(' '))

test('blocks and codes are read, renamed, added, moved and removed, and all else stays', () => {
  assert.deepEqual(namesOf(TEXT), ['One a Code 2', 'Two c'])
  assert.deepEqual(namesOf(renameSpot(TEXT, { block: 0, code: 1 }, 'b')), ['One a b', 'Two c'])
  assert.deepEqual(namesOf(addBlock(TEXT).text), ['One a Code 2', 'Two c', 'New block New code'])
  assert.deepEqual(addCode(TEXT, 1).spot, { block: 1, code: 1 })
  assert.deepEqual(namesOf(removeSpot(TEXT, { block: 0, code: 0 })), ['One Code 1', 'Two c'])
  const down = moveSpot(TEXT, { block: 0, code: 1 }, 1)
  assert.deepEqual(namesOf(down!.text), ['One a', 'Two Code 1 c'])
  assert.deepEqual(down!.spot, { block: 1, code: 0 })
  assert.deepEqual(namesOf(moveSpot(TEXT, { block: 1, code: 0 }, -1)!.text), ['One a Code 2 c', 'Two'])
  assert.deepEqual(namesOf(moveSpot(TEXT, { block: 1 }, -1)!.text), ['Two c', 'One a Code 2'])
  assert.equal(moveSpot(TEXT, { block: 0 }, -1), undefined)
  for (const made of [down!.text, addBlock(TEXT).text]) assert.equal(made.match(/9007199254740993/g)?.length, 2)
  assert.deepEqual(namesOf(addBlock('{}').text), ['New block New code'])
  assert.deepEqual(namesOf(untilSpot(TEXT, { block: 0, code: 0 })), ['One a'])
})

test('the statements of a code are one text, and come back from it', () => {
  const [{ codes } = { codes: [] }] = readBlocks(TEXT)
  assert.equal(textOfScript(codes[0]!.script), 'select 1;\n\nselect 2 -- two')
  assert.equal(textOfScript(['select 1 -- c', 'select 2;', "select ';'"]), "select 1 -- c\n;\n\nselect 2;\n\nselect ';'")
  assert.deepEqual(scriptOfText("-- a\nselect ';' ;\n\n/* ; */ select 2;\n-- end"), [
    "-- a\nselect ';' ;",
    '/* ; */ select 2;\n-- end',
  ])
  assert.deepEqual(scriptOfText('  '), [])
  assert.deepEqual(scriptOfText('-- only'), ['-- only'])
  const script = ['create table a as select 1', 'insert into a values (2)']
  assert.deepEqual(readBlocks(writeScript(TEXT, { block: 1, code: 0 }, script))[1]?.codes[0]?.script, script)
})

test('a mistake of a statement is placed in the text of its code', () => {
  const text = 'select 1;\n\n-- c\nselect\n  wrong'
  assert.equal(text.slice(placeInCode(text, { statement: 2, line: 2, character: 3 })), 'wrong')
  assert.equal(placeInCode(text, { statement: 9, line: 1, character: 1 }), undefined)
})
