// Journeys of people through the console in a real browser: the first link, an invitation, roles, the account.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { encode } from 'uqr'
import { writeDrill } from '../../server/src/engines/data-dir/drill-record.ts'
import { settingsOf } from '../../server/src/start/config.ts'
import { checkScreen, checkScreensOn, openPage, startBrowser } from '../support/browser.ts'
import { backupWorkOf } from '../support/clients/backup-work.ts'
import { newMember, newStackAdmin, PASSWORD } from '../support/clients/person-client.ts'
import { startTestStack } from '../support/test-stack.ts'

const darkModulesOf = (text: string): string =>
  encode(text, { ecc: 'M', border: 4 })
    .data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')

test('people in the console', { timeout: 400_000 }, async (t) => {
  const browser = await startBrowser(t) // ends first: the stack waits for open pages
  const folder = await mkdtemp(join(tmpdir(), 'millrace-backups-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { backupWork, connect } = backupWorkOf(folder)
  const stack = await startTestStack(t, { settings: settingsOf({}), backupWork })
  connect(stack)

  const signIn = async (page: Page, email: string): Promise<void> => {
    await page.goto(`${stack.url}/console/`)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  /** What a stack admin has to see: a component that cannot be used, a schedule whose target is gone; and a backup that was tried. */
  const breakThings = async (): Promise<void> => {
    await (await stack.platform.backups.begin('backups'))!.end()
    const at = new Date(Date.now() - 3 * 86_400_000).toISOString()
    await writeDrill(stack.dataDir, { at, backupOf: at, isGood: true, tablesRead: 1 })
    await mkdir(join(stack.dataDir, 'components'), { recursive: true })
    await writeFile(join(stack.dataDir, 'components', 'broken.json'), '{"id":"acme.broken","type":"extractor","name":7}')
    await stack.platform.components.loop.tick()
    const target = { componentId: 'keboola.ex-generic-v2', configurationId: 'gone', mode: 'run' }
    const configuration = { schedule: { cronTab: '0 6 * * *', timezone: 'UTC', state: 'enabled' }, target }
    const configs = (component: string) => `/v2/storage/components/${component}/configs`
    await stack.request('POST', configs(target.componentId), { json: { configurationId: 'gone', name: 'Gone' } })
    await stack.request('POST', configs('keboola.scheduler'), {
      json: { configurationId: 'nightly', name: 'Nightly', configuration },
    })
    const activated = await stack.request('POST', '/scheduler/schedules', { json: { configurationId: 'nightly' } })
    await stack.request('DELETE', `${configs(target.componentId)}/gone`)
    await stack.platform.scheduler.loop.tick(new Date(activated.json<{ nextExecutionTime: string }>().nextExecutionTime))
  }

  let invitation = ''
  await t.test('the link of the first start makes the stack admin, who invites somebody', async () => {
    await breakThings()
    const { page, nothingWrong } = await openPage(browser)
    const link = await stack.platform.people.makeSignInLink()
    await page.goto(`${stack.url}/console/#link=${link}`)
    await page.getByText('This makes you an admin of the whole stack.').waitFor()
    await page.getByLabel('E-mail').fill('ann@example.com')
    await page.getByLabel('Name').fill('Ann Lee')
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByRole('link', { name: 'Ann Lee' }).waitFor()
    assert.doesNotMatch(page.url(), /link=/, 'the link is not left in the address')
    await page.getByRole('link', { name: 'People' }).first().click()
    await page.getByRole('heading', { name: '1 person in this project.' }).waitFor()
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('E-mail').fill('bob@example.com')
    await page.getByLabel('Role', { exact: true }).selectOption('editor')
    await page.getByRole('button', { name: 'Create the link' }).click()
    invitation = (await page.locator('code').filter({ hasText: '#link=' }).textContent())!
    await page.getByRole('button', { name: 'I have it' }).click()
    await page.getByRole('region', { name: 'Invitations', exact: true }).first().getByText('bob@example.com').waitFor()
    await page.getByRole('link', { name: 'Operations', exact: true }).first().click()
    await page.getByRole('heading', { name: /^\d checks want attention\.$/ }).waitFor()
    const checks = page.getByRole('region', { name: 'Checks' })
    const factsOf = (check: string) =>
      checks
        .getByRole('listitem')
        .filter({ has: page.getByText(check, { exact: true }) })
        .first()
    await factsOf('Disk')
      .getByText(/GB of .* GB are free/)
      .waitFor()
    await factsOf('Database')
      .getByText(/^It answers in/)
      .waitFor()
    await factsOf('Backup')
      .getByText(/^The last good backup is .* old\./)
      .waitFor()
    await factsOf('Backup')
      .getByText(/^The last backup is of today/)
      .waitFor()
    await factsOf('Backup')
      .getByText(/^A restore was last tried and found good \S+/)
      .waitFor()
    await factsOf('Schedules')
      .getByText(/^Project \d+, nightly: .*target, configuration gone of keboola\.ex-generic-v2/)
      .waitFor()
    await factsOf('Components')
      .getByText(/^broken\.json: name: /)
      .waitFor()
    await page.getByRole('link', { name: /^Disk \d+ %$/ }).waitFor() // in the status line, for admins
    const nodes = page.getByRole('region', { name: 'Nodes', exact: true })
    await nodes.getByText('working', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Settings and backups' }).click()
    await page.getByRole('heading', { name: 'Settings of the stack, for all projects.' }).waitFor()
    const setting = 'MILLRACE_WORKER_JOBS'
    await page.getByLabel('Filter settings').fill(setting)
    await page.getByRole('button', { name: `Change ${setting}` }).click()
    await page.getByLabel('Value', { exact: true }).fill('7')
    await page.getByRole('button', { name: 'Change the setting' }).click()
    await page.getByRole('cell', { name: '7', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('cell', { name: '7', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Operations', exact: true }).first().click()
    assert.equal(await page.getByLabel('With lines of job logs').isChecked(), false)
    await page.getByLabel('Beginning of an event').fill('storage.personInvited')
    await page.getByRole('cell', { name: 'Invited bob@example.com as editor' }).waitFor()
    nothingWrong()
    await page.context().close()
  })

  await t.test('the invited joins, and is removed while looking', async () => {
    const { page } = await openPage(browser)
    await page.goto(invitation)
    await page.getByText('Ann Lee invites bob@example.com to the project Test as editor.').waitFor()
    await page.getByLabel('Name').fill('Bob')
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByRole('heading', { name: 'An empty project, ready for its first table.' }).waitFor()
    const [bob] = (await stack.platform.people.list()).filter(({ name }) => name === 'Bob')
    await stack.platform.people.remove(bob!.id, { runId: null, remoteAddress: null, userAgent: null })
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.context().close()
  })

  await t.test('a wrong password is refused; an authenticator is set up and asked for; sign out ends the session', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${stack.url}/console/`)
    await page.getByLabel('E-mail').fill('ann@example.com')
    await page.getByLabel('Password').fill('a wrong password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('Wrong e-mail or password.').waitFor()
    await signIn(page, 'ann@example.com')
    await page.getByRole('link', { name: 'Ann Lee' }).click()
    await page.getByRole('button', { name: 'Set up an authenticator' }).click()
    const secret = (await page.getByRole('region', { name: 'Authenticator' }).locator('code').textContent())!
    const uri = (await page.getByRole('link', { name: 'Open it in an authenticator' }).getAttribute('href'))!
    assert.equal(new URL(uri).searchParams.get('secret'), secret)
    const picture = page.getByRole('img', { name: 'Picture of the key, to scan' })
    assert.equal(await picture.locator('path').getAttribute('d'), darkModulesOf(uri), 'a phone that scans it reads the address')
    const totp = new TOTP({ secret: Secret.fromBase32(secret) })
    await page.getByLabel('Code').fill(totp.generate())
    await page.getByLabel('Your password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Turn it on' }).click()
    await page.getByText('It is on. Keep these recovery codes').waitFor()
    const codes = (await page.getByRole('region', { name: 'Authenticator' }).locator('code').textContent())!.split(' ')
    assert.equal(codes.length, 10)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await signIn(page, 'ann@example.com')
    await page.getByLabel('Code').fill(codes[0]!)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Ann Lee' }).waitFor()
    await page.context().close()
  })

  await t.test('settings of the project, of the stack and of the person are changed in one place, and undone', async () => {
    const admin = await newStackAdmin(stack, 'sam@example.com')
    const opened = await openPage(browser)
    const { page, go, nothingWrong } = opened
    const undo = async () => {
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Undone.').waitFor()
    }
    await signIn(page, admin.email)
    await page.getByRole('link', { name: 'Settings', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Settings of Test' }).waitFor()
    await page.getByLabel('Name of the project').fill('Shop')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'Settings of Shop' }).waitFor()
    await undo()
    await page.getByRole('heading', { name: 'Settings of Test' }).waitFor()
    await page.getByRole('button', { name: 'Change storage.maxFiles' }).click()
    await page.getByRole('spinbutton', { name: 'At most' }).fill('7000')
    await page.getByRole('button', { name: 'Set the limit' }).click()
    await page.getByRole('cell', { name: '7,000' }).waitFor()
    await undo()
    await page.getByRole('cell', { name: '7,000' }).waitFor({ state: 'detached' })
    const features = page.getByRole('region', { name: 'Features' })
    await features.getByLabel('Name of a feature').fill('new-look')
    await features.getByRole('button', { name: 'Add' }).click()
    await features.getByRole('button', { name: 'Remove new-look' }).click()
    await undo()
    await features.getByRole('button', { name: 'Remove new-look' }).waitFor()
    await page.getByLabel('Review before a merge').selectOption('one approval')
    await undo()
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Stack' }).click()
    const backups = page.getByRole('region', { name: 'Backups' })
    await backups.getByText(/^Every 24 hours to .*; the newest 3 backups are kept, without the root key\.$/).waitFor()
    await backups.getByRole('button', { name: 'Run a backup now' }).click()
    await backups.getByRole('button', { name: /^Test the restore of .*Z$/ }).click()
    await backups.getByText(/The restored copy opened\. Projects: \d+,/).waitFor()
    await page.getByText('Public addresses only. Addresses of this machine and of private networks are refused.').waitFor()
    await page.getByRole('region', { name: 'Components' }).getByText('broken.json: name: ').waitFor()
    await checkScreensOn(opened, ['/settings', '/settings?tab=stack', '/settings?tab=you'])
    const zoneLine = page.locator('.strip')
    await go('/settings?tab=you')
    await zoneLine.getByText('Europe/Prague').waitFor()
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo')
    await zoneLine.getByText('Asia/Tokyo').waitFor()
    await page.getByLabel('Time zone').selectOption('as the browser (Europe/Prague)')
    await zoneLine.getByText('Europe/Prague').waitFor()
    await page.getByRole('radio', { name: 'dark' }).check()
    await page.locator('html[data-theme=dark]').waitFor({ state: 'attached' })
    await page.getByRole('radio', { name: 'as the system' }).check()
    await page.locator('html[data-theme=light]').waitFor({ state: 'attached' })
    await page.getByLabel('Key: this page as curl').fill('n')
    await page.getByRole('alert').getByText('n does something else already.').waitFor()
    await page.getByLabel('Key: this page as curl').fill('x')
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('c')
    assert.equal(await page.getByRole('dialog').count(), 0, 'the key was changed')
    await page.keyboard.press('x')
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByLabel('Single keys do what buttons do').uncheck()
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('x')
    assert.equal(await page.getByRole('dialog').count(), 0, 'single keys are off')
    await page.getByRole('button', { name: 'Back to the usual keys' }).click()
    await page.getByRole('button', { name: 'New personal token' }).click()
    await page.getByLabel('What it is for').fill('nightly script')
    await page.getByRole('button', { name: 'Create the token' }).click()
    await page.getByRole('button', { name: 'I have it' }).click()
    await page.getByRole('button', { name: 'Revoke nightly script' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('You have no personal token.').waitFor()
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.getByText('You are signed in here only.').waitFor()
    assert.equal((await admin.call('GET', '/account')).status, 401, 'the other session has ended')
    nothingWrong()
    await page.getByRole('button', { name: 'Sign out everywhere', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.context().close()
  })

  await t.test('a stack admin sees the nodes, and makes, pauses, deletes and brings back a project', async () => {
    const admin = await newStackAdmin(stack, 'olga@example.com')
    await stack.request('POST', '/v2/storage/buckets', { json: { name: 'first' } })
    await stack.request('POST', '/v2/storage/buckets/in.c-first/tables', { form: { name: 'names', dataString: 'id\n1\n' } })
    const opened = await openPage(browser)
    const { page } = opened
    await signIn(page, admin.email)
    await page.getByText('1 node', { exact: true }).waitFor() // the start page shows the state of the stack
    await page.getByText(/^0 of \d+ jobs? at once$/).waitFor()
    await page.getByRole('link', { name: 'Projects' }).first().click()
    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByLabel('Name of the project').fill('Third')
    await page.getByRole('button', { name: 'Create the project' }).click()
    const row = page.getByRole('row', { name: /Third/ })
    await row.getByRole('button', { name: 'Pause' }).click()
    await page.getByLabel('Reason').fill('moves away')
    await page.getByRole('button', { name: 'Pause it' }).click()
    await row.getByText('paused: moves away').waitFor()
    await row.getByRole('button', { name: 'Resume' }).click()
    await row.getByText('active', { exact: true }).waitFor()
    await row.getByRole('button', { name: 'Delete' }).click()
    await page.getByLabel('Type its name').fill('Third')
    await page.getByRole('button', { name: 'Delete it' }).click()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('region', { name: 'Projects', exact: true }).first().getByText('Third').waitFor()
    await checkScreensOn(opened, ['/', '/people', '/projects', '/operations'])
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await checkScreen(opened, '/sign-in')
    await page.context().close()
  })

  await t.test('who belongs to two projects switches between them', async () => {
    const admin = await newStackAdmin(stack)
    const other = await stack.newProject('Second')
    const member = await newMember(stack, admin, { projectId: stack.projectId, role: 'viewer', email: 'cleo@example.com' })
    await admin.ok('POST', `/manage/projects/${other.projectId}/users`, { email: 'cleo@example.com', role: 'editor' })
    await stack.request('POST', '/v2/storage/buckets', { json: { name: 'second' }, token: other.masterToken })
    await stack.request('POST', '/v2/storage/buckets/in.c-second/tables', {
      form: { name: 'goods', dataString: 'id\n1\n' },
      token: other.masterToken,
    })
    const { page } = await openPage(browser)
    await signIn(page, member.email)
    await page.getByRole('heading', { name: 'Nothing is broken. 1 table to work with.' }).waitFor()
    await page.getByLabel('Project', { exact: true }).selectOption('Second')
    await page.getByRole('link', { name: 'Storage' }).first().click()
    await page.getByText('goods').first().waitFor()
    await page.reload()
    await page.getByText('goods').first().waitFor()
    await page.context().close()
  })
})
