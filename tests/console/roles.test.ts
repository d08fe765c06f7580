// What a person may do in a browser: a viewer sees what needs another role, a person alone merges a branch, unsaved changes are run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPage, replaceText, signedIn, startBrowser } from '../support/browser.ts'
import { newMember, newStackAdmin, PASSWORD } from '../support/clients/person-client.ts'
import { startTestStack } from '../support/test-stack.ts'

const CONFIGS = '/v2/storage/components/keboola.ex-generic-v2/configs'

/** Words with which a button begins that changes something. */
const WRITES =
  /^(Add|Apply|Approve|Authorise|Begin|Change|Copy to|Create|Delete|Describe|Disable|Drop|Duplicate|Edit|Empty|Enable|End|Fetch|Import|Invite|Link|Load|Make|Merge|Move|New|Pause|Put|Refuse|Remove|Rename|Replace|Rerun|Reset|Restore|Resume|Revoke|Run|Save|Set|Share|Stop|Switch o|Test|Undo|Unlink|Upload|Use)\b/

test('roles in a browser', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const stack = await startTestStack(t)
  const ask = async (method: string, path: string, json?: object) => {
    const answer = await stack.request(method, path, json ? { json } : {})
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
    return answer
  }
  const admin = await newStackAdmin(stack)
  const signedInAs = async (role: 'viewer' | 'editor' | 'admin', email = `${role}@example.com`) => {
    const member = await newMember(stack, admin, { projectId: stack.projectId, role, email })
    const opened = await openPage(browser)
    await opened.page.goto(`${stack.url}/console/`)
    await opened.page.getByLabel('E-mail').fill(member.email)
    await opened.page.getByLabel('Password').fill(PASSWORD)
    await opened.page.getByRole('button', { name: 'Sign in' }).click()
    await opened.page.getByText('Live', { exact: true }).waitFor()
    return opened
  }
  await ask('POST', CONFIGS, { configurationId: 'shop', name: 'Shop', configuration: { parameters: { size: 1 } } })
  await ask('POST', '/v2/storage/buckets', { stage: 'in', name: 'shop' })
  await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables', { form: { name: 'orders', dataString: 'id\n1\n' } })

  await t.test('a viewer sees what is disabled, which role it needs, and why the vault shows nothing', async () => {
    const { page, go, nothingWrong } = await signedInAs('viewer')
    await page.getByText('You look at this project as a viewer').waitFor()
    const needs = 'This requires the role editor. Your role in this project is viewer.'
    for (const [path, name] of [
      ['/components/keboola.ex-generic-v2/shop', /^Run/],
      ['/storage', 'New bucket'],
      ['/buckets/in.c-shop', 'Delete the bucket'],
      ['/storage/in.c-shop.orders?tab=manage', 'Empty the table'],
      ['/schedules', 'New schedule'],
      ['/streams', 'New stream'],
      ['/flows', 'New flow'],
      ['/branches', 'New branch'],
    ] as const) {
      await go(path)
      const button = page.getByRole('button', { name }).first()
      await button.waitFor()
      assert.ok(await button.isDisabled(), `${path}: ${name}`)
      assert.equal(await button.getAttribute('title'), needs)
    }
    await page.keyboard.press('n')
    assert.equal(await page.getByRole('dialog').count(), 0, 'nor by its key')
    await go('/tokens')
    await page.getByTitle(needs).first().waitFor()
    await go('/vault')
    await page.getByText(`Its variables are listed for those who may use them. ${needs}`).waitFor()
    nothingWrong()
    await page.context().close()
  })

  await t.test('on no screen has a viewer a button that changes something', async () => {
    await ask('POST', `${CONFIGS}/shop/rows`, { rowId: 'one', name: 'One', configuration: {} })
    await ask('POST', '/v2/storage/tables/in.c-shop.orders/snapshots', {})
    await ask('POST', '/v2/storage/components/keboola.flow/configs', {
      configurationId: 'daily',
      name: 'Daily',
      configuration: { phases: [], tasks: [] },
    })
    const flow = { target: { componentId: 'keboola.flow', configurationId: 'daily', mode: 'run' } }
    await ask('POST', '/v2/storage/components/keboola.scheduler/configs', {
      configurationId: 'nightly',
      name: 'Nightly',
      configuration: { schedule: { cronTab: '0 3 * * *', timezone: 'UTC' }, ...flow },
    })
    await ask('POST', '/scheduler/schedules', { configurationId: 'nightly' })
    await ask('POST', '/v1/branches/default/sources', { name: 'Clicks', type: 'http' }).catch(() => {})
    await ask('POST', '/v2/storage/dev-branches', { name: 'Try' }).catch(() => {})
    const { id: jobId } = (
      await ask('POST', '/queue/jobs', { component: 'keboola.ex-generic-v2', config: 'shop', mode: 'run' })
    ).json<{ id: string }>()
    await stack.request('POST', '/import/upload-file', { form: { name: 'a.csv', data: 'id' } })
    await ask('POST', '/v2/storage/components/keboola.duckdb-transformation/configs', {
      configurationId: 'sums',
      name: 'Sums',
      configuration: { parameters: { blocks: [{ name: 'B', codes: [{ name: 'C', script: ['select 1'] }] }] } },
    })
    const { page, go } = await signedInAs('viewer', 'looks@example.com')
    const found: string[] = []
    for (const path of [
      '/',
      '/storage',
      '/buckets/in.c-shop',
      ...[
        'data',
        'schema',
        'profile',
        'history',
        'snapshots',
        'lineage',
        'access',
        'tests',
        'manage',
        'comments',
        'triggers',
      ].map((tab) => `/storage/in.c-shop.orders?tab=${tab}`),
      '/files',
      '/upload',
      '/components',
      ...[
        '',
        '?tab=rows',
        '?tab=versions',
        '?tab=state',
        '?tab=variables',
        '?tab=mapping',
        '?tab=authorisation',
        '?view=json',
      ].map((tab) => `/components/keboola.ex-generic-v2/shop${tab}`),
      '/components/keboola.duckdb-transformation/sums',
      '/builder/shop?row=one',
      '/flows',
      '/flows/keboola.flow/daily',
      '/schedules',
      '/jobs',
      `/jobs/${jobId}`,
      '/branches',
      '/apps',
      '/workspaces',
      '/templates',
      '/streams',
      '/notifications',
      '/people',
      '/tokens',
      '/vault',
      '/usage',
      '/settings',
      '/settings?tab=stack',
      '/operations',
      '/projects',
      '/dashboards',
      '/deliveries',
    ]) {
      await go(path)
      await page.locator('h1:not(:has(.skeleton))').waitFor()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      const names = await page.evaluate<string[]>(
        "[...document.querySelectorAll('main button:enabled')].map((one) => one.getAttribute('aria-label') ?? one.textContent ?? '')",
      )
      const readOnly = ['Save as CSV', 'Test'] // the project
      found.push(...names.filter((name) => WRITES.test(name) && !readOnly.includes(name)).map((name) => `${path}: ${name}`))
    }
    assert.deepEqual(found, [])
    await page.context().close()
  })

  await t.test('a token sees what is disabled and which right it needs', async () => {
    const made = await ask('POST', '/v2/storage/tokens', { description: 'reads', bucketPermissions: { 'in.c-shop': 'read' } })
    const { token } = made.json<{ token: string }>()
    const { page, go, nothingWrong, mayComplainOf } = await signedIn(browser, { url: stack.url, masterToken: token }, '/storage')
    for (const [path, name, needs] of [
      ['/storage', 'New bucket', 'This requires the right canManageBuckets, which your token does not have.'],
      ['/storage', /^Upload/, 'This requires write permission of a bucket, which your token does not have.'],
      [
        '/storage/in.c-shop.orders?tab=manage',
        'Empty the table',
        'This requires write permission of the bucket in.c-shop, which your token does not have.',
      ],
      ['/branches', 'New branch', 'This requires the right canManageDevBranches, which your token does not have.'],
    ] as const) {
      await go(path)
      const button = page.getByRole('button', { name, disabled: true }).first()
      await button.waitFor()
      assert.equal(await button.getAttribute('title'), needs)
    }
    mayComplainOf(/status of 403/)
    nothingWrong()
    await page.context().close()
  })

  await t.test('a person alone merges a branch; with a review required, its creator cannot approve and reads why', async () => {
    const { page, go, nothingWrong } = await signedInAs('admin')
    await go('/branches')
    await page.keyboard.press('n')
    await page.getByRole('textbox', { name: 'Name' }).fill('Larger')
    await page.getByRole('button', { name: 'Create the branch' }).click()
    await page.getByRole('heading', { name: /^Larger says the same/ }).waitFor()
    const branch = new URL(page.url()).pathname.split('/').at(-1)!
    await ask('PUT', `${CONFIGS.replace('/storage/', `/storage/branch/${branch}/`)}/shop`, {
      configuration: { parameters: { size: 2 } },
    })
    await page.reload()
    await page.getByText('This project requires no review.').waitFor()
    const sizeOf = async () =>
      (await ask('GET', `${CONFIGS}/shop`)).json<{ configuration: { parameters: { size: number } } }>().configuration.parameters
        .size
    await page.getByRole('button', { name: 'Merge without a review' }).click()
    await page
      .getByRole('dialog')
      .getByText(/^1 configuration of the default branch will be changed/)
      .waitFor()
    assert.equal(await sizeOf(), 1)
    await page.getByRole('dialog').getByRole('button', { name: 'Merge without a review' }).click()
    await page.getByText('Merged into the default branch.').waitFor()
    assert.equal(await sizeOf(), 2)

    await go('/branches')
    await page.getByLabel('Review before a merge').selectOption('one approval')
    await page.getByText('Saved.').waitFor()
    assert.equal((await stack.request('POST', `/v2/storage/dev-branches/${branch}/merge`)).status, 409)
    await ask('PUT', `${CONFIGS.replace('/storage/', `/storage/branch/${branch}/`)}/shop`, {
      configuration: { parameters: { size: 3 } },
    })
    await go(`/branches/${branch}`)
    await page.reload()
    await page.getByText('This project merges branches by requests with 1 approval.').waitFor()
    await page.getByLabel('What it is for').fill('Larger pages')
    await page.getByRole('button', { name: 'Create a merge request' }).click()
    await page.getByRole('button', { name: 'Request a review' }).click()
    await page.getByText('Request creator cannot approve their own request.').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Approve' }).isDisabled())
    nothingWrong()
    await page.context().close()
  })

  await t.test('with unsaved changes Run saves them first', async () => {
    const { page, go, nothingWrong } = await signedInAs('editor')
    await go('/components/keboola.ex-generic-v2/shop?view=json')
    await page.getByRole('button', { name: 'Run R', exact: true }).waitFor()
    await replaceText(page.getByLabel('Configuration as JSON'), '{"parameters":{"size":9}}')
    await page.getByRole('button', { name: 'Save and run R', exact: true }).click()
    await page.waitForURL(/\/jobs\/\d+/)
    assert.match((await ask('GET', `${CONFIGS}/shop`)).text, /"size":\s*9/)
    nothingWrong()
    await page.context().close()
  })
})
