// Every page of the documentation works on its own: its commands, from top to bottom, in an empty folder and an empty project.

import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { PAGES, runPage, startPagesStack } from '../support/pages.ts'

const ends: (() => unknown)[] = []
let started: ReturnType<typeof startPagesStack> | undefined
after(async () => {
  for (const end of ends) await end()
})

test('there are pages with commands', () => assert.ok(PAGES.length > 10, PAGES.join(', ')))

const commands = new Map<string, number>()

suite('every page works on its own', { concurrency: 4 }, () => {
  for (const page of PAGES)
    test(page, async (t) => {
      started ??= startPagesStack({ after: (end) => ends.push(end) })
      const stack = await started
      commands.set(page, await runPage(t, page, stack, (await stack.newProject(page)).masterToken))
    })
})

test('the figures: pages and commands that ran as written', (t) => {
  const sum = [...commands.values()].reduce((all, one) => all + one, 0)
  t.diagnostic(`${commands.size} of ${PAGES.length} pages, ${sum} commands worked as written`)
  assert.equal(commands.size, PAGES.length)
  assert.ok(sum > 5 * PAGES.length, `only ${sum} commands were counted`)
})
