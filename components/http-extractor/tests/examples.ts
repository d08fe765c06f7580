// Examples in Markdown: a configuration, the exchanges with the API, and what comes out of them. docs/extractor.md is written in this
// form, and so are the files in examples/.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { extract } from './harness.ts'

interface Example {
  readonly name: string
  readonly config: string
  readonly blocks: { readonly kind: string; readonly name: string; readonly text: string }[]
}

const BLOCK = /^```(\w+) (config|exchanges|state|next-state|log|silent|error|manifest|csv)?[ ]?(\S*)\n([\s\S]*?)^```$/gm

function examplesOf(markdown: string): Example[] {
  const examples: Example[] = []
  const headings = [...markdown.matchAll(/^#+ (.*)$/gm)]
  for (const match of markdown.matchAll(BLOCK)) {
    const [, language, kind = '', name = '', text = ''] = match
    if (kind === 'config') {
      const heading = headings.findLast((h) => h.index < match.index)?.[1] ?? ''
      examples.push({ name: `${heading} ${examples.length + 1}`, config: text, blocks: [] })
    } else examples.at(-1)?.blocks.push(language === 'csv' ? { kind: 'csv', name: `${kind}${name}`, text } : { kind, name, text })
  }
  return examples
}

/** One test per example of the file. Answers how many there are. */
export function testExamples(file: URL): number {
  const examples = examplesOf(readFileSync(file, 'utf8'))
  const title = file.pathname.split('/').at(-1)
  for (const example of examples) test(`${title}: ${example.name}`, () => runExample(example))
  return examples.length
}

async function runExample({ config, blocks }: Example): Promise<void> {
  const of = (kind: string) => blocks.filter((block) => block.kind === kind)
  const state = of('state')[0]
  const outcome = await extract(config, {
    archive: of('exchanges')[0]?.text ?? '',
    ...(state ? { state: JSON.parse(state.text) } : {}),
  })
  const expectedError = of('error')[0]?.text.trim()
  if (expectedError === undefined) assert.equal(outcome.error, undefined)
  else assert.ok(outcome.error?.message.startsWith(expectedError), outcome.error?.message)
  assert.deepEqual(outcome.tables, Object.fromEntries(of('csv').map((block) => [block.name, block.text])))
  for (const block of of('manifest')) assert.deepEqual(outcome.manifests[`${block.name}.manifest`], JSON.parse(block.text))
  for (const { text } of of('log'))
    for (const line of text.trim().split('\n')) assert.ok(outcome.log.includes(line), `${line} is not in\n${outcome.log}`)
  for (const { text } of of('silent')) assert.ok(!outcome.log.includes(text.trim()), outcome.log)
  for (const { name, text } of of('next-state')) assert.deepEqual(outcome.state?.[name], JSON.parse(text))
}
