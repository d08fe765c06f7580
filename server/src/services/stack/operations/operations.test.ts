import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'
import { ensureLocalCertificate } from '../../../engines/tls/local-authority.ts'
import { createStatus, type Status, type StatusSources } from './status.ts'

const startProject = shareTestStack({ build: '1.2.3+0123456789ab' })
const NOW = new Date('2026-05-01T12:00:00Z')
const HOUR = 3_600_000

const well: StatusSources = {
  version: '1',
  clock: { now: () => NOW },
  disk: async () => ({ freeBytes: 50e9, totalBytes: 100e9 }),
  database: { dialect: 'sqlite', ask: async () => 1 },
  objectStore: async () => [],
  workloads: { jobs: async () => ({ open: { waiting: 0 }, ended: {}, oldestWaitingMs: 0 }) },
  clocks: async () => [{ node: 'a', differenceMs: -900 }],
  lastBackupAt: async () => NOW.getTime() - HOUR,
  restoredAt: undefined,
  lastDrill: async () => ({ at: NOW.toISOString(), backupOf: NOW.toISOString(), isGood: true }),
  scheduleLagMs: async () => 0,
  stoppedSchedules: async () => [],
  componentProblems: () => [],
  certificate: () => undefined,
}
/** Made so many days ago; it is good for 397. */
async function certificateFrom(days: number): Promise<() => string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-certificate-'))
  const clock = { now: () => new Date(NOW.getTime() - days * 24 * HOUR) }
  const { certFile } = await ensureLocalCertificate(folder, ['localhost'], clock)
  const pem = await readFile(certFile, 'utf8')
  await rm(folder, { recursive: true })
  return () => pem
}

const levelOf = ({ checks }: Status, name: string) => checks.find(({ check }) => check === name)?.level

test('a stack that is well says so, and each trouble is named with its level', async () => {
  const fine = await createStatus(well)()
  assert.deepEqual([fine.level, fine.checks.filter(({ level }) => level !== 'ok')], ['ok', []])
  assert.equal(fine.checks.find(({ check }) => check === 'backup')?.facts.verifiedAt, NOW.toISOString())
  const cases: [string, string, Partial<StatusSources>][] = [
    ['disk', 'warning', { disk: async () => ({ freeBytes: 1e9, totalBytes: 100e9 }) }],
    ['disk', 'problem', { disk: async () => ({ freeBytes: 1e6, totalBytes: 100e9 }) }],
    ['queue.jobs', 'warning', { workloads: { jobs: async () => ({ open: { waiting: 4 }, ended: {}, oldestWaitingMs: HOUR }) } }],
    ['clocks', 'warning', { clocks: async () => [{ node: 'a', differenceMs: -1_001 }] }],
    ['backup', 'warning', { lastBackupAt: async () => undefined }],
    ['backup', 'warning', { lastBackupAt: async () => NOW.getTime() - 72 * HOUR }],
    ['backup', 'problem', { lastDrill: async () => ({ at: NOW.toISOString(), backupOf: NOW.toISOString(), isGood: false }) }],
    ['schedules', 'warning', { stoppedSchedules: async () => [{ id: 1, projectId: 1, configurationId: 'c', reason: 'gone' }] }],
    ['schedules', 'warning', { scheduleLagMs: async () => HOUR }],
    ['components', 'problem', { componentProblems: () => ['x.json: name: must be string'] }],
    ['database', 'problem', { database: { dialect: 'postgres', ask: () => Promise.reject(new Error('no answer')) } }],
    ['objectStore', 'problem', { objectStore: () => Promise.reject(new Error('no answer')) }],
    ['certificate', 'problem', { certificate: () => 'not a certificate' }],
    ['certificate', 'warning', { certificate: await certificateFrom(390) }],
    ['certificate', 'problem', { certificate: await certificateFrom(400) }],
  ]
  for (const [check, level, change] of cases) {
    const status = await createStatus({ ...well, ...change })()
    assert.deepEqual([levelOf(status, check), status.level], [level, level], check)
    assert.equal(status.checks.filter((one) => one.level !== 'ok').length, 1, `${check} hides no other`)
  }
})

test('a stack admin reads status and audit of the whole stack, and nobody else does', async () => {
  const stack = await startProject()
  const admin = await newStackAdmin(stack)
  const status = await admin.ok<Status>('GET', '/operations/status')
  assert.equal(status.version, '1.2.3+0123456789ab', 'the console names the commit, too')
  for (const check of [
    'disk',
    'database',
    'objectStore',
    'queue.jobs',
    'queue.storage',
    'schedules',
    'components',
    'certificate',
  ])
    assert.equal(levelOf(status, check), check === 'disk' ? levelOf(status, 'disk') : 'ok', check)
  assert.equal(levelOf(status, 'backup'), 'warning', 'none was made')
  assert.deepEqual(await admin.ok('GET', '/operations/backups'), { plan: null, backups: [] })
  const refused = await admin.call('POST', '/operations/backups')
  assert.deepEqual([refused.status, refused.json().code], [409, 'backup.noPlace'])

  await stack.request('POST', '/v2/storage/buckets', { json: { name: 'audited', stage: 'in' } })
  type Entry = {
    id: number
    projectId: number
    event: string
    message: string
    objectId: string | null
    who: { description: string }
  }
  const audit = (query: string) => admin.ok<Entry[]>('GET', `/operations/audit?${query}`)
  const [made] = await audit(`projectId=${stack.projectId}&what=storage.bucket&objectId=in.c-audited`)
  assert.deepEqual([made?.event, made?.projectId], ['storage.bucketCreated', stack.projectId])
  assert.match(String(made?.who.description), /Master token/)
  assert.equal((await audit(`projectId=${stack.projectId + 1000}&objectId=in.c-audited`)).length, 0, 'of another project')
  assert.equal((await audit('what=storage.bucket&until=-1%20hour')).length, 0)
  assert.ok((await audit('who=master%20TOKEN&since=-1%20hour')).some(({ id }) => id === made?.id))
  assert.equal((await audit('who=nobody-of-this-name')).length, 0)
  const said = { message: 'page 7 was read', component: 'test.audited' }
  assert.equal((await stack.request('POST', '/v2/storage/events', { json: said })).status, 201)
  const isLogged = async (query: string) => (await audit(query)).some(({ message }) => message === said.message)
  assert.deepEqual([await isLogged('limit=20'), await isLogged('limit=20&logs=false')], [true, false])
  assert.ok((await audit(`beforeId=${made?.id}&limit=3`)).every(({ id }) => id < made!.id))
  assert.equal((await admin.call('GET', '/operations/audit?since=someday')).status, 400)

  const member = await newMember(stack, admin, { projectId: stack.projectId, role: 'admin' })
  for (const path of ['/operations/status', '/operations/audit']) {
    assert.equal((await member.call('GET', path)).status, 403, path)
    assert.equal((await stack.request('GET', path)).status, 401, 'a token of a project is not a person')
  }
})
