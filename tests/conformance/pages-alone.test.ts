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

suite('every page works on its own', { concurrency: 4 }, () => {
  for (const page of PAGES)
    test(page, async (t) => {
      started ??= startPagesStack({ after: (end) => ends.push(end) })
      const stack = await started
      await runPage(t, page, stack, (await stack.newProject(page)).masterToken)
    })
})
