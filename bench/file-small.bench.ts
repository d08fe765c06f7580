// Small things, many at once: 200 parallel PUTs per core without an error, and how many links and credentials a second gives.

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { createEmbeddedAccess } from '../server/src/engines/object-store/embedded-access.ts'
import { createSessionTokens } from '../server/src/engines/object-store/session-token.ts'
import { systemClock } from '../server/src/kit/clock.ts'
import { BUCKET, startS3 } from '../tests/support/servers/start-s3.ts'
import { sendSigned } from '../tests/support/signed-request.ts'
import { report } from './support/measure.ts'

const TARGET_PER_SECOND = 5000
const PARALLEL = 200 * availableParallelism()
const ROUNDS = 5

const access = createEmbeddedAccess({
  sessions: createSessionTokens(randomBytes(32)),
  bucket: BUCKET,
  region: 'us-east-1',
  clock: systemClock,
  endpointFor: (origin) => origin,
})
const key = 'exp-15/1/files/2026/01/31/17.orders.csv'
/** Per second of processor time: what else the machine does meanwhile is no matter. */
const perSecond = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage()
  let count = 0
  for (const until = performance.now() + 1000; performance.now() < until; count++) await work()
  const { user, system } = process.cpuUsage(before)
  return Math.round((count / (user + system)) * 1e6)
}
const link = () =>
  access.link(key, {
    endpoint: 'http://127.0.0.1:8001',
    expiresInSeconds: 3600,
    contentDisposition: 'attachment; filename="orders.csv"',
  })
const credentials = () => access.credentials({ grants: [{ action: 'upload', key, isPrefix: false }], demandEncryption: true })
for (const [bench, work] of [
  ['presigned-links', link],
  ['temporary-credentials', credentials],
] as const) {
  await perSecond(work) // warm
  const figure = await perSecond(work)
  report({ bench, ratio: figure / TARGET_PER_SECOND, target: '>= 1', perProcessorSecond: figure })
}

const s3 = await startS3()
let failures = 0
const started = performance.now()
for (let round = 0; round < ROUNDS; round++) {
  const put = async (i: number) => {
    const answer = await sendSigned(
      s3.endpoint,
      { method: 'PUT', path: `/${BUCKET}/small/${round}-${i}`, body: `object ${i}` },
      s3.sessions.root,
    )
    if (answer.status !== 200) failures++
  }
  await Promise.all(Array.from({ length: PARALLEL }, (_, i) => put(i)))
}
const seconds = (performance.now() - started) / 1000
const stored = (await s3.store.list({ prefix: 'small/' })).objects.length
await s3.close()
report({
  bench: 'small-puts',
  ratio: failures,
  target: '<= 0',
  unit: 'failures',
  parallel: PARALLEL,
  puts: PARALLEL * ROUNDS,
  listed: stored,
  putsPerSecond: Math.round((PARALLEL * ROUNDS) / seconds),
})
