import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BUCKET, REGION, startS3 } from '../../../tests/support/servers/start-s3.ts'
import { startTestStack } from '../../../tests/support/test-stack.ts'
import { folderSource } from '../engines/backup-folder/backup-source.ts'
import { verifyBackup } from '../engines/backup-folder/verify-backup.ts'
import { systemClock } from '../kit/clock.ts'
import { backUp } from './backup.ts'
import { createPlannedBackups } from './planned-backups.ts'

const HOUR = 3_600_000

test('planned backups are made once each, whole, and only the newest are kept', async (t) => {
  const { platform, dataDir } = await startTestStack(t)
  const folder = await mkdtemp(join(tmpdir(), 'millrace-planned-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'mine.txt'), 'stays')
  await mkdir(join(folder, '2020-01-01T00-00-00Z')) // an interrupted one has no manifest
  const { metadata, objects, backups } = platform
  const sources = { dataDir, metadata, objects, backups, clock: systemClock, version: '0' }
  let hour = 0
  const problems: object[] = []
  const node = () =>
    createPlannedBackups({
      plan: { folder, everyMs: 6 * HOUR, keep: 2, withKey: false },
      backups,
      backUp: (order) => backUp(sources, order),
      now: () => new Date(Date.UTC(2026, 0, 1) + hour * HOUR),
      log: { info: () => {}, error: (details) => problems.push(details) },
    })
  const nodes = [node(), node()]
  for (hour of [1, 2, 7, 13, 19]) await Promise.all(nodes.map(({ tick }) => tick()))
  assert.deepEqual(problems, [])
  assert.deepEqual((await readdir(folder)).sort(), ['2026-01-01T12-00-00Z', '2026-01-01T18-00-00Z', 'mine.txt'])
  assert.deepEqual((await verifyBackup(folderSource(join(folder, '2026-01-01T18-00-00Z')))).damaged, [])
  assert.notEqual(await backups.lastGoodAt(), undefined)

  await writeFile(join(folder, '2026-01-02T00-00-00Z'), 'a file where the next one should go')
  hour = 24
  await nodes[0]!.tick()
  assert.equal(problems.length, 1)
  assert.equal((await readdir(folder)).length, 4, 'a failure removes nothing')
})

test('in a bucket, too, only the newest are kept, and backups of other names stay', async (t) => {
  const { platform, dataDir } = await startTestStack(t)
  const s3 = await startS3()
  t.after(s3.close)
  const { accessKeyId, secretAccessKey } = s3.sessions.root
  const bucket = { endpoint: s3.endpoint, bucket: BUCKET, region: REGION, prefix: 'nightly/', accessKeyId, secretAccessKey }
  const { metadata, objects, backups } = platform
  const sources = { dataDir, metadata, objects, backups, clock: systemClock, version: '0', bucket }
  let hour = 0
  const problems: object[] = []
  const { tick } = createPlannedBackups({
    plan: { folder: undefined, everyMs: 6 * HOUR, keep: 2, withKey: false },
    bucket,
    backups,
    backUp: (order) => backUp(sources, order),
    now: () => new Date(Date.UTC(2026, 0, 1) + hour * HOUR),
    log: { info: () => {}, error: (details) => problems.push(details) },
  })
  await backUp(sources, { folder: 's3:by-hand', withKey: false })
  for (hour of [1, 7, 13, 19]) await tick()
  assert.deepEqual(problems, [])
  const names = (await s3.store.list({})).objects.map(({ key }) => key.split('/')[1])
  assert.deepEqual([...new Set(names)].sort(), ['2026-01-01T12-00-00Z', '2026-01-01T18-00-00Z', 'by-hand'])
})
