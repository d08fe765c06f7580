// Every example of docs/extractor.md is run: its configuration against its exchanges, compared with its tables.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { extract } from './harness.ts'

interface Example {
  readonly name: string
  readonly config: string
  readonly blocks: { readonly kind: string; readonly name: string; readonly text: string }[]
}

const BLOCK = /^```(\w+) (config|exchanges|state|log|error|manifest|csv)?[ ]?(\S*)\n([\s\S]*?)^```$/gm

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

const markdown = readFileSync(new URL('../../../docs/extractor.md', import.meta.url), 'utf8')
const examples = examplesOf(markdown)

test('the documentation has an example for every feature', () => {
  assert.ok(examples.length >= 30, `only ${examples.length} examples were found`)
})

for (const { name, config, blocks } of examples) {
  test(`docs/extractor.md: ${name}`, async () => {
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
    for (const block of of('log')) assert.ok(outcome.log.includes(block.text.trim()), outcome.log)
  })
}
