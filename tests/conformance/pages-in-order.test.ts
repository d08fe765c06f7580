// The pages of the documentation, one after another in one project, as a reader follows them.

import { test } from 'node:test'
import { PAGES, runPage, startPagesStack } from '../support/pages.ts'

/** A minute or more; each page alone is run always, by pages-alone.test.ts. */
const skip = process.env.MILLRACE_LONG ? false : 'only with test:long'

test('all pages work one after another in one project', { skip }, async (t) => {
  const stack = await startPagesStack(t)
  let commands = 0
  for (const page of PAGES)
    await t.test(page, async (inner) => {
      commands += await runPage(inner, page, stack, stack.masterToken)
    })
  t.diagnostic(`${PAGES.length} pages, ${commands} commands worked as written, one page after another`)
})
