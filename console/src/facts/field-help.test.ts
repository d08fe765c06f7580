import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { renderGuide } from '../../../server/src/services/stack/guides/markdown-page.ts'
import { allHelp, helpFor } from './field-help.ts'

const SCREENS = new URL('../screens/', import.meta.url)
/** Places that screens name themselves. */
const named = globSync('**/*.tsx', { cwd: SCREENS }).flatMap((file) =>
  Array.from(
    readFileSync(new URL(file.replaceAll('\\', '/'), SCREENS), 'utf8').matchAll(/ page="([\w-]+)" section="([\w-]+)"/g),
    ([, page = '', section = '']) => ({ page, section }),
  ),
)

test('every place that fields and screens point to is in the guides', () => {
  assert.ok(named.length > 0)
  for (const { page, section } of [...allHelp, ...named]) {
    const path = `docs/${page}.md`
    const { html } = renderGuide(path, readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'), new Set())
    assert.ok(html.includes(`id="${section}"`), `${path} has no ${section}`)
  }
})

test('a field has the help of the innermost part that a guide describes', () => {
  const sectionOf = (...path: (string | number)[]) => helpFor('keboola.ex-generic-v2', path).section
  assert.equal(sectionOf('parameters', 'config', 'jobs', 0, 'params', 'limit'), 'parameters-and-methods')
  assert.equal(sectionOf('parameters', 'api', 'pagination', 'urlKey'), 'pagination')
  assert.equal(sectionOf('storage', 'output', 'tables', 0, 'primary_key'), 'output-tables')
  assert.equal(helpFor('some.component', ['parameters', 'x']).page, 'components')
})
