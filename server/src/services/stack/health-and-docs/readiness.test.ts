import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startS3 } from '../../../../../tests/support/servers/start-s3.ts'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

test('a node whose object store is away is not ready, and its metrics say why', async (t) => {
  const s3 = await startS3()
  const externalS3 = { endpoint: s3.endpoint, ...s3.sessions.root, roleArn: undefined }
  const { request } = await startTestStack(t, { bucket: 'millrace', externalS3 })
  const isUp = async () => /^millrace_object_store_up (\d)$/m.exec((await request('GET', '/metrics')).text)?.[1]
  assert.equal((await request('GET', '/ready')).status, 200)
  assert.equal(await isUp(), '1')
  await s3.close()
  const refused = await until('it is not ready', async () => {
    const answer = await request('GET', '/ready')
    return answer.status === 503 && answer
  })
  assert.match(refused.text, /the object store does not answer/)
  assert.equal(await isUp(), '0')
})
