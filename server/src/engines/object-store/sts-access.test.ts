// Credentials from an external STS, which here is our own service: what they allow is what the embedded ones allow.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { s3ClientFor } from '../../../../tests/support/clients/file-client.ts'
import { BUCKET, REGION, startS3 } from '../../../../tests/support/servers/start-s3.ts'
import { systemClock } from '../../kit/clock.ts'
import { policyFor, scopeOfPolicy } from './access-policy.ts'
import type { AccessScope, Grant } from './object-access.ts'
import { createStsAccess } from './sts-access.ts'

const scopeOf = (action: Grant['action'], key: string, isPrefix: boolean): AccessScope => ({
  grants: [{ action, key, isPrefix }],
  demandEncryption: false,
})

test('STS credentials read or write one key or prefix and nothing else', async (t) => {
  const s3 = await startS3()
  const access = createStsAccess({
    endpoint: s3.endpoint,
    region: REGION,
    bucket: BUCKET,
    roleArn: undefined,
    clock: systemClock,
    ...s3.sessions.root,
  })
  t.after(async () => {
    access.close()
    await s3.close()
  })
  const clientFor = async (scope: AccessScope) => s3ClientFor(await access.credentials(scope), s3.endpoint)
  const put = (Key: string) => new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' })
  const get = (Key: string) => new GetObjectCommand({ Bucket: BUCKET, Key })

  const writer = await clientFor(scopeOf('upload', 'a/own', false))
  await writer.send(put('a/own'))
  for (const command of [put('a/own2'), put('b'), get('a/own')])
    await assert.rejects(writer.send(command as never), { name: 'AccessDenied' })
  const slices = await clientFor(scopeOf('upload', 'a/sliced', true))
  await slices.send(put('a/sliced/1'))
  await assert.rejects(slices.send(put('a/other')), { name: 'AccessDenied' })
  const reader = await clientFor(scopeOf('download', 'a/sliced', true))
  await reader.send(get('a/sliced/1'))
  assert.equal((await reader.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: 'a/sliced' }))).KeyCount, 1)
  await assert.rejects(reader.send(new ListObjectsV2Command({ Bucket: BUCKET })), { name: 'AccessDenied' })
  await assert.rejects(reader.send(get('a/own')), { name: 'AccessDenied' })

  const both = await clientFor({
    grants: [
      { action: 'download', key: 'a/sliced/', isPrefix: true },
      { action: 'download', key: 'a/own', isPrefix: false },
      { action: 'upload', key: 'a/new/', isPrefix: true },
    ],
    demandEncryption: false,
  })
  await both.send(get('a/sliced/1'))
  await both.send(get('a/own'))
  await both.send(put('a/new/1'))
  for (const command of [get('a/new/1'), put('a/own'), get('a/own2'), get('b')])
    await assert.rejects(both.send(command as never), { name: /AccessDenied|NotFound/ })

  const { Expiration } = await access.credentials(scopeOf('upload', 'k', false))
  assert.match(Expiration, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  const link = access.link('a/own', { endpoint: s3.endpoint, expiresInSeconds: 60, contentDisposition: 'attachment' })
  assert.equal(await (await fetch(link)).text(), 'x')
})

test('a policy says its scope and nothing more', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a key may look like a variable of a policy
  const keys = ['plain', 'with*star', 'what?', '${weird}', 'a"b\\c', 'ž/😀']
  for (const key of keys)
    for (const action of ['upload', 'download'] as const)
      for (const isPrefix of [false, true]) {
        const scope = scopeOf(action, key, isPrefix)
        assert.deepEqual(scopeOfPolicy(policyFor(scope, 'bucket'), 'bucket'), scope)
        assert.doesNotMatch(JSON.stringify(policyFor(scopeOf(action, key, false), 'bucket')).replace(/\$\{[*?$]\}/g, ''), /[*?]/)
      }
  const several: AccessScope = {
    grants: [
      ...keys.map((key) => ({ action: 'download' as const, key, isPrefix: true })),
      ...keys.map((key) => ({ action: 'upload' as const, key, isPrefix: false })),
    ],
    demandEncryption: false,
  }
  assert.deepEqual(scopeOfPolicy(policyFor(several, 'bucket'), 'bucket'), several)
  assert.equal(scopeOfPolicy({ Version: '2012-10-17', Statement: [] }, 'bucket'), undefined)
  const other = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: ['s3:*'], Resource: 'arn:aws:s3:::bucket/*' }] }
  const more = structuredClone(policyFor(scopeOf('upload', 'k', false), 'bucket')) as unknown as { Statement: unknown[] }
  more.Statement.push({ Effect: 'Allow', Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::bucket/other' })
  for (const policy of [other, more, undefined, null, {}, 'x', policyFor(scopeOf('upload', 'k', false), 'elsewhere')])
    assert.equal(scopeOfPolicy(policy, 'bucket'), undefined)
})
