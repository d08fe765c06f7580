import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { newBrowser, newMember, newStackAdmin, type PersonClient } from '../../../../../tests/support/clients/person-client.ts'
import { migratedPostgres } from '../../../../../tests/support/fresh-databases.ts'
import { type Job, shellStack } from '../../../../../tests/support/shell-stack.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import { settingsOf } from '../../../start/config.ts'

const settings = settingsOf({
  MILLRACE_WORKER_JOBS: '2',
  MILLRACE_METRICS_TOKEN: 'canary-of-metrics',
  MILLRACE_DATABASE_URL: 'postgres://me:canary-of-database@nowhere/x',
})
const worker = { jobs: 2 }

interface Setting {
  readonly name: string
  readonly value: string | null
  readonly origin: string
  readonly isSecret: boolean
  readonly isChangeable: boolean
  readonly changedBy: string | null
}

const JOBS = '/operations/settings/MILLRACE_WORKER_JOBS'
const settingOf = async (admin: PersonClient, name: string): Promise<Setting> =>
  (await admin.ok<Setting[]>('GET', '/operations/settings')).find((one) => one.name === name)!

test('settings are shown with their origin, and secrets only as being set', async (t) => {
  const stack = await startTestStack(t, { settings })
  const admin = await newStackAdmin(stack)
  const answer = await admin.call('GET', '/operations/settings')
  assert.equal(answer.status, 200, answer.text)
  assert.ok(!answer.text.includes('canary'), 'a secret')
  const all = new Map(answer.json<Setting[]>().map((one) => [one.name, one]))
  const shown = (name: string) => [all.get(name)?.value, all.get(name)?.origin, all.get(name)?.isChangeable]
  assert.deepEqual(shown('MILLRACE_WORKER_JOBS'), ['2', 'environment', true])
  assert.deepEqual(shown('PORT'), ['8000', 'default', false])
  assert.deepEqual(shown('MILLRACE_LOG_LEVEL'), ['info', 'default', true])
  assert.deepEqual(shown('MILLRACE_METRICS_TOKEN'), [null, 'environment', false])
  assert.deepEqual(shown('MILLRACE_MANAGE_TOKEN'), [null, 'default', false])
  assert.equal(all.get('MILLRACE_DATABASE_URL')?.isSecret, true)

  const member = await newMember(stack, admin, { projectId: stack.projectId, role: 'admin' })
  for (const [method, path, json] of [
    ['GET', '/operations/settings', undefined],
    ['PUT', JOBS, { value: 3 }],
    ['DELETE', JOBS, undefined],
  ] as const)
    assert.equal((await member.call(method, path, json ? { json } : {})).status, 403, `${method} ${path}`)
  for (const [name, value, status, reason] of [
    ['MILLRACE_WORKER_JOBS', '0', 400, /"0" is not a whole number from 1 to 1000/],
    ['MILLRACE_WORKER_JOBS', 'many', 400, /"many" is not a whole number/],
    ['MILLRACE_LOG_LEVEL', 'loud', 400, /not one of trace/],
    ['PORT', '9000', 400, /cannot be changed while the stack is running/],
    ['MILLRACE_METRICS_TOKEN', 'another-token', 400, /cannot be changed/],
    ['NOTHING', '1', 404, /NOTHING/],
  ] as const) {
    const refused = await admin.call('PUT', `/operations/settings/${name}`, { json: { value } })
    assert.equal(refused.status, status, refused.text)
    assert.match(refused.json<{ error: string }>().error, reason)
  }
})

test('a change counts at once, leaves an event, and can be taken back', async (t) => {
  const stack = await shellStack(t, { settings, worker })
  const admin = await newStackAdmin(stack)
  const changed = await admin.ok<Setting>('PUT', JOBS, { value: 1 })
  assert.deepEqual([changed.value, changed.origin, changed.changedBy], ['1', 'changed', 'root'])
  await stack.add('test.slow', 'sleep 600')
  const start = async () => {
    const config = await stack.configure('test.slow', {})
    return (await stack.request('POST', '/queue/jobs', { json: { component: 'test.slow', config } })).json<Job>().id
  }
  const statusOf = async (id: string) => (await stack.request('GET', `/queue/jobs/${id}`)).json<Job>().status
  const [first, second] = [await start(), await start()]
  await until('the first runs', async () => (await statusOf(first)) === 'processing')
  assert.notEqual(await statusOf(second), 'processing')
  await admin.ok('PUT', JOBS, { value: '2' })
  await until('there is a place for the second', async () => (await statusOf(second)) === 'processing')

  const back = await admin.ok<Setting>('DELETE', JOBS)
  assert.deepEqual([back.value, back.origin, back.changedBy], ['2', 'environment', null])
  const events = await admin.ok<{ message: string; who: { description: string } }[]>(
    'GET',
    '/operations/audit?what=storage.stackSetting',
  )
  assert.deepEqual(
    events.map(({ message }) => message),
    ['2', '2', '1'].map((value) => `Set MILLRACE_WORKER_JOBS of the stack to ${value}`),
  )
  for (const id of [first, second]) await stack.request('POST', `/queue/jobs/${id}/kill`)
})

test('a change outlives a restart, and what another version stored does no harm', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-settings-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const before = await startTestStack({ after: () => {} }, { settings, worker, dataDir })
  const admin = await newStackAdmin(before)
  await admin.ok('PUT', '/operations/settings/MILLRACE_LOG_LEVEL', { value: 'silent' })
  await admin.ok('PUT', JOBS, { value: 7 })
  const cookie = admin.cookie()!.split('=')[1]!
  await before.platform.close()

  const fewer = settings.map((one) => (one.name === 'MILLRACE_LOG_LEVEL' ? { ...one, isLive: false } : one))
  const after = await startTestStack(t, { settings: fewer, worker, dataDir })
  const name = `millrace_session_${new URL(after.url).port}`
  const again = newBrowser(after)
  const answer = await again.call('GET', '/operations/settings', { headers: { cookie: `${name}=${cookie}` } })
  const all = new Map(answer.json<Setting[]>().map((one) => [one.name, one]))
  assert.deepEqual([all.get('MILLRACE_WORKER_JOBS')?.value, all.get('MILLRACE_WORKER_JOBS')?.changedBy], ['7', 'root'])
  assert.equal(all.get('MILLRACE_LOG_LEVEL')?.origin, 'default')
})

test('every node sees a change', async (t) => {
  const database = await migratedPostgres()
  const { url: databaseUrl } = database.location as { url: string } // of PostgreSQL
  const options = { settings, worker, databaseUrl, databaseConnections: 4, encryptionKeys: [new Uint8Array(32)] }
  const one = await startTestStack(t, options)
  const other = await startTestStack(t, { ...options, roles: ['api'] })
  t.after(database.remove)
  const admin = await newStackAdmin(one)
  const elsewhere = await newStackAdmin(other, 'ann@example.com')
  await admin.ok('PUT', JOBS, { value: 5 })
  await until('the other node knows', async () => (await settingOf(elsewhere, 'MILLRACE_WORKER_JOBS')).value === '5')
  await elsewhere.ok('DELETE', JOBS)
  await until('and back', async () => (await settingOf(admin, 'MILLRACE_WORKER_JOBS')).origin === 'environment')
})
